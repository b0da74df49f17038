"""Who steps the simulation: one client at a time, each step once, however often it is asked."""

import time

from gripsim_interfaces.srv import StepSimulation

from ....hardware.sim.options import SimulationError

#: Silence after which the simulation goes on by itself [s], longer than a client waits.
STEP_PATIENCE = 40.0


class Stepping:
    """The client that steps, and what its last step was answered."""

    def __init__(self) -> None:
        """Nobody steps."""
        self.end('nobody steps it: begin with step 0')

    def end(self, reason: str) -> None:
        """Let the simulation go on by itself; whoever asks for a next step is told the reason."""
        self._driver, self._reason = '', reason
        self._step, self._heard = -1, 0.0
        self._answer: StepSimulation.Response | None = None

    @property
    def stands(self) -> bool:
        """Return whether time stands still until the next step is asked for."""
        if self._driver and time.monotonic() - self._heard > STEP_PATIENCE:
            self.end(f'it goes on by itself: no step was asked for in {STEP_PATIENCE:g} s')
        return bool(self._driver)

    def known(self, request: StepSimulation.Request) -> StepSimulation.Response | None:
        """
        Return the answer to a step that was made before, or None where it is to be made.

        Raises
        ------
        SimulationError
            It is not this client's turn, or not this step's.
        """
        if not request.driver:
            raise SimulationError('driver must be a name, got an empty one')
        if request.driver != self._driver:
            if request.step:
                raise SimulationError(
                    f'the simulation was left: {self._reason}' if not self._driver
                    else 'another client steps the simulation')
            self.end('')
            self._driver = request.driver
        self._heard = time.monotonic()
        if request.step == self._step:
            return self._answer
        if request.step != self._step + 1:
            raise SimulationError(f'step {self._step + 1} comes next, got {request.step}')
        return None

    def note(self, request: StepSimulation.Request, answer: StepSimulation.Response) -> None:
        """Remember the answer to a step that was made."""
        if request.driver == self._driver:
            self._step, self._answer, self._heard = request.step, answer, time.monotonic()

    def release(self, driver: str) -> None:
        """Let the simulation go on by itself if this client stepped it."""
        if driver == self._driver:
            self.end('it was released')
