"""Close the hand blindly in physics: no planner, every finger stops by its own touch."""

import numpy as np

from benchmarks.hold.shake import CLOSING_TIME, TIME_STEP, Shaker

#: Joints of the fingers, and the names of their links begin so.
FINGERS = {'sdh_finger_1': (1, 2), 'sdh_finger_2': (3, 4), 'sdh_thumb': (5, 6)}
#: A finger has touched above this normal force [N]; looked at every so many steps.
TOUCH_FORCE, LOOK = 0.05, 5
#: Levers of a fingertip's force about proximal and distal joints [m].
LEVERS = (0.13, 0.045)


def close_blindly(shaker: Shaker, open_joints, closed_joints, force: float) -> int:
    """
    Close until each finger touches, then press with a force [N]; return the fingers in touch.

    All joints move together from open to closed; a finger whose link touches the object
    stops. Then joints are sent on by the torques that the force at the fingertips needs.
    """
    stopped = close_to_touch(shaker, open_joints, closed_joints)
    efforts = np.zeros(len(open_joints))
    for name in stopped:
        for joint, lever in zip(FINGERS[name], LEVERS):
            efforts[joint] = force * lever * np.sign(closed_joints[joint] - open_joints[joint])
    shaker.press(efforts)
    return len(stopped)


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


def fingers_touching(shaker: Shaker) -> set[str]:
    """Return the names of the fingers whose links press the object."""
    return {name for link, force in shaker.link_forces().items() for name in FINGERS
            if force > TOUCH_FORCE and link.startswith(name)}
