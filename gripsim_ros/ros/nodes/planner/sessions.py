"""What the planner's end of the ring keeps: sessions, batches that are out, answers."""

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from ....core.batches import GraspStateBatch
from ....core.planning.progress import Ask, Progress

#: The stages in the order in which a batch comes through them.
STAGES = ('forward_kinematics', 'contact_detection', 'deformation')

#: How a session ended.
DONE, TIMED_OUT, CANCELED, STAGE_MISSING, INVALID, INTERNAL = range(6)

#: What an answer INTERNAL says of a node that has been told to end.
SHUTTING_DOWN = 'the node is shutting down'

#: Seconds between two reports of progress at most.
HEARTBEAT = 1.0
#: Seconds between two looks at the graph while stages are being discovered.
DISCOVERY_PERIOD = 0.02
#: Seconds before a batch is sent again that met a stage which is not ready, and at most.
STAGE_DELAY, LONGEST_STAGE_DELAY = 0.02, 0.5
#: Share of the time limit, and most seconds, kept for the details of the best grasps.
DETAIL_SHARE, DETAIL_TIME = 0.1, 1.0


@dataclass(frozen=True)
class RingSettings:
    """
    How batches are sent.

    ``credits`` batches are out at most; after ``answer_timeout`` [s] of silence, or a session's
    ``patience``, one is sent again, at most ``max_attempts`` times in all.
    """

    credits: int
    answer_timeout: float
    max_attempts: int


@dataclass(frozen=True, eq=False)
class Answer:
    """
    An answer from the ring: states, or which stage could not give any, and why.

    ``preparing`` and ``no_compliance`` are about the object's own compliance; ``message`` names
    the stage before its ``reason``.
    ``misfit`` returns in which way it is not an answer to a question about an object; '' where
    it is. What is echoed is compared only where the question is still known.
    """

    request_id: str
    batch_id: int
    attempt: int
    states: GraspStateBatch | None = None
    unknown_object: bool = False
    preparing: bool = False
    no_compliance: bool = False
    fatal: bool = False
    message: str = ''
    reason: str = ''
    misfit: Callable[[Ask, object], str] = lambda ask, grasp_object: ''


@dataclass(eq=False)
class Outstanding:
    """A batch on the ring."""

    session: 'Session'
    ask: Ask
    order: int
    attempt: int = 0
    deadline: float = 0.0
    resend_at: float | None = None
    lacking_since: float | None = None      # when a stage first said that it lacks the object
    preparing_since: float | None = None    # when a stage first said that it prepares for it
    silences: int = 0
    misfit: str = ''                        # in which way the last answer was none to it
    reached: set[str] = field(default_factory=set)

    def misfit_of(self, answer: Answer) -> str:
        """Return in which way an answer is none to the batch; '' where it is one."""
        if answer.attempt > self.attempt:
            return f'it is to attempt {answer.attempt}, of {self.attempt + 1} made'
        return answer.misfit(self.ask, self.session.grasp_object)

    def ask_later(self, now: float, since: float) -> None:
        """Let a batch be sent again that a stage has not been ready for since then."""
        self.resend_at = now + min(max(STAGE_DELAY, now - since), LONGEST_STAGE_DELAY)

    def given_up(self, now: float, attempts: int) -> bool:
        """Return whether a batch was in vain too often, or lacked its object for as long."""
        lacking = 0.0 if self.lacking_since is None else now - self.lacking_since
        return self.silences >= attempts or lacking >= attempts * self.session.patience

    def missing(self, absent: Iterable[str]) -> str:
        """Return a line that names the stage from which it did not come back; some are absent."""
        absent = set(absent)
        silent = [stage for stage in STAGES if stage not in self.reached]
        stage = next((s for s in STAGES if s in absent), silent[0] if silent else STAGES[-1])
        if self.lacking:
            return self.session.message
        if self.misfit and stage not in absent:
            return f'{STAGES[-1]} gives no answer that fits the question: {self.misfit}'
        seen = 'is not there' if stage in absent else 'is there but silent'
        return (f'{stage} {seen}: no answer to {max(1, self.silences)} attempts within '
                f'{self.session.patience:.3g} s each')

    @property
    def wakes_at(self) -> float:
        """Return when it is to be looked at: it is sent again, or its patience is at an end."""
        return self.deadline if self.resend_at is None else self.resend_at

    @property
    def silent(self) -> bool:
        """Return whether an attempt has got no answer."""
        return self.silences > 0

    @property
    def lacking(self) -> bool:
        """Return whether the last word of a stage was that it lacks the object."""
        return self.lacking_since is not None


@dataclass(eq=False)
class Session:
    """
    One request on its way.

    Attributes
    ----------
    request_id : str
    deadline : float
        Time of the steady clock at which it ends with what it has.
    reserve : float
        Time after that, within the limit, in which the answer is written [s].
    begin : float
        When the request came; the limit counts from here.
    on_progress : callable, optional
        Called with ``Progress`` from the dispatcher's thread.
    planner : GraspPlanner or GraspEvaluator
        None while it is being prepared, see ``Dispatcher.prepared``.
    grasp_object : GraspObject
        What it plans on; None as long as ``planner``.
    patience : float
        How long the ring may be silent [s]; the stages take the longer for an object, the
        longer the planner took.
    send_object_at, object_pause : float
        When the object may be published again where a stage lacks it, and how long after the
        last time that is [s].
    """

    request_id: str
    begin: float
    deadline: float
    on_progress: Callable[[Progress], None] | None = None
    planner: object = None
    grasp_object: object = None
    patience: float = 0.0
    send_object_at: float = 0.0
    object_pause: float = 0.0
    done: threading.Event = field(default_factory=threading.Event)
    outcome: int = DONE
    message: str = ''
    failures: str = ''
    stopped: bool = False
    cut_short: bool = False
    discovered: bool = False
    reported_at: float = -float('inf')
    reported: object = None
    reserve: float = 0.0

    @property
    def limit(self) -> float:
        """Return how long its answer may take in all [s]."""
        return self.deadline + self.reserve - self.begin

    @property
    def stop_at(self) -> float:
        """Return when no hypothesis is begun any more, so that details find the time."""
        reserve = min(DETAIL_TIME, DETAIL_SHARE * (self.deadline - self.begin))
        return self.deadline - reserve

    def wakes_at(self, now: float) -> float:
        """Return when it is to be looked at next."""
        ready = self.planner is not None
        times = [self.stop_at if ready and not self.stopped else self.deadline]
        if self.on_progress is not None:
            times.append(max(self.reported_at, 0.0) + HEARTBEAT)
        if ready and not self.discovered:
            times.append(now + DISCOVERY_PERIOD)
        return min(times)
