"""The least friction that lets a body rest: tangential, balancing, spread like the pressures."""

from types import SimpleNamespace

from hypothesis import given, settings, strategies as st
import numpy as np
from numpy.testing import assert_allclose

from gripsim_ros.core.mechanics.deformation.friction import least_friction

seeds = st.integers(0, 2 ** 32 - 1)


def pressed(rng, patches=3, nodes=5):
    """Return pressures of patches with parallel normals within each, on a ball of unit size."""
    normals = rng.normal(size=(patches, 3))
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    sizes = rng.uniform(0.5, 2.0, (patches, nodes))
    points = -normals[:, None] + 0.1 * rng.normal(size=(patches, nodes, 3))
    forces = sizes[:, :, None] * normals[:, None]
    return SimpleNamespace(
        points=points.reshape(-1, 3), forces=forces.reshape(-1, 3),
        offsets=nodes * np.arange(patches + 1), totals=forces.sum(axis=1),
        centres=(sizes[:, :, None] * points).sum(axis=1) / sizes.sum(axis=1)[:, None])


@given(seed=seeds)
@settings(max_examples=20)
def test_friction_is_tangential_and_spread_like_the_pressures(seed):
    loads = pressed(np.random.default_rng(seed))
    friction = least_friction(loads, np.zeros(3), 1.0)
    assert_allclose((friction * loads.forces).sum(axis=1), 0.0, atol=1e-12)
    shares = (np.linalg.norm(friction, axis=1) / np.linalg.norm(loads.forces, axis=1)).reshape(
        3, -1)
    assert_allclose(shares, shares[:, :1] * np.ones(shares.shape[1]), rtol=1e-9, atol=1e-12)


@given(seed=seeds)
@settings(max_examples=20)
def test_nothing_else_of_the_kind_leaves_less_and_none_is_needed_where_pressures_balance(seed):
    rng = np.random.default_rng(seed)
    loads = pressed(rng, patches=6)
    friction = least_friction(loads, np.zeros(3), 1.0)
    wrench = np.concatenate([(loads.forces + friction).sum(axis=0),
                             np.cross(loads.points, loads.forces + friction).sum(axis=0)])
    before = np.concatenate([loads.forces.sum(axis=0),
                             np.cross(loads.points, loads.forces).sum(axis=0)])
    assert np.linalg.norm(wrench) < 0.2 * np.linalg.norm(before) + 0.1
    pair = SimpleNamespace(
        points=np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]), offsets=np.arange(3),
        forces=np.array([[0.0, 0.0, -1.0], [0.0, 0.0, 1.0]]))
    pair.centres, pair.totals = pair.points, pair.forces
    assert_allclose(least_friction(pair, np.zeros(3), 1.0), 0.0, atol=1e-12)


def test_without_patches_there_is_none():
    loads = pressed(np.random.default_rng(1), patches=0)
    assert least_friction(loads, np.zeros(3), 1.0).shape == (0, 3)
