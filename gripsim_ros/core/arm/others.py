"""Other arms beside the one that is planned for: standing, or moving along a given way."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..errors import ArmError
from .collision import ArmGroups, Group
from .model import ArmModel

#: Largest step of a joint between two postures of a way that are looked at [rad].
WAY_STEP = 0.1
#: Groups of another arm's posture are numbered from a multiple of this on.
KEYS = 1_000_000


@dataclass(frozen=True, eq=False)
class OtherArm:
    """
    An arm that is not planned for.

    Attributes
    ----------
    arm : ArmModel
    T_base_other : (4, 4) float
        Its base before that of the arm that is planned for.
    way : (m, A) float
        Joints [rad]: one row where it stands, more where it goes straight from one to the next.
    """

    arm: ArmModel
    T_base_other: Array
    way: Array

    def __post_init__(self) -> None:
        """Check the way; ArmError where a row is none of the arm's."""
        if np.ndim(self.way) != 2 or not len(self.way):
            raise ArmError(f'the way of arm {self.arm.name!r} needs one row of joints or more, '
                           f'got {np.asarray(self.way).tolist()}')
        for row in self.way:
            self.arm.checked_joints(row)

    def postures(self) -> Iterator[Array]:
        """Yield the joints (A,) along the way, in steps of ``WAY_STEP`` at most."""
        yield self.way[0]
        for first, last in zip(self.way[:-1], self.way[1:]):
            count = int(np.ceil(np.abs(last - first).max() / WAY_STEP))
            for share in np.linspace(0.0, 1.0, count + 1)[1:]:
                yield first + share * (last - first)


def groups_of_others(others: Sequence[OtherArm]) -> tuple[Group, ...]:
    """
    Return where other arms ever are, as groups of their parts in the base of the planned arm.

    Notes
    -----
    Own derivation: nobody tells when another arm is where on its way, so that a motion beside it
    must be free of all of it.
    """
    groups: list[Group] = []
    for other in others:
        made = ArmGroups(other.arm)
        for joints in other.postures():
            groups += made.at(joints, other.T_base_other, KEYS * (len(groups) + 1),
                              f'{other.arm.name}\'s ')
    return tuple(groups)
