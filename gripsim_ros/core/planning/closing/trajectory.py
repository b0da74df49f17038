"""The rows of a closing from the open hand to the grasp."""

import numpy as np

from ...arrays import Array
from ..hypotheses.hand_geometry import Mechanism


def closing_rows(open_: Array, rates: Array, fractions: Array,
                 mechanisms: tuple[Mechanism, ...], count: int) -> Array:
    """
    Return the joint trajectory (count, J) from the open hand to closing fractions (J,).

    Every finger ends its motion with the last row; a joint that stopped early stays. ``rates``
    (J,) are the displacements from open to closed.
    """
    longest = fractions.copy()
    for mechanism in mechanisms:
        own = list(mechanism.joints)
        longest[own] = fractions[own].max()
    time = np.linspace(0.0, 1.0, count)[:, None]
    shares = np.minimum(time * longest, fractions)
    return open_ + shares * rates
