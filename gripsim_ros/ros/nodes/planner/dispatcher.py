"""
The planner's end of the ring, without ROS: turns, credits, retries and budgets.

One thread does all asking and telling (``run``); the others hand it sessions and
answers. Times are of the steady clock.
"""

import queue
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable
from weakref import WeakKeyDictionary

from ....core.errors import GripsimError
from ....core.planning.progress import Ask, Progress
from .sessions import (
    CANCELED, DONE, HEARTBEAT, INTERNAL, SHUTTING_DOWN, STAGE_MISSING, TIMED_OUT, Answer,
    Outstanding, RingSettings, Session)

#: Seconds between two reports of progress at least.
REPORT_PERIOD = 0.1
#: Share of what the planner took to prepare an object within which a stage has done so.
STAGE_SHARE = 0.5
#: How long a stage counts as at work after it said so, and after it said that it loads; it says so
#: once a second, but what it compiled it loads in a fresh process [s].
WORK_MEMORY, LOAD_MEMORY = 3.0, 30.0
#: The longest sleep, so that a missed wake-up is never noticed [s].
LONGEST_SLEEP = 1.0


class Dispatcher:
    """
    Carries questions and answers between planners and the ring.

    Parameters
    ----------
    settings : RingSettings
    send : callable
        ``send(session, ask, attempt)`` puts a batch on the ring.
    send_object : callable
        ``send_object(grasp_object)`` publishes the object again.
    absent_stages : callable
        Returns the names of stages that the graph does not show.
    clock : callable
        The steady clock [s].
    on_fault : callable
        ``on_fault(error, traceback)`` is told of what went wrong inside a planner.
    on_misfit : callable
        ``on_misfit(text)`` is told of answers that were dropped because they are none to the
        question.
    """

    def __init__(self, settings: RingSettings, send: Callable[[Session, Ask, int], None],
                 send_object: Callable[[object], None],
                 absent_stages: Callable[[], Iterable[str]],
                 clock: Callable[[], float] = time.monotonic,
                 on_misfit: Callable[[str], None] = lambda text: None,
                 on_fault: Callable[[Exception, str], None] = lambda error, text: None) -> None:
        """Start without sessions."""
        self._settings, self._send, self._send_object = settings, send, send_object
        self._absent_stages, self._clock = absent_stages, clock
        self._on_misfit, self._on_fault = on_misfit, on_fault
        self._events: queue.SimpleQueue = queue.SimpleQueue()
        self._sessions: deque[Session] = deque()
        self._out: dict[tuple[str, int], Outstanding] = {}
        self._went_on: set[str] = set()     # sessions that did a part which asks nothing
        self._left: dict[tuple[str, int], float] = {}   # of ended sessions, and until when
        self._longest: WeakKeyDictionary[object, float] = WeakKeyDictionary()
        self._order = 0
        self._at_work_until = -float('inf')
        self._closed = False
        self.retries = 0
        self.laps = 0
        self.misfits = 0

    # -- called from any thread ------------------------------------------------------

    def submit(self, session: Session) -> None:
        """Begin a session; ``session.done`` is set when it has ended."""
        self._events.put(lambda: self._begin(session))

    def prepared(self, session: Session, planner, grasp_object, took: float = 0.0) -> None:
        """
        Give a session its planner; it may have ended already.

        ``took`` [s] is what preparing it took; with an object that is known already it may be
        less than the stages need, so that the longest time counts.
        """
        def begin() -> None:
            session.planner, session.grasp_object = planner, grasp_object
            longest = max(took, self._longest.get(grasp_object, 0.0))
            self._longest[grasp_object] = longest
            session.patience = max(self._settings.answer_timeout, STAGE_SHARE * longest)
        self._events.put(lambda: session.done.is_set() or begin())

    def refuse(self, session: Session, outcome: int, message: str) -> None:
        """End a session whose planner could not be prepared."""
        self._events.put(lambda: self._end(session, outcome, message))

    def cancel(self, session: Session) -> None:
        """End a session with what it has."""
        self._events.put(lambda: self._end(session, CANCELED, ''))

    def answer(self, answer: Answer) -> None:
        """Take an answer from the ring; late, repeated and foreign ones are dropped."""
        self._events.put(lambda: self._take(answer))

    def reached(self, request_id: str, batch_id: int, stage: str) -> None:
        """Take note that a stage has passed on a batch."""
        self._events.put(lambda: self._note(request_id, batch_id, stage))

    def at_work(self, loading: bool = False) -> None:
        """Take note that some stage is computing or loading: what is silent may wait for it."""
        def note() -> None:
            memory = LOAD_MEMORY if loading else WORK_MEMORY
            self._at_work_until = max(self._at_work_until, self._clock() + memory)
        self._events.put(note)

    def close(self) -> None:
        """End all sessions and the thread."""
        def end_all() -> None:
            self._closed = True
            for session in list(self._sessions):
                self._end(session, INTERNAL, SHUTTING_DOWN)
        self._events.put(end_all)

    @property
    def outstanding(self) -> int:
        """Return how many batches are out."""
        return len(self._out)

    @property
    def watching(self) -> bool:
        """Return whether a batch is silent or a stage missing, so that their state matters."""
        return (any(item.silent for item in list(self._out.values()))
                or any(s.planner is not None and not s.discovered for s in list(self._sessions)))

    def run(self) -> None:
        """Ask and tell until closed; the body of the dispatcher's thread."""
        while not self._closed:
            wait = self.step()
            wake = self._clock() + wait
            if self._looked_ahead(wake):
                continue
            try:
                event = self._events.get(timeout=max(wake - self._clock(), 0.0))
            except queue.Empty:
                continue
            event()
            event = None        # it holds its session, and with it an object
            while not self._events.empty() and self._clock() < wake:    # a limit waits for no one
                self._events.get()()
        while not self._events.empty():     # sessions that came while it closed
            self._events.get()()

    def step(self) -> float:
        """Do what the time asks for, send what may be sent; return how long to wait [s]."""
        now = self._clock()
        for session in list(self._sessions):
            self._watch_session(session, now)
        for item in list(self._out.values()):
            self._watch_batch(item, now)
        self._pump(now)
        for session in list(self._sessions):
            self._report(session, now)
        return self._next_wake(self._clock())

    # -- called in the dispatcher's thread -------------------------------------------

    def _looked_ahead(self, wake: float) -> bool:
        """Let planners look ahead until something comes; return whether all are done with it."""
        looking = False
        while self._events.empty() and self._clock() < wake:
            if not any([self._guarded(session, lambda of=session: of.planner.look_ahead())
                        for session in list(self._sessions) if session.planner is not None]):
                return looking
            looking = True
        return False

    def _begin(self, session: Session) -> None:
        if self._closed:
            self._finish(session, INTERNAL, SHUTTING_DOWN)
        else:
            self._sessions.append(session)

    def _end(self, session: Session, outcome: int, message: str) -> None:
        if session not in self._sessions:
            return
        self._sessions.remove(session)
        for key in [k for k, item in self._out.items() if item.session is session]:
            item = self._out.pop(key)
            if not item.silent and item.resend_at is None:
                self._left[key] = self._clock() + session.patience
        self._finish(session, outcome, message)

    def _finish(self, session: Session, outcome: int, message: str) -> None:
        if outcome in (TIMED_OUT, CANCELED) and session.planner is not None:
            self._guarded(session, session.planner.stop)
        session.outcome, session.message = outcome, message
        session.done.set()

    def _take(self, answer: Answer) -> None:
        item = self._out.get((answer.request_id, answer.batch_id))
        if item is None:
            self._left.pop((answer.request_id, answer.batch_id), None)
            return
        item.misfit = item.misfit_of(answer)
        if item.misfit:         # the right one may still come, or is asked for again
            self.misfits += 1
            self._on_misfit(item.misfit)
            return
        now = self._clock()
        if answer.unknown_object or answer.preparing:
            if answer.attempt == item.attempt and item.resend_at is None:
                wait = self._wait_for_compliance if answer.preparing else self._bring_object
                wait(item, now, answer.message)
            return
        if answer.fatal:
            self._end(item.session, INTERNAL, answer.message)
            return
        del self._out[(answer.request_id, answer.batch_id)]
        self.laps += 1
        for other in self._out.values():        # the ring lives: wait on for later batches
            if other.order > item.order:
                other.deadline = max(other.deadline, now + other.session.patience)
        self._tell(item, answer)

    def _bring_object(self, item: Outstanding, now: float, message: str) -> None:
        """Publish the object for a stage that lacks it, and ask again more and more seldom."""
        session = item.session
        session.message = message
        if not item.lacking:
            item.lacking_since = now
        if now >= session.send_object_at:
            self._guarded(session, lambda: self._send_object(session.grasp_object))
            session.object_pause = max(2.0 * session.object_pause, self._settings.answer_timeout)
            session.send_object_at = now + session.object_pause
        item.ask_later(now, item.lacking_since)

    def _wait_for_compliance(self, item: Outstanding, now: float, message: str) -> None:
        """Ask again more and more seldom: the stage lives, and prepares what is asked for."""
        item.silences, item.lacking_since = 0, None
        item.preparing_since = item.preparing_since or now
        item.ask_later(now, item.preparing_since)

    def _drop_waiting(self, session: Session) -> None:
        """Forget the batches that wait for a compliance which their planner needs no more."""
        self._out = {key: item for key, item in self._out.items() if not (
            item.session is session and item.preparing_since
            and not session.planner.is_asked(item.ask.batch_id))}

    def _tell(self, item: Outstanding, answer: Answer) -> None:
        planner, batch_id = item.session.planner, item.ask.batch_id
        if answer.no_compliance:
            self._guarded(item.session, lambda: planner.refuse(answer.reason))
            self._drop_waiting(item.session)
        elif answer.states is None:
            item.session.failures = item.session.failures or answer.message
            self._guarded(item.session, lambda: planner.tell_failed(batch_id))
        else:
            self._guarded(item.session, lambda: planner.tell(batch_id, answer.states))

    def _guarded(self, session: Session, call: Callable[[], object]):
        """Return what a call to the planner returns; its fault ends the session alone."""
        try:
            return call()
        except Exception as error:
            self._on_fault(error, traceback.format_exc())
            kind = '' if isinstance(error, GripsimError) else f'{type(error).__name__}: '
            self._end(session, INTERNAL, kind + ' '.join(str(error).split()))
            return None

    def _note(self, request_id: str, batch_id: int, stage: str) -> None:
        item = self._out.get((request_id, batch_id))
        if item is not None:
            item.reached.add(stage)

    def _watch_session(self, session: Session, now: float) -> None:
        """End a session whose time is up; a little earlier, begin nothing new."""
        if now >= session.deadline:
            silent = [item for item in self._out.values()
                      if item.session is session and (item.silent or item.lacking)]
            if silent and now >= self._at_work_until:
                self._end(session, STAGE_MISSING, silent[0].missing(self._absent_stages()))
            else:
                self._end(session, TIMED_OUT, '')
        elif now >= session.stop_at and not session.stopped and session.planner is not None:
            session.stopped = True
            session.cut_short = not self._all_judged(session)
            self._guarded(session, lambda: session.planner.stop())   # it may have just ended
            self._drop_waiting(session)

    def _all_judged(self, session: Session) -> bool:
        """Return whether only details are missing, so that no time limit ended planning."""
        if session.planner is None:
            return False
        progress = self._guarded(session, lambda: session.planner.progress)
        return progress is None or progress.evaluated >= progress.total

    def _watch_batch(self, item: Outstanding, now: float) -> None:
        """Send a batch again that was not answered, or that now finds its object."""
        if (item.session.request_id, item.ask.batch_id) not in self._out:
            return
        if now < item.wakes_at:
            return
        if item.resend_at is None:
            if item.silent and now < self._at_work_until:
                item.deadline = now + item.session.patience
                return
            item.silences, item.lacking_since = item.silences + 1, None
        if item.given_up(now, self._settings.max_attempts):
            self._end(item.session, STAGE_MISSING, item.missing(self._absent_stages()))
            return
        item.attempt += 1
        self.retries += 1
        item.order = self._next_order()     # it stands at the end of the queues again
        self._put(item, now)

    def _next_order(self) -> int:
        self._order += 1
        return self._order

    def _put(self, item: Outstanding, now: float) -> None:
        item.resend_at = None
        item.deadline = now + item.session.patience
        self._guarded(item.session, lambda: self._send(item.session, item.ask, item.attempt))

    def _pump(self, now: float) -> None:
        """
        Let the sessions take turns while credits are left.

        Batches of ended sessions still wait in the stages' queues, which hold twice the
        credits: more would push others out.
        """
        self._left = {key: until for key, until in self._left.items() if until > now}
        idle, credits = 0, self._settings.credits
        self._went_on.clear()
        while self._sessions and idle < len(self._sessions):
            if len(self._out) >= credits or len(self._out) + len(self._left) >= 2 * credits:
                return
            session = self._sessions[0]
            self._sessions.rotate(-1)
            idle = 0 if self._ask(session, now) else idle + 1

    def _ask(self, session: Session, now: float) -> bool:
        """Send the session's next question; return whether there was one, or it ended."""
        if session.planner is None or not self._stages_discovered(session, now):
            return False
        ask = self._guarded(session, session.planner.ask)
        if session.done.is_set():
            return True
        if ask is None:
            waiting = any(item.session is session for item in self._out.values())
            if waiting or session.request_id in self._went_on:
                return False
            if not self._guarded(session, session.planner.go_on):
                self._end(session, TIMED_OUT if session.cut_short else DONE, '')
                return True
            ask = self._guarded(session, session.planner.ask)
            if session.done.is_set():
                return True
            if ask is None:     # others, and limits, come before its next part
                self._went_on.add(session.request_id)
                self._events.put(lambda: None)
                return False
        item = Outstanding(session, ask, self._next_order())
        self._out[(session.request_id, ask.batch_id)] = item
        self._put(item, now)
        return True

    def _stages_discovered(self, session: Session, now: float) -> bool:
        """Return whether all stages are seen; given up after one time-out."""
        waited = now - session.begin > self._settings.answer_timeout
        session.discovered = (
            session.discovered or (waited and now >= self._at_work_until)
            or not list(self._absent_stages()))
        return session.discovered

    def _report(self, session: Session, now: float) -> None:
        if session.on_progress is None or now - session.reported_at < REPORT_PERIOD:
            return
        progress = Progress(0, 0, 0, None)
        if session.planner is not None:
            progress = self._guarded(session, lambda: session.planner.progress)
        if progress is None:
            return
        state = (progress.evaluated, progress.stable, progress.step)
        if state != session.reported or now - session.reported_at >= HEARTBEAT:
            session.reported, session.reported_at = state, now
            self._guarded(session, lambda: session.on_progress(progress))

    def _next_wake(self, now: float) -> float:
        """Return the seconds until the next deadline."""
        times = [now + LONGEST_SLEEP]
        times.extend(session.wakes_at(now) for session in self._sessions)
        times.extend(self._left.values())
        times.extend(item.wakes_at for item in self._out.values())
        return max(0.0, min(times) - now)
