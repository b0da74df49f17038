"""A thumb beside three fingers: each closes between values of its own, and grips are found."""

import box_hands
import numpy as np
from plan_cases import plan_by_half_spaces
import pytest

from gripsim_ros.core.bodies import GraspObject, Material, shapes
from gripsim_ros.core.contact.stage import LinkShapes, self_clearance
from gripsim_ros.core.planning.hypotheses.hand_geometry import (
    closing_poses, moving_fingers, pad_paths)
from gripsim_ros.library.hands.check import check_hand
from gripsim_ros.library.hands.fingers import closing_bend, find_fingers
from gripsim_ros.library.hands.opposition import WIDE, opposed_grips
from gripsim_ros.library.hands.proposal import propose_hand

#: Of the angle of friction of rubber, 0.7: no finger pushes the body aside.
FRICTION_COSINE = np.cos(np.arctan(0.7))


#: Cosine of the angle at which pads hold with a friction of 0.75 [-].
LEAST_FACING = 0.8


@pytest.fixture(scope='module')
def hand(tmp_path_factory):
    folder = tmp_path_factory.mktemp('hand')
    urdf = box_hands.write_urdf(folder, box_hands.thumb_beside_fingers())
    return propose_hand(urdf, folder / 'own.yaml').hand


def thumb_and_others(hand, preshape):
    """Return the rows of the thumb and of the other fingers that close in a preshape."""
    links = [hand.link_names[finger.links[-1]] for finger in moving_fingers(hand, preshape)]
    thumb = links.index('outer_link_thumb')
    return thumb, [i for i in range(len(links)) if i != thumb]


def test_the_thumb_is_against_one_two_and_three_fingers(hand):
    sizes = {len(thumb_and_others(hand, preshape)[1]) for preshape in hand.preshapes}
    assert sizes >= {2, 3} and not check_hand(hand).faults
    assert hand.approach[0] > 0.98     # about the way the palm looks, square to the closing


def test_fingers_of_one_motor_each_face_the_thumb_at_a_width(tmp_path):
    """Such pads cannot face each other all along; nor by closing all by one fraction."""
    urdf = box_hands.write_urdf(tmp_path, box_hands.thumb_beside_fingers(2, coupled=True))
    hand = propose_hand(urdf, tmp_path / 'own.yaml').hand
    assert len(hand.joint_names) == 4
    for preshape in hand.preshapes:
        points, normals = pad_paths(hand, preshape, 15)
        thumb, others = thumb_and_others(hand, preshape)
        offsets = points[others] - points[thumb]
        widths = np.linalg.norm(offsets, axis=2)
        facing = np.minimum(np.einsum('fni,ni->fn', offsets / widths[..., None], normals[thumb]),
                            -np.einsum('fni,fni->fn', offsets / widths[..., None],
                                       normals[others]))
        assert facing[(widths > 0.02) & (widths < 0.1)].max() > LEAST_FACING


def test_pads_face_each_other_at_any_width_across_the_same_place(hand):
    for preshape in hand.preshapes:
        points, normals = pad_paths(hand, preshape, 9)
        thumb, others = thumb_and_others(hand, preshape)
        offset = points[thumb] - points[others].mean(axis=0)
        widths = np.linalg.norm(offset, axis=1)
        across = offset / widths[:, None]
        assert (np.diff(widths) < 0.0).all() and widths[0] > 0.07 and widths[-1] < 0.035
        used = (widths > 0.035) & (widths < WIDE)
        mean = normals[others].mean(axis=0)
        mean /= np.linalg.norm(mean, axis=1)[:, None]
        for facing, least in [(-normals[thumb], 0.94), (mean, 0.94),    # cosines: 20 degrees
                              *((normals[i], FRICTION_COSINE) for i in others)]:
            assert np.einsum('ni,ni->n', facing, across)[used].min() > least
        middles = 0.5 * (points[thumb] + points[others].mean(axis=0))
        assert np.linalg.norm(middles - middles.mean(axis=0), axis=1).max() < 0.02
        # Palms are turned to bodies by one direction, square to the approach.
        assert np.abs(across[used] @ hand.palm_axes[:, 0]).min() > 0.97


def test_fingers_close_by_fractions_of_their_own(hand):
    bend = closing_bend(hand, find_fingers(hand))
    preshape = max(hand.preshapes, key=lambda p: len(moving_fingers(hand, p)))
    change = preshape.closed - preshape.open
    moving = np.abs(change) > 1e-9
    parts = (change / np.where(bend.closed == bend.open, 1.0, bend.closed - bend.open))[moving]
    assert np.ptp(parts) > 0.1


def test_links_stay_apart_until_the_pads_nearly_meet(hand):
    links = LinkShapes.of_hand(hand)
    for preshape in hand.preshapes:
        for T in closing_poses(hand, preshape, 12):
            assert self_clearance(links, T) > 0.0


def test_fingers_of_one_motor_have_no_grips_of_their_own(tmp_path):
    urdf = box_hands.write_urdf(tmp_path, box_hands.turning_hand(3, motors=1))
    hand = propose_hand(urdf, tmp_path / 'own.yaml').hand
    fingers = find_fingers(hand)
    assert len(fingers) == 3 and opposed_grips(hand, fingers, closing_bend(hand, fingers)) == []


def test_the_palm_is_not_checked_against_the_link_beyond_a_knuckle(hand):
    # Turned as far as it goes, the thumb's inner link cuts the palm's edge: limits are to keep
    # them apart. Fingers beside each other, and the thumb's tip, are checked.
    near = hand.neighbours
    assert near[hand.palm_index, hand.link_index('inner_link_thumb')]
    assert not near[hand.palm_index, hand.link_index('outer_link_thumb')]
    assert not near[hand.link_index('inner_link_0'), hand.link_index('inner_link_1')]


def test_a_ball_is_held_by_thumb_and_fingers(hand):
    body = GraspObject(shapes.sphere(0.03, 0.008), Material(1e6, 0.45, 600.0, 0.7))
    result = plan_by_half_spaces(body, hand=hand, hypotheses=2, count=2)
    assert len(result.grasps) == 2, result.rejections
    for grasp in result.grasps:
        links = {contact.link for contact in grasp.contacts}
        assert 'outer_link_thumb' in links and len(links) > 1
