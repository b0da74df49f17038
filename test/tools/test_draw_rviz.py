"""RViz's picture of our markers: drawn by its rules, and changed only knowingly."""

from functools import lru_cache
from pathlib import Path
import sys

import numpy as np
from PIL import Image
import pytest
from scipy.spatial.transform import Rotation
import yaml

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

from marker_cases import pinch  # noqa: E402
from plan_cases import apple, made_up_grasp  # noqa: E402
from visualization_msgs.msg import Marker, MarkerArray  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tools'))

import draw_rviz  # noqa: E402
from gripsim_ros.core.hand import forward_kinematics  # noqa: E402
from gripsim_ros.core.transforms import apply  # noqa: E402
from gripsim_ros.library.resources import load_default_hand  # noqa: E402
from gripsim_ros.ros.conversions import pose_from_msg  # noqa: E402
from gripsim_ros.ros.markers import (  # noqa: E402
    closing_markers, FingerForces, force_markers, grasp_markers, live_markers, MarkerFrame)
from gripsim_ros.ros.markers.layers import Layers  # noqa: E402
from gripsim_ros.ros.markers.legend import start_axes, TEXT, word_width  # noqa: E402

REFERENCE = ROOT / 'test' / 'data' / 'rviz.png'
SIZE = (320, 240)
#: Levels of 256 by which a pixel may differ, and the share of pixels that may differ more: edges
#: and letters, where another version of numpy or Pillow rounds otherwise.
LEVELS, SHARE = 16, 0.01
FRAMES = {'world': np.eye(4), 'object': np.eye(4)}
BOX = np.array([[1, 0.2, 0.2, 0.02, 1, 0, 0, 0.0, 0, 1, 0, 0.0, 0, 0, 1, -0.06]])


@lru_cache(maxsize=1)
def scenes():
    """Return what is shown before a plan, after it, while it closes, and live."""
    hand, body, grasp, frame = load_default_hand(), apple(), made_up_grasp(1), MarkerFrame('world')
    return [('gripsim.rviz', {'plan/markers': grasp_markers(None, body, hand, frame, BOX)}),
            ('gripsim.rviz', {'plan/markers': grasp_markers(grasp, body, hand, frame)}),
            ('gripsim.rviz', {'closing/markers': closing_markers(
                grasp, 0.5, None, body, hand, frame)}),
            ('gripsim_live.rviz', {'live/markers': live_markers(
                *pinch(), hand, MarkerFrame('object'))})]


def draw(config, arrays):
    return np.asarray(draw_rviz.draw(ROOT / 'config' / config, arrays, FRAMES, SIZE))


@lru_cache(maxsize=1)
def pictures():
    """Return the scenes beside each other."""
    return np.concatenate([draw(*scene) for scene in scenes()], axis=1)


@pytest.mark.nightly     # by day the parts of which it is drawn
def test_the_picture_is_the_one_that_was_looked_at():
    """Where it is to change: look at what ``Image.fromarray(pictures())`` shows, and commit it."""
    expected = np.asarray(Image.open(REFERENCE).convert('RGB')).astype(int)
    assert pictures().shape == expected.shape
    differs = np.abs(pictures().astype(int) - expected).max(axis=2) > LEVELS
    assert differs.mean() < SHARE


@pytest.mark.parametrize('k', range(4))
def test_rviz_has_nothing_to_complain_of(k):
    for array in scenes()[k][1].values():
        assert not draw_rviz.troubles(array, FRAMES)


def test_what_rviz_complains_of_is_told():
    array = grasp_markers(None, apple(), load_default_hand(), MarkerFrame('nowhere'))
    array.markers.append(array.markers[-1])
    told = draw_rviz.troubles(array, FRAMES)
    assert any("frame 'nowhere' does not exist" in line for line in told)
    assert any('twice' in line for line in told)


def colours(array):
    """Return the colours seen when only an array is shown."""
    return {tuple(rgb) for rgb in draw('gripsim.rviz', {'plan/markers': array}).reshape(-1, 3)}


def ball(alpha=1.0, coloured=False):
    """Return a mesh in red before nothing."""
    layers = Layers(MarkerFrame('world'))
    mesh = apple().mesh
    marker = layers.mesh('object', mesh.vertices, mesh.faces, (1.0, 0.0, 0.0, alpha))
    marker.colors = [marker.color] * (len(marker.points) if coloured else 0)
    return layers.array


def test_triangles_with_colours_are_not_lit():
    reds = {c[0] for c in colours(ball()) if c[1] == 0}
    assert len(reds) > 20
    assert {c[0] for c in colours(ball(coloured=True)) if c[1] == 0} == {255}


@pytest.mark.parametrize('alpha, hidden', [
    pytest.param(1.0, True, marks=pytest.mark.nightly), (0.95, False)])
def test_what_is_transparent_hides_nothing(alpha, hidden):
    """A green rod through the object: seen where alpha is below 1."""
    array = ball(alpha)
    layers = Layers(MarkerFrame('world'))
    layers.lines('rod', np.array([[0.0, 0.0, -0.02]]), np.array([[0.0, 0.0, 0.02]]),
                 (0.0, 1.0, 0.0, 1.0), 0.01)
    array.markers += layers.array.markers
    shown = draw('gripsim.rviz', {'plan/markers': array}).astype(int)
    greens = (shown[..., 1] > 5) & (shown[..., 0] > 60) & (shown[..., 2] == 0)
    assert bool(greens.sum() > 50) != hidden


@pytest.mark.parametrize('blank, wide', [
    pytest.param(0.0, True, marks=pytest.mark.nightly), (0.0044, False)])
def test_blanks_are_as_wide_as_the_message_says(blank, wide):
    layers = Layers(MarkerFrame('world'))
    layers.text('ranks', np.zeros(3), 'a b', 0.008)
    text = next(m for m in layers.array.markers if m.action == Marker.ADD)
    text.scale.x = blank
    empty = draw('gripsim.rviz', {}).astype(int)
    written = draw('gripsim.rviz', {'plan/markers': MarkerArray(markers=[text])}).astype(int)
    columns = np.flatnonzero((np.abs(written - empty).max(axis=2) > 60).any(axis=0))
    assert (len(columns) == 0 or np.ptp(columns) > 100) == wide


def measured_hand(k):
    """Return points (n, 3) of the hand that RViz shows beside the markers of a scene."""
    if k != 3:
        return np.zeros((0, 3))
    hand, asked = load_default_hand(), pinch()[0].configurations
    poses = asked.T_object_palm[0] @ forward_kinematics(hand, asked.joint_positions[:1])[0]
    return np.concatenate([apply(pose, link.mesh.vertices)
                           for link, pose in zip(hand.links, poses)])


@pytest.mark.parametrize('k, explaining', [
    (1, {'pressure_legend', 'scale'}), (2, {'scale', 'moment'}),
    (3, {'pressure_legend', 'scale'})])
def test_legends_and_hand_do_not_overlap(k, explaining):
    """In the start view, words begin right of, or end left of, all of hand and object."""
    camera = draw_rviz.start_camera({'Yaw': 0.8, 'Pitch': 0.5, 'Distance': 50.0,
                                     'Focal Point': dict.fromkeys('XYZ', 0)}, (1000, 1000))
    array, = scenes()[k][1].values()
    columns = {True: [], False: list(camera.project(measured_hand(k))[:, 0])}
    for marker in array.markers:
        explains = marker.ns in explaining
        if marker.action == Marker.ADD and (
                explains or marker.ns in ('hand', 'deformation', 'object')):
            p, points = marker.pose.position, np.array([(p.x, p.y, p.z) for p in marker.points])
            T = pose_from_msg(marker.pose)
            points = apply(T, points) if len(points) else np.array([[p.x, p.y, p.z]])
            half = 0.5 * camera.focal_length / 50.0 * word_width(marker.text)
            across = camera.project(points)[:, 0]
            columns[explains] += [across.min() - half, across.max() + half]
    assert len(columns[True]) > 8
    assert (min(columns[True]) > max(columns[False])) or (max(columns[True]) < min(columns[False]))


@pytest.mark.parametrize('tilt', np.linspace(0.0, 2.0 * np.pi, 7)[:-1])
def test_texts_of_forces_are_as_large_as_the_legend_and_beside_their_bars(tilt):
    """Their words stand beyond the bar's end, wherever the bar points in the start view."""
    hand, eye = load_default_hand(), np.array([0.61, 0.63, 0.48])
    forces = FingerForces(('thumb',), ('sdh_thumb_3_link',), np.array([4.0]), np.array([3.0]))
    array = force_markers(forces, hand, np.zeros(7), MarkerFrame('object', turn(eye, tilt)))
    text, = [m for m in array.markers if m.type == Marker.TEXT_VIEW_FACING]
    assert text.scale.z == TEXT
    right, up = start_axes()
    p, half = text.pose.position, (0.5 * word_width(text.text), 0.5 * TEXT)
    middle = np.array([p.x, p.y, p.z])
    for bar in (m for m in array.markers if m.type == Marker.CYLINDER):
        T = pose_from_msg(bar.pose)
        along = np.linspace(-0.5, 0.5, 50)[:, None] * bar.scale.z * T[:3, 2] + T[:3, 3] - middle
        assert not ((abs(along @ right) < half[0]) & (abs(along @ up) < half[1])).any()


def turn(axis, angle):
    """Return the rotation (4, 4) about an axis."""
    T = np.eye(4)
    T[:3, :3] = Rotation.from_rotvec(angle * axis / np.linalg.norm(axis)).as_matrix()
    return T


@pytest.mark.parametrize('text, pixels', [
    ('contact', 22), ('untouched', 31), ('centre of mass', 47)])
def test_words_are_as_wide_as_rviz_draws_them(text, pixels):
    """RViz 14.1.5 drew letters of 6 mm so wide at 1,315 pixels a metre."""
    assert word_width(text) / TEXT == pytest.approx(pixels / 1315.0 / 0.006, rel=0.1)


def test_words_can_be_read_in_the_start_view():
    """In a window 700 pixels high, of which RViz's capitals take 0.6 of a text's size."""
    view = yaml.safe_load((ROOT / 'config' / 'gripsim.rviz').read_text())[
        'Visualization Manager']['Views']['Current']
    pixels = draw_rviz.start_camera(view, (700, 700)).focal_length / view['Distance']
    sizes = [marker.scale.z for _, arrays in scenes() for array in arrays.values()
             for marker in array.markers if marker.text]
    assert len(sizes) > 20 and 0.6 * min(sizes) * pixels > 8.0
