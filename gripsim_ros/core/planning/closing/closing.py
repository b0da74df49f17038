"""Closing one hypothesis: free motion, first contact, then the gentlest state that holds."""

from dataclasses import replace

import numpy as np

from ...arrays import Array
from ...batches import DETAIL_CLEARANCE, DETAIL_FORCES
from ...hand import HandModel, Preshape
from .. import rejections
from ..hypotheses.generate import Hypothesis
from ..hypotheses.hand_geometry import Mechanism, closing_rows, find_mechanisms, max_fractions
from ..hypotheses.primitives import within_region
from ..options import PlannerOptions
from .coupling import PRESSING_SHIFT, balancing_shift, pressing_shift, shifted
from .force_control import ContactControl, contact_controls, force_control_steps
from .force_level import ForceLevel, force_logarithms
from .grasp_state import (
    GraspState, NearMiss, exceeds_limits, presses_through, shortfall, slips_out)
from .knowledge import ClosingKnowledge, HeldGrasp
from .limits import NO_THRESHOLD, ClosingLimits
from .question import DIRECTION_STEP, Question


#: Forces tried where those of a state cannot hold the task, over the first guess [-]: larger
#: patches resist more torsion.
TRIAL_FORCES = (1.0, 3.0)
#: Largest natural logarithm of the ratio to a tried force that counts as reached [-].
TRIAL_BAND = 0.5
#: Largest indentation of one step over that of Hertz for the wanted force [-].
MAX_INDENTATION_RATIO = 2.0
#: Force of a first contact over the first guess [-]: it shows what the contacts can hold.
TOUCH_FORCE_RATIO = 0.5
#: Force of a contact over the first guess [-] below which it hardly touches: the minimal
#: forces of such a state are those of a grasp without it.
TRACE_FORCE_RATIO = 0.01
#: Largest number of force reductions where a limit of pressure or torque is exceeded.
MAX_FORCE_REDUCTIONS = 3
#: Largest number of states in which the object slips out: pressed harder it may stay.
MAX_SLIPS = 1
#: Joint range left beyond the last row, so that the hand can squeeze, of joints that turn [rad]
#: and that slide [m].
SQUEEZE_RESERVE, SLIDING_RESERVE = 0.05, 0.001


class Closing:
    """
    The state machine of one hypothesis: ``question()``, ``answer(state)``, until ``done``.

    It is ``judged`` as soon as a state holds with reserve; further steps bring its forces near
    the minimal ones.

    Joint j is at ``open + fraction_j (closed - open)``: the seed's law with a fraction of
    its own for each joint, so that every finger stops on its own contact. A joint stops
    when a link that it moves comes into contact; joints farther out go on.

    Source: seed 001, 'planning the trajectories of the links' (S1) and the correction of
    joint angles towards the minimal forces (S8). Departures: conservative advancement
    instead of equal steps; the forces are approached by the contacts' stiffness, and
    closing ends at the first state that holds with a margin in ``margin_band``.
    """

    def __init__(self, hypothesis: Hypothesis, hand: HandModel, options: PlannerOptions,
                 limits: ClosingLimits, preshape: Preshape | None = None) -> None:
        self._hypothesis = hypothesis
        self.threshold = NO_THRESHOLD
        self._hand, self._options, self._limits = hand, options, limits
        self._preshape = preshape or hand.preshapes[hypothesis.preshape]
        self._rates = self._preshape.closed - self._preshape.open
        self._mechanisms = find_mechanisms(hand)
        self._is_coupled = any(mechanism.is_coupled for mechanism in self._mechanisms)
        self._max_fractions = max_fractions(hand, self._preshape, np.where(
            hand.prismatic, SLIDING_RESERVE, SQUEEZE_RESERVE))
        # In free motion.
        self._largest = np.minimum(1.0, self._max_fractions)
        links = len(hand.link_names)
        self.known = ClosingKnowledge(
            np.zeros(len(hand.joint_names)), np.zeros(links, dtype=bool), np.full(links, np.nan),
            ForceLevel(options.margin_band, options.force_tolerance))

    @property
    def hypothesis(self) -> Hypothesis:
        """Return the hypothesis, its palm where fingers that share joints touch alike."""
        return shifted(self._hypothesis, self.known.shift)

    @property
    def held_hypothesis(self) -> Hypothesis:
        """Return the hypothesis, its palm where the best grasp so far holds."""
        return shifted(self._hypothesis, self.known.held_shift)

    @property
    def done(self) -> bool:
        """Return True if a verdict was found."""
        return self.known.phase == 'done'

    @property
    def judged(self) -> bool:
        """Return True if a verdict was found, even where forces are still to be corrected."""
        return self.done or self.known.held_rank > 1

    @property
    def held(self) -> HeldGrasp | None:
        """Return the best grasp that holds so far."""
        return self.known.held

    @property
    def reason(self) -> str:
        """Return why there is no grasp, '' while there may be one."""
        return self.known.reason

    @property
    def detail(self) -> int:
        """Return the detail of the next question."""
        return DETAIL_FORCES if self.known.phase == 'squeeze' else DETAIL_CLEARANCE

    @property
    def reached_contact(self) -> bool:
        """Return True if at least two fingers came to touch."""
        return (self.known.steps > 0 and self.known.phase in ('squeeze', 'done')
                and bool(self.known.in_contact.any()))

    def question(self) -> Question:
        """Return the configuration to be judged next."""
        if self.known.phase != 'open':
            return self.question_at(self._joints(), self.detail)
        approach = self.hypothesis.T_object_palm[:3, :3] @ self._hand.approach
        return replace(self.question_at(self._preshape.open.copy(), self.detail),
                       sweep_object=self._options.approach_distance * approach)

    def question_at(self, joints: Array, detail: int) -> Question:
        """Return the question of a detail about the closing fingers at joints (J,) [rad]."""
        return Question(detail, self.hypothesis.T_object_palm, joints,
                        DIRECTION_STEP * self._rates, np.zeros(3))

    def held_question(self, held: HeldGrasp, detail: int) -> Question:
        """Return the question of a detail about the grasp held, as it was found."""
        return replace(self.question_at(held.joint_positions, detail),
                       T_object_palm=self.held_hypothesis.T_object_palm)

    def answer(self, state: GraspState) -> None:
        """Take the stages' answer to the last question."""
        if self._collides(state):
            return
        self.known.steps += 1
        opened = self.known.phase == 'open'
        if opened:
            self.known.phase, self.known.checked_shift = 'reach', self.known.shift
            if self.known.fractions.any():      # asked again, after the palm was moved
                return
        self._note_approach(state.clearance)
        if self.known.phase == 'squeeze':
            self._squeeze(state)
        else:
            self._approach_contact(state)

    def loads_all_contacts(self, state: GraspState) -> bool:
        """Return True if every link that came to touch bears force in a state."""
        return bool((self._forces(state, self._controls()) > 0.0).all())

    def wanted_forces(self, state: GraspState) -> dict[int, float]:
        """Return the normal force wanted at each link that came to touch [N], by link."""
        controls = self._controls()
        forces = self._forces(state, controls)
        wanted = self._wanted(state, forces, self._minimal(state, controls))
        return {control.link: float(force) for control, force in zip(controls, wanted)}

    def fail(self, reason: str) -> None:
        """End without a grasp."""
        self.known.reason, self.known.phase = reason, 'done'

    def _joints(self) -> Array:
        return self._preshape.open + self.known.fractions * self._rates

    def _collides(self, state: GraspState) -> bool:
        spare = 0.0
        if self.known.phase == 'open':
            spare = self._options.min_clearance + PRESSING_SHIFT * self._is_coupled
        if self.known.phase == 'open' and state.clearance.min() < spare:
            self.fail(rejections.OPEN_HAND_COLLIDES)
        elif state.obstacle_clearance < spare or state.obstacle_clearance <= 0.0:
            self.fail(rejections.SURROUNDINGS_COLLIDE)
        elif state.self_clearance <= 0.0:
            self.fail(rejections.SELF_COLLISION)
        return self.done

    def _note_approach(self, clearance: Array) -> None:
        """Record how fast each link approached in the last step, per fraction of its joint."""
        known = self.known
        if known.last_step is not None:
            fractions, before = known.last_step
            for mechanism in self._mechanisms:
                for movers, link in zip(mechanism.movers, mechanism.links):
                    moved = known.fractions[movers[-1]] - fractions[movers[-1]]
                    if moved > 0.0 and clearance[link] > 0.0:
                        known.speeds[link] = (before[link] - clearance[link]) / moved
        known.last_step = known.fractions.copy(), clearance

    def _approach_contact(self, state: GraspState) -> None:
        self.known.in_contact = state.clearance <= self._options.touch_distance
        moves = [self._advance(mechanism, state.clearance) for mechanism in self._mechanisms]
        if any(moves) or self._shifts_palm(state):
            if self.known.steps > self._options.max_reach_steps:
                self.fail(rejections.NOT_CONVERGED)
            return
        touching = {int(finger) for mechanism in self._mechanisms
                    for link, finger in zip(mechanism.links, mechanism.fingers)
                    if self.known.in_contact[link]}
        if len(touching) < 2:
            self.fail(rejections.TOO_FEW_FINGERS)
            return
        if (self.known.shift != self.known.checked_shift).any():
            self.known.phase = 'open'
            return
        self.known.phase, self.known.steps = 'squeeze', 0
        self._move_joints(state, *np.zeros((2, len(self._controls()))))

    def _advance(self, mechanism: Mechanism, clearance: Array) -> bool:
        """Move a mechanism's free joints by a step in which no link can reach the object."""
        fractions = self.known.fractions
        stopped = {joint for link, movers in zip(mechanism.links, mechanism.movers)
                   if self.known.in_contact[link] for joint in movers}
        free = [k for k, joint in enumerate(mechanism.joints)
                if joint not in stopped and fractions[joint] < self._largest[joint]]
        if not free:
            return False
        joints = [mechanism.joints[k] for k in free]
        speeds = (mechanism.lever_arms[:, free] @ np.abs(self._rates[joints])).tolist()
        step = min((clearance[link] / speed for link, speed in zip(mechanism.links, speeds)
                    if speed > 0.0), default=np.inf)
        fractions[joints] = np.minimum(fractions[joints] + step, self._largest[joints])
        return True

    def _shifts_palm(self, state: GraspState) -> bool:
        """Move the palm where one of several fingers that share joints touches before others."""
        if not self._is_coupled:
            return False
        shift = balancing_shift(
            self._mechanisms, self._hand, self._joints(), self._rates,
            self._hypothesis.T_object_palm[:3, :3], state.clearance, self.known)
        if shift is None:
            return False
        self.known.shift, self.known.shifts = self.known.shift + shift, self.known.shifts + 1
        self.known.last_step = None
        return True

    # -- contact ---------------------------------------------------------------------

    def _controls(self) -> list[ContactControl]:
        return contact_controls(self._mechanisms, self.known.in_contact)

    def _squeeze(self, state: GraspState) -> None:
        known = self.known
        if not within_region(state.points, self._limits.contact_region).all():
            self.fail(rejections.OUTSIDE_REGION)
            return
        if known.held is None and (
                known.miss is None or shortfall(state) < shortfall(known.miss.state)):
            known.miss = NearMiss(self._joints(), state)
        if presses_through(state):
            self.fail(rejections.PRESSES_THROUGH)
            return
        controls = self._controls()
        forces, minimal = self._forces(state, controls), self._minimal(state, controls)
        known.history.note(controls, known.fractions, forces)
        known.lost_balance |= (
            known.was_capable and not state.capable and bool((forces > 0.0).all()))
        known.was_capable |= state.capable
        converged = (state.holds and forces.min() > 0.0 and minimal.min() > 0.0
                     and known.level.is_reached(state.margin, np.log(forces / minimal)))
        if state.holds:
            self._remember(state, converged)
        if not self._finished(state, forces, converged):
            self._move_joints(state, self._targets(state, forces, minimal), forces)

    def _forces(self, state: GraspState, controls: list[ContactControl]) -> Array:
        """Return the present normal forces (controls,) [N]."""
        return np.array([state.normal_forces[c.bears(state.links)].sum() for c in controls])

    def _minimal(self, state: GraspState, controls: list[ContactControl]) -> Array:
        """Return the minimal forces (controls,) [N]; 0 where none hold the task."""
        minimal = np.array([state.minimal_envelope[c.bears(state.links)].sum() for c in controls])
        return np.maximum(minimal, self._options.min_force_share * minimal.max())

    def _remember(self, state: GraspState, converged: bool) -> None:
        """Remember the state that holds with the highest rank, of equal ranks the gentlest."""
        rank = 1 + int(state.margin >= self._options.margin_band[0]) + int(converged)
        known = self.known
        gentler = known.held is None or (
            state.normal_forces.sum() < known.held.state.normal_forces.sum())
        if rank > known.held_rank or (rank == known.held_rank and gentler):
            known.held_rank = rank
            rows = closing_rows(self._preshape.open, self._rates, known.fractions,
                                self._mechanisms, self._options.trajectory_rows)
            known.held = HeldGrasp(self._joints(), rows, state)
            known.held_shift = known.shift

    def _finished(self, state: GraspState, forces: Array, converged: bool) -> bool:
        known = self.known
        known.corrections += int(known.held_rank > 1)
        if converged or known.corrections > self._options.max_correction_steps:
            known.phase = 'done'
        elif known.steps >= self._options.max_squeeze_steps:
            self._end(rejections.NOT_HELD if state.capable else rejections.NOT_CONVERGED)
        elif (forces > 0.0).all() and not state.capable:
            known.trials = max(known.trials, self._trials_made(state, forces))
            if known.trials >= len(TRIAL_FORCES) or self._limits.pressure_is_spent(
                    state, forces):
                self._end(rejections.CANNOT_BALANCE)
        elif self._slips_again(state, forces):
            self._end(rejections.SLIPS_OUT)
        elif exceeds_limits(state) and (known.held is not None
                                        or known.reductions >= MAX_FORCE_REDUCTIONS):
            self._end(rejections.OVERLOADED)
        elif state.margin < self._options.margin_band[0]:
            reason = self._limits.reason_to_end(state, forces, self.wanted_forces(state))
            if reason:
                self._end(reason)
        return self.done

    def _trials_made(self, state: GraspState, forces: Array) -> int:
        """Return how many of the trial forces all contacts bear; all if no force would do."""
        share = forces.min() / (np.exp(-TRIAL_BAND) * self._limits.holding_force)
        if np.isinf(state.needed_force) and share > TOUCH_FORCE_RATIO:
            return len(TRIAL_FORCES)
        most = self._limits.most_aimed / self._limits.holding_force
        return int((share > np.minimum(TRIAL_FORCES, most)).sum())

    def _slips_again(self, state: GraspState, forces: Array) -> bool:
        """Return True if the object slips out too often between fingers that never held it."""
        if state.margin > 0.0:
            self.known.slips = -self._options.max_squeeze_steps
        self.known.slips += int(slips_out(state, self._limits.max_pressure)
                                and self._trials_made(state, forces) >= len(TRIAL_FORCES))
        return self.known.slips > MAX_SLIPS

    def _end(self, reason: str) -> None:
        """End with the grasp held so far, else with a reason."""
        if self.known.held is None:
            self.fail(reason)
        self.known.phase = 'done'

    def _targets(self, state: GraspState, forces: Array, minimal: Array) -> Array:
        """Return the normal force wanted at each control [N]."""
        if exceeds_limits(state):
            self.known.reductions += 1
            self.known.level.lower(state.margin, force_logarithms(forces, minimal))
        elif state.capable and (forces > 0.0).all() and minimal.min() > 0.0:
            self.known.level.update(state.margin, np.log(forces / minimal))
        return np.minimum(self._wanted(state, forces, minimal), self._limits.most_aimed)

    def _wanted(self, state: GraspState, forces: Array, minimal: Array) -> Array:
        """
        Return the normal forces wanted at the present level, or to be tried [N].

        Larger patches resist more torsion: where lower forces could not balance the loads
        any more, those of a state that does not hold yet are raised alone, within its limits.
        Until each contact bears, none presses harder than a trial.
        """
        holding = self._limits.holding_force
        tried = holding * TRIAL_FORCES[min(self.known.trials, len(TRIAL_FORCES) - 1)]
        if not state.capable:
            return np.full(len(minimal), tried)
        wanted = self.known.level.targets(minimal)
        if exceeds_limits(state):
            return wanted
        if forces.min() < TRACE_FORCE_RATIO * holding:
            return np.minimum(wanted, tried)
        short = self.known.lost_balance and state.margin < self._options.margin_band[0]
        return self.known.level.raised(state.margin, forces, wanted) if short else wanted

    def _move_joints(self, state: GraspState, wanted: Array, forces: Array) -> None:
        """Move the joints towards wanted forces (controls,) [N]; first those without contact."""
        known, controls = self.known, self._controls()
        first = self._indentation(TOUCH_FORCE_RATIO * self._limits.holding_force)
        max_depth = self._options.max_depth_step
        if wanted.max() > 0.0:
            max_depth = min(max_depth, MAX_INDENTATION_RATIO * self._indentation(wanted.max()))
        first_depths = np.minimum(min(first, max_depth) * known.history.step_growth(controls),
                                  self._options.max_depth_step)
        steps, shift = force_control_steps(
            self._hand, self._joints(), self.hypothesis.T_object_palm, self._rates,
            self._mechanisms, controls, state, np.where(forces > 0.0, wanted, np.nan),
            first_depths, max_depth, known.speeds)
        single = [i for i, c in enumerate(controls)
                  if not self._mechanisms[c.mechanism].is_coupled]
        steps = known.history.bracket_steps(
            [controls[i] for i in single], known.fractions, steps, wanted[single])
        known.shift = pressing_shift(known, shift)
        moved = np.clip(known.fractions + steps, 0.0, np.maximum(self._max_fractions, 0.0))
        moves = np.abs(moved - known.fractions).max() >= 1e-9 or shift.any()
        if known.phase == 'squeeze' and not moves:
            self._end(rejections.NOT_HELD)
        known.fractions = moved

    def _indentation(self, force: float) -> float:
        """Return the approximate indentation [m] of a force [N]."""
        return self._limits.compliance.indentation(force, self._options.first_force_radius)
