"""
Holding by feel against the planned forces alone: soft bodies, friction and mass wrong by +-50 %.

For each body its first-ranked grasp, closed by touch in MuJoCo (the body is a flex) and lifted.
Friction and mass of the simulated body are drawn evenly between half and one and a half times the
planned ones; each draw is carried out with and without feel. Its support leaves it within
``--unloading`` seconds. A draw that no forces below damage hold, at the planned contacts, is one
that *cannot* be held: there it counts that it is told before the object is lost.

``python -m benchmarks holding [NAME ...] [--trials N] [--corners] [--out FILE]``; ``--read FILE
...`` tells anew what was measured.
"""

import argparse
import json
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.hardware.grasps import execution_options, hold_plan, SimulatedGrasp
from gripsim_ros.core.bodies import GraspObject, Material, shapes
from gripsim_ros.core.bodies.tetrahedra import fill_with_tetrahedra
from gripsim_ros.core.transforms import apply, inverse
from gripsim_ros.hardware.execution.actions import Phase, Status
from gripsim_ros.hardware.execution.holding.programme import HoldProgramme
from gripsim_ros.hardware.execution.measurement import Measurement
from gripsim_ros.hardware.execution.plan import Wishes
from gripsim_ros.hardware.sim.elements import stiffening
from gripsim_ros.hardware.sim.solids import node_masses, outer_faces
from gripsim_ros.hardware.sim.world import GRAVITY
from gripsim_ros.hardware.sim.world_model import SoftMesh
from gripsim_ros.library.in_process import plan_grasps
from gripsim_ros.library.resources import load_default_hand

LIFT = 0.04
#: Half width of the errors of friction and mass.
WRONG = 0.5
#: Forces over so many measurements of 10 ms are averaged before they count as damage.
MEAN_OF = 5
#: The object is lost once it has gone so far in the hand [m].
LOST = 0.02
#: Tetrahedra: wanted edge [m], and how far the surface may be off over the box's diagonal. Of an
#: egg with edges of 20 mm the facets are as steep as the friction's angle.
EDGE, ENVELOPE = 0.02, 0.03
FINE = {'egg': (0.012, 0.01)}
FEEL, PLANNED = 'feel', 'planned'
#: What comes of a trial, from good to bad.
OUTCOMES = 'held', 'told', 'not closed', 'damaged', 'dropped'


def bodies() -> dict[str, GraspObject]:
    """Return what is held: shape, mass [kg], modulus [Pa]; damage begins at half of that."""
    given = {'ball': (shapes.sphere(0.035, 0.007), 0.12, 5e4),
             'egg': (shapes.egg(), 0.06, 2e5),
             'box': (shapes.box([0.05, 0.07, 0.1]), 0.12, 5e4)}
    return {name: GraspObject(mesh, Material(
        modulus, 0.4, mass / mesh.volume, 0.6, max_pressure=0.5 * modulus), name)
        for name, (mesh, mass, modulus) in given.items()}


@dataclass(frozen=True)
class Trial:
    """What came of one: ``friction`` and ``mass`` over the planned ones."""

    thing: str
    way: str
    friction: float
    mass: float
    status: str
    message: str
    told: bool          # that it cannot be held, before it went LOST far
    moved: float        # farthest of the object in the hand, from holding on [m]
    damage: float       # largest force over that of damage, of any pad
    level: float        # grip at the end over the planned one
    solves: int
    solve_time: float   # mean of the programme [s]
    seconds: float
    cannot: bool = False    # no forces below damage hold it

    @property
    def outcome(self) -> str:
        """Return held, told, not closed, damaged or dropped."""
        if self.damage > 1.0:
            return 'damaged'
        if self.status == 'SUCCEEDED' and self.moved <= LOST:
            return 'held'
        if self.status == 'MISSED_CONTACT':
            return 'not closed'
        return 'told' if self.told else 'dropped'


class Judge:
    """Notes how far the object goes in the hand, and what pads bear; called as measured."""

    def __init__(self, grasp) -> None:
        """Note nothing yet."""
        self._limits = {c.link: grasp.damage_margin * float(np.dot(c.closing_force, c.normal))
                        for c in grasp.contacts}
        self._held, self._forces = None, []
        self.moved = self.damage = 0.0
        self.moved_when_told = np.nan
        self.execution = None

    def note(self, phase: Phase, world) -> None:
        """Take a moment."""
        felt = world.link_forces()
        self._forces.append([felt.get(link, 0.0) for link in self._limits])
        mean = np.mean(self._forces[-MEAN_OF:], axis=0)
        self.damage = max(self.damage, float((mean / list(self._limits.values())).max()))
        if phase < Phase.HOLDING or phase in (Phase.RELEASING, Phase.LOADING):
            return
        pose = world.T_palm_object
        if self._held is None:
            self._held = pose
        self.moved = max(self.moved, float(np.linalg.norm(pose[:3, 3] - self._held[:3, 3])))
        if self.execution.status == Status.CANNOT_HOLD and np.isnan(self.moved_when_told):
            self.moved_when_told = self.moved


class Clock:
    """Times the programme of an execution, and when slips are answered."""

    def __init__(self, watch) -> None:
        """Put itself before the programme."""
        self.times, self._solve = [], watch.programme.solve
        watch.programme.solve = self

    def __call__(self, *arguments):
        """Solve."""
        begin = time.perf_counter()
        answer = self._solve(*arguments)
        self.times.append(time.perf_counter() - begin)
        return answer


def hold(hand, body: GraspObject, grasp, soft: SoftMesh, friction: float, mass: float,
         by_feel: bool, unloading: float, options=None) -> Trial:
    """Carry one trial out; ``friction`` and ``mass`` are over the planned ones."""
    begin, material = time.process_time(), body.material
    true = GraspObject(body.mesh, replace(material, friction=material.friction * friction,
                                          density=material.density * mass), body.label)
    judge = Judge(grasp)
    done = SimulatedGrasp(
        hand, true, grasp, Wishes(lift_height=LIFT, by_touch=True, hold_by_feel=by_feel),
        options or execution_options(), body='soft', friction=material.friction,
        unloading_time=unloading,
        soft=replace(soft, masses=soft.masses * true.mass_properties.mass))
    judge.execution, watch = done.execution, done.execution._watch
    clock = Clock(watch) if by_feel else None
    execution = done.run(judge.note)
    return Trial(
        body.label, FEEL if by_feel else PLANNED, friction, mass, execution.status.name,
        execution.message, bool(judge.moved_when_told <= LOST), judge.moved, judge.damage,
        watch.level if by_feel else 1.0, len(clock.times) if by_feel else 0,
        float(np.mean(clock.times)) if by_feel and clock.times else np.nan,
        time.process_time() - begin, not can_be_held(hand, body, grasp, friction, mass))


def can_be_held(hand, body: GraspObject, grasp, friction: float, mass: float) -> bool:
    """Return whether forces below damage hold the weight at the planned contacts."""
    plan = hold_plan(hand, grasp, body.material.friction)
    T_palm_object = inverse(grasp.T_object_palm)
    weight = T_palm_object[:3, :3] @ [0.0, 0.0, -GRAVITY * mass * body.mass_properties.mass]
    centre = apply(T_palm_object, grasp.centre_of_mass[None])[0]
    closed = Measurement(0.0, grasp.trajectory[-1], dict.fromkeys(plan.links, np.inf))
    return bool(np.isfinite(HoldProgramme(plan, plan.damage, 0.0).solve(
        closed, np.concatenate([weight, np.cross(centre, weight)]),
        friction * body.material.friction).level))


def tetrahedra(body: GraspObject) -> SoftMesh:
    """Return a coarse flex of a body; its masses add up to 1."""
    nodes, corners = fill_with_tetrahedra(body.mesh, *FINE.get(body.label, (EDGE, ENVELOPE)))
    masses = node_masses(nodes, corners, 1.0)
    return SoftMesh(nodes, corners, outer_faces(corners), masses / masses.sum(),
                    stiffening(nodes, corners, body.material.poisson_ratio))


def measure(arguments) -> list[Trial]:
    """Plan, draw and hold; tell each."""
    hand, found, chosen, held = load_default_hand(), [], bodies(), {}
    for name in arguments.names or chosen:
        grasp = plan_grasps(chosen[name], hypotheses=arguments.hypotheses,
                            count=arguments.rank).grasps[arguments.rank - 1]
        held[name] = chosen[name], grasp, tetrahedra(chosen[name])
        print(f'{name}: {len(held[name][2].nodes)} nodes, damage at {grasp.damage_margin:.2f} of '
              f'the planned forces, margin {grasp.margin:.2f}', flush=True)
    draw, options = np.random.default_rng(arguments.seed), execution_options(
        **({} if arguments.touch_speed is None else {'touch_speed': arguments.touch_speed}))
    low, high = arguments.friction
    for number in range(arguments.trials):
        friction, mass = 1.0 + WRONG * (draw.choice((-1.0, 1.0), 2) if arguments.corners
                                        else draw.uniform(-1.0, 1.0, 2))
        friction = low + (high - low) * (friction - 1.0 + WRONG) / (2.0 * WRONG)
        for body, grasp, soft in held.values():
            ways = arguments.ways if number < arguments.both else [FEEL]
            found += draw_once(hand, body, grasp, soft, friction, mass, ways, arguments.unloading,
                               options)
            if arguments.out:
                arguments.out.write_text(json.dumps([asdict(one) for one in found]))
    return found


def draw_once(hand, body, grasp, soft, friction, mass, ways, unloading, options) -> list[Trial]:
    """Return and tell the trials of one draw."""
    found = [hold(hand, body, grasp, soft, friction, mass, way == FEEL, unloading, options)
             for way in ways]
    for one in found:
        print(told(one), flush=True)
    return found


def told(one: Trial) -> str:
    """Return a line of progress."""
    return (f'{one.thing:5} friction {one.friction:.2f} mass {one.mass:.2f} {one.way:8} '
            f'{one.outcome:10} moved {1e3 * one.moved:6.1f} mm damage {one.damage:.2f} level '
            f'{one.level:.2f} {1e3 * one.solve_time:.2f} ms {one.seconds:.0f} s  {one.status} '
            f'{one.message}')


def table(found: list[Trial]) -> str:
    """Return how many of each body and way came to which end; those that cannot be held apart."""
    lines = ['| body | way | ' + ' | '.join(OUTCOMES) + ' | held of those that can be | damage | '
             'of those that cannot: told in time, damaged, dropped |',
             '|---|---|' + '---|' * (len(OUTCOMES) + 3)]
    for thing in [*dict.fromkeys(one.thing for one in found), 'all']:
        for way in (PLANNED, FEEL):
            mine = [one for one in found if one.way == way and thing in (one.thing, 'all')]
            able = [one.outcome for one in mine if not one.cannot]
            ends = [able.count(end) for end in OUTCOMES]
            worst = max((one.damage for one in mine if not one.cannot), default=np.nan)
            unable = [one.outcome for one in mine if one.cannot]
            lost = unable.count('damaged'), unable.count('dropped')
            lines.append(f'| {thing} | {way} | ' + ' | '.join(map(str, ends))
                         + f' | {ends[0]} of {len(able)} | {worst:.2f} | '
                         f'{len(unable) - sum(lost)}, {lost[0]}, {lost[1]} |')
    times = [one.solve_time for one in found if np.isfinite(one.solve_time)]
    if times:                                               # by feel
        lines.append(f'programme: {1e3 * np.median(times):.2f} ms in the median, '
                     f'{1e3 * np.max(times):.2f} ms in the slowest trial')
    return '\n'.join(lines)


def main() -> int:
    """Measure, or read what was measured, and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('names', nargs='*', help='bodies; default: all')
    parser.add_argument('--trials', type=int, default=20, help='draws of each body')
    parser.add_argument('--hypotheses', type=int, default=20)
    parser.add_argument('--unloading', type=float, default=0.3, help='[s]')
    parser.add_argument('--corners', action='store_true',
                        help='friction and mass wrong by the whole of it, one way or the other')
    parser.add_argument('--friction', type=float, nargs=2, default=(1.0 - WRONG, 1.0 + WRONG),
                        metavar=('LOW', 'HIGH'), help='over the planned one')
    parser.add_argument('--rank', type=int, default=1, help='of the grasp')
    parser.add_argument('--touch-speed', type=float, help='[rad/s]; default: the executor\'s')
    parser.add_argument('--ways', nargs='+', choices=(PLANNED, FEEL), default=(PLANNED, FEEL))
    parser.add_argument('--both', type=int, default=10**6,
                        help='draws that are carried out in all ways; later ones by feel alone')
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--out', type=Path, help='write all records as JSON')
    parser.add_argument('--read', type=Path, nargs='+', help='tell records, measure nothing')
    arguments = parser.parse_args()
    found = measure(arguments) if arguments.read is None else [
        Trial(**one) for file in arguments.read for one in json.loads(file.read_text())]
    print(table(found))
    return 0
