"""What is kept of earlier clearances never shows in an answer."""

import numpy as np
from numpy.testing import assert_array_equal
from scipy.spatial.transform import Rotation

from gripsim_ros.core.bodies import shapes
from gripsim_ros.core.contact import ContactMesh
from gripsim_ros.core.contact.distance import clearance_cache
from gripsim_ros.core.contact.distance.clearance import hull_clearances
from gripsim_ros.core.contact.distance.link_hulls import build_hulls
from gripsim_ros.core.transforms import transform

OBJECT = ContactMesh(shapes.sphere(0.03, edge_length=0.008))
HULLS = build_hulls([ContactMesh(shapes.box((0.02, 0.03, 0.04))),
                     ContactMesh(shapes.sphere(0.01, edge_length=0.004))], np.array([0, 1, 0]))


def poses(rng, count=3):
    turns = Rotation.random(count, random_state=int(rng.integers(2 ** 31))).as_matrix()
    return transform(turns, rng.normal(size=(count, 3)) * 0.05 + [0.1, 0.0, 0.0])


def counted(monkeypatch):
    """Return the numbers of links of every question that was not known."""
    asked = []

    def ask(hulls, body, T_object_link, sweep_object):
        asked.append(len(hulls.which))
        return hull_clearances(hulls, body, T_object_link, sweep_object)
    monkeypatch.setattr(clearance_cache, 'hull_clearances', ask)
    return asked


def test_links_that_stand_still_are_asked_for_once(monkeypatch):
    rng, asked = np.random.default_rng(1), counted(monkeypatch)
    known = clearance_cache.ClearanceCache(HULLS, OBJECT)
    still, swept = np.zeros(3), np.ones(3) * 0.01
    first, second = poses(rng), poses(rng)
    second[[0, 2]] = first[[0, 2]]
    for T, sweep in ((first, still), (second, still), (first, still), (first, swept)):
        assert_array_equal(known.clearances(T, sweep), hull_clearances(HULLS, OBJECT, T, sweep))
    assert asked == [3, 1, 3]


def test_no_more_than_so_many_answers_are_kept(monkeypatch):
    monkeypatch.setattr(clearance_cache, 'MAX_ENTRIES', 7)
    rng, known = np.random.default_rng(2), clearance_cache.ClearanceCache(HULLS, OBJECT)
    for T in [poses(rng) for _ in range(5)]:
        assert_array_equal(known.clearances(T, np.zeros(3)),
                           hull_clearances(HULLS, OBJECT, T, np.zeros(3)))
        assert len(known._known) <= 7


def test_a_hand_without_links_has_no_clearance():
    none = clearance_cache.ClearanceCache(HULLS._replace(which=np.zeros(0, np.int64)), OBJECT)
    assert none.clearances(np.zeros((0, 4, 4)), np.zeros(3)).shape == (0,)
