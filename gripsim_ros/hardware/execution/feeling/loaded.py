"""How stiff a finger feels what it presses on, while its set-point goes on in steps."""

from dataclasses import dataclass

#: Steps that are no longer tell nothing: no joint resolves them [rad].
LEAST_STEP = 1e-5


@dataclass
class Loaded:
    """A finger while it is loaded: travel beyond its touch [rad], stiffness felt [N/rad]."""

    stiffness: float
    travel: float = 0.0
    before: float = 0.0
    step: float = 0.0
    felt: float | None = None
    first: float = 0.0
    same: int = 0

    def judge(self, force: float, touch: float) -> None:
        """Learn from the last step what it brought; below ``touch`` [N] contact is lost."""
        if self.felt is not None and self.step > LEAST_STEP and force >= touch:
            self.same = self.same + 1 if force == self.felt else 0
            if not self.same:       # a pad that tells the very same tells nothing of stiffness
                self.stiffness = max((force - self.felt) / self.step, 0.5 * self.stiffness)
        elif self.felt is not None and self.step < -LEAST_STEP:
            # It went back, and others may have pressed meanwhile: then the next goes back farther.
            self.stiffness = max((force - self.felt) / self.step, 0.5 * self.stiffness)
        if self.felt is None:
            self.first = force
        self.felt = force

    @property
    def stiffest(self) -> float:
        """Return the stiffness of the last step or of all [N/rad], whichever is larger."""
        gone = self.before if self.felt is None else self.travel
        secant = (self.felt - self.first) / gone if gone > 0.0 and self.felt is not None else 0.0
        return max(self.stiffness, secant)

    def go(self, step: float) -> None:
        """Begin a step [rad]."""
        self.before, self.step = self.travel, step
        self.travel += step
