"""What the referee of whole grips says of links that end."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
import trimesh

pytest.importorskip('skfem', reason='finite elements need scikit-fem: run `make bench-setup`')

from benchmarks.finite_elements.rims import (  # noqa: E402
    covered, exits, facing, mesh_reach)

#: Ways are found by halving a step of 20 um 25 times, or come within a step of a margin [m].
ATOL_WAY = 1e-9
#: A bar that presses upwards: its end is at z = 10 mm, its sides at 3 mm.
REACH = mesh_reach(trimesh.creation.box((6e-3, 6e-3, 20e-3)))
UP = np.array([0.0, 0.0, 1.0])


@pytest.mark.parametrize('way', [0.0, 2.9e-3, 2.99e-3])
def test_what_faces_the_end_leaves_by_it_however_near_the_rim_is(way):
    place = np.array([[way, 1e-4, 9.7e-3]])
    deep, out = facing(REACH, place, UP[None])
    assert_allclose(deep, [3e-4], atol=ATOL_WAY)
    assert_allclose(out, UP[None], atol=1e-6)
    assert_allclose(exits(REACH, place, UP[None]), [3e-4], atol=ATOL_WAY)


def test_what_faces_a_side_leaves_by_the_side():
    deep, out = facing(REACH, np.array([[2.9e-3, 0.0, 9.7e-3]]), np.array([[1.0, 0.0, 0.0]]))
    assert_allclose(deep, [1e-4], atol=ATOL_WAY)
    assert_allclose(out, [[1.0, 0.0, 0.0]], atol=1e-6)


def test_a_side_beyond_an_edge_goes_with_the_face_that_is_pressed():
    """A bar's end reaches over the edge of a body: its side is not pushed through the bar."""
    places = np.array([[-1e-3, 0.0, 9.7e-3], [0.0, 0.0, 9.8e-3]])
    deep, out = facing(REACH, places, np.array([UP, [1.0, 0.0, 0.0]]))
    assert_allclose(deep, [3e-4, 2e-4], atol=ATOL_WAY)
    assert_allclose(out, [UP, UP], atol=1e-6)


@pytest.mark.parametrize('place, met', [
    ([2.9e-3, 0.0, 9.7e-3], True), ([2.9e-3, 0.0, 10.5e-3], True),
    ([2.9e-3, 0.0, 11.5e-3], False), ([3.1e-3, 0.0, 9.7e-3], False)])
def test_a_link_covers_what_it_meets_along_the_normal_within_the_margin(place, met):
    assert covered(REACH, np.array([place]), UP[None], 1e-3).tolist() == [met]
