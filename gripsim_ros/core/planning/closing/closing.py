"""Closing one hypothesis: free motion, touch, then the gentlest state that holds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...batches import DETAIL_CLEARANCE, DETAIL_FORCES
from ...hand import HandModel
from .. import rejections
from ..hypotheses.generate import Hypothesis
from ..hypotheses.hand_geometry import Finger, find_fingers, largest_fractions
from ..hypotheses.regions import within_region
from ..options import PlannerOptions
from .force_control import Control, contact_controls, press_steps, TriedForces
from .force_level import ForceLevel, force_logarithms
from .grasp_state import Miss, StateRow, exceeds_limits, nearness, presses_through, slips_out
from .limits import NO_BAR, Limits

Array = NDArray[np.float64]

#: Part of the closing law's whole way that gives the directions of motion.
DIRECTION_STEP = 0.01
#: Forces tried where the contacts could not hold the task with any, over the first guess:
#: larger patches resist more torsion.
TRIED_FORCES = (1.0, 3.0)
#: Natural logarithm of the ratio within which a tried force counts as reached.
FORCE_BAND = 0.5
#: One step indents by so many times what Hertz needs for the wanted force at most.
MOST_INDENTATION = 2.0
#: Part of the first force with which a finger comes to touch: it tells what contacts can hold.
TOUCH_SHARE = 0.5
#: So often closing steps back from limits of pressure or torque.
MOST_LOWERED = 3
#: So often an object may slip out before it is given up: harder pressed it may settle.
MOST_SLIPS = 1
#: Range left to a joint beyond the last row, so that it can be squeezed [rad].
SQUEEZE_RANGE = 0.05
#: What a closing knows beside its hypothesis, by which another process goes on with it.
COURSE = ('reason', 'held', 'miss', '_fraction', '_phase', '_steps', '_incapable', '_level',
          '_worth', '_corrections', '_lowered', '_arrived', '_before', '_seen', '_tried',
          '_was_capable', '_fell', '_slipped')


@dataclass(frozen=True, eq=False)
class Question:
    """One configuration to be judged; shapes and names as a row of ``ConfigurationBatch``."""

    detail: int
    T_object_palm: Array
    joint_positions: Array
    joint_displacements: Array
    sweep_object: Array
    settled_object: Array = field(default_factory=lambda: np.zeros(6))


@dataclass(frozen=True, eq=False)
class Held:
    """
    A closing that ended in a state that holds: joints, path and the state itself.

    ``T_object_settled (4, 4)`` is where the object settled between the fingers, in its frame
    as they found it, in which the state is told; ``balanced`` tells whether it came to rest.
    """

    joint_positions: Array
    trajectory: Array
    state: StateRow
    T_object_settled: Array = field(default_factory=lambda: np.eye(4))
    balanced: bool = True


class Closing:
    """
    The state machine of one hypothesis: ``question()``, ``answer(state)``, until ``done``.

    It is ``judged`` as soon as a state holds with reserve; what follows makes its forces the
    least of their kind.

    Joint j is at ``open + fraction_j (closed - open)``: the seed's law with a fraction of
    its own for each joint, so that every finger stops on its own contact. A joint stops
    when a link that it moves arrives; joints farther out go on.

    Source: seed 001, 'planning the trajectories of the links' (S1) and the correction of
    joint angles towards the minimal forces (S8). Departures: conservative advancement
    instead of equal steps; the forces are approached by the contacts' stiffness, and
    closing ends at the first state that holds with a margin in ``margin_band``.
    """

    def __init__(self, hypothesis: Hypothesis, hand: HandModel, options: PlannerOptions,
                 limits: Limits) -> None:
        self.hypothesis = hypothesis
        self.reason, self._phase = '', 'open'
        self.held: Held | None = None
        self.miss: Miss | None = None
        self.bar, self.best_score = NO_BAR, np.inf
        self._hand, self._options, self._limits = hand, options, limits
        self._preshape = hand.preshapes[hypothesis.preshape]
        self._rates = self._preshape.closed - self._preshape.open
        self._fingers = find_fingers(hand)
        self._fraction = np.zeros(len(hand.joint_names))
        self._ceiling = largest_fractions(hand, self._preshape, SQUEEZE_RANGE)
        self._level = ForceLevel(options.margin_band, options.force_tolerance)
        self._steps = self._incapable = self._worth = self._corrections = 0
        self._lowered = self._slipped = 0
        self._arrived = np.zeros(len(hand.link_names), dtype=bool)
        self._before: tuple[Array, Array] | None = None
        self._seen = np.full(len(hand.link_names), np.nan)
        self._tried = TriedForces()
        self._was_capable = self._fell = False

    @property
    def done(self) -> bool:
        """Return whether a verdict was found."""
        return self._phase == 'done'

    @property
    def judged(self) -> bool:
        """Return whether a verdict was found, be it that forces are still to be corrected."""
        return self.done or self._worth > 1

    @property
    def course(self) -> dict[str, Any]:
        """Return how far it is, for ``resume`` of another closing of the same hypothesis."""
        return {name: getattr(self, name) for name in COURSE}

    def resume(self, course: Mapping[str, Any]) -> None:
        """Go on from where another closing of the same hypothesis is."""
        for name in COURSE:
            setattr(self, name, course[name])

    @property
    def reached_contact(self) -> bool:
        """Return whether at least two fingers came to touch."""
        return self._steps > 0 and self._phase in ('squeeze', 'done') and bool(self._arrived.any())

    def question(self) -> Question:
        """Return the configuration to be judged next."""
        opening = self._phase == 'open'
        T = self.hypothesis.T_object_palm
        sweep = self._options.approach_distance * T[:3, 2] if opening else np.zeros(3)
        detail = DETAIL_FORCES if self._phase == 'squeeze' else DETAIL_CLEARANCE
        return Question(detail, T, self._joints(), DIRECTION_STEP * self._rates, sweep)

    def answer(self, state: StateRow) -> None:
        """Take the stages' answer to the last question."""
        if self._collides(state):
            return
        self._steps += 1
        self._see(state.clearance)
        if self._phase == 'squeeze':
            self._squeeze(state)
        else:
            self._phase = 'reach'
            self._reach(state)

    def presses_everywhere(self, state: StateRow) -> bool:
        """Tell whether every link that came to touch bears force in a state."""
        return all(state.normal_forces[state.links == control.link].sum() > 0.0
                   for control in self._controls())

    def wanted_forces(self, state: StateRow) -> dict[int, float]:
        """Return the normal force wanted at each link that came to touch [N], by link."""
        controls = self._controls()
        forces = self._forces(state, controls)
        wanted = self._wanted(state, forces, self._minimal(state, controls))
        return {control.link: float(force) for control, force in zip(controls, wanted)}

    def fail(self, reason: str) -> None:
        """End without a grasp."""
        self.reason, self._phase = reason, 'done'

    def _joints(self) -> Array:
        return self._preshape.open + self._fraction * self._rates

    def _collides(self, state: StateRow) -> bool:
        spare = self._options.min_clearance if self._phase == 'open' else 0.0
        if self._phase == 'open' and state.clearance.min() < spare:
            self.fail(rejections.OPEN_HAND_COLLIDES)
        elif state.obstacle_clearance < spare or state.obstacle_clearance <= 0.0:
            self.fail(rejections.SURROUNDINGS_COLLIDE)
        elif state.self_clearance <= 0.0:
            self.fail(rejections.SELF_COLLISION)
        return self.done

    def _see(self, clearance: Array) -> None:
        """Note how fast each link came nearer in the last step, per fraction of its joint."""
        if self._before is not None:
            fraction, before = self._before
            for finger in self._fingers:
                for joint, link in zip(finger.joints, finger.links):
                    way = self._fraction[joint] - fraction[joint]
                    if way > 0.0 and clearance[link] > 0.0:
                        self._seen[link] = (before[link] - clearance[link]) / way
        self._before = self._fraction.copy(), clearance

    def _reach(self, state: StateRow) -> None:
        self._arrived = state.clearance <= self._options.touch_distance
        moves = [self._advance(finger, state.clearance) for finger in self._fingers]
        if any(moves):
            if self._steps > self._options.max_reach_steps:
                self.fail(rejections.NOT_SETTLED)
            return
        touching = sum(any(self._arrived[link] for link in f.links) for f in self._fingers)
        if touching < 2:
            self.fail(rejections.TOO_FEW_FINGERS)
            return
        self._phase, self._steps = 'squeeze', 0
        self._press(state, *np.zeros((2, len(self._controls()))))

    def _advance(self, finger: Finger, clearance: Array) -> bool:
        """Move a finger's free joints as far as no link can meet the object."""
        stopped = [i for i, link in enumerate(finger.links) if self._arrived[link]]
        first_free = stopped[-1] + 1 if stopped else 0
        free = [i for i in range(first_free, len(finger.joints))
                if self._fraction[finger.joints[i]] < min(1.0, self._ceiling[finger.joints[i]])]
        if not free:
            return False
        joints = np.array([finger.joints[i] for i in free])
        speeds = finger.reach[:, free] @ np.abs(self._rates[joints])
        gaps = clearance[list(finger.links)]
        step = min(gaps[i] / speeds[i] for i in range(free[0], len(finger.links)))
        self._fraction[joints] = np.minimum(
            self._fraction[joints] + step, np.minimum(1.0, self._ceiling[joints]))
        return True

    # -- contact ---------------------------------------------------------------------

    def _controls(self) -> list[Control]:
        return contact_controls(self._fingers, self._arrived)

    def _squeeze(self, state: StateRow) -> None:
        if not within_region(state.points, self._limits.contact_region).all():
            self.fail(rejections.OUTSIDE_REGION)
            return
        if self.held is None and (self.miss is None
                                  or nearness(state) < nearness(self.miss.state)):
            self.miss = Miss(self._joints(), DIRECTION_STEP * self._rates, state)
        if presses_through(state):
            self.fail(rejections.THROUGH)
            return
        controls = self._controls()
        forces = self._forces(state, controls)
        self._tried.note(controls, self._fraction, forces)
        self._fell |= self._was_capable and not state.capable and bool((forces > 0.0).all())
        self._was_capable |= state.capable
        minimal = self._minimal(state, controls)
        even = self._is_even(state, forces, minimal)
        if state.holds:
            self._keep(state, even)
        if self._finished(state, forces, even):
            return
        self._press(state, self._targets(state, forces, minimal), forces)

    def _forces(self, state: StateRow, controls: list[Control]) -> Array:
        """Return the present normal forces (controls,) [N]."""
        return np.array([state.normal_forces[state.links == c.link].sum() for c in controls])

    def _minimal(self, state: StateRow, controls: list[Control]) -> Array:
        """Return the minimal forces (controls,) [N]; 0 where none hold the task."""
        minimal = np.array([state.minimal_envelope[state.links == c.link].sum()
                            for c in controls])
        raised: Array = np.maximum(minimal, self._options.min_force_share * minimal.max())
        return raised

    def _is_even(self, state: StateRow, forces: Array, minimal: Array) -> bool:
        """Tell whether the forces are those wanted, within the tolerance."""
        if not (state.holds and forces.min() > 0.0 and minimal.min() > 0.0):
            return False
        return self._level.is_reached(state.margin, np.log(forces / minimal))

    def _keep(self, state: StateRow, even: bool) -> None:
        """Remember the gentlest state that holds, before others one with reserve, or even."""
        worth = 1 + int(state.margin >= self._options.margin_band[0]) + int(even)
        gentler = self.held is None or (
            state.normal_forces.sum() < self.held.state.normal_forces.sum())
        if worth > self._worth or (worth == self._worth and gentler):
            self._worth = worth
            self.held = Held(self._joints(), self._trajectory(), state)

    def _finished(self, state: StateRow, forces: Array, even: bool) -> bool:
        self._corrections += int(self._worth > 1)
        if even or self._corrections > self._options.max_correction_steps:
            self._phase = 'done'
        elif self._steps >= self._options.max_squeeze_steps:
            self._end(rejections.NOT_HELD if state.capable else rejections.NOT_SETTLED)
        elif (forces > 0.0).all() and not state.capable:
            self._incapable = max(self._incapable, self._tries_made(state, forces))
            if self._incapable >= len(TRIED_FORCES):
                self._end(rejections.CANNOT_BALANCE)
        elif self._slips_again(state, forces):
            self._end(rejections.SLIPS_OUT)
        elif exceeds_limits(state) and (self.held is not None
                                        or self._lowered >= MOST_LOWERED):
            self._end(rejections.OVERLOADED)
        elif state.margin < self._options.margin_band[0] and self._takes_pressure(state, forces):
            self._end(rejections.PRESSURE)
        return self.done

    def _takes_pressure(self, state: StateRow, forces: Array) -> bool:
        """Tell whether a link is over the limit of pressure at no more than the wanted force."""
        over = state.links[state.peak_pressures > self._limits.max_pressure]
        controls = self._controls()
        wanted = self._wanted(state, forces, self._minimal(state, controls))
        pressed = {c.link for c, force, most in zip(controls, forces, wanted) if force > most}
        return any(link not in pressed for link in over)

    def _tries_made(self, state: StateRow, forces: Array) -> int:
        """Return how many of the forces to be tried all contacts bear; all if none would do."""
        share = forces.min() / (np.exp(-FORCE_BAND) * self._limits.holding_force)
        if np.isinf(state.needed_force) and share > TOUCH_SHARE:
            return len(TRIED_FORCES)
        return int((share > np.array(TRIED_FORCES)).sum())

    def _slips_again(self, state: StateRow, forces: Array) -> bool:
        """Tell whether the object slips out again between fingers that never held it so far."""
        if state.margin > 0.0:
            self._slipped = -self._options.max_squeeze_steps
        self._slipped += int(slips_out(state, self._limits.max_pressure)
                             and self._tries_made(state, forces) >= len(TRIED_FORCES))
        return self._slipped > MOST_SLIPS

    def _end(self, reason: str) -> None:
        """End with what was held so far, or with a reason."""
        if self.held is None:
            self.fail(reason)
        self._phase = 'done'

    def _targets(self, state: StateRow, forces: Array, minimal: Array) -> Array:
        """Return the normal force wanted at each control [N]."""
        if exceeds_limits(state):
            self._lowered += 1
            self._level.lower(state.margin, force_logarithms(forces, minimal))
        elif state.capable and (forces > 0.0).all() and minimal.min() > 0.0:
            self._level.change(state.margin, np.log(forces / minimal))
        return self._wanted(state, forces, minimal)

    def _wanted(self, state: StateRow, forces: Array, minimal: Array) -> Array:
        """
        Return the normal forces wanted at the present level, or to be tried [N].

        Larger patches resist more torsion: where lower forces could not balance the loads
        any more, those of a state that does not hold yet are raised alone, within its limits.
        """
        if state.capable:
            wanted = self._level.targets(minimal)
            short = (self._fell and state.margin < self._options.margin_band[0]
                     and not exceeds_limits(state))
            return self._level.raised(state.margin, forces, wanted) if short else wanted
        tried = TRIED_FORCES[min(self._incapable, len(TRIED_FORCES) - 1)]
        return np.full(len(minimal), self._limits.holding_force * tried)

    def _press(self, state: StateRow, wanted: Array, forces: Array) -> None:
        """Move the joints towards wanted forces (controls,) [N]; those without touch first."""
        first = self._indentation(TOUCH_SHARE * self._limits.holding_force)
        most, controls = self._options.max_depth_step, self._controls()
        if wanted.max() > 0.0:
            most = min(most, MOST_INDENTATION * self._indentation(wanted.max()))
        steps = press_steps(self._hand, self._joints(), self.hypothesis.T_object_palm,
                            self._rates, self._fingers, controls, state,
                            np.where(forces > 0.0, wanted, np.nan),
                            np.minimum(min(first, most) * self._tried.growth(controls),
                                       self._options.max_depth_step), most, self._seen)
        steps = self._tried.confine(controls, self._fraction, steps, wanted)
        moved = np.clip(self._fraction + steps, 0.0, np.maximum(self._ceiling, 0.0))
        if self._phase == 'squeeze' and np.abs(moved - self._fraction).max() < 1e-9:
            self._end(rejections.NOT_HELD)
        self._fraction = moved

    def _indentation(self, force: float) -> float:
        """Return about how deep a force [N] presses [m]."""
        return self._limits.softness.indentation(force, self._options.first_force_radius)

    def _trajectory(self) -> Array:
        """
        Return joint rows (m, J) from the open hand to the present fractions.

        Every finger arrives at the last row; a joint that stopped early stays.
        """
        longest = self._fraction.copy()
        for finger in self._fingers:
            longest[list(finger.joints)] = self._fraction[list(finger.joints)].max()
        time = np.linspace(0.0, 1.0, self._options.trajectory_rows)[:, None]
        fractions = np.minimum(time * longest, self._fraction)
        return self._preshape.open + fractions * self._rates
