"""A closing, ghosts, obstacles and legends as markers; the RViz config; pictures of the same."""

import re
import threading
from functools import lru_cache
from itertools import repeat
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

from gripsim_interfaces.srv import ShowClosing  # noqa: E402
from arm_cases import brought, planned_arm  # noqa: E402
from execution_cases import reach  # noqa: E402
from plan_cases import CLOSED, OPEN, PEAK, apple, made_up_grasp  # noqa: E402
from marker_cases import assert_fit_for_rviz, pinch  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from visualization_msgs.msg import Marker  # noqa: E402

from gripsim_ros.apps.view.marker_shapes import shapes_of  # noqa: E402
from gripsim_ros.apps.view.picture import draw_markers  # noqa: E402
from gripsim_ros.core.errors import TaskError  # noqa: E402
from gripsim_ros.core.hand import forward_kinematics  # noqa: E402
from gripsim_ros.library.display import joints_at, link_poses_at, pressure_colours  # noqa: E402
from gripsim_ros.library.resources import load_default_hand, share_directory  # noqa: E402
from gripsim_ros.library.planned_arm import motion_of  # noqa: E402
from gripsim_ros.library.whole_motion import ArmWay, moment_at, whole_motion  # noqa: E402
from gripsim_ros.ros.markers import (  # noqa: E402
    arm_markers, BOX_LAYERS, closing_markers, FingerForces, force_markers, grasp_markers,
    live_markers, ranked_markers)
from gripsim_ros.ros.markers.legend import (  # noqa: E402
    FIELDS, START_PITCH, START_YAW)
from gripsim_ros.ros.markers.scenes import MOST_GHOSTS  # noqa: E402
from gripsim_ros.ros.nodes.planner.closing_shown import ClosingShow, trajectory_until  # noqa: E402
from gripsim_ros.ros.nodes.planner.sessions import DONE, STAGE_MISSING  # noqa: E402
from marker_cases import FRAME  # noqa: E402

ATOL_ROUNDOFF = 1e-12


PACKAGE = Path(__file__).resolve().parents[3] / 'gripsim_ros'
#: A box, a sphere and a cylinder: dimensions [m], pose.
POSE = [1, 0, 0, 0.2, 0, 1, 0, 0.0, 0, 0, 1, 0.1]
OBSTACLES = np.array([[1, 0.1, 0.06, 0.04, *POSE], [2, 0.03, 0, 0, *POSE],
                      [3, 0.08, 0.02, 0, *POSE]])


def added(array, namespace):
    """Return the markers that a namespace shows."""
    return [m for m in array.markers if m.ns == namespace and m.action == Marker.ADD]


@given(fraction=st.floats(0.0, 1.0), seed=st.integers(0, 10**6), rows=st.integers(2, 9))
def test_joints_between_rows_turn_evenly(fraction, seed, rows):
    trajectory = np.random.default_rng(seed).normal(size=(rows, 7))
    place = fraction * (rows - 1)
    before = min(int(place), rows - 2)
    expected = trajectory[before] + (place - before) * (trajectory[before + 1]
                                                        - trajectory[before])
    np.testing.assert_allclose(joints_at(trajectory, fraction), expected, atol=1e-9)
    part = trajectory_until(trajectory, fraction)
    np.testing.assert_array_equal(part[:-1], trajectory[:len(part) - 1])
    np.testing.assert_allclose(part[-1], expected, atol=1e-9)


@pytest.mark.parametrize('fraction', [-0.1, 1.1, np.nan, np.inf])
def test_a_moment_outside_the_closing_is_refused(fraction):
    with pytest.raises(TaskError, match='fraction must be from 0'):
        joints_at(np.zeros((2, 7)), fraction)


@pytest.mark.parametrize('fraction, joints', [(0.0, OPEN), (0.5, (OPEN + CLOSED) / 2),
                                              (1.0, CLOSED)])
def test_the_shown_hand_is_where_kinematics_has_it(fraction, joints):
    hand, grasp = load_default_hand(), made_up_grasp(1)
    poses = grasp.T_object_palm @ forward_kinematics(hand, joints[None])[0]
    np.testing.assert_allclose(link_poses_at(grasp, hand, fraction), poses, atol=ATOL_ROUNDOFF)
    shown = added(closing_markers(grasp, fraction, None, apple(), hand, FRAME), 'hand')
    assert len(shown) == len(hand.links)
    for marker, pose in zip(shown, poses):
        p = marker.pose.position
        np.testing.assert_allclose((p.x, p.y, p.z), pose[:3, 3], atol=ATOL_ROUNDOFF)


def test_a_moment_shows_the_object_untouched_or_as_the_stages_say():
    hand, grasp = load_default_hand(), made_up_grasp(1)
    free = closing_markers(grasp, 0.3, None, apple(), hand, FRAME)
    held = closing_markers(grasp, 1.0, grasp, apple(), hand, FRAME)
    boxes = {'boxes', 'regions'}
    assert assert_fit_for_rviz(free) - boxes == {
        'object', 'hand', 'moment', 'scale', 'centre_of_mass'}
    assert assert_fit_for_rviz(held) - boxes == {
        'deformation', 'pressure_legend', 'hand', 'forces', 'contacts', 'centre_of_mass', 'moment',
        'scale'}
    assert added(free, 'moment')[0].text == 'grasp 1: 30 % closed'


def test_the_legend_tells_the_colours_of_the_mesh():
    array = grasp_markers(made_up_grasp(1), apple(), load_default_hand(), FRAME)
    bar = next(m for m in added(array, 'pressure_legend') if m.type == Marker.TRIANGLE_LIST)
    rgb = np.array([(c.r, c.g, c.b) for c in bar.colors[::6]])
    np.testing.assert_allclose(rgb, pressure_colours(np.linspace(0, 1, FIELDS), 1.0),
                               atol=ATOL_ROUNDOFF)
    texts = [m.text for m in added(array, 'pressure_legend') if m.text]
    pressures = made_up_grasp(1).vertex_pressures
    assert texts == ['pressure [kPa]', '0', f'{1e-3 * pressures.max():.1f}']
    assert pressures.max() <= PEAK
    faces = apple().mesh.faces
    pressed = faces[(pressures[faces] > 0.0).any(axis=1)]
    hottest = int(np.flatnonzero(pressed.ravel() == pressures.argmax())[0])
    c = added(array, 'deformation')[1].colors[hottest]
    np.testing.assert_allclose((c.r, c.g, c.b), pressure_colours(1.0, 1.0), atol=ATOL_ROUNDOFF)


def test_ghosts_are_as_many_as_may_be_and_transparent():
    grasps = [made_up_grasp(rank) for rank in range(1, MOST_GHOSTS + 3)]
    hand = load_default_hand()
    array = ranked_markers(grasps, FRAME, hand)
    assert assert_fit_for_rviz(array) == {'ranked_grasps', 'ranks', 'ghosts'}
    ghosts = added(array, 'ghosts')
    assert len(ghosts) == MOST_GHOSTS * len(hand.links)
    assert all(marker.color.a < 0.5 for marker in ghosts)


def test_obstacles_are_as_large_as_they_are():
    array = grasp_markers(None, apple(), load_default_hand(), FRAME, OBSTACLES)
    shapes, _ = shapes_of(array)
    sizes = [np.ptp(s.vertices, axis=0) for s in shapes if s.name.startswith('obstacles')]
    np.testing.assert_allclose(sizes[0], [0.1, 0.06, 0.04], atol=1e-9)
    np.testing.assert_allclose(sizes[1], 3 * [0.06], rtol=0.02)
    np.testing.assert_allclose(sizes[2], [0.04, 0.04, 0.08], rtol=0.02)
    for shape in (s for s in shapes if s.name.startswith('obstacles')):
        middle = (shape.vertices.min(axis=0) + shape.vertices.max(axis=0)) / 2
        np.testing.assert_allclose(middle, [0.2, 0.0, 0.1], atol=1e-3)


# -- the RViz config -------------------------------------------------------------------


CONFIGS = ('gripsim.rviz', 'gripsim_live.rviz')
FORCES = FingerForces(('thumb',), ('sdh_thumb_3_link',), np.array([1.0]), np.array([0.9]))


def manager(config):
    """Return what a config tells RViz."""
    path = share_directory() / 'config' / config
    return yaml.safe_load(path.read_text(encoding='utf-8'))['Visualization Manager']


def displays(config, kind='MarkerArray'):
    """Return the displays of a kind in a config."""
    return [d for d in manager(config)['Displays'] if d['Class'].endswith(f'/{kind}')]


@lru_cache(maxsize=1)
def marker_arrays():
    """Return what each topic may show: topic -> arrays that name all its namespaces."""
    hand, grasp, body = load_default_hand(), made_up_grasp(1), apple()
    arm = arm_markers(list(zip(planned_arm().meshes, repeat(np.eye(4)))), FRAME)
    return {'closing/arm_markers': arm,
            'plan/markers': grasp_markers(grasp, body, hand, FRAME, OBSTACLES),
            'ranked_grasps': ranked_markers([grasp], FRAME, hand),
            'closing/markers': closing_markers(grasp, 1.0, grasp, body, hand, FRAME),
            'live/markers': live_markers(*pinch(), hand, FRAME),
            'execution/markers': force_markers(FORCES, hand, np.zeros(7), FRAME)}


@pytest.mark.parametrize('config, shown', [
    ('gripsim.rviz', {'plan/markers', 'closing/markers', 'closing/arm_markers'}),
    ('gripsim_live.rviz', {'live/markers', 'execution/markers'})])
def test_nothing_is_shown_twice_at_the_start(config, shown):
    """A plan and a live hand have the same object; the planner takes grasp or closing away."""
    assert {d['Topic']['Value'] for d in displays(config) if d['Enabled']} == shown


def test_the_robot_is_shown_where_joints_are_measured_only():
    assert not displays('gripsim.rviz', 'RobotModel')
    robot, = displays('gripsim_live.rviz', 'RobotModel')
    assert robot['Alpha'] == 1 and robot['Description Topic']['Value'] == 'robot_description'


@pytest.mark.parametrize('config', CONFIGS)
def test_legends_face_the_start_view(config):
    view, names = manager(config)['Views']['Current'], ('Yaw', 'Pitch')
    assert [view[name] for name in names] == [START_YAW, START_PITCH]
    assert set(view['Focal Point'].values()) == {0}


@pytest.mark.parametrize('config', CONFIGS)
def test_every_topic_of_the_rviz_config_is_published_with_its_quality(config):
    sources = ''.join(path.read_text() for path in (PACKAGE / 'ros' / 'nodes').rglob('*.py'))
    published = dict(re.findall(
        r"create_publisher\(\s*MarkerArray, '([\w/]+)', (\w+)\(", sources))
    for quality in (d['Topic'] for d in displays(config)):
        late = published[quality['Value']] == 'latched'
        assert quality['Durability Policy'] == ('Transient Local' if late else 'Volatile')
        assert quality['Reliability Policy'] == ('Reliable' if late else 'Best Effort')


def test_every_topic_is_in_some_config():
    assert {d['Topic']['Value'] for c in CONFIGS for d in displays(c)} == set(marker_arrays())


@pytest.mark.parametrize('config', CONFIGS)
def test_every_namespace_is_shown_and_none_is_made_up(config):
    for display in displays(config):
        known = {m.ns for m in marker_arrays()[display['Topic']['Value']].markers}
        shown = {name: name not in BOX_LAYERS for name in known}
        assert display['Namespaces'] == shown, display['Name']


# -- pictures --------------------------------------------------------------------------


@pytest.mark.parametrize('topic', ['plan/markers', 'ranked_grasps', 'closing/markers',
                                   'closing/arm_markers', 'live/markers', 'execution/markers'])
def test_every_layer_can_be_drawn(topic):
    shapes, labels = shapes_of(marker_arrays()[topic])
    for shape in shapes:
        assert np.isfinite(shape.vertices).all() and shape.faces.max() < len(shape.vertices)
        assert shape.colours.shape == shape.vertices.shape and 0.0 < shape.alpha <= 1.0
    picture = np.asarray(draw_markers([marker_arrays()[topic]], (160, 140)))
    assert picture.shape == (140, 160, 3) and picture.std() > 5.0


def test_boxes_and_regions_are_drawn_where_they_are_asked_for():
    array = marker_arrays()['plan/markers']
    assert added(array, 'boxes') and added(array, 'regions')

    def orange(boxes):
        rgb = np.asarray(draw_markers([array], (160, 140), boxes=boxes), int)
        return int((rgb @ [1, 0, -1] > 100).sum())
    assert orange(True) > orange(False) + 50


def test_pressed_spots_are_seen_in_the_picture():
    hand, grasp = load_default_hand(), made_up_grasp(1)

    def red(state):
        array = closing_markers(grasp, 1.0, state, apple(), hand, FRAME)
        array.markers = [m for m in array.markers if m.ns in ('object', 'deformation')]
        rgb = np.asarray(draw_markers([array], (160, 140)), int)
        return int(((rgb[..., 0] - rgb[..., 1]) > 60).sum())
    assert red(None) == 0 and red(grasp) > 20


# -- the service -----------------------------------------------------------------------


class FakeNode:
    """What ``ClosingShow`` needs of a planner node; its stages answer as told."""

    def __init__(self, outcome=DONE):
        self.hand, self.options, self.errors, self.arrays = load_default_hand(), None, [], []
        self.outcome, self.sessions, self.joints = outcome, [], []
        self.hidden = 0
        self.shown = SimpleNamespace(hide_grasp=self._hide)
        self.next_request_id = lambda: '1'
        self.report_error = self.errors.append
        self.dispatcher = SimpleNamespace(submit=self.sessions.append, prepared=self._prepared)

    def _hide(self):
        self.hidden += 1

    def _prepared(self, session, planner, object_id):
        session.outcome = self.outcome
        session.done.set()

    def publish(self, array):
        """Keep what is published."""
        (self.joints if isinstance(array, JointState) else self.arrays).append(array)


def show(outcome=DONE, monkeypatch=None, count=2):
    """Return a show with grasps, and its node."""
    node = FakeNode(outcome)
    closing = ClosingShow(node)
    closing.publisher = closing.arm_publisher = node
    keep(closing, *(made_up_grasp(k + 1) for k in range(count)))
    if monkeypatch is not None:
        monkeypatch.setattr(
            'gripsim_ros.ros.nodes.planner.closing_shown.GraspEvaluator',
            lambda *given: SimpleNamespace(ranked=lambda: [made_up_grasp(1)]))
    return closing, node


def keep(closing, *grasps, way=None):
    """Have a show keep the grasps of an answer, all with the way of an arm."""
    closing.keep([(grasp, way) for grasp in grasps],
                 SimpleNamespace(grasp_object=apple(), task=None), FRAME)


def asked(closing, rank=1, fraction=1.0, duration=0.0, whole=False):
    """Return the answer of the service."""
    return closing.serve(ShowClosing.Request(rank=rank, fraction=fraction, duration=duration,
                                             whole=whole), ShowClosing.Response())


@pytest.mark.parametrize('values, said', [
    ((0, 0.5, 0.0), 'rank must be from 1 to 2'), ((3, 0.5, 0.0), 'rank must be'),
    ((1, 1.5, 0.0), 'fraction must be'), ((1, float('nan'), 0.0), 'fraction must be'),
    ((1, 0.5, -1.0), 'duration must be'), ((1, 0.5, float('inf')), 'duration must be'),
    ((1, 0.5, 1e6), 'duration must be')])
def test_what_cannot_be_shown_is_said(values, said):
    closing, node = show()
    answer = asked(closing, *values)
    assert not answer.success and said in answer.message
    assert not node.arrays and not node.errors


def test_without_a_plan_there_is_nothing_to_show():
    answer = asked(ClosingShow(FakeNode()))
    assert not answer.success and 'no plan' in answer.message


def test_the_grasp_itself_needs_no_stage():
    closing, node = show()
    answer = asked(closing, rank=2)
    assert answer.success and 'grasp 2 at 100 %' in answer.message and 'kPa' in answer.message
    assert not node.sessions and added(node.arrays[0], 'deformation')
    assert node.hidden == 1


def test_a_new_plan_takes_the_closing_away():
    closing, node = show()
    keep(closing, made_up_grasp(1))
    assert not node.arrays      # nothing was shown
    asked(closing)
    keep(closing, made_up_grasp(1))
    assert added(node.arrays[0], 'hand') and {m.action for m in node.arrays[1].markers} == {
        Marker.DELETEALL}
    assert {m.ns for m in node.arrays[1].markers} == {m.ns for m in node.arrays[0].markers}


def test_a_moment_is_asked_of_the_stages(monkeypatch):
    closing, node = show(DONE, monkeypatch)
    answer = asked(closing, fraction=0.5)
    assert answer.success and '3 contacts' in answer.message
    assert len(node.sessions) == 1 and added(node.arrays[0], 'deformation')


def test_without_stages_the_hand_is_shown_alone(monkeypatch):
    closing, node = show(STAGE_MISSING, monkeypatch)
    answer = asked(closing, fraction=0.5)
    assert answer.success and 'untouched' in answer.message
    assert added(node.arrays[0], 'hand') and not added(node.arrays[0], 'deformation')


def test_a_closing_is_played_to_its_end():
    closing, node = show()
    done = threading.Event()

    def keep(array):
        node.arrays.append(array)
        if added(array, 'deformation'):
            done.set()
    node.publish = keep
    assert asked(closing, fraction=0.25, duration=0.3).success
    assert done.wait(60.0)
    moments = [int(re.search(r'(\d+) %', added(a, 'moment')[0].text)[1]) for a in node.arrays]
    assert moments == sorted(moments) and moments[0] >= 25 and moments[-1] == 100
    assert not node.errors


def show_carried():
    """Return a show of a grasp with a way and one without, and its node."""
    closing, node = show()
    keep(closing, made_up_grasp(1, reach=reach()), made_up_grasp(2))
    return closing, node


def test_a_moment_of_the_whole_motion_needs_no_stage():
    closing, node = show_carried()
    moments = whole_motion(made_up_grasp(1, reach=reach()))
    answer = asked(closing, fraction=0.5, whole=True)
    moment = moment_at(moments, 0.5)
    assert answer.success and answer.message.endswith(f'of its motion: {moment.phase}')
    shown = added(node.arrays[-1], 'object')[0].pose.position
    np.testing.assert_allclose((shown.x, shown.y, shown.z), moment.T_object_moved[:3, 3],
                               atol=ATOL_ROUNDOFF)
    assert not node.sessions
    answer = asked(closing, rank=2, fraction=0.5, whole=True)
    assert not answer.success and 'plan with a displacement' in answer.message
    assert not asked(closing, fraction=1.5, whole=True).success


def test_an_arm_is_told_where_a_moment_of_its_motion_has_it_and_when_it_is_to_go():
    grasp, (closing, node) = made_up_grasp(1, reach=reach()), show()
    arm, motion = planned_arm(), brought(grasp).arm_motion
    palms = np.array([arm.palm_pose(row) for row in motion.joints])
    keep(closing, grasp, way=ArmWay(motion.joint_names, motion.joints, motion.phases, palms))
    for fraction, phase in ((0.0, 'reaching'), (1.0, 'retreat')):
        assert asked(closing, fraction=fraction, whole=True).message.endswith(phase)
        assert node.joints[-1].header.frame_id == FRAME.frame_id
        assert list(node.joints[-1].name) == list(arm.arm.joint_names)
    np.testing.assert_allclose([msg.position for msg in node.joints], motion.joints[[0, -1]])
    asked(closing)              # a moment of the closing has no arm
    assert [len(msg.name) for msg in node.joints] == [6, 6, 0]
    asked(closing)
    asked(closing, fraction=0.5, whole=True)
    keep(closing, grasp)
    assert [len(msg.name) for msg in node.joints] == [6, 6, 0, 6, 0]
    shown = arm_markers(arm.parts_at(moment_at(motion_of(brought(grasp), arm), 0.0)), FRAME)
    assert assert_fit_for_rviz(shown) == {'arm'} and len(added(shown, 'arm')) == len(arm.meshes)
    beside = [(part, T) for part, T in zip(arm.meshes, repeat(np.diag([-1.0, -1.0, 1.0, 1.0])))]
    both = added(arm_markers([], FRAME, beside), 'arm')
    assert len(both) == len(beside) and both[0].color != added(shown, 'arm')[0].color
    assert not added(arm_markers((), FRAME), 'arm')


def test_a_whole_motion_is_played_to_its_end():
    closing, node = show_carried()
    done = threading.Event()

    def keep(array):
        node.arrays.append(array)
        if 'retreat' in added(array, 'moment')[0].text:
            done.set()
    node.publish = keep
    assert asked(closing, fraction=0.25, duration=0.3, whole=True).success
    assert done.wait(60.0)
    assert not node.errors


def test_the_next_request_ends_what_is_played():
    closing, node = show()
    assert asked(closing, fraction=0.0, duration=60.0).success
    playing = [t for t in threading.enumerate() if '_play' in t.name]
    assert asked(closing, rank=2).success
    for thread in playing:
        thread.join(60.0)
        assert not thread.is_alive()
    assert '2:' in added(node.arrays[-1], 'moment')[0].text


def test_a_moment_on_its_way_is_not_shown_after_the_next_request(monkeypatch):
    closing, node = show()
    halfway, go_on = threading.Event(), threading.Event()
    asker = threading.get_ident()

    def draw(*given):
        if threading.get_ident() != asker:
            halfway.set()
            go_on.wait(60.0)
        return closing_markers(*given)
    monkeypatch.setattr('gripsim_ros.ros.nodes.planner.closing_shown.closing_markers', draw)
    assert asked(closing, fraction=0.0, duration=60.0).success
    playing = [t for t in threading.enumerate() if '_play' in t.name]
    assert halfway.wait(60.0)
    assert asked(closing, rank=2).success
    go_on.set()
    for thread in playing:
        thread.join(60.0)
        assert not thread.is_alive()
    assert ['2:' in added(array, 'moment')[0].text for array in node.arrays] == [True]
