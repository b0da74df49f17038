"""What is planned for a thing on a table lifts it from there in the simulated hand."""

import numpy as np
from plan_cases import plan_by_half_spaces
import pytest

from gripsim_ros.core.batches import OBSTACLE_BOX, OBSTACLE_WIDTH
from gripsim_ros.core.bodies import GraspObject, Material, shapes
from gripsim_ros.core.planning import Task
from gripsim_ros.core.transforms import transform
from gripsim_ros.library.resources import load_default_hand

pytest.importorskip('mujoco', reason='the simulator is the extra `sim`')

from gripsim_ros.hardware.sim.options import default_options  # noqa: E402
from gripsim_ros.hardware.sim.world import World  # noqa: E402

pytestmark = pytest.mark.slow
#: Firm enough to count as rigid.
WOOD = Material(1e9, 0.3, 600.0, 0.6, name='wood')
#: Of a plan on a busy machine [s].
LONG = 600.0
#: Height of the lift, and what the object may lag behind it [m].
LIFT, SLIP = 0.06, 0.005
#: Time in which the hand closes, and in which it lifts [s].
CLOSING, LIFTING = 1.0, 1.0
#: Of the planned force, where a finger stops, as the executor has it by default: with the least
#: force that holds a tomato that is taken above its middle slips.
FORCE_FACTOR = 2.0
#: The way beyond the planned joints that presses so, at most, and a step of it, over the way to
#: the planned grip [-].
MOST_SQUEEZE, SQUEEZE_STEP = 6.0, 0.1
#: Straight way to the grasp [m].
APPROACH = 0.1


def table(mesh):
    row = np.zeros((1, OBSTACLE_WIDTH))
    row[0, :4] = OBSTACLE_BOX, 0.6, 0.6, 0.02
    row[0, [4, 9, 14]] = 1.0
    row[0, 15] = mesh.vertices[:, 2].min() - 0.01
    return row


def advance(world, seconds):
    """Go on, and return the links that pressed on the table."""
    touched = set()
    for _ in range(round(seconds / world.options.time_step)):
        world.step()
        touched |= world.links_at_obstacles()
    return touched


def press(world, grasp):
    """Drive the joints on until every link bears its share; return links at the table."""
    last, touched = grasp.trajectory[-1], set()
    wanted = {c.link: FORCE_FACTOR * float(c.force @ c.normal) for c in grasp.contacts}
    for share in np.arange(1.0, MOST_SQUEEZE, SQUEEZE_STEP):
        world.setpoints = last + share * (grasp.grip_positions - last)
        touched |= advance(world, 0.05)
        forces = world.link_forces()
        if all(forces.get(link, 0.0) >= force for link, force in wanted.items()):
            return touched
    raise AssertionError(f'the pads press with {forces}, wanted are {wanted}')


@pytest.mark.parametrize('name, mesh', [
    ('tomato', shapes.ellipsoid([0.035, 0.0355, 0.028], 0.004)),
    pytest.param('block', shapes.box([0.06, 0.05, 0.04], 0.005), marks=pytest.mark.nightly),
    pytest.param('egg', shapes.ellipsoid([0.022, 0.022, 0.029], 0.004),
                 marks=pytest.mark.nightly)])
def test_the_first_ranked_grasp_lifts_it_and_never_touches_the_table(name, mesh):
    hand, obstacles = load_default_hand(), table(mesh)
    thing = GraspObject(mesh, WOOD, name)
    task = Task(gravity_directions=[[0.0, 0.0, -1.0]], obstacles=obstacles)
    result = plan_by_half_spaces(thing, task, hypotheses=24, count=1, budget=LONG)
    assert result.grasps, (result.rejections, result.hint)
    grasp = result.grasps[0]
    T = grasp.T_object_palm
    before = T @ transform(np.eye(3), np.array([0.0, 0.0, -APPROACH]))
    world = World(hand, default_options(body='rigid'), before, grasp.trajectory[0], thing,
                  obstacles=obstacles)
    world.move_palm(T)
    touched = set()
    while world.palm_moves:
        touched |= advance(world, 0.1)
    for row in grasp.trajectory:
        world.setpoints = row.copy()
        touched |= advance(world, CLOSING / len(grasp.trajectory))
    touched |= press(world, grasp)
    place = world.centre_of_mass[2]
    world.lift_off()
    goal = world.T_world_palm.copy()
    goal[2, 3] += LIFT
    world.move_palm(goal)
    while world.palm_moves:
        touched |= advance(world, 0.1)
    touched |= advance(world, LIFTING)
    assert world.centre_of_mass[2] - place == pytest.approx(LIFT, abs=SLIP)
    assert not touched
