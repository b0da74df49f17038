"""The cut through an object: where it lies, what it moves with, what is drawn."""

from dataclasses import replace

from hypothesis import given, settings, strategies as st
import numpy as np
from numpy.testing import assert_allclose
from plan_cases import made_up_answer
import trimesh

from scipy.spatial.transform import Rotation

from gripsim_ros.apps.report.section_picture import centre_line, cut_section, draw_section, SIZE
from gripsim_ros.core.transforms import apply, from_rotation_vector
from gripsim_ros.library.drawing.scene import told_in_own_frame

RADIUS = 0.04
#: Chords of an icosphere's faces lie inside the ball by this share of its radius.
RTOL_FACETS = 2e-3
ATOL_ROUNDOFF = 1e-12

seeds = st.integers(0, 2 ** 32 - 1)


def ball_section(seed, deform=lambda vertices: vertices):
    """Return the cut of a ball by a plane through its centre, and the ball's vertices."""
    ball = trimesh.creation.icosphere(4, RADIUS)
    vertices = np.array(ball.vertices) + [0.1, -0.2, 0.3]
    axes = Rotation.random(random_state=seed).as_matrix()[:2]
    return cut_section(vertices, np.array(ball.faces), deform(vertices), vertices[:, 0],
                       np.array([0.1, -0.2, 0.3]), axes)


@given(seed=seeds)
@settings(max_examples=15)
def test_a_ball_is_cut_in_a_closed_circle(seed):
    section = ball_section(seed)
    assert_allclose(np.linalg.norm(section.before, axis=2), RADIUS, rtol=RTOL_FACETS)
    lengths = np.linalg.norm(section.before[:, 1] - section.before[:, 0], axis=1)
    assert_allclose(lengths.sum(), 2.0 * np.pi * RADIUS, rtol=RTOL_FACETS)
    ends = np.round(section.before.reshape(-1, 2), 9)
    assert (np.unique(ends, axis=0, return_counts=True)[1] % 2 == 0).all()


@given(seed=seeds)
@settings(max_examples=15)
def test_the_cut_moves_with_the_material(seed):
    rng = np.random.default_rng(seed)
    matrix, shift = rng.normal(size=(3, 3)), rng.normal(size=3)
    section = ball_section(seed, lambda vertices: vertices @ matrix.T + shift)
    points = section.origin + section.before @ section.axes
    assert_allclose(section.after, section.flatten(points @ matrix.T + shift), atol=1e-9)


@given(seed=seeds)
@settings(max_examples=10)
def test_pressures_are_those_at_the_cut(seed):
    section = ball_section(seed)
    points = (section.origin + section.before @ section.axes).mean(axis=1)
    assert_allclose(section.pressures, points[:, 0], atol=1e-9)


def test_a_plane_beside_the_object_cuts_nothing():
    ball = trimesh.creation.icosphere(2, RADIUS)
    section = cut_section(np.array(ball.vertices), np.array(ball.faces),
                          np.array(ball.vertices), np.zeros(len(ball.vertices)),
                          np.array([0.0, 0.0, 1.0]), np.eye(3)[:2])
    assert len(section.before) == 0


def colours_of(picture):
    """Return how many pixels have each colour."""
    values, counts = np.unique(np.array(picture).reshape(-1, 3), axis=0, return_counts=True)
    return {tuple(map(int, value)): int(count) for value, count in zip(values, counts)}


def test_the_picture_shows_the_pressure_only_where_there_is_one():
    answer = made_up_answer()
    grasp = answer.grasps[0]
    idle = replace(grasp, vertex_pressures=np.zeros_like(grasp.vertex_pressures))
    pictures = [draw_section(replace(answer, grasps=[each])) for each in (grasp, idle)]
    assert all(picture.size == SIZE for picture in pictures)
    red = [sum(count for (r, g, b), count in colours_of(picture).items()
               if r > 200 and g < 170 and b < 110) for picture in pictures]
    # What is left without pressure is the legend's.
    assert red[0] > 2 * red[1] > 0


def test_without_a_deformed_surface_there_is_no_picture():
    answer = made_up_answer()
    bare = replace(answer.grasps[0], vertices=None)
    assert draw_section(replace(answer, grasps=[bare])) is None


def test_settling_is_no_part_of_the_deformation_shown():
    answer = made_up_answer()
    T = from_rotation_vector(np.array([1e-3, -2e-3, 5e-4, 0.02, 0.01, -0.03]))
    grasp = answer.grasps[0]
    settled = replace(
        grasp, T_object_settled=T, vertices=apply(T, grasp.vertices),
        centre_of_mass=apply(T, grasp.centre_of_mass[None])[0], contacts=tuple(
            replace(contact, point=apply(T, contact.point[None])[0],
                    normal=T[:3, :3] @ contact.normal, force=T[:3, :3] @ contact.force)
            for contact in grasp.contacts))
    back = told_in_own_frame(settled)
    assert_allclose(back.vertices, grasp.vertices, atol=ATOL_ROUNDOFF)
    assert_allclose(back.centre_of_mass, grasp.centre_of_mass, atol=ATOL_ROUNDOFF)
    for mine, theirs in zip(back.contacts, grasp.contacts):
        for name in ('point', 'normal', 'force'):
            assert_allclose(getattr(mine, name), getattr(theirs, name), atol=ATOL_ROUNDOFF)


def test_the_shift_of_the_centre_is_told_as_the_summary_tells_it():
    line = centre_line(np.array([3.0, 0.0, 4.0]), 3.0, 12.5e-6, 200.0)
    assert line.startswith('centre of mass moved 5.0 um (12.5 um against the body), 3.0 um in')
    assert 'against' not in centre_line(np.zeros(3), 0.0, np.nan, 1.0)
