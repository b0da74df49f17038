"""
Close the hand blindly in physics: no planner, every finger stops by its own touch.

``python -m benchmarks hold_blind SEED.NUMBER ...`` does so for random bodies at the palms of the
planner's hypotheses: how many hold, whatever the planner says of them.
"""

import argparse

import numpy as np

from benchmarks.hold.bodies import CONVEX_SHARE, RANDOM_CONCAVITY
from benchmarks.hold.random_bodies import random_body
from benchmarks.hold.shake import (
    ACCELERATION, add_options, CLOSING_TIME, HeldObject, judge, Shaker, TIME_STEP)
from gripsim_ros.core.bodies import GraspObject
from gripsim_ros.core.planning import Task
from gripsim_ros.core.planning.hypotheses.generate import propose_hypotheses
from gripsim_ros.hardware.sim.solids import convex_pieces_of
from gripsim_ros.library.in_process import planner_options
from gripsim_ros.library.resources import load_default_hand

#: Joints of the fingers, and the names of their links begin so.
FINGERS = {'sdh_finger_1': (1, 2), 'sdh_finger_2': (3, 4), 'sdh_thumb': (5, 6)}
#: A finger has touched above this normal force [N]; looked at every so many steps.
TOUCH_FORCE, LOOK = 0.05, 5
#: Levers of a fingertip's force about proximal and distal joints [m].
LEVERS = (0.13, 0.045)
#: Multiples of m 10/mu with which fingers press at a palm: it holds if one of them does.
PRESSES = (1.0, 3.0)
#: Overlap of the open hand with the object at which a palm is left out [m].
FREE = 0.0005
#: Time of each pull [s].
PULL_TIME = 1.0


def close_blindly(shaker: Shaker, open_joints, closed_joints, force: float) -> int:
    """
    Close until each finger touches, then press with a force [N]; return the fingers in touch.

    All joints move together from open to closed; a finger whose link touches the object
    stops. Then joints are sent on by the torques that the force at the fingertips needs.
    """
    stopped = close_to_touch(shaker, open_joints, closed_joints)
    shaker.press(fingertip_efforts(stopped, closed_joints - open_joints, force))
    return len(stopped)


def fingertip_efforts(fingers, ways, force: float):
    """Return the torques (J,) [N m] of joints that close by ways (J,) for a force [N] a finger."""
    efforts = np.zeros(len(ways))
    for name in fingers:
        for joint, lever in zip(FINGERS[name], LEVERS):
            efforts[joint] = force * lever * np.sign(ways[joint])
    return efforts


def close_to_touch(shaker: Shaker, open_joints, closed_joints, look: int = LOOK,
                   at_once: bool = False) -> set[str]:
    """
    Close all joints together, each finger until it touches; return those that do.

    ``look`` is after how many time steps touch is looked at: a light, free object is knocked away
    within two or three, so that fingers seen later push it out. ``at_once`` it ends when all have
    touched: whoever waits until the closing time is over looks on as such an object drifts away.
    """
    steps, target = int(CLOSING_TIME / TIME_STEP), np.array(open_joints, float)
    stopped: set[str] = set()
    for k in range(0, steps, look):
        way = open_joints + (k + look) / steps * (closed_joints - open_joints)
        for name, joints in FINGERS.items():
            if name not in stopped:
                target[list(joints)] = way[list(joints)]
        shaker.move([target, target], look * TIME_STEP)
        for name in fingers_touching(shaker) - stopped:
            stopped.add(name)
            target[list(FINGERS[name])] = shaker.joints[list(FINGERS[name])]
        if at_once and len(stopped) == len(FINGERS):
            break
    return stopped


def holds_blindly(held: HeldObject, hypothesis, hand, meshes) -> bool:
    """Return whether a hand that closes by touch at a hypothesis holds a free object."""
    preshape = hand.preshapes[hypothesis.preshape]
    for press in PRESSES:
        shaker = Shaker(held, hypothesis.T_object_palm, hand, meshes, preshape.open)
        if shaker.penetration > FREE:
            return False
        fingers = close_to_touch(shaker, preshape.open, preshape.closed, 1, True)
        shaker.press(fingertip_efforts(fingers, preshape.closed - preshape.open,
                                       press * held.mass * ACCELERATION / held.friction))
        if judge(shaker, PULL_TIME).held:
            return True
    return False


def main() -> None:
    """Print for random bodies at how many palms of the planner's they are held."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument('bodies', nargs='+', metavar='SEED.NUMBER')
    parser.add_argument('--hypotheses', type=int, default=60)
    add_options(parser)
    arguments, hand = parser.parse_args(), load_default_hand()
    for body in arguments.bodies:
        name, mesh, mass, material = random_body(*map(int, body.split('.')))
        palms, _ = propose_hypotheses(GraspObject(mesh, material), hand, Task(), planner_options(),
                                      arguments.hypotheses)
        held = HeldObject(convex_pieces_of(mesh, RANDOM_CONCAVITY, CONVEX_SHARE), mass,
                          material.friction, arguments.torsion)
        count = sum(holds_blindly(held, palm, hand, arguments.meshes) for palm in palms)
        print(f'{name:24} held at {count} of {len(palms)} palms', flush=True)


def fingers_touching(shaker: Shaker) -> set[str]:
    """Return the names of the fingers whose links press the object."""
    return {name for link, force in shaker.link_forces().items() for name in FINGERS
            if force > TOUCH_FORCE and link.startswith(name)}


if __name__ == '__main__':
    main()
