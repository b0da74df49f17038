"""
Closing by touch on soft objects whose modulus is wrong by a factor of four, either way.

Each body's first-ranked grasp is planned with its modulus; the simulated body (a MuJoCo flex) has
another. Told are the largest force of a finger over its planned one, of single readings (100 Hz),
of medians of three and of means over 50 ms (nodes of a flex chatter: one reading of 10 ms may be
three times those before and after it), while the hand closes, loads and holds; the largest of
every time step (500 Hz), and for how long forces were beyond the limit at a time; the same with
what contacts of wrong normals take away added instead (``unsigned``); the forces found over the
planned ones; and whether it was lifted.
"""

import argparse
from dataclasses import replace

import numpy as np

from benchmarks.hardware.grasps import execution_options, SimulatedGrasp
from benchmarks.hardware.holding import bodies, MEAN_OF
from benchmarks.hardware.lifting import found_share, LIFT
from gripsim_ros.core.bodies import GraspObject
from gripsim_ros.core.bodies.tetrahedra import fill_with_tetrahedra
from gripsim_ros.core.transforms import transform
from gripsim_ros.hardware.execution.actions import Phase
from gripsim_ros.hardware.execution.plan import Wishes
from gripsim_ros.hardware.sim.elements import stiffening
from gripsim_ros.hardware.sim.solids import node_masses, outer_faces
from gripsim_ros.hardware.sim.world_model import SoftMesh
from gripsim_ros.library.in_process import plan_grasps
from gripsim_ros.library.resources import load_default_hand

#: True modulus over the planned one.
FACTORS = (0.25, 1.0, 4.0)
#: The table's limit of a force over the planned one.
ALLOWED = 1.2
FELT = (Phase.CLOSING, Phase.LOADING, Phase.HOLDING)
#: Wanted edges of tetrahedra [m], and how far the surface may be off over the box's diagonal.
EDGE, ENVELOPE = 0.015, 0.02


class Peaks:
    """The largest force of a finger over its planned one; called as measured and as stepped."""

    def __init__(self) -> None:
        """Nothing is felt yet."""
        self.execution, self._shares = None, []
        self.single = self.median = self.mean = 0.0
        self.stepped = self.unsigned = self.longest = 0.0   # the last: longest beyond [s]
        self._beyond = 0.0

    def note(self, phase: Phase, world) -> None:
        """Take a moment."""
        if phase not in FELT:
            return
        self._shares.append(self._felt(world))
        self.single = max(self.single, max(self._shares[-1]))
        if len(self._shares) >= 3:
            self.median = max(self.median, float(np.median(self._shares[-3:], axis=0).max()))
        self.mean = max(self.mean, float(np.mean(self._shares[-MEAN_OF:], axis=0).max()))

    def step(self, phase: Phase, world) -> None:
        """Take a time step of the simulation."""
        if phase not in FELT:
            return
        shares = np.array(self._felt(world))
        self._beyond = np.where(shares > ALLOWED, self._beyond + world.options.time_step, 0.0)
        self.stepped = max(self.stepped, float(shares.max()))
        self.unsigned = max(self.unsigned, *(
            sum(abs(touch.normal_force) for touch in world.touch_points()
                if touch.link in finger.links) / finger.force for finger in self._pressing))
        self.longest = max(self.longest, float(np.max(self._beyond)))

    def _felt(self, world) -> list[float]:
        """Return the force of each finger over its planned one now."""
        forces = world.link_forces()
        return [sum(forces.get(link, 0.0) for link in finger.links) / finger.force
                for finger in self._pressing]

    @property
    def _pressing(self) -> list:
        return [finger for finger in self.execution.plan.fingers if finger.force > 0.0]


def tetrahedra(body: GraspObject, mass: float) -> SoftMesh:
    """Return a flex of a body."""
    nodes, corners = fill_with_tetrahedra(body.mesh, EDGE, ENVELOPE)
    masses = node_masses(nodes, corners, 1.0)
    return SoftMesh(nodes, corners, outer_faces(corners), mass * masses / masses.sum(),
                    stiffening(nodes, corners, body.material.poisson_ratio))


def close(hand, body: GraspObject, grasp, factor: float, offset):
    """Return execution and peaks of a body whose modulus is a multiple of the planned one."""
    true = GraspObject(body.mesh, replace(
        body.material, youngs_modulus=factor * body.material.youngs_modulus), body.label)
    peaks = Peaks()
    done = SimulatedGrasp(
        hand, true, grasp, Wishes(lift_height=LIFT, by_touch=True), execution_options(),
        body='soft', soft=tetrahedra(body, body.mass_properties.mass), unloading_time=0.3,
        T_world_object=transform(np.eye(3), np.asarray(offset)))
    peaks.execution = done.execution
    return done.run(peaks.note, peaks.step), peaks


def main() -> int:
    """Print a row for each body, modulus and offset, and what came of each modulus."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('names', nargs='*', help='bodies; default: all')
    parser.add_argument('--offsets', type=float, nargs='+', default=[0.0, 5.0], help='[mm]')
    parser.add_argument('--factors', type=float, nargs='+', default=FACTORS)
    parser.add_argument('--hypotheses', type=int, default=20)
    arguments = parser.parse_args()
    hand, chosen, told = load_default_hand(), bodies(), {}
    for name in arguments.names or chosen:
        body = chosen[name]
        grasp = plan_grasps(body, hypotheses=arguments.hypotheses, count=1).grasps[0]
        for factor in arguments.factors:
            for millimetres in arguments.offsets:
                execution, peaks = close(hand, body, grasp, factor,
                                         [1e-3 * millimetres, 0.0, 0.0])
                found = found_share(execution)
                print(f'{name:5} modulus {factor:4.2f}  {millimetres:4.1f} mm off  peak '
                      f'{peaks.single:.2f}, median {peaks.median:.2f}, mean {peaks.mean:.2f}  '
                      f'steps {peaks.stepped:.2f} (unsigned {peaks.unsigned:.2f}), beyond for '
                      f'{1e3 * peaks.longest:.0f} ms  found {found:.2f}  closed '
                      f'in {execution.closing_time:4.1f} s  '
                      f'{"lifted" if execution.lifted else execution.status.name} '
                      f'{execution.message}', flush=True)
                told.setdefault(factor, []).append(
                    (peaks.single, peaks.median, peaks.mean, peaks.stepped, peaks.unsigned,
                     peaks.longest, found, execution.lifted))
    print('| modulus over planned | peak: readings | medians of three | means of 50 ms | time '
          'steps | unsigned | beyond [ms] | found | lifted |\n' + 9 * '|---' + '|')
    for factor, rows in sorted(told.items()):
        *peaks, longest, found, lifted = np.array(rows, float).T
        told_peaks = ' | '.join(f'{np.median(one):.2f} ({one.max():.2f})' for one in peaks)
        print(f'| {factor:g} | {told_peaks} | {1e3 * np.median(longest):.0f} '
              f'({1e3 * longest.max():.0f}) | {np.nanmedian(found):.2f} | '
              f'{int(lifted.sum())} of {len(rows)} |')
    return int(any(row[2] > ALLOWED for rows in told.values() for row in rows))
