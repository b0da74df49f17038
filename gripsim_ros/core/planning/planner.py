"""The planner as an ask-and-tell object: it calls no stage and never waits."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

from ..batches import (
    AS_CONFIGURED, HALF_SPACE, HALF_SPACE_FIRST, OWN_COMPLIANCE, PATCH_THIN, GraspStateBatch)
from ..bodies import GraspObject
from ..hand import HandModel
from .ask_and_tell import AskAndTell, Work
from .closing.batching import Conditions
from .closing.closing import Closing
from .closing.knowledge import ClosingKnowledge
from .closing.grasp_state import GraspState
from .closing.limits import ScoreThreshold, closing_limits
from .closings import (
    MOST_ROUNDS, Closings, ClosingsAgain, closing_from, in_order, yields_as_a_whole)
from .diagnosis.hint import explain_no_grasp
from .diagnosis.nearest_miss import MissDetails, make_nearest_miss
from .hypotheses.generate import Hypothesis, propose_hypotheses
from .manipulation.search import ManipulationSearch
from .moving_object.closing_motion import ClosingPredictions
from .moving_object.seated_hypotheses import seated_hypotheses
from .options import IN_TWO_STAGES, PlannerOptions, checked_elasticity
from .planar_closing.prospects import PlanarProspects, Prospect
from .planar_closing.queue import ClosingQueue
from .progress import CLOSING_AGAIN, PREPARING, SEATED, Progress
from .ranked_grasp import NOT_ASKED, NearestMiss, RankedGrasp
from .ranking.pruning import Pruner
from .ranking.score import score_reference
from .rejections import DEFERRED
from .settling import SPARE_GRASPS, Details, Refinement, SettlingRounds
from .task import ANY, Task, check_counts, task_load_cases
from .verdicts import Verdicts

#: Hypotheses for which a seated palm is looked for at once: a tenth of a second of a core.
SEATED_AT_ONCE = 5
#: Said of grasps of half-spaces where the object's own compliance was wanted.
ENDED_EARLY = ("planning ended before the best were closed again with the object's own "
               'compliance: half-spaces answer')


@dataclass(frozen=True, eq=False)
class _Answer:
    """What the ranking is made of: verdicts, their settling, and the way along a displacement."""

    verdicts: Verdicts
    rounds: SettlingRounds
    manipulation: ManipulationSearch
    conditions: Conditions

    @cached_property
    def last(self) -> tuple[Work, ...]:
        """Return the work on the details of what has settled."""
        return (Details(self.rounds, self.verdicts, self.conditions),
                MissDetails(self.verdicts.misses, self.verdicts.grasps, self.conditions),
                self.manipulation)


@dataclass(frozen=True, eq=False)
class _Search:
    """The closings of hypotheses, and the answer that they come to; ``spared`` are not closed."""

    answer: _Answer
    waiting: ClosingQueue
    pruner: Pruner
    closings: Closings
    spared: int = 0

    @property
    def judged(self) -> int:
        """Return how many hypotheses have a verdict."""
        return (self.spared + self.closings.judged + len(self.waiting.refused)
                + self.set_aside.total())

    @property
    def set_aside(self) -> Counter[str]:
        """Return how many are set aside, begun or not, as a reason of rejection."""
        return self.pruner.counts + Counter({DEFERRED: len(self.waiting.held_back)})


class GraspPlanner(AskAndTell):
    """
    Plan grasps of one object for one task by asking and being told.

    The verdict on a hypothesis depends on no other, so the ranking depends on the request alone.
    Where the stages are at hand, ``begin()`` gives out whole hypotheses instead. Where few hold,
    ``go_on()`` has the others closed once more, at palms where a free object comes to rest.

    Parameters
    ----------
    grasp_object : GraspObject
    hand : HandModel
    task : Task
    options : PlannerOptions
    seed : int
        0: hypotheses at rolls from the canonical axes alone; else also at turned ones.
    max_hypotheses, max_grasps : int
        0: as in the options.
    elasticity : str
        Model of the object that questions ask for: '' as the stages are configured,
        ``half_space``, or ``auto``: half-spaces for the search; then ``go_on()`` has the best
        closed again with the object's own compliance, unless the object is so stiff that this
        changes nothing, see ``yields_as_a_whole``.
    is_wanted : callable
        Returns whether anybody still waits for the hypotheses; where not, there are none.

    Raises
    ------
    TaskError
        A count or the seed is negative or no whole number, the task's displacement is too
        long to be followed, or the elasticity is none of these.
    """

    def __init__(self, grasp_object: GraspObject, hand: HandModel, task: Task,
                 options: PlannerOptions, seed: int = 0, max_hypotheses: int = 0,
                 max_grasps: int = 0, elasticity: str = AS_CONFIGURED,
                 is_wanted: Callable[[], bool] = lambda: True) -> None:
        check_counts(seed=seed, max_hypotheses=max_hypotheses, max_grasps=max_grasps)
        self._refusal = ''
        if checked_elasticity(elasticity) == IN_TWO_STAGES:
            elasticity = (HALF_SPACE_FIRST if yields_as_a_whole(grasp_object, hand)
                          else HALF_SPACE)
        self._twice = elasticity == HALF_SPACE_FIRST
        self._stopped = self._completed = self._heard_again = False
        self.grasp_object, self.hand, self.task, self.options = grasp_object, hand, task, options
        self.load_cases = task_load_cases(task, grasp_object.canonical_frame[:3, :3])
        self._reference = score_reference(grasp_object, hand, self.load_cases)
        self._limits = closing_limits(grasp_object, hand, self._reference.load,
                                      self._reference.max_pressure, task.contact_region)
        conditions = Conditions.of(task, self.load_cases, elasticity)
        self._wanted = max_grasps or options.max_grasps
        # Whether the fingers can move the object is known only of grasps that are followed.
        self._followed = (self._wanted if task.reach == ANY
                          else max_hypotheses or options.max_hypotheses)
        self._moving = ClosingPredictions(grasp_object, hand, task, options.closing,
                                          self.load_cases)
        hypotheses, self.proposed = propose_hypotheses(
            grasp_object, hand, task, options, max_hypotheses or options.max_hypotheses, seed,
            is_wanted)
        self._total = len(hypotheses)
        self._first = self._search = self._search_of(
            hypotheses, Verdicts(hand, self._reference, options), conditions)
        #: Answer before palms were seated.
        self._without: _Answer | None = None
        #: What is looked at for a search at seated palms, and what was found.
        self._seating: Iterator[Hypothesis | None] | None = None
        self._seated: list[Hypothesis] = []
        self._answer = self._search.answer
        super().__init__(self._stages_of(self._search, conditions), conditions)

    def _search_of(self, hypotheses: list[Hypothesis], verdicts: Verdicts,
                   conditions: Conditions) -> _Search:
        """Return the search among hypotheses; the others have their verdict."""
        answer = self._answer_of(verdicts, conditions, again=False)
        closings = [Closing(hypothesis, self.hand, self.options, self._limits)
                    for hypothesis in hypotheses]
        waiting = ClosingQueue(closings, PlanarProspects(
            self.grasp_object, self.hand, self._reference, self._limits, self.options),
            self.options.heat_size)
        settling = self._followed + SPARE_GRASPS
        rounds, lifted = (MOST_ROUNDS, PATCH_THIN) if self._twice else (1, 0)
        pruner = Pruner(self.hand, self._reference, self.options, settling, rounds * settling,
                        lifted)
        if not self._twice:
            answer.rounds.moving = self._moving.told
        return _Search(answer, waiting, pruner, Closings(
            waiting, pruner, answer.rounds, verdicts, conditions), self._total - len(hypotheses))

    def _stages_of(self, search: _Search, conditions: Conditions
                   ) -> tuple[tuple[Work, ...], ...]:
        rounds, verdicts = search.answer.rounds, search.answer.verdicts
        stages = (search.closings,), (Refinement(rounds, verdicts, conditions),), (rounds,)
        return stages if self._twice else (*stages, search.answer.last)

    @property
    def _found(self) -> _Answer:
        """Return the answer of the search."""
        return self._search.answer

    def _answer_of(self, verdicts: Verdicts, conditions: Conditions, again: bool) -> _Answer:
        rounds = SettlingRounds(self._followed, verdicts, conditions, self.options, again)
        return _Answer(verdicts, rounds, ManipulationSearch(
            self.task, verdicts, rounds.ranked, conditions, self.grasp_object.mesh.vertices),
            conditions)

    # -- after the search ---------------------------------------------------------------

    def go_on(self) -> bool:
        """
        Go on once all work is finished: search again, close the best again, or complete.

        Where fewer hold than half of those wanted, the others that came to contact, or would not
        have balanced there, are closed once more at palms where a free object comes to rest
        between the fingers, looked for in parts of 0.1 s. Where none of them holds either, the
        verdicts are those of before.

        In two stages the best are closed again with the object's own compliance, and these states
        alone make the ranking. Where there are none, ``stop()`` comes before as many as wanted
        have settled, or ``refuse()`` says that there is no such compliance, the search's answer
        stands, and what is missing of it is asked for.

        Returns
        -------
        bool
            Whether it is to be called again once all work is finished; there may be none.
        """
        if self._searches_again():
            return True
        if not self._twice or self.closed_again or self._completed:
            return False
        if self._stopped or self._refusal or not self._found.verdicts.grasps:
            self._found.rounds.moving = self._moving.told
            self._stages, self._completed = (self._found.last,), True
        else:
            self._close_again()
        return True

    @property
    def _has_enough(self) -> bool:
        """Return whether there are grasps; before palms are seated, half of those wanted."""
        least = 1 if self.closed_again or self._without else min(self._wanted, self._total) / 2
        return len(self._answer.verdicts.grasps) >= least

    def _searches_again(self) -> bool:
        """Look for seated palms where too few grasps are left, then search there, if so."""
        if self._has_enough or self._stopped and self._search is self._first:
            return False
        if self._without:
            if not self._without.verdicts.grasps:
                self._search, self._answer = self._first, self._without
            return False
        missed = self._first.closings.missed
        self._seating = self._seating or seated_hypotheses(
            [closing.hypothesis for closing in missed.values()], self.grasp_object, self.hand,
            self.task, self.options.closing)
        looked = list(islice(self._seating, SEATED_AT_ONCE))
        self._seated += [hypothesis for hypothesis in looked if hypothesis]
        if looked:
            return True
        self._without = self._answer
        if self._seated:
            self._search_seated(missed)
        return bool(self._seated)

    def _search_seated(self, missed: Mapping[int, Closing]) -> None:
        """Begin a search at seated palms; the others of ``missed`` keep their verdicts."""
        verdicts = Verdicts(self.hand, self._reference, self.options)
        verdicts.rejections = Counter(self.rejections) - Counter(
            missed[hypothesis.number].reason for hypothesis in self._seated)
        for number in self._answer.verdicts.grasps:
            verdicts.hold(*self._answer.verdicts.closed(number))
        self._search = self._search_of(self._seated, verdicts, self.conditions)
        self._answer, self._stages = self._found, self._stages_of(self._search, self.conditions)

    def tell(self, batch_id: int, states: GraspStateBatch) -> None:
        """Take the answer to a question, as ``AskAndTell``; the second stage begins with one."""
        self._heard_again = self.closed_again
        super().tell(batch_id, states)

    def refuse(self, reason: str) -> None:
        """Take note that the object's own compliance cannot be prepared, and why."""
        if self.closed_again:
            self._refusal = reason
            self._drop_second()

    def _drop_second(self) -> None:
        self._answer, self._stages, self._asked, self._answers = self._found, (), {}, {}
        self._found.rounds.moving = self._moving.told

    def _close_again(self) -> None:
        found, verdicts = self._found, Verdicts(self.hand, self._reference, self.options)
        verdicts.rejections.update(found.verdicts.rejections)
        verdicts.misses = found.verdicts.misses
        conditions = replace(self.conditions, elasticity=OWN_COMPLIANCE)
        self._answer = self._answer_of(verdicts, conditions, again=True)
        self._answer.rounds.moving = self._moving.told
        closings = [closing_from(*found.verdicts.closed(number), self.hand, self.options,
                                 self._limits)
                    for number in in_order(found.rounds, found.verdicts)]
        again = ClosingsAgain(closings, self._followed, self._answer.rounds, verdicts, conditions)
        self._stages = ((again,), (self._answer.rounds,), self._answer.last)

    @property
    def closed_again(self) -> bool:
        """Return whether the ranking is of grasps that were closed again."""
        return self._answer is not self._found

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return what is to be said where the object's own compliance was wanted in vain."""
        if not self._twice or self.closed_again:
            return ()
        return (self._refusal or ENDED_EARLY,)

    def stop(self) -> None:
        """Begin no hypothesis any more, as ``AskAndTell``; see also ``go_on``."""
        self._stopped = True
        self._moving.stop()
        if self.closed_again and any(work.unfinished() for (work,) in self._stages[:2]):
            self._drop_second()
            return
        super().stop()

    def begin(self, count: int) -> list[Closing]:
        """Give out the next ``count`` hypotheses whole; ``end()`` takes their outcomes."""
        return self._search.closings.give_out(count)

    def look_ahead(self) -> bool:
        """Find what planar closing foretells of one hypothesis; return whether one was left."""
        return self._search.closings.look_ahead()

    def seek(self, count: int) -> list[int]:
        """Give out up to ``count`` hypotheses of which others foretell what they may come to."""
        return self._search.closings.seek(count)

    def foretell(self, numbers: Iterable[int]) -> dict[int, Prospect]:
        """Return what planar closing foretells of hypotheses that wait, by number."""
        return self._search.closings.foretell(numbers)

    def learn(self, prospects: Mapping[int, Prospect]) -> None:
        """Take what others have foretold of hypotheses given out, by number."""
        self._search.closings.learn(prospects)

    def end(self, outcomes: dict[int, ClosingKnowledge]) -> None:
        """Take the outcomes of hypotheses given out; unknown and dropped ones are ignored."""
        self._search.closings.take_back(outcomes)

    def hypotheses(self, thresholds: Mapping[int, ScoreThreshold]) -> list[Closing]:
        """Return hypotheses, waiting or given out, by number, with their thresholds set."""
        found = self._search.closings.known_to_others()
        for number, threshold in thresholds.items():
            found[number].threshold = threshold
        return [found[number] for number in thresholds]

    def should_defer(self, closing: Closing, state: GraspState) -> bool:
        """Return True if a closing is to be deferred after an answer."""
        return self._search.pruner.should_defer(closing, state)

    @property
    def progress(self) -> Progress:
        """Return how far planning is."""
        waits = self.closed_again and not self._heard_again
        grasps = (self._found if waits else self._answer).verdicts.grasps
        step = (PREPARING if waits else CLOSING_AGAIN if self.closed_again
                else SEATED if self._seats else '')
        return Progress(self._search.judged, self._total, len(grasps), grasps.best, step)

    @property
    def _seats(self) -> bool:
        """Return whether seated palms are looked for, or searched."""
        return self._search is not self._first or bool(self._seating and self._without is None)

    @property
    def contacts_evaluated(self) -> int:
        """Return how many hypotheses got a verdict after two fingers came into contact."""
        return self._first.closings.in_contact

    @property
    def rejections(self) -> dict[str, int]:
        """Return how many hypotheses were rejected for each reason, most frequent first."""
        refused = Counter(closing.reason for closing in self._search.waiting.refused)
        counts = self._answer.verdicts.rejections + refused + self._search.set_aside
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

    def ranked(self, count: int = 0) -> list[RankedGrasp]:
        """Return the best ``count`` stable grasps so far (0: as in the request), best first."""
        count = count or self._wanted
        answer = self._answer
        order = answer.manipulation.ordered(answer.rounds.ranked(
            count if self.task.reach == ANY else len(answer.verdicts.grasps)))
        return [replace(grasp, rank=i + 1, warnings=grasp.warnings + self.warnings)
                for i, grasp in enumerate(order[:count])]

    @property
    def reach_levels(self) -> dict[str, int]:
        """Return by whom the object is moved, and by how many of the grasps wanted so."""
        if self.task.displacement_object is None:
            return {}
        left = sum(self._answer.manipulation.result(grasp.hypothesis) is None
                   for grasp in self._answer.rounds.ranked())
        return {**self._answer.manipulation.levels, **({NOT_ASKED: left} if left else {})}

    @property
    def nearest_miss(self) -> NearestMiss | None:
        """Return the rejected hypothesis that came nearest, None where there is a grasp."""
        nearest = self._answer.verdicts.misses.nearest
        if self._answer.verdicts.grasps or not nearest:
            return None
        return make_nearest_miss(nearest[0], self.hand, self._reference)

    @property
    def hint(self) -> str:
        """Return one sentence that says, with numbers, why there is no grasp; else ''."""
        return '' if self._answer.verdicts.grasps else explain_no_grasp(
            self.grasp_object, self.hand, self._reference, self.rejections, self.nearest_miss)
