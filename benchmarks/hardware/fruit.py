"""
Fruit that bursts: grasps planned below the 5th percentile of its class, lifted in MuJoCo.

Three sizes of kiwi, banana and mango, and a banana's scan where GRIPSIM_DATA has one. A class is
refused with the force needed and allowed, or its first-ranked grasp is closed by touch and lifted
some times, the fruit soft (a flex), modulus, friction and mass drawn as people's fruit differ.
Truth is the spread of published squeezes: that a lift leaves a fruit unhurt has the probability
that a fruit of its class bears the largest force of any link.

``python -m benchmarks fruit [NAME ...] [--trials N] [--feel] [--unlimited] [--out FILE]``;
``--read FILE ...`` tells anew what was measured.
"""

import argparse
import json
import math
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.hardware.grasps import execution_options, SimulatedGrasp
from benchmarks.hardware.holding import LIFT, LOST, MEAN_OF, tetrahedra
from gripsim_ros.core.bodies import decimate_mesh, GraspObject, load_mesh, shapes
from gripsim_ros.hardware.execution.actions import Phase, Status
from gripsim_ros.hardware.execution.plan import Wishes
from gripsim_ros.library.in_process import plan_grasps
from gripsim_ros.library.resources import load_default_hand, material_library

#: Geometric mean [N] and standard deviation of the logarithm of the forces at which whole fruit
#: burst between two fingertips, and their 5th percentile [N]; 40 kiwis, 77 bananas, 70 mangos.
#: Source: SheepLiu712/FruitRuptureEstimate.
PUBLISHED = {'kiwi': (3.28, 0.448, 1.46), 'banana': (6.61, 0.437, 3.43),
             'mango': (10.63, 0.229, 6.95)}
#: Standard deviations of the logarithms of modulus and friction, and that of the mass.
MODULUS_SPREAD, FRICTION_SPREAD, MASS_SPREAD = 0.2, 0.1, 0.05
#: Faces to which a scan is reduced.
SCAN_FACES = 3000
#: Unhurt share of fruit that is wanted.
WANTED = 0.95


def bodies() -> dict[str, tuple[str, object]]:
    """Return class and mesh of each fruit."""
    found = {}
    for size, scale in (('small', 0.87), ('middle', 1.0), ('large', 1.13)):
        found[f'kiwi, {size}'] = 'kiwi', shapes.ellipsoid(
            scale * np.array([0.025, 0.025, 0.0325]), 0.005)
        found[f'banana, {size}'] = 'banana', shapes.banana(
            scale * 0.018, scale * 0.14, scale * 0.12, 0.006)
        found[f'mango, {size}'] = 'mango', shapes.ellipsoid(
            scale * np.array([0.034, 0.038, 0.05]), 0.006)
    scan = Path(os.environ.get('GRIPSIM_DATA', '')) / 'ycb' / 'YcbBanana.ply'
    if scan.is_file():
        found['banana, scan'] = 'banana', decimate_mesh(load_mesh(scan).mesh, SCAN_FACES)
    return found


@dataclass(frozen=True)
class Lift:
    """A lift, or the refusal to plan one: forces [N] are the largest of any link."""

    name: str
    kind: str
    mass: float         # planned with [kg]
    allowed: float      # force that the planner allows [N]
    planned: float      # force at the end of closing [N]; NaN: refused
    hint: str
    felt: float = np.nan        # force in the mean of 50 ms [N]
    moved: float = np.nan       # farthest of the fruit in the hand, from holding on [m]
    status: str = ''
    message: str = ''

    @property
    def lifted(self) -> bool:
        """Return whether the fruit came up and stayed in the hand."""
        return self.status == Status.SUCCEEDED.name and self.moved <= LOST

    @property
    def unhurt(self) -> float:
        """Return the probability that a fruit of the class bears the largest force."""
        middle, spread, _ = PUBLISHED[self.kind]
        return 0.5 * math.erfc(math.log(max(self.felt, 1e-9) / middle) / spread / math.sqrt(2.0))


class Judge:
    """Notes what links press with and how far the fruit goes in the hand."""

    def __init__(self) -> None:
        """Note nothing yet."""
        self._readings: list[dict[str, float]] = []
        self._held = None
        self.felt = self.moved = 0.0

    def note(self, phase: Phase, world) -> None:
        """Take a moment."""
        self._readings = [*self._readings[1 - MEAN_OF:], world.link_forces()]
        for link in self._readings[-1]:
            self.felt = max(self.felt, float(np.mean(
                [reading.get(link, 0.0) for reading in self._readings])))
        if phase < Phase.HOLDING or phase in (Phase.RELEASING, Phase.LOADING):
            return
        pose = world.T_palm_object
        self._held = pose if self._held is None else self._held
        self.moved = max(self.moved, float(np.linalg.norm(pose[:3, 3] - self._held[:3, 3])))


def lifts(name: str, kind: str, mesh, arguments, draw) -> Iterator[Lift]:
    """Plan for a fruit; yield its refusal, or its lifts."""
    stuff = material_library()[kind]
    if arguments.unlimited:
        stuff = replace(stuff, max_force=np.inf)
    fruit = GraspObject(mesh, stuff, name)
    plan = plan_grasps(fruit, hypotheses=arguments.hypotheses, count=1)
    told = Lift(name, kind, fruit.mass_properties.mass, fruit.material.force_limit, np.nan,
                plan.hint)
    if not plan.grasps:
        yield told
        return
    grasp, soft = plan.grasps[0], tetrahedra(fruit)
    pressed: dict[str, float] = {}
    for contact in grasp.contacts:
        force = float(np.dot(contact.closing_force, contact.normal))
        pressed[contact.link] = pressed.get(contact.link, 0.0) + force
    for _ in range(arguments.trials):
        modulus, friction, mass = (
            np.exp(MODULUS_SPREAD * draw.standard_normal()),
            np.exp(FRICTION_SPREAD * draw.standard_normal()),
            1.0 + MASS_SPREAD * draw.standard_normal())
        true = GraspObject(mesh, replace(
            stuff, youngs_modulus=modulus * stuff.youngs_modulus,
            friction=friction * stuff.friction, density=mass * stuff.density), name)
        judge = Judge()
        execution = SimulatedGrasp(
            load_default_hand(), true, grasp,
            Wishes(lift_height=LIFT, by_touch=True, hold_by_feel=arguments.feel),
            execution_options(), body='soft', friction=stuff.friction, unloading_time=0.3,
            soft=replace(soft, masses=soft.masses * true.mass_properties.mass)).run(judge.note)
        yield replace(told, planned=max(pressed.values()), felt=judge.felt, moved=judge.moved,
                      status=execution.status.name, message=execution.message)


def table(found: list[Lift]) -> str:
    """Return a row for each fruit, and what is so of all that were lifted."""
    lines = ['| fruit | mass [g] | allowed [N] | planned [N] | felt, median (most) [N] | lifted '
             '| unhurt | |', '|---|---|---|---|---|---|---|---|']
    for name in dict.fromkeys(one.name for one in found):
        mine = [one for one in found if one.name == name]
        head = f'| {name} | {1e3 * mine[0].mass:.0f} | {mine[0].allowed:.2f} | '
        if np.isnan(mine[0].planned):
            lines.append(f'{head}refused | | | | {mine[0].hint} |')
            continue
        felt = [one.felt for one in mine]
        lines.append(
            f'{head}{mine[0].planned:.2f} | {np.median(felt):.2f} ({max(felt):.2f}) | '
            f'{sum(one.lifted for one in mine)} of {len(mine)} | '
            f'{100.0 * np.mean([one.unhurt for one in mine]):.1f} % | |')
    tried = [one for one in found if not np.isnan(one.planned)]
    if tried:
        below = all(one.planned < PUBLISHED[one.kind][2] for one in tried)
        share = np.mean([one.lifted * one.unhurt for one in tried])
        lines.append(f'planned below the published 5th percentile: {"all" if below else "not all"}'
                     f'; lifted unhurt: {100.0 * share:.1f} % of {len(tried)} lifts, wanted '
                     f'{100.0 * WANTED:.0f} %')
    return '\n'.join(lines)


def main() -> int:
    """Measure, or read what was measured, and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('names', nargs='*', help='fruit; default: all')
    parser.add_argument('--trials', type=int, default=4, help='lifts of each fruit')
    parser.add_argument('--hypotheses', type=int, default=40)
    parser.add_argument('--feel', action='store_true', help='hold by feel')
    parser.add_argument('--unlimited', action='store_true', help='plan as if pressure alone hurt')
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--out', type=Path, help='write all records as JSON')
    parser.add_argument('--read', type=Path, nargs='+', help='tell records, measure nothing')
    arguments = parser.parse_args()
    if arguments.read is not None:
        found = [Lift(**one) for file in arguments.read for one in json.loads(file.read_text())]
    else:
        found, draw = [], np.random.default_rng(arguments.seed)
        for name, (kind, mesh) in bodies().items():
            if arguments.names and name not in arguments.names:
                continue
            for one in lifts(name, kind, mesh, arguments, draw):
                print(f'{one.name}: planned {one.planned:.2f} N, felt {one.felt:.2f} N, moved '
                      f'{1e3 * one.moved:.1f} mm {one.status} {one.message}{one.hint}', flush=True)
                found.append(one)
            if arguments.out:
                arguments.out.write_text(json.dumps([asdict(one) for one in found]))
    print(table(found))
    return 0
