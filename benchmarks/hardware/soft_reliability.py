"""
Predicted robustness against physics that bends: soft objects that lie elsewhere, of other moduli.

``python -m benchmarks soft_reliability [NAME ...] [--modulus-spread S] [--samples N]`` takes the
first and the last of ten grasps of each soft body. Modulus, friction and pose are drawn; the
simulated hand closes as planned on a flex of that modulus where it lies, presses as the
prediction does, and lifts it by 40 mm. It holds what moves by 20 mm in the hand at most; pressure
is not judged, on either side.
"""

import argparse
from dataclasses import replace
import json
from pathlib import Path

import numpy as np

from benchmarks.hardware.holding import bodies, LOST, tetrahedra
from benchmarks.hardware.lifting import LIFT
from benchmarks.hold.reliability import DEGREES_PER_METRE, tables
from gripsim_ros.core.bodies import GraspObject
from gripsim_ros.core.planning import RankedGrasp, Task
from gripsim_ros.core.planning.moving_object.closing_motion import pressing_command
from gripsim_ros.core.planning.ranking.robustness import draw_samples, Sample
from gripsim_ros.core.transforms import transform
from gripsim_ros.hardware.sim.options import default_options
from gripsim_ros.hardware.sim.setpoints import SetpointFollower
from gripsim_ros.hardware.sim.world import World
from gripsim_ros.library.in_process import plan_grasps, planner_options, robust_grasps
from gripsim_ros.library.resources import load_default_hand

#: Standard deviations of the pose [m].
POSITIONS = (1e-3, 3e-3, 5e-3, 10e-3)
#: Closing, pressing and as long again, the support's leaving, and lifting with some time to slip
#: in [s]: as the prediction has it, and then lifted.
CLOSING, PRESSING, UNLOADING, LIFTING = 1.5, 0.5, 0.3, 1.7
#: Down, in the frame of the object as it was thought to lie.
DOWN = ((0.0, 0.0, -1.0),)


def unhurt(body: GraspObject, spread: float) -> GraspObject:
    """Return a body that bears any pressure, and whose modulus is known to a spread."""
    return GraspObject(body.mesh, replace(body.material, max_pressure=np.inf,
                                          modulus_spread=spread), body.label)


def is_held(hand, grasp: RankedGrasp, sample: Sample, soft, squeeze: float) -> bool:
    """Return whether the simulated hand lifts a sample."""
    thing, rows = sample.grasp_object, grasp.trajectory
    world = World(hand, default_options(body='soft', unloading_time=UNLOADING),
                  grasp.T_object_palm, rows[0], thing, sample.T_object_moved,
                  soft=replace(soft, masses=soft.masses * thing.mass_properties.mass))
    follower = SetpointFollower(hand, rows[0])

    def follow(rows, duration: float) -> None:
        follower.follow(hand.joint_names, rows, np.linspace(0.0, duration, len(rows)), world.time)
        wait(duration)

    def wait(duration: float) -> None:
        end = world.time + duration
        while world.time < end:
            world.follow(follower)
            world.step()

    follow(rows, CLOSING)
    follow(np.stack([rows[-1], pressing_command(hand, grasp, squeeze)]), PRESSING)
    wait(PRESSING)
    closed = world.T_palm_object[:3, 3]
    world.lift_off()
    wait(UNLOADING)
    world.move_palm(transform(np.eye(3), [0.0, 0.0, LIFT]) @ grasp.T_object_palm)
    wait(LIFTING)
    return float(np.linalg.norm(world.T_palm_object[:3, 3] - closed)) <= LOST


def examine(name: str, body: GraspObject, arguments) -> list[dict]:
    """Return predicted and simulated shares of a body's grasps at each error."""
    hand, options, soft = load_default_hand(), planner_options(), tetrahedra(body)
    task = Task(gravity_directions=np.array(DOWN))
    grasps = plan_grasps(body, task=task, hypotheses=arguments.hypotheses).grasps
    chosen, records = list(dict.fromkeys([0, len(grasps) - 1])), []
    for grasp in (grasps[number] for number in chosen):
        for position in arguments.positions:
            told = replace(task, pose_uncertainty=(
                position, np.deg2rad(DEGREES_PER_METRE * position)))
            (judged,) = robust_grasps(body, [grasp], told, arguments.samples)
            spread = options.uncertainty
            held = [is_held(hand, grasp, sample, soft, spread.squeeze) for sample in draw_samples(
                body, spread, told.pose_uncertainty, arguments.samples, 0)]
            records.append({'object': name, 'rank': grasp.rank, 'position': position,
                            'predicted': judged.robustness.holding,
                            'held': float(np.mean(held))})
            print(f'{name:5} rank {grasp.rank:2} {1e3 * position:4.1f} mm  predicted '
                  f'{records[-1]["predicted"]:.2f}  held {records[-1]["held"]:.2f}', flush=True)
    return records


def main() -> None:
    """Print predicted and simulated shares of samples that hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('names', nargs='*', help='bodies; default: all')
    parser.add_argument('--modulus-spread', type=float, default=0.4,
                        help='standard deviation of its logarithm [-]')
    parser.add_argument('--positions', type=float, nargs='+', default=POSITIONS, help='[m]')
    parser.add_argument('--hypotheses', type=int, default=40)
    parser.add_argument('--samples', type=int, default=8)
    parser.add_argument('--out', type=Path, help='write all records as JSON')
    arguments = parser.parse_args()
    records = []
    for name, body in bodies().items():
        if not arguments.names or name in arguments.names:
            records += examine(name, unhurt(body, arguments.modulus_spread), arguments)
            if arguments.out:
                arguments.out.write_text(json.dumps(records))
    print(tables(records))


if __name__ == '__main__':
    main()
