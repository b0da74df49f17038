"""Boxes of hand and object hold them, and their regions hold all that both have in common."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plan_cases import apple, made_up_grasp
from scipy.spatial.transform import Rotation

from gripsim_ros.core.transforms import apply, inverse, transform
from gripsim_ros.library.boxes import hand_boxes
from gripsim_ros.library.display import link_poses_at
from gripsim_ros.library.resources import load_default_hand

#: To rounding [m].
ATOL = 1e-12


def inside(box, points):
    """Return which points (n, 3) lie in a box."""
    return (np.abs((points - box.centre) @ box.axes.T) <= box.half_lengths + ATOL).all(axis=1)


@pytest.mark.parametrize('fraction', [0.0, 1.0])
def test_boxes_hold_what_they_are_about_and_regions_what_may_meet(fraction):
    hand, mesh = load_default_hand(), apple().mesh
    poses = link_poses_at(made_up_grasp(1), hand, fraction)
    found = hand_boxes(mesh, hand, poses)
    assert inside(found.body, mesh.vertices).all() and len(found.links) == len(hand.links)
    regions = {number: both for number, *both in found.regions}
    for number, (link, T) in enumerate(zip(hand.links, poses)):
        points = apply(T, link.mesh.vertices)
        assert inside(found.links[number], points).all()
        for box, other, points, part in zip(
                (found.links[number], found.body), (found.body, found.links[number]),
                (points, mesh.vertices), regions.get(number, (None, None))):
            reached = inside(other, points)
            assert not reached.any() if part is None else inside(part, points[reached]).all()
            if part is not None:        # a part of its own box
                assert inside(box, part.corners()).all()
    assert bool(regions) == (fraction == 1.0) and len(regions) < len(hand.links)
    assert len(found.whole) == len(hand.links) + 1 and len(found.parts) == 2 * len(regions)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**6))
def test_boxes_move_with_hand_and_object(seed):
    rng, hand = np.random.default_rng(seed), load_default_hand()
    T = transform(Rotation.random(random_state=rng).as_matrix(), rng.normal(size=3))
    poses = link_poses_at(made_up_grasp(1), hand, 1.0)
    still, moved = (hand_boxes(apple().mesh, hand, step @ poses, step) for step in (np.eye(4), T))
    assert [number for number, *_ in moved.regions] == [number for number, *_ in still.regions]
    for before, after in zip(still.whole + still.parts, moved.whole + moved.parts):
        np.testing.assert_allclose(apply(inverse(T), after.corners()), before.corners(),
                                   atol=1e-9)
