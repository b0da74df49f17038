"""
Planned ways carried out in MuJoCo: is the object held, does it go where it was to go?

Twelve objects, three displacements, the best grasps of each: planned with the weight along -z,
carried out by the executor's logic with the simulated hand, a rigid and free object. Beside it the
same ways without the forces of each step: fingers then press as the grasp does, all the way.

``python -m benchmarks carried [NAME ...] [--ways NAME ...] [--hypotheses N] [--count N] [--soft]
[--out FILE] [--write]``; ``--read FILE ...`` tells anew what was measured. ``--soft``: the object
is a MuJoCo flex, of the suite's soft materials: a minute for one. Its weight goes over to the hand
in ``UNLOADING``, as that of what is lifted off a table: put on at once, it makes a soft body
swing, which pulls harder.
"""

import argparse
import json
import textwrap
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation, Slerp

from benchmarks.hardware.grasps import execution_options, SimulatedGrasp
from benchmarks.hold.bodies import FINER, generated, MATERIALS
from gripsim_ros.core.bodies import GraspObject, Material
from gripsim_ros.core.planning import Task
from gripsim_ros.core.transforms import from_rotation_vector, transform
from gripsim_ros.hardware.execution.actions import Phase
from gripsim_ros.hardware.execution.plan import Wishes
from gripsim_ros.hardware.execution.way import make_way, WayPlan
from gripsim_ros.hardware.sim.world import GRAVITY
from gripsim_ros.library.in_process import plan_grasps
from gripsim_ros.library.resources import load_default_hand

OBJECTS = ('apple', 'small ball', 'ball', 'big ball', 'box', 'cube', 'cylinder', 'thin rod',
           'cone', 'egg', 'banana', 'capsule')
#: Displacement of each name: translation [m], rotation vector [rad]; the weight pulls along -z.
WAYS = {'up 50 mm': (0.0, 0.0, 0.05, 0.0, 0.0, 0.0),
        'sideways 50 mm': (0.05, 0.0, 0.0, 0.0, 0.0, 0.0),
        'turned 90°': (0.0, 0.0, 0.0, 0.5 * np.pi, 0.0, 0.0)}
#: Held: the object slips by no more in the hand [m]; followed: no farther off its way [m, rad].
MOST_SLIP, MOST_AWAY, MOST_TURN = 0.005, 0.003, np.deg2rad(3.0)
#: Slip of an object that rolls on round pads, but hardly slides [m].
MOST_FELT = 0.001
#: Largest margin that a plan tells, and the slip from which an object counts as lost [m].
MOST_MARGIN, LOST = 5.0, 0.05
#: Nothing is ended by a slip before it is measured [m].
ANY_SLIP = 1.0
#: Growth of the weight once the object is carried [1/s], its end, and the slip that ends it [m].
GROWTH, MOST_WEIGHT = 2.0, 6.0
#: Poses of a way that are compared with, and seconds between two looks at a growing weight.
FINE_STEPS, GLANCE = 200, 0.02
#: Slower than this in the hand the object is held still [m/s].
STILL_SPEED = 0.03
#: Time for planning [s]: no answer is cut short by it.
LONG = 900.0
#: Width of text on the page.
WIDTH = 120
PAGE = Path(__file__).resolve().parents[2] / 'docs' / 'validation' / 'manipulation.md'
#: Kinds of the simulated object, and marks about the tables of each on the page.
RIGID, SOFT = 'rigid', 'soft'
MARKS = {RIGID: ('<!-- measured -->', '<!-- end -->'),
         SOFT: ('<!-- measured soft -->', '<!-- end soft -->')}
#: Bodies of the suite's soft material; edges of the tetrahedra of what is thin, or would take
#: hours otherwise [m].
SOFT_OBJECTS = ('small ball', 'ball', 'big ball', 'banana')
EDGES = {'banana': 0.010, 'big ball': 0.025}
#: Time in which a soft body's weight goes over to the hand [s].
UNLOADING = 0.3


@dataclass(frozen=True)
class Carried:
    """What came of a way: all NaN but the plan's where the object was not carried at all."""

    thing: str
    way: str
    rank: int
    forces: bool        # of each step, or those of the grasp all the way
    level: str
    margin: float       # least planned
    last_margin: float  # planned at the end
    slip_share: float   # most planned
    status: str
    slip: float         # most in the hand [m]
    away: float         # most off its way [m]
    turn: float         # most turned off its way [rad]
    weight: float       # multiple of the weight up to which it stays in the hand at the end
    pressed: float      # normal forces at the end over those planned there
    body: str = RIGID   # of the simulation: rigid or soft

    @property
    def held(self) -> bool:
        """Return whether it was carried to the end without slip."""
        return self.status == 'SUCCEEDED' and self.slip <= MOST_SLIP

    @property
    def followed(self) -> bool:
        """Return whether it was where it was to be."""
        return self.held and self.away <= MOST_AWAY and self.turn <= MOST_TURN


class Follower:
    """Notes where the object is from when its weight sets in; called with each measurement."""

    def __init__(self, way: WayPlan) -> None:
        """Note nothing yet."""
        self._way, self._poses = way, _fine(way)
        self._planned, self._held, self._begin = None, None, None
        self.away = self.turn = self.slip = 0.0

    def note(self, phase: Phase, world) -> None:
        """Compare the object with the nearest pose of its way, and with its place in the hand."""
        if phase not in (Phase.LIFTING, Phase.CARRYING):
            return
        now = world.T_world_object
        if self._held is None:
            self._planned, self._held = self._poses @ now, world.T_palm_object
        if phase == Phase.CARRYING and self._begin is None:
            self._begin = world.time
        elapsed = 0.0 if self._begin is None else world.time - self._begin
        self.slip = max(self.slip, self._way.deviation(elapsed, self._held,
                                                       world.T_palm_object)[0])
        away = np.linalg.norm(self._planned[:, :3, 3] - now[:3, 3], axis=1)
        cosines = 0.5 * (np.einsum('nij,ij->n', self._planned[:, :3, :3], now[:3, :3]) - 1.0)
        turn = np.arccos(np.clip(cosines, -1.0, 1.0))
        nearest = int((away / MOST_AWAY + turn / MOST_TURN).argmin())
        self.away = max(self.away, float(away[nearest]))
        self.turn = max(self.turn, float(turn[nearest]))


def _fine(way: WayPlan) -> np.ndarray:
    """Return poses of the object's way (n, 4, 4), so near to each other that gaps do not count."""
    moved, times = way.T_object_moved, np.linspace(0.0, way.length, FINE_STEPS)
    turns = Slerp(way.times, Rotation.from_matrix(moved[:, :3, :3]))(times).as_matrix()
    places = np.stack([np.interp(times, way.times, column) for column in moved[:, :3, 3].T], 1)
    return np.array([transform(turn, place) for turn, place in zip(turns, places)])


def without_forces(way: WayPlan) -> WayPlan:
    """Return a way on which the fingers press as the grasp does."""
    return replace(way, presses=np.zeros_like(way.presses), forces={
        link: np.full_like(forces, forces[0]) for link, forces in way.forces.items()})


def carry(hand, thing: str, name: str, body: GraspObject, grasp, forces: bool,
          kind: str = RIGID, unloading: float = UNLOADING) -> Carried:
    """Carry a grasp's object along its way, with the forces of each step or of the grasp."""
    options = execution_options(slip_tolerance=ANY_SLIP)
    way = make_way(hand, grasp.reach, options.carry_speed, options.carry_spin)
    way = way if forces else without_forces(way)
    simulation = {'unloading_time': unloading} if kind == SOFT else {}
    if kind == SOFT and thing in EDGES:
        simulation['node_spacing'] = EDGES[thing]
    trial = SimulatedGrasp(hand, body, grasp, Wishes(carry=True), options, way, body=kind,
                           **simulation)
    follower, steps = Follower(way), grasp.reach.steps
    execution = trial.run(follower.note)
    done = execution.carried
    pressed = sum(trial.world.link_forces().values()) / steps[-1].normal_force
    return Carried(
        thing, name, grasp.rank, forces, grasp.reach.level, min(s.margin for s in steps),
        steps[-1].margin, max(s.slip_share for s in steps), execution.status.name,
        follower.slip, follower.away if done else np.nan,
        follower.turn if done else np.nan,
        weight_that_slips(trial.world) if done else np.nan, pressed, kind)


def weight_that_slips(world) -> float:
    """Return the multiple of the weight up to which a held object is still in the hand."""
    world.options = replace(world.options, unloading_time=0.0)      # it hangs in the hand already
    still, first = 1.0, world.T_palm_object[:3, 3]
    before, weight = first, 1.0
    while weight < MOST_WEIGHT:
        weight += GROWTH * GLANCE
        world.model.opt.gravity[2] = -GRAVITY * weight
        for _ in range(round(GLANCE / world.options.time_step)):
            world.step()
        now = world.T_palm_object[:3, 3]
        if np.linalg.norm(now - before) < STILL_SPEED * GLANCE:
            still = weight
        if np.linalg.norm(now - first) > 2.0 * MOST_SLIP:
            return still
        before = now
    return MOST_WEIGHT


def bodies(names: Sequence[str]):
    """Yield name, what is planned for and what is simulated: round bodies without facets."""
    for name in names:
        mesh, mass, kind = generated()[name]
        modulus, poisson, friction = MATERIALS[kind]
        fine = FINER[name]() if name in FINER else mesh
        yield (name, *(GraspObject(shape, Material(
            modulus, poisson, mass / shape.volume, friction)) for shape in (mesh, fine)))


def measure(arguments) -> list[Carried]:
    """Plan and carry for all objects and ways; tell each."""
    hand, found = load_default_hand(), []
    kind = SOFT if arguments.soft else RIGID
    names = arguments.names or (SOFT_OBJECTS if arguments.soft else OBJECTS)
    for thing, body, fine in bodies(names):
        for name in arguments.ways:
            twist, true_body = WAYS[name], body if arguments.soft else fine
            begin = time.process_time()
            task = Task(gravity_directions=np.array([[0.0, 0.0, -1.0]]),
                        displacement_object=from_rotation_vector(np.array(twist)))
            result = plan_grasps(body, task, count=arguments.count, budget=LONG,
                                 hypotheses=arguments.hypotheses)
            if not result.grasps:
                print(f'{thing}, {name}: no grasp: {result.rejections}', flush=True)
            for grasp in result.grasps:
                for forces in (True, False):
                    found.append(carry(hand, thing, name, true_body, grasp, forces, kind,
                                       arguments.unloading))
                    print(told(found[-1]), flush=True)
                    if arguments.out:
                        arguments.out.write_text(json.dumps([asdict(one) for one in found]))
            print(f'  {time.process_time() - begin:.0f} s of a core', flush=True)
    return found


def told(one: Carried) -> str:
    """Return a line of progress."""
    return (f'{one.thing:11s} {one.way:15s} rank {one.rank} {one.level:9s} '
            f'{"of each step" if one.forces else "of the grasp"}: {one.status:9s} '
            f'slip {1e3 * one.slip:5.1f} mm, off {1e3 * one.away:5.1f} mm '
            f'{np.rad2deg(one.turn):4.1f} deg, weight {one.weight:4.2f}, '
            f'{one.last_margin:4.2f} x {one.pressed:4.2f}')


def tables(found: Sequence[Carried]) -> str:
    """Return the tables of the page."""
    lines = ['| way | forces | carried | held | followed | slip, median and most [mm] | '
             'off the way, median and most [mm] | turned off it [°] |', '|' + '---|' * 8]
    for name in (*WAYS, 'all'):
        for forces in (True, False):
            group = [one for one in found if one.forces == forces and name in (one.way, 'all')]
            if group:
                lines.append(_row(name, forces, group))
    lines += ['', '| object | moved by | least margin planned | weight at the end: margin '
              'planned, for the forces found, simulated | yield planned over that without slip, '
              'most | slip, most [mm]: up, sideways, turned | with the forces of the grasp |',
              '|' + '---|' * 7]
    for thing in dict.fromkeys(one.thing for one in found):
        lines.append(_line_of(thing, [one for one in found if one.thing == thing]))
    lines += ['', _slips(found)]
    return '\n'.join([*lines, '', text] if (text := _margins(found)) else lines)


def _slips(found: Sequence[Carried]) -> str:
    """Return a sentence about predicted and simulated slip."""
    ways = [one for one in found if one.forces]
    most = max(one.slip_share for one in ways)
    slipped = sum(not one.held for one in ways)
    small = sum(one.slip <= MOST_FELT for one in ways)
    predicted = sum(one.slip_share > 1.0 for one in ways)
    return textwrap.fill(
        f'Slip predicted, a patch that yields by more than it can without: {predicted} of '
        f'{len(ways)} ways, at most {most:.2f} of it. Simulated: {small} ways within '
        f'{1e3 * MOST_FELT:g} mm, {slipped} by more than {1e3 * MOST_SLIP:g} mm or lost.', WIDTH)


def _margins(found: Sequence[Carried]) -> str:
    """Return a sentence about predicted and simulated margins where neither is at its end."""
    ends = [one for one in found if one.forces and one.last_margin < MOST_MARGIN
            and one.weight < MOST_WEIGHT]
    if not ends:
        return ''
    shares = np.array([one.weight / (one.last_margin * one.pressed) for one in ends])
    low, middle, high = np.quantile(shares, (0.1, 0.5, 0.9))
    return textwrap.fill(
        f'Simulated over predicted multiple for the forces found, of {len(ends)} ways where both '
        f'are known: median {middle:.2f}, 10 % at {low:.2f}, 90 % at {high:.2f}.', WIDTH)


def _row(name: str, forces: bool, group: Sequence[Carried]) -> str:
    def spread(values, scale, digits):
        known = scale * np.array([v for v in values if np.isfinite(v)])
        return f'{np.median(known):.{digits}f}, {known.max():.{digits}f}' if len(known) else '–'
    count = len(group)
    return (f'| {name} | {"each step" if forces else "grasp"} | {count} | '
            f'{_share(sum(one.held for one in group), count)} | '
            f'{_share(sum(one.followed for one in group), count)} | '
            f'{spread([one.slip for one in group], 1e3, 1)} | '
            f'{spread([one.away for one in group], 1e3, 1)} | '
            f'{spread([one.turn for one in group], 180.0 / np.pi, 1)} |')


def _share(count: int, total: int) -> str:
    return f'{count} ({100.0 * count / total:.0f} %)'


def _line_of(thing: str, group: Sequence[Carried]) -> str:
    planned = [one for one in group if one.forces]
    ends = [one for one in planned if np.isfinite(one.weight)]
    middle = [np.median([value(one) for one in ends]) if ends else np.nan for value in (
        lambda one: one.last_margin, lambda one: one.last_margin * one.pressed,
        lambda one: one.weight)]
    slips = [', '.join(_most([one for one in group if one.way == way and one.forces == forces])
                       for way in WAYS) for forces in (True, False)]
    levels = ', '.join(dict.fromkeys(one.level for one in planned))
    return (f'| {thing} | {levels} | {min(one.margin for one in planned):.2f} | '
            f'{", ".join(_number(value) for value in middle)} | '
            f'{max(one.slip_share for one in planned):.2f} | {slips[0]} | {slips[1]} |')


def _number(value: float) -> str:
    return f'{value:.2f}' if np.isfinite(value) else '–'


def _most(group: Sequence[Carried]) -> str:
    """Return the largest slip [mm], or that the object was lost."""
    if not group:
        return 'no grasp'
    most = max(one.slip for one in group)
    return f'{1e3 * most:.1f}' if most <= LOST else 'lost'


def write(found: Sequence[Carried], page: Path) -> None:
    """Put the tables of each kind of body between the page's marks."""
    text = page.read_text(encoding='utf-8')
    for kind, (begin, end) in MARKS.items():
        mine = [one for one in found if one.body == kind]
        if mine:
            before, _, rest = text.partition(begin)
            _, _, after = rest.partition(end)
            text = f'{before}{begin}\n{tables(mine)}\n{end}{after}'
    page.write_text(text, encoding='utf-8')


def main() -> int:
    """Measure, or read what was measured, and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('names', nargs='*', help='objects; default: twelve')
    parser.add_argument('--hypotheses', type=int, default=40)
    parser.add_argument('--count', type=int, default=2, help='grasps carried of each')
    parser.add_argument('--ways', nargs='+', choices=tuple(WAYS), default=tuple(WAYS))
    parser.add_argument('--soft', action='store_true', help='simulate soft bodies')
    parser.add_argument('--unloading', type=float, default=UNLOADING,
                        help='time in which soft bodies are left to the hand [s]; 0: at once')
    parser.add_argument('--out', type=Path, help='write all records as JSON')
    parser.add_argument('--read', type=Path, nargs='+', help='tell records, measure nothing')
    parser.add_argument('--write', action='store_true', help=f'put the tables into {PAGE.name}')
    arguments = parser.parse_args()
    found = measure(arguments) if arguments.read is None else [
        Carried(**one) for file in arguments.read for one in json.loads(file.read_text())]
    for kind in MARKS:
        mine = [one for one in found if one.body == kind]
        print(tables(mine) if mine else '')
    if arguments.write:
        write(found, PAGE)
    return 0
