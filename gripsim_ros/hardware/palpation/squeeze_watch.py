"""Fingers that touch: brought to forces and back, in proportion to those of the grasp."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..execution.feeling.loaded import LEAST_STEP, Loaded
from ..execution.measurement import Measurement
from ..execution.plan import ExecutionOptions, ExecutionPlan
from ..execution.touch.loading import (
    CHATTER_SHARE, LONGEST_STEP, REST_TIME, STEP_SHARE, STEP_TIME, TouchWatch)
from .policy import grip_shares

Array = NDArray[np.float64]

#: A force is reached within this share of it.
NEAR = 0.1
#: By this grows what counts as the stiffest finger where a step went past its force by more.
STIFFER = 2.0
#: Steps to one force after which what is felt counts as it is, and the least share of it then.
MOST_STEPS, LEAST_SHARE = 25, 0.5
#: A finger's share of the grip's force may differ from the planned by so much of it: the forces on
#: an object at rest balance, friction tells who bears how much, and fingers that insist on their
#: shares push it away.
UNEVEN = 0.3
#: How far a finger that feels no contact goes before the object counts as gone [rad], 1 to 2 mm of
#: a fingertip, and what one such step counts at least. It teaches nothing of stiffness, so that
#: the next is as short: an object that gives way at its first touch, before anything was learned,
#: takes some hundred.
SEEKING_WAY, SEEKING_STEP = 0.02, 0.1


class SqueezeWatch(TouchWatch):
    """
    Watches the fingers of a palpation: they seek their touch as when closing by touch.

    Forces of the grip are half the sum of its normal forces [N]; each finger bears its share of
    the planned closing.
    """

    def __init__(self, plan: ExecutionPlan, options: ExecutionOptions) -> None:
        """Nothing has touched yet."""
        super().__init__(plan, options)
        self.shares = grip_shares({finger.name: finger.force for finger in self._pressing})
        self._aim, self._steps = 0.0, 0.0
        self._stiffest = dict(plan.touch.stiffest)

    @property
    def blind(self) -> list[str]:
        """Return the fingers that press and were found unable to feel."""
        return [note.split()[0] for note in self.notes if 'cannot feel' in note]

    def felt(self, measured: Measurement) -> float:
        """Return the force of the grip that is felt [N]."""
        return 0.5 * sum(self._force(finger, measured) for finger in self._pressing)

    def _calm(self, measured: Measurement) -> Measurement:
        """Return a measurement with the median forces of the last part of a rest."""
        begin = self._judged + STEP_TIME + CHATTER_SHARE * REST_TIME
        self._rested = [one for one in self._rested if begin <= one.felt_at < measured.felt_at]
        self._rested.append(measured)
        return replace(measured, forces={
            link: float(np.median([one.forces[link] for one in self._rested
                                   if link in one.forces])) for link in measured.forces})

    def aim(self, force: float, measured: Measurement) -> None:
        """Go to a force of the grip [N] from now on."""
        self._aim, self._steps = force, 0.0
        self._judged = max(self._judged, measured.time - STEP_TIME - REST_TIME)

    def go_on(self, measured: Measurement) -> tuple[Array, Array] | None:
        """
        Judge the last step and begin the next.

        Returns
        -------
        (m, J) float, (m,) float
            Rows to follow and their times after the measurement; None while a step goes on.
        """
        measured = self._calm(measured)
        if measured.felt_at < self._judged + STEP_TIME + REST_TIME:
            return None
        for finger in self._pressing:
            loaded, force = self._loaded[finger.name], self._force(finger, measured)
            loaded.judge(force, self._options.touch_force)
            wanted = self._wanted(finger.name, force, measured)
            if self._steps and self._went_past(loaded, force, wanted):
                self._stiffest[finger.name] *= STIFFER
            # Forces that chatter look like a stiffer finger than any can be.
            loaded.stiffness = min(loaded.stiffness, self._stiffest[finger.name])
            loaded.go(self._next_step(finger.name, force, wanted))
        self._steps += self._counted(measured)
        self._fault = self._fault or self._find_stuck()
        self._judged = self._step_from = measured.time
        return self._remaining(measured.time)

    def _next_step(self, name: str, force: float, wanted: float) -> float:
        """Return how far a finger goes on or back [rad] from a force to another [N]."""
        loaded = self._loaded[name]
        # Short steps tell less than what all of them have brought.
        stiffness = min(loaded.stiffest, self._stiffest[name])
        part = max(STEP_SHARE * wanted, self._options.touch_force)
        if force < self._options.touch_force:   # even the stiffest object it meets bears no more
            part = max(part, wanted * stiffness / self._stiffest[name])
        most = LONGEST_STEP * stiffness
        step = np.clip(wanted - force, -most, min(most, part)) / stiffness
        return float(min(step, self._options.touch_beyond - loaded.travel))

    def _counted(self, measured: Measurement) -> float:
        """Return what the steps that begin now count: those that seek an object by their way."""
        seeking = [self._loaded[finger.name].step for finger in self._pressing
                   if self._force(finger, measured) < self._options.touch_force]
        return max(SEEKING_STEP, MOST_STEPS * max(seeking) / SEEKING_WAY) if seeking else 1.0

    def _wanted(self, name: str, force: float, measured: Measurement) -> float:
        """Return the force [N] that a finger goes to: its share of all, or of what is missing."""
        share = self.shares[name]
        if abs(force - self._aim * share) > UNEVEN * self._aim * share:
            return self._aim * share
        return force + share * (self._aim - self.felt(measured))

    @staticmethod
    def _went_past(loaded: Loaded, force: float, wanted: float) -> bool:
        """Return whether the last step went past the force [N] that it was to bring at most."""
        past = (force - wanted) * np.sign(loaded.step)
        return bool(abs(loaded.step) > LEAST_STEP and past > NEAR * wanted)

    def rests(self, measured: Measurement) -> bool:
        """Return whether the force that was aimed at is borne, or will not be by more steps."""
        measured = self._calm(measured)
        if measured.felt_at < self._judged + STEP_TIME + REST_TIME:
            return False
        shares = [self._force(finger, measured) / (self._aim * self.shares[finger.name])
                  for finger in self._pressing]
        if self._steps >= MOST_STEPS and min(shares) < LEAST_SHARE:
            worst = self._pressing[int(np.argmin(shares))].name
            self._fault = self._fault or (
                f'{worst} bears {100.0 * min(shares):.0f} % of its share however far it goes: the '
                'object gives way or has left the fingers')
        if self._steps >= MOST_STEPS:
            return True
        even = max(abs(share - 1.0) for share in shares) <= UNEVEN
        return even and abs(self.felt(measured) - self._aim) <= NEAR * self._aim

    @property
    def fault(self) -> str:
        """Return why squeezing has failed, or ''."""
        return self._fault
