"""Whether an obstacle carries the object."""

import numpy as np
from numpy.testing import assert_allclose
import pytest

from gripsim_ros.core.bodies import GraspObject, Material, shapes
from gripsim_ros.core.planning import Task
from gripsim_ros.core.planning.moving_object.closing_motion import FOOT, NEAR, standing_points

CYLINDER = GraspObject(shapes.cylinder(0.03, 0.12), Material(1e6, 0.3, 500.0, 0.5))
DOWN = np.array([[0.0, 0.0, -1.0]])


def table(top, place=(0.0, 0.0), tilt=0.0):
    """Return a box of 40 cm, 2 cm high, whose upper face is at a height along z [m]."""
    s, c = np.sin(tilt), np.cos(tilt)
    turn = np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])
    pose = np.hstack([turn, [[place[0]], [place[1]], [top - 0.01]]])
    return np.concatenate([[1.0, 0.4, 0.4, 0.02], pose.ravel()])


def task(row, gravity=DOWN):
    return Task(gravity_directions=gravity, obstacles=row[None])


def test_an_object_stands_with_its_lowest_points_on_the_box_below_it():
    lowest = CYLINDER.mesh.vertices[:, 2].min()
    points, up = standing_points(CYLINDER, task(table(lowest)))
    assert_allclose(up, [0.0, 0.0, 1.0])
    assert (points[:, 2] < lowest + FOOT).all()
    # The whole foot: the rim in every direction.
    for angle in np.linspace(0.0, 2.0 * np.pi, 12, endpoint=False):
        assert (points[:, :2] @ [np.cos(angle), np.sin(angle)]).max() > 0.9 * 0.03


@pytest.mark.parametrize('row, gravity', [
    (table(-0.06 - 2.0 * NEAR), DOWN), (table(-0.06 + 2.0 * NEAR), DOWN),
    (table(-0.06, place=(0.3, 0.0)), DOWN), (table(-0.06, tilt=0.2), DOWN),
    (table(-0.06), -DOWN), (table(-0.06), np.zeros((0, 3))),
    (np.concatenate([[2.0, 0.06, 0.0, 0.0], table(-0.06)[4:]]), DOWN)])
def test_nothing_carries_what_no_level_face_touches_from_below(row, gravity):
    assert CYLINDER.mesh.vertices[:, 2].min() == pytest.approx(-0.06)
    assert standing_points(CYLINDER, task(row, gravity)) is None
