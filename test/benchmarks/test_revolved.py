"""Tetrahedra of vessels: closed, of the right volume, fine at contacts; a cup between balls."""

from functools import partial

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest

from gripsim_ros.core.bodies import Material

pytest.importorskip('skfem', reason='finite elements need scikit-fem: run `make bench-setup`')

from benchmarks.finite_elements.revolved import Vessel  # noqa: E402
from benchmarks.finite_elements.soft_bodies import (  # noqa: E402
    bottle, cup, PRESSED, vessel_mesh)
from benchmarks.finite_elements.rims import ball_reach  # noqa: E402
from benchmarks.finite_elements.whole_grip import Link, WholeGrip  # noqa: E402
from gripsim_ros.hardware.sim.solids import outer_faces, tetrahedron_volumes  # noqa: E402

EDGE = 1e-3
#: What chords of cells take away from a circle.
RTOL_CHORDS = 6e-3
#: Of the force, linear finite elements that differ in all but the body.
RTOL_FORCE = 0.04


def _places(vessel, height):
    radius, angles = vessel.outer[:, 0].max(), np.deg2rad([60.0, -60.0, 180.0])
    return np.column_stack([radius * np.cos(angles), radius * np.sin(angles),
                            np.full(3, height)])


@pytest.mark.parametrize('vessel', [cup(3e-3, 4e-3), bottle(1e-3)], ids=['cup', 'bottle'])
class TestVessel:
    """Of any vessel."""

    def test_volume(self, vessel):
        corners, tetrahedra = vessel.fill(_places(vessel, 0.045), EDGE)
        volumes = tetrahedron_volumes(corners, tetrahedra)
        assert (volumes > 0.0).all()
        assert_allclose(volumes.sum(), vessel_mesh(vessel, 1e-3).volume, rtol=RTOL_CHORDS)

    def test_neighbours_share_whole_sides(self, vessel):
        """What is left over is one closed surface: no hanging corner, no crossed diagonals."""
        corners, tetrahedra = vessel.fill(_places(vessel, 0.045), EDGE)
        faces = outer_faces(tetrahedra)
        edges = np.sort(faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
        assert_array_equal(np.unique(edges, axis=0, return_counts=True)[1], 2)
        assert len(corners) == len(np.unique(tetrahedra))
        on_faces = len(np.unique(faces))
        assert on_faces - len(edges) // 2 + len(faces) == 2

    def test_edges_at_contacts(self, vessel):
        places = _places(vessel, 0.045)
        corners, tetrahedra = vessel.fill(places, EDGE, layers=3)
        faces = outer_faces(tetrahedra)
        for place in places:
            near = np.linalg.norm(corners[faces].mean(axis=1) - place, axis=1) < 2.0 * EDGE
            sides = corners[faces[near]] - np.roll(corners[faces[near]], 1, axis=1)
            longest = np.linalg.norm(sides, axis=2).max(axis=1)
            assert near.any() and (longest < 2.0 * np.sqrt(2.0) * EDGE).all()


def test_layers():
    """Corners lie on even layers of a disc."""
    disc = Vessel(np.array([[0.0, 0.0], [0.02, 0.0]]), np.array([[0.0, 3e-3], [0.02, 3e-3]]))
    corners, _ = disc.fill([[0.02, 0.0, 0.0]], EDGE, layers=3)
    assert_allclose(np.unique(corners[:, 2].round(9)), [0.0, 1e-3, 2e-3, 3e-3])


def _cup_between_balls(edge, depth=5e-4, wall=3e-3):
    vessel = cup(wall, 4e-3)
    places = _places(vessel, 0.045)
    balls = places + (0.01 - depth) * places * [1.0, 1.0, 0.0] / 0.04
    links = [Link(str(k), ball_reach(ball, 0.01)) for k, ball in enumerate(balls)]
    return WholeGrip(vessel_mesh(vessel, 5e-4), Material(1e6, 0.45, 500.0, 0.5), links, edge,
                     pressed=PRESSED, fill=partial(vessel.fill, places, grading=0.35))


@pytest.mark.nightly
def test_a_cup_between_three_balls():
    """The force is that of quadratic triangles round the axis, docs/validation, 0.08033 N."""
    pytest.importorskip('pypardiso')
    assert_allclose(_cup_between_balls(6e-4).press(False).sizes, 0.08033, rtol=RTOL_FORCE)
