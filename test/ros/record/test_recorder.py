"""A plan's messages as MCAP: readable by others, and answered again to the last bit."""

import numpy as np
import pytest

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')
pytest.importorskip('mcap', reason='needs the extra `record`')
pytest.importorskip('mcap_ros2', reason='reads back with mcap-ros2-support')

from cli_cases import assert_refused, gripsim, strict  # noqa: E402
from geometry_msgs.msg import PoseStamped  # noqa: E402
from gripsim_interfaces.msg import GraspStates, HandConfigurations, RingHeader  # noqa: E402
from mcap.reader import make_reader  # noqa: E402
from mcap_ros2.decoder import DecoderFactory  # noqa: E402
from rclpy.serialization import deserialize_message, serialize_message  # noqa: E402
from record_cases import RING_TYPES, START, record_plan  # noqa: E402
from suite_cases import ball, plain, quick_options  # noqa: E402

from gripsim_ros.library.resources import load_default_hand  # noqa: E402
from gripsim_ros.ros.record.mcap_file import (  # noqa: E402
    RecordingWriter, read_messages, read_metadata)
from gripsim_ros.ros.record.recorder import TOPICS  # noqa: E402
from gripsim_ros.ros.record.replay import InProcessRing, differences, replay  # noqa: E402
from gripsim_ros.ros.record.schemas import definition_of, type_name  # noqa: E402

HYPOTHESES = 3
BAD_INPUT, DIFFERENT = 2, 1


@pytest.fixture(scope='module')
def recording(tmp_path_factory):
    """Return the file of a small plan, its grasps and how many questions it has."""
    path = tmp_path_factory.mktemp('recording') / 'plan.mcap'
    grasps, count = record_plan(path, ball(), quick_options(), HYPOTHESES, '/lab')
    return path, grasps, count


def rewritten(path, folder, change):
    """Return a copy of a recording; ``change(topic, data)`` returns the bytes, or None: drop."""
    copy = folder / 'changed.mcap'
    with RecordingWriter(copy) as writer:
        for message in read_messages(path):
            data = change(message.topic, message.data)
            if data is not None:
                kind = RING_TYPES[message.topic.removeprefix('/lab')]
                writer.write(message.topic, kind, data, message.log_time)
    return copy


@pytest.mark.nightly
def test_another_reader_decodes_every_channel_alike(recording):
    path, _, count = recording
    seen = {}
    with path.open('rb') as file:
        for schema, channel, message, decoded in make_reader(
                file, decoder_factories=[DecoderFactory()]).iter_decoded_messages():
            kind = RING_TYPES[channel.topic.removeprefix('/lab')]
            assert (schema.name, schema.encoding) == (type_name(kind), 'ros2msg')
            assert channel.message_encoding == 'cdr'
            assert plain(decoded) == plain(deserialize_message(message.data, kind))
            seen[channel.topic] = seen.get(channel.topic, 0) + 1
    assert seen == {'/lab/grasp_object': 1, '/lab/plan/hand_configurations': count,
                    '/lab/plan/grasp_states': count}


def test_the_file_has_profile_index_statistics_and_metadata(recording):
    path, _, count = recording
    with path.open('rb') as file:
        reader = make_reader(file)
        assert reader.get_header().profile == 'ros2'
        statistics = reader.get_summary().statistics
    assert statistics.message_count == 1 + 2 * count and statistics.chunk_count > 0
    assert statistics.message_start_time == START + 1000
    assert read_metadata(path) == {'hand': load_default_hand().id}


@pytest.mark.parametrize('topic', TOPICS, ids=lambda topic: topic.name.strip('/'))
def test_every_recorded_type_has_a_schema_that_others_decode_with(topic, tmp_path):
    path, msg = tmp_path / 'one.mcap', topic.kind()
    with RecordingWriter(path) as writer:
        writer.write('/topic', topic.kind, serialize_message(msg), START)
    with path.open('rb') as file:
        (_, _, _, decoded), = make_reader(
            file, decoder_factories=[DecoderFactory()]).iter_decoded_messages()
    assert plain(decoded) == plain(msg)


def test_a_schema_holds_each_nested_type_once():
    text = definition_of(PoseStamped)
    named = [line for line in text.splitlines() if line.startswith('MSG: ')]
    assert sorted(named) == ['MSG: builtin_interfaces/Time', 'MSG: geometry_msgs/Point',
                             'MSG: geometry_msgs/Pose', 'MSG: geometry_msgs/Quaternion',
                             'MSG: std_msgs/Header']


def test_every_question_is_answered_again_to_the_last_bit(recording):
    path, grasps, count = recording
    hand = load_default_hand()
    result = replay(path, hand, InProcessRing(hand))
    assert grasps and count > HYPOTHESES
    assert (result.questions, result.identical) == (count, count)
    assert result.same and not (result.different or result.unanswered or result.failed)


def test_replay_on_the_command_line_says_where_answers_differ(recording, tmp_path):
    path, _, count = recording
    touched = []

    def touch(topic, data):
        if topic.endswith('grasp_states') and not touched:
            msg = deserialize_message(data, GraspStates)
            msg.clearance[0] = np.nextafter(msg.clearance[0], np.inf)
            touched.append(1)
            return serialize_message(msg)
        return data
    code, out, err = gripsim('replay', rewritten(path, tmp_path, touch), '--json')
    answer = strict(out)
    assert code == DIFFERENT
    assert (answer['different'], answer['identical']) == (1, count - 1)
    assert 'batch 0: clearance: up to' in err


def test_lost_answers_and_faults_are_counted(recording, tmp_path):
    path, _, count = recording
    hand, number = load_default_hand(), iter(range(10**6))

    def spoil(topic, data):
        if not topic.endswith('grasp_states'):
            return data
        k = next(number)
        if k == 0:
            return None
        msg = GraspStates(ring=deserialize_message(data, GraspStates).ring)
        msg.ring.status = next(statuses)
        return serialize_message(msg)
    statuses = iter([RingHeader.PREPARING, RingHeader.UNKNOWN_OBJECT,
                     *count * [RingHeader.FAILED]])
    result = replay(rewritten(path, tmp_path, spoil), hand, InProcessRing(hand))
    assert (result.unanswered, result.failed, result.put_off) == (1, count - 3, 2)
    assert result.identical == 0
    assert not result.same


def test_another_hand_and_a_missing_object_are_said(recording, tmp_path):
    path, _, _ = recording

    def other_hand(topic, data):
        if topic.endswith('hand_configurations'):
            msg = deserialize_message(data, HandConfigurations)
            msg.ring.hand_id = 'another'
            return serialize_message(msg)
        return data
    assert_refused(gripsim('replay', rewritten(path, tmp_path, other_hand)),
                   'hand of the id another')
    assert_refused(gripsim('replay', rewritten(
        path, tmp_path, lambda topic, data: None if topic.endswith('object') else data)),
        'does not hold object')


def test_what_is_no_recording_is_refused(tmp_path):
    file = tmp_path / 'x.mcap'
    assert_refused(gripsim('replay', file), 'no such file')
    for content in (b'', b'not an mcap file at all', bytes(1000)):
        file.write_bytes(content)
        assert_refused(gripsim('replay', file), 'cannot be read as MCAP')
    with RecordingWriter(file):
        pass
    assert_refused(gripsim('replay', file), 'no questions')


def test_a_truncated_recording_is_refused(recording, tmp_path):
    file = tmp_path / 'half.mcap'
    data = recording[0].read_bytes()
    file.write_bytes(data[:len(data) // 2])
    assert_refused(gripsim('replay', file), str(file))


def test_differences_tell_lengths_and_numbers():
    before, now = GraspStates(clearance=[1.0, 2.0], margin=[0.5]), GraspStates(
        clearance=[1.0, 2.5], margin=[])
    assert differences(before, before) == []
    assert differences(before, now) == ['clearance: up to 0.5 away', 'margin: 1 values, now 0']


@pytest.mark.parametrize('arguments, said', [
    (('--out', '/no/such/folder/x.mcap'), 'folder does not exist'),
    (('--out', 'FILE', '--seconds', '0'), '--seconds must be'),
    (('--out', 'FILE', '--', '/no/such/program'), 'cannot run /no/such/program'),
    ((), '--out')])
def test_record_refuses_bad_input(tmp_path, arguments, said):
    words = [str(tmp_path / 'x.mcap') if word == 'FILE' else word for word in arguments]
    code, out, err = gripsim('record', *words)
    assert (code, out) == (BAD_INPUT, '') and said in err
