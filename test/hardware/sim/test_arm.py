"""The simulated arm carries the hand as its own kinematics say, within its limits."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip('mujoco', reason='the simulator is the extra `sim`')

from gripsim_ros.core.arm import load_arm  # noqa: E402
from gripsim_ros.core.batches import OBSTACLE_BOX  # noqa: E402
from gripsim_ros.core.transforms import transform  # noqa: E402
from gripsim_ros.hardware.sim.arm import ArmMount  # noqa: E402
from gripsim_ros.hardware.sim.options import default_options, SimulationError  # noqa: E402
from gripsim_ros.hardware.sim.world import World  # noqa: E402
from gripsim_ros.library.resources import load_default_hand  # noqa: E402

HAND = load_default_hand()
UR5E = Path(__file__).resolve().parents[2] / 'data' / 'ur5e.yaml'
#: Where the arm's base stands in the world: turned and raised.
T_WORLD_BASE = transform(np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]),
                         np.array([0.2, -0.1, 0.3]))
#: The weld of palm and arm gives by this on the way, and at rest [m, -].
ATOL_MOVING, ATOL_REST = 2e-3, 1e-6
#: Servos of 10 ms are late by this where speeds change [rad].
ATOL_LATE = 5e-3
WAY = np.array([0.8, -0.4, 0.5, 0.3, -0.3, 0.6])

#: Three links of boxes that lean and turn, and a joint that slides; without any inertia.
BOXES = """<robot name="boxes">
  <link name="base"><collision><geometry><box size="0.2 0.2 0.1"/></geometry></collision></link>
  <link name="lower"><collision><origin xyz="0 0 0.2"/>
    <geometry><box size="0.06 0.06 0.3"/></geometry></collision></link>
  <link name="upper"><collision><origin xyz="0 0 0.15"/>
    <geometry><box size="0.05 0.05 0.2"/></geometry></collision></link>
  <link name="end"/>
  <joint name="lean" type="revolute"><parent link="base"/><child link="lower"/>
    <axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="1" velocity="0.5"/></joint>
  <joint name="slide" type="prismatic"><parent link="lower"/><child link="upper"/>
    <origin xyz="0 0 0.35"/><axis xyz="0 0 1"/>
    <limit lower="0" upper="0.3" effort="1" velocity="0.2"/></joint>
  <joint name="roll" type="{kind}"><parent link="upper"/><child link="end"/>
    <origin xyz="0 0 0.3"/><axis xyz="0 0 1"/>{more}</joint>
</robot>"""


def boxes(folder, joints=('lean', 'slide', 'roll'), kind='continuous', more=''):
    """Return an arm of boxes."""
    (folder / 'arm.urdf').write_text(BOXES.format(kind=kind, more=more))
    (folder / 'arm.yaml').write_text(
        'name: boxes\nurdf: arm.urdf\nbase_link: base\ntip_link: end\n'
        f'joints: [{", ".join(joints)}]\nstart: {[0.1] * len(joints)}\n'
        'tip_palm: {position: [0, 0, 0.02], orientation: [0, 0, 0, 1]}\n')
    return load_arm(folder / 'arm.yaml', Path)


def world(arm, obstacles=None):
    """Return a world whose hand hangs on an arm."""
    return World(HAND, default_options(), np.eye(4), HAND.preshapes[0].open,
                 obstacles=obstacles, arm=ArmMount(arm, T_WORLD_BASE))


def advance(simulated, seconds):
    """Go on; return the largest distance of joints from set-points, and of palm from its place."""
    late = off = 0.0
    for _ in range(round(seconds / simulated.options.time_step)):
        simulated.step()
        late = max(late, np.abs(simulated.arm.joints - simulated.arm.follower.setpoints).max())
        off = max(off, away(simulated))
    return late, off


def away(simulated):
    """Return how far the palm is from where the arm's own kinematics put it."""
    wanted = T_WORLD_BASE @ simulated.arm.model.palm_pose(simulated.arm.joints)
    return np.abs(simulated.T_world_palm - wanted).max()


def send(simulated, row, seconds, speeds=True):
    arm = simulated.arm
    times = np.linspace(0.0, seconds, 21)[1:]
    share = times / seconds
    way = row - arm.joints
    arm.follower.follow(
        arm.model.joint_names, arm.joints + way * (3 * share**2 - 2 * share**3)[:, None], times,
        simulated.time, velocities=way / seconds * (6 * share - 6 * share**2)[:, None]
        if speeds else ())


@pytest.fixture(scope='module')
def ur5e():
    return load_arm(UR5E, Path)


def test_an_arm_at_rest_stays_and_bears_its_weight(ur5e):
    simulated = world(ur5e)
    simulated.lift_off()            # gravity
    late, off = advance(simulated, 0.3)
    assert late < ATOL_REST and off < ATOL_REST


def test_the_palm_goes_where_the_joints_take_it(ur5e):
    simulated = world(ur5e)
    goal = ur5e.start + WAY
    send(simulated, goal, 2.0)
    late, off = advance(simulated, 2.2)
    assert late < ATOL_LATE and off < ATOL_MOVING
    advance(simulated, 0.3)
    assert np.abs(simulated.arm.joints - goal).max() < ATOL_REST and away(simulated) < ATOL_REST
    simulated.reset(np.eye(4), HAND.preshapes[0].open)
    assert simulated.arm.joints == pytest.approx(ur5e.start, abs=1e-12)
    assert away(simulated) < ATOL_REST


def test_no_joint_is_faster_than_its_urdf_lets_it(tmp_path):
    """What is wanted at once takes a second; where no limit is told it is 1 rad/s."""
    arm = boxes(tmp_path)
    simulated = world(arm)
    send(simulated, arm.start + np.array([0.5, 0.2, 1.0]), 0.01, speeds=False)
    advance(simulated, 0.5)
    moved = simulated.arm.joints - arm.start
    assert moved == pytest.approx([0.25, 0.1, 0.5], abs=ATOL_LATE)
    assert simulated.arm.joint_velocities == pytest.approx([0.5, 0.2, 1.0], abs=0.02)


def test_a_table_stops_an_arm(ur5e):
    """The hand is sent 0.3 rad down into a table 5 cm under its fingers."""
    low = min(world(ur5e).link_pose(name)[2, 3] for name in HAND.link_names)
    table = np.concatenate([[OBSTACLE_BOX, 2.0, 2.0, 0.02], transform(
        np.eye(3), np.array([0.0, 0.0, low - 0.10]))[:3].ravel()])
    stopped, free = world(ur5e, table[None]), world(ur5e)
    for simulated in (stopped, free):
        send(simulated, ur5e.start + np.array([0.0, 0.3, 0.0, 0.0, 0.0, 0.0]), 1.0)
        advance(simulated, 1.2)
    assert stopped.links_at_obstacles() and not free.links_at_obstacles()
    assert stopped.T_world_palm[2, 3] > free.T_world_palm[2, 3] + 0.02


def test_an_arm_that_is_stopped_stays_where_it_was_sent(ur5e):
    simulated = world(ur5e)
    send(simulated, ur5e.start + WAY, 1.0)
    advance(simulated, 0.5)
    simulated.stop_palm()
    there = simulated.arm.follower.setpoints
    advance(simulated, 0.3)
    assert simulated.arm.joints == pytest.approx(there, abs=ATOL_REST)
    assert np.abs(there - ur5e.start - WAY).max() > 0.2


def test_an_arm_is_not_pushed_about_by_its_palm(ur5e):
    simulated = world(ur5e)
    for moves in (simulated.move_palm, simulated.place_palm):
        with pytest.raises(SimulationError, match="carried by the arm 'ur5e': send its joints"):
            moves(np.eye(4))


def test_a_joint_that_follows_another_is_refused(tmp_path):
    arm = boxes(tmp_path, ('lean', 'slide'), 'revolute',
                '<limit lower="-1" upper="1" effort="1" velocity="1"/><mimic joint="lean"/>')
    with pytest.raises(SimulationError, match='follow lean: mimic joints are not simulated'):
        world(arm)
