"""Contacts of a grip are where its fingers press at each way, on the object as it settled."""

import numpy as np
from palpation_cases import BALL, grasp, HAND, LONGEST
import pytest

from gripsim_ros.hardware.sim.hand_model import hand_as_simulated
from gripsim_ros.library.in_process import mechanics_options
from gripsim_ros.library.squeezing.fingers import HandSqueeze
from gripsim_ros.library.squeezing.grip_model import _contacts_of

#: Of the ball; how far off its surface is by its facets [m].
RADIUS, FACETS = 0.03, 2e-4


@pytest.mark.parametrize('share', [0.02, 0.3, 1.0])
def test_contacts_are_on_the_object_at_each_way(share):
    hand = hand_as_simulated(HAND)
    squeeze = HandSqueeze(BALL, hand, grasp().T_object_palm, grasp().trajectory[-1],
                          mechanics_options('half_space'))
    fraction, = squeeze.fractions_of(np.array([share * LONGEST]))
    contacts = _contacts_of(squeeze, grasp().T_object_palm, squeeze.held_at(fraction), fraction)
    # They stand in by a depth each, at most the whole way: it is shared by two sides.
    depths = RADIUS - np.linalg.norm(contacts.points, axis=1)
    assert (depths > -FACETS).all() and (depths < 0.8 * share * LONGEST + FACETS).all()
    inward = -contacts.points / np.linalg.norm(contacts.points, axis=1)[:, None]
    assert (np.einsum('ki,ki->k', contacts.forces, inward)
            > 0.9 * np.linalg.norm(contacts.forces, axis=1)).all()
    assert np.einsum('ki,ki->', contacts.motions, contacts.forces) > 0.0
    assert (contacts.radii > 0.0).all() and (contacts.radii < 0.02).all()
