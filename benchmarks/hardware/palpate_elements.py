"""
The modulus that a still hand feels of finite elements of the whole grip, its pads in it.

``python -m benchmarks palpate_elements [NAME ...] [--moduli E ...]``. The body is quadratic finite
elements between the links' curved surfaces, which share nothing with the model of the grip but
where the joints are: the mean of no friction and sticking pads bears what the hand feels. Ways
are of forces from ``FORCES``; to less, and to more, the last slope goes on.
"""

import argparse
from dataclasses import replace
import time

import numpy as np

from benchmarks.finite_elements.grips_planned import (
    curved, EDGE_SHARE, LINK_QUARTERS, pressing_links)
from benchmarks.finite_elements.whole_grip import WholeGrip
from benchmarks.hardware.palpate import (
    ELASTICITIES, gripped, NAMES, palpation_options, still)
from gripsim_ros.core.bodies import GraspObject
from gripsim_ros.core.transforms import inverse
from gripsim_ros.library.in_process import mechanics_options
from gripsim_ros.library.resources import load_default_hand
from gripsim_ros.library.squeezing.fingers import HandSqueeze
from gripsim_ros.library.squeezing.grip_model import prepare_grip_model

MODULI = (2e4, 2e5, 2e6)
#: Forces of the grip at which finite elements are asked [N].
FORCES = np.array([0.3, 0.6, 1.2, 2.5, 5.0, 6.0])


def elements_truth(hand, body, grasp, model, modulus: float, longest: float, share: float):
    """Return a ``GripModel`` of what finite elements bear for a modulus [Pa]."""
    begin = time.process_time()
    thing = GraspObject(body.mesh, replace(body.material, youngs_modulus=modulus), body.label)
    squeeze = HandSqueeze(thing, hand, grasp.T_object_palm, grasp.trajectory[-1],
                          mechanics_options('half_space'))
    wanted = np.unique(np.minimum(model.way_at(modulus, FORCES), longest))
    held = [squeeze.held_at(fraction) for fraction in squeeze.fractions_of(wanted)]
    names = {hand.link_names[link] for link in model.links}
    placed = [pressing_links(hand, inverse(one.T_object_settled) @ grasp.T_object_palm,
                             one.joint_positions, names) for one in held]
    smallest = min(held[len(held) // 2].state.areas)
    grip = WholeGrip(curved(body.mesh, LINK_QUARTERS), thing.material, placed[-1],
                     share * float(np.sqrt(smallest / np.pi)))
    ways, forces = [], []
    for one, links in zip(held, placed):
        grip.links = links
        ways.append(float(model.way(one.joint_positions[None])[0]))
        forces.append([0.5 * grip.press(sticks).sizes.sum() for sticks in (False, True)])
    ways, forces = np.array(ways), np.array(forces)
    told = model.force_at(modulus, ways)
    print(f'  {modulus:7.2g}  {len(grip.places)} nodes, {time.process_time() - begin:.0f} s; ways '
          f'{np.round(1e3 * ways, 3)} mm, free {np.round(forces[:, 0], 3)}, sticking '
          f'{np.round(forces[:, 1], 3)}, model {np.round(told, 3)} N', flush=True)
    middle = forces.mean(axis=1)
    return replace(model, moduli=np.array([0.5, 2.0]) * modulus, ways=np.array([ways] * 2),
                   forces=np.array([middle] * 2),
                   pressures=np.array([model.pressure_at(modulus, middle)] * 2),
                   quantitative=np.ones((2, len(ways)), bool))


def main() -> int:
    """Print a row for each body and modulus."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('names', nargs='*', help='bodies')
    parser.add_argument('--moduli', type=float, nargs='+', default=MODULI, help='[Pa]')
    parser.add_argument('--repeats', type=int, default=5)
    parser.add_argument('--edge-share', type=float, default=EDGE_SHARE, help='edge of tetrahedra '
                        'at contacts over the radius of the smallest one of the middle squeeze')
    arguments = parser.parse_args()
    hand, worst = load_default_hand(), 0.0
    for name in arguments.names or NAMES:
        body, grasp, longest = gripped(hand, name)
        models = {one: prepare_grip_model(
            body, grasp.T_object_palm, grasp.trajectory[-1], longest, hand=hand,
            most_strain=palpation_options().longest_strain, elasticity=one)
                  for one in ELASTICITIES}
        for modulus in arguments.moduli:
            print(name, flush=True)
            truth = elements_truth(hand, body, grasp, models['body'], modulus, longest,
                                   arguments.edge_share)
            for elasticity, model in models.items():
                print(f'  {elasticity}: {arguments.repeats} times, median (largest)')
                worst = max(worst, still(hand, body, grasp, model, truth, [modulus],
                                         arguments.repeats))
    print(f'largest error {100.0 * worst:.1f} %')
    return 0


if __name__ == '__main__':
    main()
