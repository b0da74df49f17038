"""Whether contacts of planar closing can balance."""

import numpy as np
import pytest

from gripsim_ros.core.planning.planar_closing.balance import least_unbalance
from gripsim_ros.core.planning.planar_closing.hand_section import PredictedContact


def contact(point, normal):
    """Return a contact with a unit normal."""
    normal = np.asarray(normal, float)
    return PredictedContact(0, np.asarray(point, float), normal / np.linalg.norm(normal))


def test_two_contacts_face_to_face_balance():
    pair = (contact((-1, 0, 0), (1, 0, 0)), contact((1, 0, 0), (-1, 0, 0)))
    assert least_unbalance(pair, np.zeros(3), 1.0, 0.1) < 1e-9


def test_contacts_that_press_one_way_do_not_balance():
    pair = (contact((-1, 0, 0), (0, 0, 1)), contact((1, 0, 0), (0, 0, 1)))
    assert least_unbalance(pair, np.zeros(3), 1.0, 0.3) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize('angle, balances', [(0.2, True), (0.4, False)])
def test_a_wedge_balances_within_its_friction(angle, balances):
    # Planar wedge: both normals lean by the angle; friction 0.3 holds up to atan(0.3) = 0.29.
    pair = (contact((-1, 0, 0), (np.cos(angle), np.sin(angle), 0)),
            contact((1, 0, 0), (-np.cos(angle), np.sin(angle), 0)))
    assert (least_unbalance(pair, np.zeros(3), 1.0, 0.3) < 1e-9) is balances
