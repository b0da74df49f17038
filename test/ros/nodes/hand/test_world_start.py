"""What the simulator builds from its parameters: where arm, object and obstacles stand."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')
pytest.importorskip('mujoco', reason='the simulator is the extra `sim`')

from gripsim_ros.core.bodies import GraspObject, Material, shapes  # noqa: E402
from gripsim_ros.core.errors import GripsimError  # noqa: E402
from gripsim_ros.core.transforms import from_pose  # noqa: E402
from gripsim_ros.hardware.sim.options import SimulationOptions  # noqa: E402
from gripsim_ros.library.resources import load_default_hand  # noqa: E402
from gripsim_ros.ros.nodes.base.parameters import default_values, ParameterError  # noqa: E402
from gripsim_ros.ros.nodes.hand.world_start import WorldStart  # noqa: E402

HAND = load_default_hand()
UR5E = Path(__file__).resolve().parents[3] / 'data' / 'ur5e.yaml'
CUBE = GraspObject(shapes.box([0.05, 0.05, 0.05]), Material(1e9, 0.3, 500.0, 0.8), 'cube')
#: Where the object stands before the arm, turned by 90 degrees, and the arm in the world.
OBJECT, BASE = '0.5 0.1 0.325 0 0 0.70710678118654752 0.70710678118654752', '0 0 0.3 0 0 0 1'
#: A table whose top the cube touches, in the base of the arm.
TABLE = ('frame: arm\nobstacles: [{type: box, dimensions: [0.4, 0.6, 0.02]}]\n'
         'obstacle_poses: [{position: [0.5, 0.1, -0.01], orientation: [0, 0, 0, 1]}]\n')
ATOL_ROUNDOFF = 1e-9


def start(**changes):
    """Return the start of worlds with some parameters changed."""
    values = {**default_values('sdh_simulator'), **changes}
    return WorldStart(HAND, SimulationOptions.from_mapping(values), values)


def pose(text):
    numbers = np.array([float(word) for word in text.split()])
    return from_pose(numbers[:3], numbers[3:])


def test_by_default_the_palm_is_free_below_an_object_at_the_origin():
    world = start().build(CUBE)
    assert world.arm is None
    np.testing.assert_allclose(world.T_world_object, np.eye(4), atol=ATOL_ROUNDOFF)
    np.testing.assert_allclose(world.T_world_palm[:3, 3], [0.0, 0.0, -0.4], atol=ATOL_ROUNDOFF)


def test_arm_object_and_table_stand_where_they_were_planned(tmp_path):
    """The table is told in the arm's frame; the turned object stands on its middle."""
    (tmp_path / 'task.yaml').write_text(TABLE)
    begin = start(arm_config=str(UR5E), arm_base_pose=BASE, object_start=OBJECT,
                  surroundings=str(tmp_path / 'task.yaml'))
    world = begin.build(CUBE)
    np.testing.assert_allclose(world.T_world_object, pose(OBJECT), atol=ATOL_ROUNDOFF)
    arm = world.arm.model
    np.testing.assert_allclose(world.T_world_palm, pose(BASE) @ arm.palm_pose(arm.start),
                               atol=ATOL_ROUNDOFF)
    table = world.model.geom('obstacle_0')
    np.testing.assert_allclose(world.data.geom('obstacle_0').xpos, [0.5, 0.1, 0.29],
                               atol=ATOL_ROUNDOFF)
    np.testing.assert_allclose(table.size, [0.2, 0.3, 0.01])
    np.testing.assert_allclose(np.abs(world.data.geom('obstacle_0').xmat.reshape(3, 3)),
                               np.eye(3), atol=ATOL_ROUNDOFF)
    world.arm.follower.follow(arm.joint_names, [arm.start + 0.1], [0.1], world.time)
    for _ in range(100):
        world.step()
    assert np.abs(world.arm.joints - arm.start).max() > 0.05
    np.testing.assert_allclose(world.T_world_object, pose(OBJECT), atol=1e-3)   # on the table
    begin.reset(world)
    np.testing.assert_allclose(world.arm.joints, arm.start, atol=ATOL_ROUNDOFF)


@pytest.mark.parametrize('changes, kind, words', [
    ({'preshape': 'fist'}, ParameterError, 'preshape must be one of .*got .fist.'),
    ({'object_start': '0 0 0'}, ParameterError, 'object_start must be seven finite numbers'),
    ({'object_start': '0 0 0 0 0 0 2'}, GripsimError, 'norm'),
    ({'arm_base_pose': 'here'}, ParameterError, 'arm_base_pose must be seven finite numbers'),
    ({'arm_config': '/nowhere/arm.yaml'}, GripsimError, 'cannot read /nowhere/arm.yaml'),
    ({'surroundings': '/nowhere/task.yaml'}, GripsimError, 'cannot read /nowhere/task.yaml')])
def test_parameters_that_cannot_be_are_refused(changes, kind, words):
    with pytest.raises(kind, match=words):
        start(**changes)
