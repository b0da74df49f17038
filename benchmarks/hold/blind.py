"""Close the hand blindly in physics: no planner, every finger stops by its own touch."""

import numpy as np

from benchmarks.hold.shake import CLOSING_TIME, TIME_STEP, Shaker

#: Joints of the fingers, and the names of their links begin so.
FINGERS = {'sdh_finger_1': (1, 2), 'sdh_finger_2': (3, 4), 'sdh_thumb': (5, 6)}
#: A finger has touched above this normal force [N]. It is looked at after every time step: a
#: light, free object is knocked away within two, so that fingers seen later push it out.
TOUCH_FORCE = 0.05
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


def close_to_touch(shaker: Shaker, open_joints, closed_joints) -> set[str]:
    """
    Close all joints together, each finger until it touches; return those that do.

    It ends once all have touched: whoever waited would look on as a free object drifts away.
    """
    steps, target = int(CLOSING_TIME / TIME_STEP), np.array(open_joints, float)
    stopped: set[str] = set()
    for k in range(steps):
        way = open_joints + (k + 1) / steps * (closed_joints - open_joints)
        for name, joints in FINGERS.items():
            if name not in stopped:
                target[list(joints)] = way[list(joints)]
        shaker.move([target, target], TIME_STEP)
        for name in fingers_touching(shaker) - stopped:
            stopped.add(name)
            target[list(FINGERS[name])] = shaker.joints[list(FINGERS[name])]
        if len(stopped) == len(FINGERS):
            break
    return stopped


def fingers_touching(shaker: Shaker) -> set[str]:
    """Return the names of the fingers whose links press the object."""
    return {name for link, force in shaker.link_forces().items() for name in FINGERS
            if force > TOUCH_FORCE and link.startswith(name)}
