"""The page of ``gripsim view``: what a browser is sent, without a browser."""

import json
import signal
import urllib.request
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')
viser = pytest.importorskip('viser', reason='needs the extra `view`')
pytest.importorskip('mcap', reason='needs the extra `record`')

import msgspec  # noqa: E402
import zstandard  # noqa: E402
from cli_cases import assert_refused, gripsim, start  # noqa: E402
from arm_cases import ARM_FILE, brought, planned_arm  # noqa: E402
from execution_cases import reach  # noqa: E402
from plan_cases import apple, made_up_grasp  # noqa: E402
from rclpy.serialization import serialize_message  # noqa: E402
from std_msgs.msg import String  # noqa: E402
from suite_cases import wait_for  # noqa: E402
from marker_cases import FRAME  # noqa: E402
from trimesh import Trimesh  # noqa: E402
from visualization_msgs.msg import MarkerArray  # noqa: E402
from websockets.sync.client import connect  # noqa: E402

from gripsim_ros.apps.cli.output import plain  # noqa: E402
from gripsim_ros.apps.view import browser  # noqa: E402
from gripsim_ros.apps.view.browser import LAYERS, BrowserView  # noqa: E402
from gripsim_ros.apps.view.sources import PlanSource, RecordingSource, ranks_of  # noqa: E402
from gripsim_ros.library.grasp_file import PlanAnswer  # noqa: E402
from gripsim_ros.library.resources import load_default_hand  # noqa: E402
from gripsim_ros.core.planning import Task  # noqa: E402
from gripsim_ros.core.transforms import apply  # noqa: E402
from gripsim_ros.library.planned_arm import load_other_arms, motion_of  # noqa: E402
from gripsim_ros.library.whole_motion import moment_at  # noqa: E402
from gripsim_ros.ros.conversions import pose_from_msg  # noqa: E402
from gripsim_ros.ros.conversions.plan_told import ToldGrasp, ToldPlan  # noqa: E402
from gripsim_ros.ros.markers import (  # noqa: E402
    FingerForces, force_markers, grasp_markers, ranked_markers)
from gripsim_ros.ros.record.mcap_file import RecordingWriter  # noqa: E402

START = 1_700_000_000_000_000_000
TIMEOUT = 60.0
#: A table below the object.
OBSTACLES = np.array([[1, 0.4, 0.3, 0.02, 1, 0, 0, 0.1, 0, 1, 0, 0.0, 0, 0, 1, -0.1]])
#: A pose to rounding, through a file [m].
ATOL = 1e-9


@pytest.fixture(scope='module')
def plan_file(tmp_path_factory):
    """Return the JSON of a plan with two grasps, the first with a way, its mesh beside it."""
    folder = tmp_path_factory.mktemp('plan')
    mesh = apple().mesh
    Trimesh(mesh.vertices, mesh.faces, process=False).export(folder / 'apple.ply')
    answer = PlanAnswer(load_default_hand(), apple(), str(folder / 'apple.ply'), 1.0,
                        [made_up_grasp(1, reach=reach()), made_up_grasp(2)], {}, {'repairs': []})
    file = folder / 'grasps.json'
    file.write_text(json.dumps(plain(answer.to_mapping())))
    return file


@pytest.fixture(scope='module')
def recording(tmp_path_factory):
    """Return a recording that holds the markers of two plans; the last counts."""
    path = tmp_path_factory.mktemp('recording') / 'plan.mcap'
    grasps, hand = [made_up_grasp(1), made_up_grasp(2)], load_default_hand()
    with RecordingWriter(path) as writer:
        for k, topic, array in (
                (0, 'ranked_grasps', ranked_markers(grasps[:1], FRAME, hand)),
                (1, 'ranked_grasps', ranked_markers(grasps, FRAME, hand)),
                (2, 'plan/markers', grasp_markers(grasps[0], apple(), hand, FRAME))):
            writer.write(f'/lab/{topic}', MarkerArray, serialize_message(array), START + k)
        told = ToldPlan({'object': 'an apple'}, [ToldGrasp({'score': '0.9'}, {'torque': 0.1})])
        writer.write('/lab/plan/told', String, serialize_message(String(data=told.to_yaml())),
                     START + 3)
        for k, felt in enumerate((0.5, 1.0)):
            writer.write('/lab/execution/markers', MarkerArray, serialize_message(force_markers(
                FingerForces(('thumb',), ('sdh_thumb_3_link',), np.ones(1), np.full(1, felt)),
                hand, np.zeros(7), FRAME)), START + 4 + k)
    return path


def sent_to_browser(url, enough):
    """Return the messages that a page gets when it connects, until ``enough(messages)``."""
    messages = []
    with connect(url.replace('http', 'ws'), subprotocols=[f'viser-v{viser.__version__}'],
                 max_size=None, open_timeout=TIMEOUT) as socket:
        while not enough(messages):
            data = socket.recv(timeout=TIMEOUT)
            length = int.from_bytes(data[8:16], 'little')
            messages += msgspec.msgpack.decode(
                zstandard.decompress(data[16:16 + length]))['messages']
    return messages


def names_in(messages):
    """Return the names of the nodes of the scene that messages make."""
    return {message['name'] for message in messages if 'name' in message}


@pytest.fixture
def page(recording):
    view = BrowserView(RecordingSource(recording), port=18080)
    try:
        view.open()
        yield view
    finally:
        view.close()


def test_the_page_and_its_scene_are_served(page):
    with urllib.request.urlopen(page.url, timeout=TIMEOUT) as answer:
        text = answer.read().decode()
    assert answer.status == 200 and '<html' in text.lower()
    wanted = {'/plan/markers/deformation/1', '/plan/markers/hand/1', '/plan/markers/forces/3',
              '/ranked_grasps/ghosts/1', '/ranked_grasps/ranks/2'}
    messages = sent_to_browser(page.url, lambda m: wanted <= names_in(m))
    labels = {m['props'].get('text') for m in messages if 'text' in m.get('props', {})}
    assert any(text and text.startswith('2: ') for text in labels)


def test_the_panel_lists_the_grasps_and_every_layer(page):
    assert page._grasp.options == tuple(page._source.grasps) and len(page._source.grasps) == 2
    shown = {name.rpartition('/')[2] for name in page.names()}
    assert shown <= {name for names in LAYERS.values() for name in names}


def test_request_score_and_the_way_of_forces_of_a_recording_stand_beside(page):
    assert 'an apple' in page._request.content and 'torque' in page._score.content
    assert 'felt 1.00 of 1.00 N planned' in page._forces.content
    assert len(page._source.felt) == 2 and page._forces.content.count('<polyline') == 2


def test_new_markers_take_the_place_of_old_ones(page):
    array = grasp_markers(None, apple(), load_default_hand(), FRAME)
    page.show('plan/markers', array)
    assert [n for n in page.names() if n.startswith('plan')] == [
        'plan/markers/centre_of_mass', 'plan/markers/object']
    page.show('closing/markers', array)
    assert not [n for n in page.names() if n.startswith('plan')]


def test_a_hidden_layer_stays_hidden(page):
    page._show_layer(LAYERS['Hand'], False)
    page.show('plan/markers', grasp_markers(made_up_grasp(1), apple(), load_default_hand(),
                                            FRAME))
    assert not any(node.visible for node in page._nodes['plan/markers', 'hand'])
    assert all(node.visible for node in page._nodes['plan/markers', 'forces'])


def test_a_plan_shows_any_moment_with_the_state_there(plan_file):
    source, shown = PlanSource(plan_file), []
    assert [line.partition(':')[0] for line in source.grasps] == ['1', '2']
    request, grasp = source.about(2)
    assert request['object'].startswith('apple.ply, ')
    assert grasp.terms == pytest.approx({t.name: t.contribution for t in made_up_grasp(2).terms})
    source.open(lambda topic, array: shown.append((topic, array)))
    try:
        assert [topic for topic, _ in shown] == ['ranked_grasps', 'closing/markers']

        def said():
            return [m.text for _, a in shown for m in a.markers if m.ns == 'moment' and m.text]
        source.select(2, 0.5)
        assert wait_for(lambda: 'grasp 2: 50 % closed' in said(), TIMEOUT)
        assert wait_for(lambda: (2, 0.5) in source._states, TIMEOUT)
    finally:
        source.close()
    assert ranks_of(shown[0][1]) and source._states[2, 0.5].vertices is not None


@pytest.mark.nightly     # by day test_picture plays one to its end
def test_the_whole_motion_of_a_plan_is_played(plan_file, monkeypatch):
    monkeypatch.setattr(browser, 'PLAY_PERIOD', 0.0)
    monkeypatch.setattr(browser, 'MOTION_STEP', 0.1)
    source = PlanSource(plan_file)
    page, said = BrowserView(source, port=18110), []
    try:
        page.open()
        show = source._show

        def listen(topic, array):
            said.extend(m.text for m in array.markers if m.ns == 'moment' and m.text)
            show(topic, array)
        source._show = listen
        page._play()
        assert wait_for(lambda: 'grasp 1: retreat' in said, TIMEOUT)
        assert wait_for(page._stopped.is_set, TIMEOUT)
        phases = [text.partition(': ')[2].partition(',')[0] for text in said]
        # The state of the closed hand that was asked for at the start may come as late as here.
        assert [phase for phase in dict.fromkeys(phases) if phase != '100 % closed'] == [
            'approach', 'closing', 'carrying', 'opening', 'retreat']
        count = len(said)
        source.move(2, 0.5)         # no way: nothing new is shown
        assert len(said) == count
        monkeypatch.setattr(browser, 'PLAY_PERIOD', 2 * TIMEOUT)
        page._play()
        assert not page._stopped.is_set()
        page._move(by_hand=True)
        assert page._stopped.is_set()
    finally:
        page.close()


def test_the_command_serves_until_it_is_ended(recording):
    process = start('view', recording, '--no-open', '--port', 18090)
    try:
        line = process.stderr.readline()
        assert 'http://127.0.0.1:' in line, line + process.stderr.read()
        url = line.split()[0]
        with urllib.request.urlopen(url, timeout=TIMEOUT) as answer:
            assert answer.status == 200
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=TIMEOUT)
    finally:
        process.kill()
    assert (process.returncode, out) == (0, '')


@pytest.mark.parametrize('name', [
    pytest.param('plan_file', marks=pytest.mark.nightly), 'recording'])   # by day test_beside
def test_files_are_drawn_without_a_display(name, tmp_path, request):
    from PIL import Image
    code, out, said = gripsim('view', request.getfixturevalue(name), '--picture',
                              tmp_path / 'x.png', '--fraction', 0.5)
    assert (code, out) == (0, ''), said
    assert np.asarray(Image.open(tmp_path / 'x.png')).std() > 5.0


@pytest.mark.nightly     # by day the whole motion is played, and other files are drawn
def test_a_moment_of_the_whole_motion_is_drawn(plan_file, tmp_path):
    from PIL import Image
    pictures = []
    for fraction in (0.0, 0.5):
        code, out, said = gripsim('view', plan_file, '--whole', '--picture', tmp_path / 'x.png',
                                  '--fraction', fraction)
        assert (code, out) == (0, ''), said
        pictures.append(np.asarray(Image.open(tmp_path / 'x.png'), int))
    assert np.abs(pictures[1] - pictures[0]).mean() > 1.0


def test_the_arm_of_a_plan_is_shown_where_the_plan_has_it(plan_file, tmp_path):
    arm, way = planned_arm(), reach()
    grasp = brought(made_up_grasp(1, reach=way, T_object_palm=way.T_object_palm[0],
                                  T_object_pregrasp=way.T_object_palm[0]))
    answer = PlanAnswer(load_default_hand(), apple(), str(plan_file.with_name('apple.ply')), 1.0,
                        [grasp], {}, {'repairs': []}, arm=arm)
    file = tmp_path / 'grasps.json'
    file.write_text(json.dumps(plain(answer.to_mapping())))
    source, ways = PlanSource(file), []
    source.open(lambda topic, array: ways.extend(m for m in array.markers if m.ns == 'arm_way'))
    source.close()
    ends = [ways[-1].points[k] for k in (0, -1)]
    palms = [moment.T_object_palm[:3, 3] for moment in motion_of(grasp, arm)]
    in_base = apply(arm.T_base_object, np.array([palms[0], palms[-1]]))
    placed = apply(pose_from_msg(ways[-1].pose), np.array([(p.x, p.y, p.z) for p in ends]))
    np.testing.assert_allclose(placed, in_base, atol=ATOL)
    for fraction in (0.0, 0.5):
        shown = [m for m in source.moved(1, fraction).markers if m.ns == 'arm' and m.action == 0]
        moment = moment_at(motion_of(grasp, arm), fraction)
        frames = arm.arm.poses(moment.arm_joints)[arm.arm.part_frames]
        np.testing.assert_allclose(
            [(m.pose.position.x, m.pose.position.y, m.pose.position.z) for m in shown],
            frames[:, :3, 3], atol=ATOL)


def test_what_stands_about_the_object_is_shown_with_the_whole_motion(plan_file, tmp_path):
    file, others = tmp_path / 'grasps.json', tmp_path / 'others.yaml'
    others.write_text(json.dumps([{'arm': str(ARM_FILE), 'pose': {'position': [1.0, 0.4, 0.0]},
                                   'joints': planned_arm().arm.start.tolist()}]))
    arm = replace(planned_arm(), others=load_other_arms(others), others_file=str(others))
    way = reach()
    answer = PlanAnswer(load_default_hand(), apple(), str(plan_file.with_name('apple.ply')), 1.0,
                        [brought(made_up_grasp(1, reach=way))], {}, {'repairs': []}, arm=arm,
                        task=Task(obstacles=OBSTACLES))
    file.write_text(json.dumps(plain(answer.to_mapping())))
    source, shown = PlanSource(file), []
    source.open(lambda topic, array: shown.append((topic, array)))
    source.close()
    table, = ([m for m in array.markers if m.ns == 'obstacles' and m.action == 0]
              for topic, array in shown if any(m.ns == 'obstacles' for m in array.markers))
    assert len(table) == len(OBSTACLES)
    moved = [m for m in source.moved(1, 0.5).markers if m.action == 0]
    assert [m.pose for m in moved if m.ns == 'obstacles'] == [m.pose for m in table]
    parts = [m for m in moved if m.ns == 'arm']
    assert len(parts) == 2 * len(arm.meshes)
    assert len({(m.color.r, m.color.g, m.color.b) for m in parts}) == 2


def test_what_cannot_be_shown_is_refused(plan_file, recording, tmp_path):
    (tmp_path / 'no.json').write_text('{"grasps": []}')
    (tmp_path / 'bad.mcap').write_bytes(b'no')
    for words, said in (
            (('no_such.json',), 'no such file'), ((tmp_path / 'no.json',), 'no grasps'),
            ((tmp_path / 'bad.mcap',), 'cannot be read as MCAP'),
            ((plan_file, '--fraction', '1.5'), '--fraction must be'),
            ((plan_file, '--rank', '0'), '--rank must be'),
            ((plan_file, '--whole', '--rank', '2'), 'has no way'),
            ((recording, '--whole'), '--whole takes the JSON'),
            ((plan_file, '--arm', ARM_FILE), '--arm and --object-pose go together'),
            ((plan_file, '--port', '0'), '--port must be'),
            ((recording, '--rank', '3', '--picture', tmp_path / 'x.png'), '--rank must be')):
        assert_refused((lambda r: (r[0], r[1], r[2].splitlines()[-1] + '\n'))(
            gripsim('view', *words)), said)
