"""The planner as an ask-and-tell object: it calls no stage and never waits."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..batches import DETAIL_FORCES, DETAIL_SURFACE, ConfigurationBatch, GraspStateBatch
from ..bodies import GraspObject
from ..errors import TaskError
from ..hand import HandModel
from .closing.batching import Outcome, next_questions, question_batch
from .closing.closing import Closing, HeldGrasp, Question
from .closing.grasp_state import GraspState, extract_state
from .closing.limits import ScoreThreshold, closing_limits
from .diagnosis.hint import explain_no_grasp
from .diagnosis.nearest_miss import (
    NearestMisses, RejectedHypothesis, make_nearest_miss, miss_question)
from .hypotheses.generate import propose_hypotheses
from .manipulation.follow_path import PathFollower
from .manipulation.search import ManipulationSearch
from .options import PlannerOptions
from .planar_closing.queue import ClosingQueue
from .progress import Ask, Progress
from .ranked_grasp import NearestMiss, RankedGrasp
from .ranking.assemble import StableGrasps, grasp_contacts, make_grasp, rank_key
from .ranking.pruning import Pruner
from .ranking.score import score_reference
from .rejections import CANNOT_MOVE, EVALUATION_FAILED, LET_GO, NOT_EVALUATED
from .settling import (
    SPARE_GRASPS, Refinement, Settling, SettlingRounds, in_found_frame, settled_question)
from .task import Task, check_counts, task_load_cases

#: Number of active hypotheses at first, and more for each verdict: the best answer soon.
FIRST_ACTIVE, ACTIVE_PER_VERDICT = 8, 4
#: Largest number of hypotheses begun for one question: planar closing takes time.
MAX_BEGUN = 4
_Asked = Closing | Settling | RankedGrasp | RejectedHypothesis | PathFollower


class GraspPlanner:
    """
    Plan grasps of one object for one task by asking and being told.

    ``ask()`` returns the next question, or None when nothing can be asked before an
    answer arrives; ``tell()`` takes answers in any order and more than once. The verdict on
    a hypothesis depends on no other, so the ranking depends on the request alone.
    Where the stages are at hand, ``begin()`` gives out whole hypotheses instead.

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

    Raises
    ------
    TaskError
        A count or the seed is negative or no whole number, or the task's displacement is too
        long to be followed.
    """

    def __init__(self, grasp_object: GraspObject, hand: HandModel, task: Task,
                 options: PlannerOptions, seed: int = 0, max_hypotheses: int = 0,
                 max_grasps: int = 0) -> None:
        check_counts(seed=seed, max_hypotheses=max_hypotheses, max_grasps=max_grasps)
        self.grasp_object, self.hand, self.task, self.options = grasp_object, hand, task, options
        self._max_grasps = max_grasps or options.max_grasps
        self.load_cases = task_load_cases(task, grasp_object.canonical_frame[:3, :3])
        self._reference = score_reference(grasp_object, hand, self.load_cases)
        self._manipulation = ManipulationSearch(
            hand, task, self.load_cases, self._reference.friction, self._reference.radius,
            options.reach, grasp_object.mesh.vertices)
        hypotheses, self.proposed = propose_hypotheses(
            grasp_object, hand, task, options, max_hypotheses or options.max_hypotheses, seed)
        limits = closing_limits(grasp_object, hand, self._reference.load,
                                self._reference.max_pressure, task.contact_region)
        self._waiting = ClosingQueue.of(hypotheses, grasp_object, hand, options, limits)
        self._total = len(hypotheses)
        self._active: list[Closing] = []
        self._given_out: dict[int, Closing] = {}
        self._asked: dict[int, Sequence[_Asked]] = {}
        self._answers: dict[int, GraspStateBatch | str] = {}
        self._grasps = StableGrasps()
        self._held: dict[int, tuple[Closing, HeldGrasp]] = {}
        self._pruner = Pruner(hand, self._reference, options, self._max_grasps + SPARE_GRASPS)
        self.should_defer = self._pruner.should_defer
        self._settlings = SettlingRounds(self._max_grasps, options)
        self._refinement = Refinement(hand, self._reference, options)
        self._detailed: set[int] = set()
        self._rejections: Counter[str] = Counter()
        self._misses = NearestMisses()
        self._next_ask = self._closed = self._in_contact = 0
        self._stopped = False

    # -- asking and being told -------------------------------------------------------

    def ask(self) -> Ask | None:
        """Return the next question, or None while only answers can help or all is done."""
        limit = min(self.options.active_hypotheses,
                    FIRST_ACTIVE + ACTIVE_PER_VERDICT * self._closed)
        self._active += self._begin_next(min(limit - len(self._active), MAX_BEGUN))
        pending = {id(item) for items in self._asked.values() for item in items}
        free = [c for c in self._active if id(c) not in pending]
        if free:
            return self._ask_closings(free)
        if self._active or self._given_out:
            return None
        if self._recallable():
            self._active = self._pruner.recall()
            return self._ask_closings(self._active)
        if unrefined := self._unrefined():
            free = [c for c in unrefined if id(c) not in pending]
            return self._ask_closings(free) if free else None
        if self._unsettled():
            return self._ask_settling(pending)
        return self._ask_details(pending) or self._ask_manipulation(pending)

    def tell(self, batch_id: int, states: GraspStateBatch) -> None:
        """
        Take the answer to a question; repeated and unknown answers are ignored.

        Raises
        ------
        TaskError
            The answer has another number of configurations than the question.
        """
        if batch_id not in self._asked or batch_id in self._answers:
            return
        if states.count != len(self._asked[batch_id]):
            raise TaskError(f'answer {batch_id} has {states.count} configurations, '
                            f'{len(self._asked[batch_id])} were asked')
        self._answers[batch_id] = states
        self._use_answers()

    def tell_failed(self, batch_id: int, reason: str = EVALUATION_FAILED) -> None:
        """Take note that a question cannot be answered; its hypotheses are rejected."""
        if batch_id in self._asked and batch_id not in self._answers:
            self._answers[batch_id] = reason
            self._use_answers()

    def begin(self, count: int) -> list[Closing]:
        """Give out the next ``count`` hypotheses whole; ``end()`` takes their outcomes."""
        closings = self._begin_next(count)
        self._given_out.update({c.hypothesis.number: c for c in closings})
        return closings

    def hypotheses(self, thresholds: Mapping[int, ScoreThreshold]) -> list[Closing]:
        """Return hypotheses, waiting or given out, by number, with their thresholds set."""
        found = {c.hypothesis.number: c for c in [*self._waiting, *self._given_out.values()]}
        for number, threshold in thresholds.items():
            found[number].threshold = threshold
        return [found[number] for number in thresholds]

    def end(self, outcomes: list[Outcome]) -> None:
        """Take the outcomes of hypotheses given out; unknown and dropped ones are ignored."""
        for outcome in outcomes:
            closing = self._given_out.pop(outcome.number, None)
            if closing is None:
                continue
            closing.restore(outcome.snapshot)
            if outcome.score_bound is not None:
                closing.score_bound = outcome.score_bound
                self._defer(closing)
            else:
                self._conclude(closing)

    def batch_of(self, questions: list[Question], detail: int) -> ConfigurationBatch:
        """Return questions of one detail as a batch of this task."""
        return question_batch(questions, self.load_cases, self.task, detail)

    def stop(self) -> None:
        """Begin no hypothesis any more and drop those not finished; details may follow."""
        dropped = len(self._waiting) + len(self._active) + len(self._given_out)
        self._rejections[NOT_EVALUATED] += dropped
        self._waiting.clear()
        self._active, self._given_out = [], {}
        self._asked = {b: i for b, i in self._asked.items() if not isinstance(i[0], Closing)}
        self._answers = {b: a for b, a in self._answers.items() if b in self._asked}
        self._stopped = True
        self._pruner.close()
        self._use_answers()

    # -- what is known so far --------------------------------------------------------

    @property
    def finished(self) -> bool:
        """Return True if every hypothesis has its verdict and the best their details."""
        return not (self._waiting or self._active or self._given_out or self._asked
                    or self._recallable() or self._unrefined() or self._unsettled()
                    or self._undetailed() or self._unexplained() or self._unfollowed())

    @property
    def progress(self) -> Progress:
        """Return how far planning is."""
        judged = self._closed + self._waiting.refused.total() + self._pruner.counts.total()
        return Progress(judged, self._total, len(self._grasps), self._grasps.best)

    @property
    def contacts_evaluated(self) -> int:
        """Return how many hypotheses got a verdict after two fingers came into contact."""
        return self._in_contact

    @property
    def rejections(self) -> dict[str, int]:
        """Return how many hypotheses were rejected for each reason, most frequent first."""
        counts = self._rejections + self._waiting.refused + self._pruner.counts
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

    def ranked(self, count: int = 0) -> list[RankedGrasp]:
        """Return the best ``count`` stable grasps so far (0: as in the request), best first."""
        order = sorted(filter(self._settlings.includes, self._grasps.values()), key=rank_key)
        return [replace(grasp, rank=i + 1, reach=self._manipulation.result(grasp.hypothesis))
                for i, grasp in enumerate(order[:count or self._max_grasps])]

    @property
    def nearest_miss(self) -> NearestMiss | None:
        """Return the rejected hypothesis that came nearest, None where there is a grasp."""
        item = None if self._grasps else self._misses.nearest()
        if item is None:
            return None
        contacts = () if item.miss is None else grasp_contacts(item.miss.state, self.hand)
        return make_nearest_miss(item, self.hand, contacts, self._reference.friction,
                                 self._reference.max_pressure)

    @property
    def hint(self) -> str:
        """Return one sentence that says, with numbers, why there is no grasp; else ''."""
        return '' if self._grasps else explain_no_grasp(
            self.grasp_object, self.hand, self._reference, self.rejections, self.nearest_miss)

    def _begin_next(self, count: int) -> list[Closing]:
        closings = self._waiting.take(min(count, self._pruner.capacity))
        self._pruner.begin(closings)
        return closings

    def _recallable(self) -> list[Closing]:
        """Return deferred closings that are wanted after all: too many grasps let go."""
        return self._pruner.deferred if self._settlings.lacks_grasps(self._grasps) else []

    def _ask_closings(self, free: list[Closing]) -> Ask:
        chosen, detail = next_questions(free, self.options)
        return self._register([c for c, _ in chosen], [q for _, q in chosen], detail)

    def _unrefined(self) -> list[Closing]:
        return [] if self._stopped else self._refinement.unfinished(self._grasps, self._settlings)

    def _unsettled(self) -> list[Settling]:
        return self._settlings.unfinished(self._grasps, self._closed_question)

    def _closed_question(self, number: int) -> tuple[Question, GraspState]:
        """Return the last question of a closing that holds, and its answer."""
        closing, held = self._held[number]
        return Question(DETAIL_FORCES, closing.hypothesis.T_object_palm, held.joint_positions,
                        closing.question().joint_displacements, np.zeros(3)), held.state

    def _ask_settling(self, pending: set[int]) -> Ask | None:
        free = [s for s in self._unsettled() if id(s) not in pending][:self.options.batch_size]
        return self._register(free, [s.question() for s in free], DETAIL_FORCES) if free else None

    def _undetailed(self) -> list[RankedGrasp]:
        return [g for g in self.ranked() if g.hypothesis not in self._detailed]

    def _ask_details(self, pending: set[int]) -> Ask | None:
        asked = {g.hypothesis for items in self._asked.values() for g in items
                 if isinstance(g, RankedGrasp)}
        for grasp in self._undetailed():
            if grasp.hypothesis not in asked:
                question = settled_question(replace(
                    self._closed_question(grasp.hypothesis)[0], detail=DETAIL_SURFACE),
                    grasp.T_object_settled)
                return self._register([grasp], [question], DETAIL_SURFACE)
        for item in self._unexplained():
            if id(item) not in pending:
                return self._register([item], [miss_question(item)], DETAIL_SURFACE)
        return None

    def _unfollowed(self) -> list[RankedGrasp]:
        """Return the best grasps whose path of the object is not followed to its end."""
        if self._stopped or not self._manipulation.asked:
            return []
        return [g for g in self.ranked() if g.reach is None]

    def _ask_manipulation(self, pending: set[int]) -> Ask | None:
        for grasp in self._unfollowed():
            self._manipulation.begin(grasp.hypothesis, grasp.T_object_palm,
                                     self._held[grasp.hypothesis][1])
        followers = [] if self._stopped else self._manipulation.next_followers(pending)
        chosen = followers[:self.options.batch_size]
        return self._number(chosen, self._manipulation.questions(chosen)) if chosen else None

    def _unexplained(self) -> list[RejectedHypothesis]:
        return [] if self._grasps else self._misses.next()

    def _register(self, items: Sequence[_Asked], questions: list[Question], detail: int) -> Ask:
        return self._number(items, question_batch(questions, self.load_cases, self.task, detail))

    def _number(self, items: Sequence[_Asked], configurations: ConfigurationBatch) -> Ask:
        batch_id, self._next_ask = self._next_ask, self._next_ask + 1
        self._asked[batch_id] = items
        return Ask(batch_id, configurations)

    def _use_answers(self) -> None:
        """Use answers to closings as they come, others in the order of the questions."""
        for batch_id in sorted(self._answers):
            if not isinstance(self._asked[batch_id][0], Closing) and batch_id > min(self._asked):
                break
            answer, items = self._answers.pop(batch_id), self._asked.pop(batch_id)
            for i, item in enumerate(items):
                if isinstance(item, RankedGrasp):
                    self._take_detail(item, answer)
                elif isinstance(item, Settling):
                    self._take_settling(item, answer, i)
                elif isinstance(item, PathFollower):
                    self._take_path_step(item, answer, i)
                elif isinstance(item, RejectedHypothesis):
                    self._misses.take(item, None if isinstance(answer, str)
                                      else extract_state(answer, i))
                else:
                    self._take_state(item, answer, i)

    def _take_state(self, closing: Closing, answer: GraspStateBatch | str, i: int) -> None:
        if isinstance(answer, str):
            closing.fail(answer)
        else:
            state = extract_state(answer, i)
            closing.answer(state)
            if self.should_defer(closing, state):
                self._active.remove(closing)
                self._defer(closing)
        if closing in self._refinement and closing.held is not None:
            self._keep(closing, closing.held)
        elif closing.judged:
            self._active.remove(closing)
            self._conclude(closing)

    def _keep(self, closing: Closing, held: HeldGrasp) -> None:
        number = closing.hypothesis.number
        self._refinement.note(closing)
        self._held[number], self._grasps[number] = (closing, held), self._grasp(closing, held)

    def _conclude(self, closing: Closing) -> None:
        self._closed += 1
        self._waiting.note(closing)
        self._in_contact += int(closing.reached_contact)
        number = closing.hypothesis.number
        if closing.held is None:
            self._rejections[closing.reason] += 1
            self._misses.note(closing)
        else:
            self._keep(closing, closing.held)
        self._pruner.conclude(number, self._grasps.get(number))

    def _defer(self, closing: Closing) -> None:
        self._waiting.note(closing)
        self._pruner.defer(closing)

    def _take_settling(self, settling: Settling, answer: GraspStateBatch | str, i: int) -> None:
        settling.answer(None if isinstance(answer, str) else extract_state(answer, i))
        if not settling.done:
            return
        closing, held = self._held[settling.number]
        settled = settling.settled(held)
        if settled.state.holds:
            self._grasps[settling.number] = self._grasp(closing, settled)
        else:
            del self._grasps[settling.number]
            closing.fail(LET_GO)
            self._rejections[closing.reason] += 1
            self._misses.note(closing)

    def _take_path_step(self, follower: PathFollower, answer: GraspStateBatch | str, i: int
                        ) -> None:
        if isinstance(answer, str):
            follower.fail(answer)
        else:
            follower.answer(extract_state(answer, i))
        for number in [n for n in self._grasps if self._manipulation.excludes(n)]:
            del self._grasps[number]
            self._rejections[CANNOT_MOVE] += 1

    def _take_detail(self, grasp: RankedGrasp, answer: GraspStateBatch | str) -> None:
        self._detailed.add(grasp.hypothesis)
        if isinstance(answer, str):
            return
        closing, held = self._held[grasp.hypothesis]
        settled = self._settlings.settled(grasp.hypothesis, held)
        detailed = replace(settled, state=in_found_frame(
            extract_state(answer, 0), settled.T_object_settled))
        self._grasps[grasp.hypothesis] = self._grasp(closing, detailed)

    def _grasp(self, closing: Closing, held: HeldGrasp) -> RankedGrasp:
        return make_grasp(closing.hypothesis, held, self.hand, self._reference, self.options)
