"""
Lift what is planned: rigid bodies in the simulated hand, by the executor's logic, without nodes.

For each body its first-ranked grasps, with multiples of the planned forces: lifted or not, how
far the object slipped, and the sum of the normal forces found over the planned ones.
"""

import argparse
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from benchmarks.hardware.grasps import execution_options, SimulatedGrasp
from benchmarks.hold.bodies import all_objects, MATERIALS
from benchmarks.hold.shake import MAX_SHIFT, MAX_TURN
from gripsim_ros.core.bodies import GraspObject, Material, shapes
from gripsim_ros.core.transforms import inverse
from gripsim_ros.hardware.execution.plan import MOST_SQUEEZE, Wishes
from gripsim_ros.hardware.sim.world import GRAVITY
from gripsim_ros.library.in_process import plan_grasps
from gripsim_ros.library.resources import load_default_hand, material_library

LIFT = 0.04
#: How long the weight pulls along each axis [s].
PULL_TIME = 1.0
#: The body whose grasps are lifted by the tests of the launch, too.
BALL = 'wooden ball'


def bodies(names=()) -> dict[str, GraspObject]:
    """Return the bodies of the hold suite and a wooden ball, or those named."""
    found = {BALL: GraspObject(shapes.sphere(0.035, 0.008), material_library()['wood'], BALL)}
    for name, (mesh, mass, kind) in all_objects().items():
        modulus, poisson, friction = MATERIALS[kind]
        found[name] = GraspObject(
            mesh, Material(modulus, poisson, mass / mesh.volume, friction), name)
    return {name: found[name] for name in names} if names else found


def lift(hand, body: GraspObject, grasp, factor: float = 1.0, squeeze: float = MOST_SQUEEZE,
         **simulation):
    """Return the execution of one grasp: closed with so much of the planned forces, and lifted."""
    wishes = Wishes(lift_height=LIFT, squeeze=squeeze)
    return SimulatedGrasp(hand, body, grasp, wishes, execution_options(force_factor=factor),
                          body='rigid', **simulation).run()


@dataclass(frozen=True)
class Held:
    """
    What became of a grasp in physics.

    ``status`` is how closing ended, ``message`` what was said of it; ``shift`` [m] and ``turn``
    [rad] are the worst motion of the object in the hand since.
    """

    status: str
    message: str
    shift: float
    turn: float

    @property
    def held(self) -> bool:
        """Return whether the object stayed in the hand wherever its weight pulled."""
        return self.shift <= MAX_SHIFT and self.turn <= MAX_TURN


def hold(hand, body: GraspObject, grasp, **simulation) -> Held:
    """
    Close a grasp as planned, let the weight set in, then let it pull along six axes in turn.

    Whatever the execution says of contacts, physics alone tells whether the object is held.
    """
    simulated = SimulatedGrasp(hand, body, grasp, Wishes(), execution_options(), body='rigid',
                               **simulation)
    execution, world = simulated.run(), simulated.world
    start, shift, turn = world.T_palm_object, 0.0, 0.0
    world.lift_off()
    for axis in (*np.eye(3), *-np.eye(3)):
        world.model.opt.gravity[:] = GRAVITY * world.T_world_object[:3, :3] @ axis
        for _ in range(round(PULL_TIME / world.options.time_step)):
            world.step()
            if world.exploded:
                return Held(execution.status.name, 'lost its footing', np.inf, np.inf)
        now = world.T_palm_object
        shift = max(shift, float(np.linalg.norm((now - start)[:3, 3])))
        turn = max(turn, float(Rotation.from_matrix((inverse(start) @ now)[:3, :3]).magnitude()))
        if shift > MAX_SHIFT or turn > MAX_TURN:
            break
    return Held(execution.status.name, execution.message, shift, turn)


def found_share(execution) -> float:
    """Return the normal forces at the end of closing over the planned ones; NaN without."""
    planned = sum(contact.force for contact in execution.plan.contacts)
    if execution.closed is None or planned <= 0.0:
        return np.nan
    return sum(execution.closed.forces.values()) / planned


def main() -> int:
    """Print a row for each body and factor, and how many were lifted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('names', nargs='*', help='bodies; default: all')
    parser.add_argument('--factors', type=float, nargs='+', default=[1.0],
                        help='multiples of the planned forces')
    parser.add_argument('--squeeze', type=float, default=MOST_SQUEEZE, help='[rad]')
    parser.add_argument('--ranks', type=int, default=3)
    parser.add_argument('--hypotheses', type=int, default=40)
    arguments = parser.parse_args()
    hand, ends = load_default_hand(), {factor: [] for factor in arguments.factors}
    for name, body in bodies(arguments.names).items():
        grasps = plan_grasps(body, hypotheses=arguments.hypotheses, count=arguments.ranks).grasps
        for factor, told in ends.items():
            done = [lift(hand, body, grasp, factor, arguments.squeeze) for grasp in grasps]
            told += [execution.lifted for execution in done]
            print(f'{name:18} {1e3 * body.mass_properties.mass:5.0f} g  factor {factor:4.2f}  '
                  + '  '.join(f'{"lifted" if execution.lifted else execution.status.name:>8} '
                              f'slip {1e3 * execution.slip:5.2f} mm, {found_share(execution):.2f}'
                              f' of {grasp.margin:.2f}'
                              for grasp, execution in zip(grasps, done)), flush=True)
    for factor, told in ends.items():
        print(f'factor {factor:g}: {sum(told)} of {len(told)} lifted')
    return 0
