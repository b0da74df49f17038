"""Steps of a patch in kernels against the plain formulas."""

from gripsim_ros.core.contact.patch_quality import _at_probes, _probes
from gripsim_ros.core.contact.patches import _mean_normal, _take
from gripsim_ros.core.contact.stage import _direction, MOTIONLESS
from gripsim_ros.core.transforms import apply, inverse, transform
import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest
from scipy.spatial.transform import Rotation

RTOL = 1e-12


def nodes(seed, count=40):
    rng = np.random.default_rng(seed)
    normals = rng.normal(size=(count, 3)) * 0.2 + [0.0, 0.0, 1.0]
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return rng, rng.normal(size=(count, 3)), normals, rng.normal(size=count), normals[:, 2].copy()


def pose(seed, rng):
    return transform(Rotation.random(random_state=seed).as_matrix(), rng.normal(size=3))


@pytest.mark.parametrize('seed', range(4))
def test_the_mean_normal_is_weighted_by_depth_and_area(seed):
    _, _, normals, depths, slopes = nodes(seed)
    deep = depths > 0.0
    total = (depths[deep, None] / slopes[deep, None] * normals[deep]).sum(axis=0)
    overlaps, mean = _mean_normal(normals, depths, slopes)
    assert overlaps
    assert_allclose(mean, total / np.linalg.norm(total), rtol=RTOL)
    assert not _mean_normal(normals, -np.abs(depths), slopes)[0]


@pytest.mark.parametrize('seed', range(4))
def test_chosen_nodes_keep_their_numbers_and_limited_depths(seed):
    rng, points, normals, depths, slopes = nodes(seed)
    chosen = rng.permutation(len(points))[:11]
    taken = _take(chosen, points, normals, depths, slopes, 2.0, 0.5)
    for found, expected in zip(taken, (points[chosen], normals[chosen], 2.0 / slopes[chosen],
                                       np.minimum(depths[chosen], 0.5))):
        assert_array_equal(found, expected)


@pytest.mark.parametrize('seed', range(4))
def test_probes_are_moved_to_the_indenter(seed):
    rng, points, _, depths, _ = nodes(seed)
    own, T = np.flatnonzero(depths > 0.0), pose(seed, rng)
    local, total = _at_probes(own, points, depths, T)
    probes = _probes(own, depths)
    assert_allclose(local, apply(inverse(T), points[probes]), rtol=0.0, atol=RTOL)
    assert_allclose(total, depths[probes].sum(), rtol=RTOL)


@pytest.mark.parametrize('at_centre', [True, False])
def test_a_point_of_a_turning_link_moves_across_the_axis(at_centre):
    rng = np.random.default_rng(5)
    T, twist, centre, at = pose(5, rng), rng.normal(size=6), rng.normal(size=3), rng.normal(size=3)
    place = apply(T, centre[None])[0] if at_centre else at
    velocity = twist[:3] + np.cross(twist[3:], place - T[:3, 3])
    moves, way = _direction(T, twist, centre, np.ones(3), at, at_centre)
    assert moves
    assert_allclose(way, velocity / np.linalg.norm(velocity), rtol=0.0, atol=RTOL)


@pytest.mark.parametrize('share, moves', [(0.0, False), (0.5, False), (2.0, True)])
def test_a_point_beside_the_axis_rests_within_round_off(share, moves):
    half = np.full(3, 2.0 / np.sqrt(12.0))      # a diagonal of length 1
    at = np.array([share * MOTIONLESS, 0.0, 0.0])
    twist = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 3.0])
    assert _direction(np.eye(4), twist, np.zeros(3), half, at, False)[0] == moves
    assert not _direction(np.eye(4), np.zeros(6), np.zeros(3), half, np.ones(3), False)[0]
