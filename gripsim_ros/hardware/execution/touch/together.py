"""
How far each finger may go on while all are loaded: an object between them carries force across.

What one finger brings may all land on another: a thumb against two fingers on the one that
touches. So no finger rises while another feels nothing, nor by more than any other has room for.
"""

from collections.abc import Mapping

import numpy as np

#: Share of the planned forces by which one step raises them.
STEP_SHARE = 0.2
#: A force on its way to the end of a step rises by up to this multiple of what the step brings:
#: the joints' own motion is in it, and chatter of the contact.
ON_THE_WAY = 2.5
#: Forces rise by this share of the least planned one at least, while none is beyond its limit.
LEAST_RISE = 0.02
#: Those that wait for a finger which feels nothing are pressed by no more than this share of their
#: planned force, or of those that go on, beyond what they felt when they began to wait.
PRESSED_SHARE = 0.6


class Together:
    """
    Judges the forces of all fingers that feel, after each step of loading.

    Parameters
    ----------
    touch_force : float
        Least force that counts as contact [N].

    Attributes
    ----------
    level : float
        Share of the planned forces up to which fingers may rise.
    lost : set of str
        Fingers that feel nothing.
    pressed : list of str
        Fingers that wait, and are pressed by those: the object is between them, or a pad is dead.
    """

    def __init__(self, touch_force: float) -> None:
        """Judge nothing yet."""
        self._touch_force = touch_force
        self.level, self.lost, self.pressed = STEP_SHARE, set[str](), list[str]()
        self._forces: Mapping[str, float] = {}
        self._rooms: dict[str, float] = {}
        self._least = 0.0
        self._waited: dict[str, float] = {}     # felt when they began to wait [N]

    def judge(self, forces: Mapping[str, float], wanted: Mapping[str, float],
              limits: Mapping[str, float]) -> None:
        """
        Take the felt forces after a step.

        Parameters
        ----------
        forces : mapping to float
            Of the fingers that can tell [N].
        wanted, limits : mapping to float
            Of all fingers [N].
        """
        shares = [min(1.0, forces[name] / wanted[name]) for name in forces]
        self.level = min(1.0, float(np.mean(shares or [1.0])) + STEP_SHARE)
        self._forces, self._least = forces, LEAST_RISE * min(wanted.values(), default=0.0)
        self._rooms = {name: limits[name] - force for name, force in forces.items()}
        self.lost = {name for name, force in forces.items() if force < self._touch_force}
        self._look_for_push(wanted)

    def _look_for_push(self, wanted: Mapping[str, float]) -> None:
        waiting = {name: force for name, force in self._forces.items() if name not in self.lost}
        if not self.lost:
            self._waited = {}
        self._waited = {name: min(force, self._waited.get(name, force))
                        for name, force in waiting.items()} if self.lost else {}
        most = sum(wanted[name] for name in self.lost)
        self.pressed = [name for name, force in waiting.items() if self.lost and
                        force - self._waited[name] > PRESSED_SHARE * min(wanted[name], most)]

    def rise(self, name: str) -> float:
        """Return by how much a finger that feels may rise in the next step [N]."""
        if self.lost or min(self._rooms.values(), default=0.0) < 0.0:
            return 0.0
        others = [room for other, room in self._rooms.items() if other != name]
        return max(self._least, min([self._rooms[name], *others]) / ON_THE_WAY)
