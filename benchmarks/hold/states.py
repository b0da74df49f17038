"""Every hypothesis closed to a state, held by prediction or not, for physics to judge."""

from dataclasses import dataclass, replace

import numpy as np

from gripsim_ros.core.batches import DETAIL_FORCES
from gripsim_ros.core.pipeline import Pipeline
from gripsim_ros.core.planning import Task
from gripsim_ros.core.planning.closing.batching import Conditions
from gripsim_ros.core.planning.closing.closing import Closing
from gripsim_ros.core.planning.closing.question import Question
from gripsim_ros.core.planning.closing.knowledge import HeldGrasp
from gripsim_ros.core.planning.closing.grasp_state import GraspState, extract_state
from gripsim_ros.core.planning.closing.limits import closing_limits
from gripsim_ros.core.planning.hypotheses.generate import Hypothesis, propose_hypotheses
from gripsim_ros.core.planning.hypotheses.hand_geometry import find_fingers
from gripsim_ros.core.planning.ranking.score import grip_efforts, score_reference
from gripsim_ros.core.planning.settling import Settling
from gripsim_ros.core.planning.task import task_load_cases
from gripsim_ros.core.transforms import transform
from gripsim_ros.library.in_process import link_shapes, mechanics_options, planner_options

#: Rows of the way from the open hand to a state.
ROWS = 25
#: A limit that no contact here comes near [Pa].
ANY_PRESSURE = 1e10
#: Random palms: gap to the object's nearest point [m], and offset beside its centre [m].
GAPS, OFFSET = (0.006, 0.12), 0.015


@dataclass(frozen=True, eq=False)
class EvaluatedState:
    """
    A state of a closing with its prediction.

    ``bearing`` is the margin where the pads stand any pressure, as rigid bodies do: the
    prediction of holding without that of damage.
    ``efforts (J,)`` are the joint torques of the simulated contact forces [N m],
    ``normal_force`` their sum over the patches [N], ``torsion`` the torque about the
    normal over the normal force that the patches bear [m].
    """

    T_object_palm: np.ndarray
    rows: np.ndarray
    efforts: np.ndarray
    normal_force: float
    torsion: float
    margin: float
    bearing: float
    holds: bool
    quantitative: bool
    verdict: str
    links: int


class StateSource:
    """
    Closes hypotheses one by one with the product's stages and keeps their states.

    Parameters
    ----------
    grasp_object : GraspObject
    hand : HandModel
    task : Task
        What the states are judged for.
    """

    def __init__(self, grasp_object, hand, task: Task) -> None:
        self.hand, self.task, self._object = hand, task, grasp_object
        self._options = planner_options()
        self._pipeline = Pipeline(hand, grasp_object, mechanics_options(), link_shapes(hand))
        self._unlimited = Pipeline(undamaged(hand), grasp_object, mechanics_options(),
                                   link_shapes(hand))
        self._cases = task_load_cases(task, grasp_object.canonical_frame[:3, :3])
        reference = score_reference(grasp_object, hand, self._cases)
        self._limits = closing_limits(grasp_object, hand, reference.load, reference.max_pressure)
        self._fingers = find_fingers(hand)

    def proposed(self, count: int, seed: int = 0) -> list[Hypothesis]:
        """Return hypotheses spread evenly over the planner's order; a seed turns its rolls."""
        found, _ = propose_hypotheses(self._object, self.hand, self.task, self._options,
                                      8 * count, seed)
        return [found[i] for i in np.linspace(0, len(found) - 1, count).astype(int)]

    def random(self, count: int, seed: int) -> list[Hypothesis]:
        """Return palms from uniform directions, turned and set at random."""
        generator = np.random.default_rng(seed)
        return [Hypothesis(i, random_palm(self._object, self.hand, generator),
                           int(generator.integers(len(self.hand.preshapes))), 0.0)
                for i in range(count)]

    def close(self, hypothesis: Hypothesis) -> tuple[list[EvaluatedState], str]:
        """
        Return the states of a closing that two fingers or more bear, and the reason against it.

        First the state that holds, the object settled in it, or that of the verdict against it;
        then, where one held, the firmest on the way that did not. None: too few touched.
        """
        closing = Closing(hypothesis, self.hand, self._options, self._limits)
        seen: list[tuple[GraspState, Question]] = []
        while not closing.done:
            question = closing.question()
            state = self._asked(question, self._pipeline)
            if question.detail == DETAIL_FORCES and len(np.unique(state.links)) > 1:
                seen.append((state, question))
            closing.answer(state)
        if not seen:
            return [], closing.reason
        weak = [row for row in seen if row[0].margin < 1.0]
        chosen = seen[-1:]
        if closing.held is not None:
            held = next(row for row in seen if row[0] is closing.held.state)
            chosen = [(self._settled(closing.held, held[1]), held[1]),
                      *sorted(weak, key=_firmness)[-1:]]
        return [self._state(hypothesis, state, question, closing.reason)
                for state, question in chosen], closing.reason

    def _settled(self, held: HeldGrasp, question: Question) -> GraspState:
        """Return the state that holds once the object has settled between the fingers."""
        settling = Settling(question, held.state, self._options)
        while not settling.done:
            settling.answer(self._asked(settling.question(), self._pipeline))
        return settling.settled(held).state

    def _asked(self, question: Question, pipeline: Pipeline) -> GraspState:
        batch = Conditions.of(self.task, self._cases).batch([question])
        return extract_state(pipeline.evaluate(batch), 0)

    def _state(self, hypothesis, state: GraspState, question: Question, reason: str
               ) -> EvaluatedState:
        forces, radii = state.normal_forces, state.friction_radii
        joints = question.joint_positions
        bearing = state.margin
        if reason:
            bearing = self._asked(question, self._unlimited).margin
        return EvaluatedState(
            T_object_palm=hypothesis.T_object_palm, rows=self._rows(hypothesis, joints),
            efforts=closing_efforts(self.hand, joints, hypothesis.T_object_palm, state),
            normal_force=float(forces.sum()),
            torsion=float(self._object.material.friction * radii @ forces / forces.sum()),
            margin=state.margin, bearing=bearing, holds=state.holds,
            quantitative=state.quantitative, verdict=reason or 'holds',
            links=len(np.unique(state.links)))

    def _rows(self, hypothesis, joints):
        """Return rows from the open hand; every finger arrives at the last."""
        preshape = self.hand.preshapes[hypothesis.preshape]
        rates = preshape.closed - preshape.open
        way = (joints - preshape.open) / np.where(np.abs(rates) > 1e-12, rates, 1.0)
        longest = way.copy()
        for finger in self._fingers:
            longest[list(finger.joints)] = way[list(finger.joints)].max()
        shares = np.minimum(np.linspace(0.0, 1.0, ROWS)[:, None] * longest, way)
        return preshape.open + shares * rates


def _firmness(row) -> tuple[float, float]:
    """Return the order of states: by margin, then by force."""
    return row[0].margin, float(row[0].normal_forces.sum())


def undamaged(hand):
    """Return a hand whose pads stand any pressure, as rigid bodies do."""
    links = tuple(link if link.pad is None else
                  replace(link, pad=replace(link.pad, max_pressure=ANY_PRESSURE))
                  for link in hand.links)
    return replace(hand, links=links)


def closing_efforts(hand, joints, T_object_palm, state: GraspState):
    """Return the joint torques (J,) of a state's simulated forces [N m]."""
    simulated = replace(state, minimal_forces=state.forces,
                        minimal_torques=np.zeros_like(state.forces))
    return grip_efforts(hand, joints, T_object_palm, simulated)


def random_palm(grasp_object, hand, generator):
    """Return a palm pose that looks at the object from a uniform direction, free of it."""
    axis = generator.normal(size=3)
    axis /= np.linalg.norm(axis)
    side = np.cross(axis, generator.normal(size=3))
    side /= np.linalg.norm(side)
    rotation = np.stack([side, np.cross(axis, side), axis], axis=1)
    centre = grasp_object.mass_properties.centre_of_mass
    nearest = float(((grasp_object.mesh.vertices - centre) @ axis).min())
    palm_top = float(hand.links[hand.palm_index].mesh.vertices[:, 2].max())
    beside = generator.uniform(-OFFSET, OFFSET, 2)
    away = palm_top + generator.uniform(*GAPS) - nearest
    return transform(rotation, centre + rotation[:, :2] @ beside - away * axis)
