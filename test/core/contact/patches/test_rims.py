"""Nodes beside a rim of the indenter: their areas, places and overlaps."""

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest
from scipy.spatial.transform import Rotation
import trimesh

from gripsim_ros.core.bodies import shapes
from gripsim_ros.core.contact import ContactMesh, MeshIndenter, sample_patch, SphereIndenter
from gripsim_ros.core.contact import PatchOptions
from gripsim_ros.core.contact.patches import patch as sampling
from gripsim_ros.core.mechanics.contact.contact_forces import (
    nodes_of, solve_contact_forces)
from gripsim_ros.core.transforms import transform

#: Of a bar whose rim digs into a plane: side, deepest overlap [m], and lean [rad].
BAR, DEPTH, LEAN = 6e-3, 3e-4, np.deg2rad(5.0)
#: How far its side steps back beside the rim, and its length [m].
STEP, LENGTH = 2e-3, 20e-3
#: Of the overlap: what nodes tell by whole squares where it fades, at its shallow end.
RTOL_AREA, RTOL_VOLUME = 0.15, 0.07
#: Of the force about a smooth curve of the depth, by 120 nodes: 0.014 where rims are not told.
RTOL_FORCE = 0.008
#: Of a rigid square punch over E*, side and depth: Johnson 1985 has 1.15, finer grids 1.1523.
SQUARE_PUNCH, RTOL_PUNCH = 1.1523, 0.03
MODULUS = 1e6
PLATE = ContactMesh(shapes.box([0.2, 0.2, 0.04]))
DOWN = np.array([0.0, 0.0, -1.0])


def plain_bar():
    """Return a bar of a square section."""
    mesh = shapes.box([BAR, BAR, LENGTH])
    return MeshIndenter.from_arrays(mesh.vertices, mesh.faces)


def stepped_bar():
    """Return a bar with a tread beside its end, as high above it as the step."""
    outline = np.array([[-0.5 * BAR, 0.0], [0.5 * BAR, 0.0], [0.5 * BAR, STEP],
                        [1.5 * BAR, STEP], [1.5 * BAR, LENGTH], [-0.5 * BAR, LENGTH]])
    ends = [np.insert(outline, 1, y, axis=1) for y in (-0.5 * BAR, 0.5 * BAR)]
    cap = np.array([[0, 1, 2], [0, 2, 5], [2, 3, 4], [2, 4, 5]])
    k = np.arange(6)
    after = (k + 1) % 6
    sides = np.concatenate([np.column_stack([k, after, after + 6]),
                            np.column_stack([k, after + 6, k + 6])])
    mesh = trimesh.Trimesh(np.concatenate(ends), np.concatenate([cap, cap + 6, sides]))
    trimesh.repair.fix_normals(mesh)
    return MeshIndenter.from_arrays(np.array(mesh.vertices), np.array(mesh.faces))


def pressed(indenter, way, turn, count, depth=DEPTH):
    """Return the patch of a leaning link."""
    rotation = Rotation.from_euler('ZY', [turn, LEAN]).as_matrix()
    lowest = (indenter.mesh.vertices @ rotation.T)[:, 2].min()
    pose = transform(rotation, np.array([*way, 0.02 - depth - lowest]))
    patch, = sample_patch(PLATE, indenter, pose, DOWN, PatchOptions(node_count=count))
    return patch


def overlap(indenter, way, turn, count):
    """Return the area and the volume [m^2, m^3] that nodes have of a leaning link's overlap."""
    patch = pressed(indenter, way, turn, count)
    depths = np.maximum(patch.depths, 0.0)
    return patch.areas[patch.depths > 0.0].sum(), patch.areas @ depths


WAYS = st.tuples(*[st.floats(-1e-3, 1e-3)] * 2)


@pytest.mark.parametrize('made', [plain_bar, stepped_bar])
@given(way=WAYS, turn=st.floats(-3.0, 3.0), count=st.integers(50, 200))
@settings(max_examples=25, deadline=None)
def test_the_rim_of_a_bar_that_leans_bounds_what_it_presses(made, way, turn, count):
    area, volume = overlap(made(), way, turn, count)
    length = DEPTH / np.tan(LEAN)
    assert_allclose(area, BAR * length, rtol=RTOL_AREA)
    assert_allclose(volume, 0.5 * BAR * length * DEPTH, rtol=RTOL_VOLUME)


@pytest.mark.parametrize('made', [plain_bar, stepped_bar])
def test_the_force_of_a_bar_that_leans_grows_evenly_as_it_goes_deeper(made):
    indenter, forces = made(), []
    depths = np.arange(280e-6, 330e-6, 1e-6)
    for depth in depths:
        patch = pressed(indenter, (0.0, 0.0), 0.3, 120, depth)
        forces.append(force_of(patch))
    smooth = np.polynomial.Polynomial.fit(depths, forces, 3)(depths)
    assert np.std(forces - smooth) < RTOL_FORCE * np.mean(forces)


def test_nodes_away_from_rims_are_those_of_the_grid(monkeypatch):
    seen = []

    def look(samples, *others):
        found = fit(samples, *others)
        seen.append((samples, *found))
        return found
    fit = sampling.fit_to_rims
    monkeypatch.setattr(sampling, 'fit_to_rims', look)
    sample_patch(PLATE, SphereIndenter(0.01), transform(np.eye(3), np.array([0.0, 0.0, 0.0295])),
                 DOWN)
    (before, after, shares, spreads), = seen
    assert after is before
    assert_array_equal([shares, spreads], 1.0)


def force_of(patch):
    """Return the force that a rigid link presses a half-space of 1 MPa with [N]."""
    return solve_contact_forces(nodes_of([patch], [0]), MODULUS, {}).forces.sum()


@given(way=WAYS, aslant=st.floats(0.0, 0.785), count=st.integers(60, 200))
@settings(max_examples=25, deadline=None)
def test_a_square_punch_bears_what_theory_says_however_the_grid_lies(way, aslant, count):
    mesh = shapes.box([BAR, BAR, LENGTH])
    turned = Rotation.from_euler('Z', aslant).as_matrix()
    punch = MeshIndenter.from_arrays(mesh.vertices @ turned.T, mesh.faces)
    pose = transform(np.eye(3), np.array([*way, 0.02 - 0.1 * DEPTH + 0.5 * LENGTH]))
    patch, = sample_patch(PLATE, punch, pose, DOWN, PatchOptions(node_count=count))
    assert_allclose(force_of(patch), SQUARE_PUNCH * MODULUS * BAR * 0.1 * DEPTH, rtol=RTOL_PUNCH)
