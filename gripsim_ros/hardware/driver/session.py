"""
The hand over time: one thread that connects, asks, moves, stops, and connects again.

Others hand it calls and wait; only the latch of the emergency stop is set at once.
"""

import logging
import threading
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ...core.hand import HandModel
from .link.calls import CALL_TIMEOUT, Call, CallQueue, Condition, Faults
from .link.channel import CommandChannel
from .link.errors import (
    OVER_TEMPERATURE, DriverError, FirmwareError, LinkError, MalformedError, SilenceError,
    StateError, UnsafeError)
from .link.joint_controller import STILL, HandIdentity, SdhHand
from .link.leaving import reach_and_leave
from .link.protocol import AXIS_COUNT, axis_words
from .link.transport import open_transport
from .motion.motions import Motion, Outcome, Sample
from .motion.permission import MOTORS_OFF, MOTORS_ON, Permission
from .motion.rota import Rota
from .motion.safety import SafetyChecker
from .motion.trajectory import MotionRunner
from .options import DriverOptions

Array = NDArray[np.float64]
log = logging.getLogger(__name__)

#: Periods of asking for temperatures, and for the axes' states while nothing moves [s].
TEMPERATURE_PERIOD, STATE_PERIOD = 1.0, 0.2
#: Faults in a row after which the link is opened anew.
MOST_ERRORS = 5


class HandSession:
    """
    A hand that is kept connected.

    Parameters
    ----------
    model : HandModel
    options : DriverOptions
    on_sample : callable, optional
        Called with each ``Sample`` in the session's thread.
    shapes : LinkShapes, optional
        Of the model, to save building them.

    Notes
    -----
    On any fault (silence, a malformed line, an error code, a lost link) the hand is told to stop,
    as far as it can be reached, and the motion under way ends as FAILED and is never taken up
    again; the link is opened anew unless the hand answers in step.
    """

    def __init__(self, model: HandModel, options: DriverOptions,
                 on_sample: Callable[[Sample], None] | None = None, shapes=None) -> None:
        """Prepare; ``start`` begins."""
        self._options, self._model = options, model
        motion = options.motion
        self.checker = SafetyChecker(model, motion.self_clearance, motion.limit_slack,
                                     motion.max_velocity, shapes)
        self._on_sample = on_sample
        self._calls, self._permission = CallQueue(), Permission(motion)
        self._closing, self._retry_now = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name='sdh_session', daemon=True)
        self._saved_limits = np.full(AXIS_COUNT, motion.default_current_limits)
        self._hand: SdhHand | None = None
        self._runner: MotionRunner | None = None
        self._identity: HandIdentity | None = None
        self._sample: Sample | None = None
        self._states: tuple[NDArray[np.int64], float]   # of the axes, and when they were asked
        self._faults = Faults()
        self._owed = False                      # the link was lost with the axes powered

    # -- for other threads -------------------------------------------------------------

    def start(self) -> None:
        """Begin to connect."""
        self._thread.start()

    def close(self) -> None:
        """Stop what moves, switch the axes off, close the link, end the thread."""
        self._closing.set()
        self._retry_now.set()
        self._calls.wake()
        if self._thread.is_alive():
            self._thread.join(2.0 * CALL_TIMEOUT)

    def wait_connected(self, timeout: float) -> bool:
        """Return whether the hand is connected within ``timeout`` [s]."""
        return self._calls.opened.wait(timeout)

    def condition(self) -> Condition:
        """Return how the hand is."""
        hand, runner, permission = self._hand, self._runner, self._permission
        faults, sample = self._faults, self._sample if hand is not None else None
        return Condition(
            self._calls.opened.is_set(), self._calls.why_closed or permission.why_not(),
            permission.latched, permission.motors, permission.heat.hot,
            runner is not None and runner.busy, self._identity,
            dict(permission.heat.temperatures), faults.with_channel(hand and hand.channel),
            faults.last, faults.age,
            axis_words(self._model.joint_names, sample.axis_states) if sample else '')

    def follow(self, motion: Motion) -> Motion:
        """Carry out a motion; it comes back at once and is done later, whatever happens."""
        motion.requested = time.monotonic()
        return self._begin(motion, lambda: self._runner.accept(motion, self._sample))

    def steer(self, motion: Motion, velocities: Array) -> Motion:
        """Let the joints turn (J,) [rad/s]; ``motion`` lasts while such calls come in time."""
        return self._begin(motion, lambda: self._runner.steer(motion, velocities, self._sample))

    def _begin(self, motion: Motion, begin: Callable[[], None]) -> Motion:
        try:
            future = self._calls.put(lambda: self._accept(motion, begin), begins=motion)
        except StateError as error:
            self.refuse(motion, str(error))
            return motion
        future.add_done_callback(lambda ended: ended.exception() and self.refuse(
            motion, str(ended.exception())))
        return motion

    def refuse(self, motion: Motion, why: str) -> None:
        """End a motion that is not to be carried out."""
        self._faults.counts['refused'] += not motion.done.is_set()
        motion.finish(Outcome.REFUSED, why)

    def stop(self) -> None:
        """Stop the motion; the motors go on holding. Raises ``DriverError``."""
        self._calls.call(lambda: self._stop_first(Outcome.STOPPED, 'stopped'), stops=True)

    def cancel(self, motion: Motion) -> bool:
        """
        Stop a motion if it is under way or waits, never a newer one; return whether it was.

        Raises
        ------
        DriverError
            The hand did not confirm.
        """
        self._calls.call(lambda: self._runner.carries(motion) and self._stop_first(
            Outcome.STOPPED, 'cancelled'), stops=motion)
        return motion.outcome is Outcome.STOPPED

    def emergency_stop(self, reason: str = 'emergency stop') -> None:
        """
        Stop for good: no motion until ``recover``, motors without power and current.

        A hand that cannot be reached is cut as soon as it is connected again.

        Raises
        ------
        DriverError
            The hand did not confirm.
        """
        self._permission.latch(reason)
        self._calls.call(self._cut, stops=True)

    def recover(self) -> None:
        """Open the latch: hold the measured angles, restore the currents, switch on."""
        self._calls.call(self._recover)

    def motor_on(self) -> None:
        """Switch the axes on; they hold where they are."""
        self._calls.call(lambda: self._switch(True))

    def motor_off(self) -> None:
        """Switch the axes off; nothing moves until ``motor_on``."""
        self._calls.call(lambda: self._switch(False), stops=True)

    def connect_now(self) -> None:
        """Connect without waiting longer. Raises ``StateError``."""
        self._retry_now.set()
        if not self.wait_connected(CALL_TIMEOUT + self._options.link.connect_timeout):
            raise StateError(f'the hand is not connected: {self._calls.why_closed}')

    def _run(self) -> None:
        pause = self._options.link.retry_first
        while not self._closing.is_set():
            transport, why = None, 'the driver was closed'
            try:
                transport = open_transport(self._options.link.address,
                                           self._options.link.connect_timeout)
                self._connect(transport)
                pause = self._options.link.retry_first
                self._serve()
            except DriverError as error:
                why = str(error)
            except Exception as error:
                log.exception('fault of the driver itself')
                why = f'{type(error).__name__}: {error}'
            self._disconnect(transport, why)
            if not self._closing.is_set():
                self._retry_now.wait(pause)
                self._retry_now.clear()
                pause = min(2.0 * pause, self._options.link.retry_longest)
        if self._owed:
            reach_and_leave(self._options.link, self._model.joint_names, self._options.motion)

    def _connect(self, transport) -> None:
        """Prepare a hand that was reached; nothing moves."""
        channel = CommandChannel(transport, self._options.link)
        hand = SdhHand(channel, self._model.joint_names, self._options.motion)
        identity = hand.connect()
        self.checker.narrow(identity.lower, identity.upper, identity.velocity_limits)
        self._saved_limits = hand.set_wanted_currents(identity.current_limits, self._saved_limits)
        if not identity.current_limits.any():
            self._permission.latch('the hand was found with its currents cut off')
        if self._permission.latched:
            hand.cut_power(identity)
        self._judge_heat(hand)
        self._hand, self._identity = hand, identity
        self._runner = MotionRunner(hand, identity, self.checker, self._options.motion,
                                    self._model.joint_names, self._must_be_free)
        self._sample = Sample(time.monotonic(), hand.positions(), hand.velocities(),
                              hand.axis_states())
        self._faults.in_row = 0
        self._faults.counts['connections'] += 1
        self._calls.open()
        if self._permission.latched:        # it may have come since the question above
            hand.cut_power(identity)

    def _disconnect(self, transport, why: str) -> None:
        """Stop what may still be reached, refuse what waits, close."""
        self._calls.close(why)
        runner, hand, self._runner, self._hand = self._runner, self._hand, None, None
        if hand is not None:
            if not self._closing.is_set():
                self._faults.count(why)
            self._say_stop(hand)
            runner.end(Outcome.FAILED, why)
            self._faults.counts = self._faults.with_channel(hand.channel)
        self._calls.refuse_all()
        if transport is not None:
            transport.close()

    def _say_stop(self, hand: SdhHand) -> None:
        """Leave a hand for good with its axes off; one whose link is lost is only stopped."""
        self._owed = True
        try:
            if self._closing.is_set():
                hand.leave()
                self._owed = False
                return
            hand.channel.send_blind(STILL)
            hand.channel.send_blind('stop')
        except DriverError as error:
            log.debug('not stopped while disconnecting: %s', error)

    def _serve(self) -> None:
        """Ask in turns until the link is lost or the session closes."""
        period, due, slow = 1.0 / self._options.motion.rate, time.monotonic(), True
        rota = Rota({self._ask_states: STATE_PERIOD, self._judge_heat: TEMPERATURE_PERIOD,
                     self._judge_controller: TEMPERATURE_PERIOD}, due)
        self._states = self._sample.axis_states, due
        while not self._closing.is_set():
            try:
                self._hand.tries = 1 if self._runner.busy else None
                positions, measured = self._asked(self._hand.timed_positions)
                velocities = (self._hand.turning if self._runner.following
                              else self._asked(self._hand.velocities))
                busy, slowly = self._runner.busy, slow and self._runner.following
                for ask in rota.choose(time.monotonic(), slowly, busy and self._ask_states):
                    self._asked(ask)
                self._sample = Sample(measured, positions, velocities, *self._states)
                if self._on_sample is not None:
                    self._on_sample(self._sample)
                slowly = slow and self._runner.following
                self._runner.advance(self._sample, rota.loads(time.monotonic(), slowly))
                self._faults.in_row = 0
            except (UnsafeError, StateError) as error:
                self._runner.end(Outcome.REFUSED, str(error))
            except (FirmwareError, SilenceError, MalformedError) as error:
                self._on_fault(error)
            due = max(due + period, time.monotonic() - period)
            slow = due < time.monotonic()
            self._take_calls(due)

    def _ask_states(self) -> None:
        asked = time.monotonic()
        self._states = self._hand.axis_states(), asked

    def _asked(self, question: Callable):
        """Return the answer to a question; whoever calls is served before it."""
        self._take_calls(0.0)
        return question()

    def _take_calls(self, until: float) -> None:
        """Serve other threads, until a time of the steady clock or what waits is done."""
        while (call := self._calls.take(until)) is not None:
            self._serve_call(call)

    def _serve_call(self, call: Call) -> None:
        if not call.future.set_running_or_notify_cancel():
            return
        try:
            call.run()
        except (FirmwareError, SilenceError, MalformedError) as error:
            call.future.set_exception(error)
            self._on_fault(error)
        except (UnsafeError, StateError) as error:
            call.future.set_exception(error)
        except Exception as error:
            call.future.set_exception(error)
            raise
        else:
            call.future.set_result(None)

    def _on_fault(self, error: DriverError) -> None:
        """
        Stop, and say so.

        Raises
        ------
        LinkError
            The link is to be opened anew.
        """
        self._faults.count(str(error))
        if isinstance(error, FirmwareError) and error.code == OVER_TEMPERATURE:
            self._permission.heat.hot = True
        self._faults.in_row += 1
        try:
            self._hand.stop()
        except LinkError as lost:
            raise LinkError(f'{error}; after that {lost}') from error
        self._runner.end(Outcome.FAILED, f'stopped: {error}')
        if self._faults.in_row >= MOST_ERRORS:
            raise LinkError(f'{MOST_ERRORS} faults in a row, the last: {error}') from error

    def _judge_heat(self, hand: SdhHand | None = None) -> None:
        why = self._permission.heat.take((hand or self._hand).temperatures())
        if why:
            self._faults.count(why)
            if self._runner is not None and self._runner.busy:
                self._stop_first(Outcome.FAILED, f'stopped: {why}')

    def _judge_controller(self) -> None:
        """Set the controller back where another host changed it; what is under way has failed."""
        if not self._hand.controller_changed():
            return
        why = 'another host changed the controller'
        self._faults.count(f'{why}; it is set back')
        self._stop_first(Outcome.FAILED, f'stopped: {why}')
        self._hand.take_pose_control()
        self._hand.hold_here(self._identity)

    # -- what calls do, in the thread ----------------------------------------------------

    def _must_be_free(self) -> None:
        why = self._permission.why_not() or ('a stop was asked for' if self._calls.stops else '')
        if why or self._closing.is_set():
            raise StateError(why or 'the driver is closing')

    def _accept(self, motion: Motion, begin: Callable[[], None]) -> None:
        if motion.done.is_set():
            return
        try:
            self._must_be_free()
            begin()
        except (UnsafeError, StateError) as error:
            self.refuse(motion, str(error))
        except (FirmwareError, SilenceError, MalformedError, LinkError) as error:
            motion.finish(Outcome.FAILED, str(error))
            raise

    def _stop_first(self, outcome: Outcome, why: str) -> None:
        """Stop the hand, then end the motion: whoever waits for it may take long."""
        try:
            self._hand.stop()
        finally:
            self._runner.end(outcome, why)

    def _cut(self) -> None:
        try:
            self._hand.cut_power(self._identity)
        finally:
            self._runner.end(Outcome.STOPPED, self._permission.latched)

    def _recover(self) -> None:
        self._runner.end(Outcome.STOPPED, 'stopped by recover')
        cuts = self._permission.cuts
        self._hand.recover(self._identity, self._saved_limits)
        self._permission.unlatch(cuts)

    def _switch(self, on: bool) -> None:
        self._stop_first(Outcome.STOPPED, 'the motors were switched')
        if on:
            self._hand.hold_here(self._identity)
            if self._permission.latched:
                raise StateError(self._permission.why_not())
        self._hand.set_power(on)
        self._permission.motors = MOTORS_ON if on else MOTORS_OFF
