"""Places where a link touches an object: what is one place, and what is another."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gripsim_ros.hardware.sim.soft.place import Place

ALIKE = np.cos(0.05)
ON_LINK, ON_OBJECT = np.array([0.01, 0.0, 0.02]), np.array([0.0, 0.03, 0.0])


def turned(**angles):
    """Return a rotation (3, 3) by angles about axes [rad]."""
    return Rotation.from_euler(''.join(angles), list(angles.values())).as_matrix()


@pytest.fixture(name='place')
def fixture_place():
    """Return a place whose axes lie askew in either frame."""
    return Place(ON_LINK, ON_OBJECT, turned(x=0.3, y=-0.8), turned(y=1.1, z=0.4))


def test_where_the_link_slides_is_told_from_where_another_point_bears(place):
    along = np.array([2e-3, 1e-3])
    both = Place(ON_LINK + along @ place.link_frame[:2],
                 ON_OBJECT + along @ place.object_frame[:2], place.link_frame, place.object_frame)
    link = Place(both.on_link, ON_OBJECT, place.link_frame, place.object_frame)
    assert place.slides_to(both) == pytest.approx(0.0, abs=1e-12)
    assert place.slides_to(link) == pytest.approx(np.linalg.norm(along))
    assert place.is_near(both, 1e-4, ALIKE) and not place.is_near(link, 1e-3, ALIKE)


def test_a_turn_counts_where_the_surfaces_turn_against_each_other(place):
    axes = turned(z=0.5)        # of the contact alone: the surfaces stay
    same = Place(ON_LINK, ON_OBJECT, axes @ place.link_frame, axes @ place.object_frame)
    other = Place(ON_LINK, ON_OBJECT, axes @ place.link_frame, place.object_frame)
    assert place.is_turned_as(same, np.cos(1e-3))
    assert not place.is_turned_as(other, np.cos(0.45))
    assert place.is_turned_as(other, np.cos(0.55))
    tipped = turned(x=0.1)      # the normal is another one
    assert not place.is_near(Place(ON_LINK, ON_OBJECT, tipped @ place.link_frame,
                                   tipped @ place.object_frame), 1e-3, ALIKE)
    assert place.is_near(other, 1e-3, np.cos(0.55)) and not place.is_near(other, 1e-3, ALIKE)
