"""The prescreen's kernels against plain computations of the same numbers."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gripsim_ros.core.bodies import shapes
from gripsim_ros.core.planning.hypotheses import distance_field
from gripsim_ros.core.planning.hypotheses.distance_field import (
    build_distance_field, sample_surface)
from gripsim_ros.core.planning.hypotheses.generate import _prescreen_hand
from gripsim_ros.core.planning.hypotheses.prescreen import (
    count_clearances, distance_at, place_palms, score_closings)
from gripsim_ros.core.transforms import apply, transform
from gripsim_ros.library.resources import load_default_hand

RADIUS, POSES, LIMIT = 0.04, 400, 0.001
#: Trilinear values of a field of samples, in parts of its spacing.
FIELD_ERROR = 1.0
ATOL = 1e-12


@pytest.fixture(scope='module')
def hand():
    return load_default_hand()


@pytest.fixture(scope='module', params=['ball', 'plate'])
def field(request):
    mesh = shapes.sphere(RADIUS) if request.param == 'ball' else shapes.box((0.12, 0.08, 0.004))
    return build_distance_field(mesh)


def palms(seed):
    """Return palms that look at the origin from about where hands grasp, turned at random."""
    generator = np.random.default_rng(seed)
    rotations = Rotation.random(POSES, random_state=seed).as_matrix()
    origins = (generator.normal(0.0, 0.02, (POSES, 3))
               - generator.uniform(0.0, 0.25, (POSES, 1)) * rotations[:, :, 2])
    return transform(rotations, origins)


def test_a_field_of_thinned_samples_is_as_good_as_its_spacing(monkeypatch):
    ball = shapes.sphere(RADIUS, 0.0012)
    built = []
    for most in (len(ball.faces), len(ball.faces) // 2):
        monkeypatch.setattr(distance_field, 'MOST_SAMPLES', most)
        built.append(build_distance_field(ball))
    whole, thinned = built
    assert not np.array_equal(whole.values, thinned.values), 'nothing was thinned'
    np.testing.assert_array_equal(whole.lower, thinned.lower)
    axes = [whole.lower[i] + whole.spacing * np.arange(whole.values.shape[i]) for i in range(3)]
    grid = np.stack(np.meshgrid(*axes, indexing='ij'), axis=-1)
    exact = np.linalg.norm(grid, axis=-1) - RADIUS
    limit = np.sqrt(3.0) * distance_field.THIN_SHARE * whole.spacing
    assert np.abs(thinned.values - exact).max() < limit


def test_thinned_samples_tell_the_two_sides_of_a_thin_wall(monkeypatch):
    plate = shapes.box((0.1, 0.1, 0.0008), 0.001)
    monkeypatch.setattr(distance_field, 'MOST_SAMPLES', len(plate.faces) // 2)
    field = build_distance_field(plate)
    assert field.spacing > 0.0008 / distance_field.THIN_SHARE, 'both sides are in one cube'
    assert (field.values >= 0.0).all()      # no node of the grid lies within the wall


def test_thinned_samples_keep_their_normals():
    ball = shapes.sphere(RADIUS, 0.0005)
    spacing = 0.002
    points, normals = sample_surface(ball, spacing)
    assert len(points) > distance_field.MOST_SAMPLES
    kept, directions = distance_field._thinned(points, normals, spacing)
    assert len(kept) < len(points) / 4
    np.testing.assert_allclose(directions, kept / RADIUS, atol=0.02)
    nearest = np.linalg.norm(points[::500, None] - kept[None], axis=2).min(axis=1)
    assert nearest.max() < np.sqrt(3.0) * spacing


@pytest.mark.parametrize('preshape', [0, 2])
def test_balls_round_the_hand_change_no_answer(hand, field, preshape):
    poses = palms(preshape)
    points, starts, balls = _prescreen_hand(hand, preshape)[-1]
    kept = count_clearances(field, poses, points, starts, balls, np.array([LIMIT]))
    expected = [all(distance_at(field, tuple(point)) >= LIMIT for point in placed)
                for placed in apply(poses, points)]
    assert 0 < sum(expected) < POSES
    np.testing.assert_array_equal(kept, expected)


def test_pads_touch_where_their_way_first_meets_the_ball(hand):
    field = build_distance_field(shapes.sphere(RADIUS))
    poses = palms(7)
    pads, _, free_steps, shares, _ = _prescreen_hand(hand, 0)
    contacts, steps, scores, _ = score_closings(
        field, poses, pads, shares, np.array([0.7, 0.03, 0.08, free_steps, 0.3]))
    touched = steps >= 0
    ways = apply(poses[:, None], pads)
    radii = np.linalg.norm(ways, axis=3)
    met = (radii < RADIUS - FIELD_ERROR * field.spacing).any(axis=2)
    assert met.any()
    assert touched[met].all()
    missed = radii.min(axis=2) > RADIUS + FIELD_ERROR * field.spacing + 0.01
    assert not touched[missed].any()
    clear = met & (radii[:, :, 0] > RADIUS + FIELD_ERROR * field.spacing)
    inside = np.linalg.norm(contacts[clear], axis=1)
    assert (inside < RADIUS + FIELD_ERROR * field.spacing).all()
    assert np.isneginf(scores[touched.sum(axis=1) < 2]).all()


def test_palms_stand_at_their_gap_before_the_nearest_sample(hand):
    generator = np.random.default_rng(3)
    points = generator.normal(0.0, 0.02, (300, 3))
    rotations = Rotation.random(20, random_state=3).as_matrix()
    centroids = generator.normal(0.0, 0.02, (20, 3))
    low, high, gaps = np.array([-0.05, -0.05, -0.1]), np.array([0.05, 0.05, 0.1]), [0.01, 0.05]
    centres = np.array([[0.0, 0.0, 0.2], [0.01, -0.02, 0.15]])
    origins = place_palms(points, rotations, centroids, centres, low, high, np.array(gaps))
    for n, rotation in enumerate(rotations):
        for c, g in np.ndindex(2, 2):
            local = (points - origins[c, n, g]) @ rotation
            over = ((local[:, :2] >= low[:2]) & (local[:, :2] <= high[:2])).all(axis=1)
            assert over.any()
            assert local[over, 2].min() - high[2] == pytest.approx(gaps[g], abs=ATOL)
