"""The simulated hand keeps the laws of mechanics, the joints' limits and its word."""

from itertools import permutations, product

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gripsim_ros.core.bodies import GraspObject, Material, shapes, TriangleMesh
from gripsim_ros.core.errors import GripsimError, HandError, TaskError
from gripsim_ros.core.transforms import apply, transform
from gripsim_ros.hardware.sim import world_model
from gripsim_ros.hardware.sim.hand_model import hand_spec
from gripsim_ros.hardware.sim.options import default_options, SimulationError
from gripsim_ros.hardware.sim.setpoints import SetpointFollower
from gripsim_ros.hardware.sim.solids import (
    node_masses, outer_faces, tetrahedra_of, tetrahedron_volumes)
from gripsim_ros.hardware.sim.touch import Touch, wrist_load
from gripsim_ros.hardware.sim.world import GRAVITY, World
from gripsim_ros.hardware.sim.world_model import (
    add_object, is_soft, nearest_motion, node_name, SoftMesh, true_modulus)
from gripsim_ros.library.resources import load_default_hand

HAND = load_default_hand()
PRESHAPE = next(p for p in HAND.preshapes if p.name == 'cylindrical')
FINGERS = {'sdh_finger_13_link': (1, 2), 'sdh_finger_23_link': (3, 4), 'sdh_thumb_3_link': (5, 6)}
#: Firm enough to count as rigid, and soft.
FIRM = Material(1e9, 0.3, 500.0, 0.8, name='firm')
SOFT = Material(1e5, 0.3, 500.0, 0.8, name='soft')
#: Palm below the object, looking up at it.
T_WORLD_PALM = transform(np.eye(3), np.array([0.0, 0.0, -0.17]))
ATOL_ROUNDOFF = 1e-9
#: The object still moves a little after so short a time: of its weight.
RTOL_SETTLED = 0.02
#: Faces of few nodes stay flat but for some percent of the strain.
RTOL_HOOKE = 0.09
#: MuJoCo's velocity damping lets joints and palm lag by this [rad, m].
ATOL_LAG = 0.03
#: How far joints may be from where they should be at any time [rad].
ATOL_IN_TIME = 0.02
#: Positions are told in float64, poses weld by springs [m].
ATOL_WELD = 2e-4


def cube(material):
    return GraspObject(shapes.box([0.05, 0.05, 0.05]), material, 'cube')


def advance(world, seconds):
    for _ in range(round(seconds / world.options.time_step)):
        world.step()


def grip(world, force=3.0):
    """Close the fingers until each presses with a force [N], then wait."""
    pace = (PRESHAPE.closed - PRESHAPE.open) / 1.5 * world.options.time_step
    for _ in range(round(2.0 / world.options.time_step)):
        pressing = world.link_forces()
        for link, joints in FINGERS.items():
            if pressing.get(link, 0.0) < force:
                world.setpoints[list(joints)] += pace[list(joints)]
        world.step()
        if all(pressing.get(link, 0.0) >= force for link in FINGERS):
            break
    advance(world, 0.2)


@pytest.fixture(scope='module')
def mujoco():
    return pytest.importorskip('mujoco', reason='the simulator is the extra `sim`')


@pytest.fixture(scope='module')
def mesher():
    return pytest.importorskip('pytetwild', reason='the mesher is of the extra `sim`')


@pytest.fixture(scope='module')
def gripped(mujoco):
    world = World(HAND, default_options(), T_WORLD_PALM, PRESHAPE.open, cube(FIRM))
    grip(world)
    return world


@pytest.fixture
def carried(gripped):
    """Return the hand at rest with the object's whole weight, whatever ran before."""
    if not gripped.lifted:
        gripped.lift_off()
        advance(gripped, 0.4)
    return gripped


# -- the world -----------------------------------------------------------------------


def test_the_hand_bears_the_weight_of_what_it_lifts(gripped):
    before = gripped.T_palm_object
    gripped.lift_off()
    gripped.move_palm(transform(np.eye(3), np.array([0.0, 0.0, -0.14])))
    advance(gripped, 0.8)
    weight = gripped.grasp_object.mass_properties.mass * GRAVITY
    force = sum(touch.force for touch in gripped.touch_points())
    np.testing.assert_allclose(force, [0.0, 0.0, -weight], rtol=0, atol=RTOL_SETTLED * weight)
    assert gripped.T_world_palm[2, 3] == pytest.approx(-0.14, abs=ATOL_WELD)
    assert np.linalg.norm((gripped.T_palm_object - before)[:3, 3]) < 1e-3
    gripped.set_down()
    advance(gripped, 0.4)
    force = sum(touch.force for touch in gripped.touch_points())
    np.testing.assert_allclose(force, 0.0, rtol=0, atol=RTOL_SETTLED * weight)
    gripped.lift_off()
    advance(gripped, 0.4)


def test_pads_feel_the_normal_forces_of_their_links(gripped):
    readings = {reading.link: reading for reading in Touch(HAND, gripped.options).read(gripped)}
    for link, force in gripped.link_forces().items():
        assert (readings[link].pressures * readings[link].area).sum() == pytest.approx(force)
        # The fingers' pads look along +x of their links and are pushed back.
        assert readings[link].force_link[0] < 0.0


def test_a_contact_whose_plane_cuts_its_link_pulls(gripped):
    touches, before = gripped.touch_points(), gripped.link_forces()
    links = [touch.link for touch in touches]
    one = min((touch for touch in touches if links.count(touch.link) > 1),
              key=lambda touch: abs(touch.normal_force - 0.25 * before[touch.link]))
    contact = next(c for c in gripped.data.contact if np.array_equal(c.pos, one.point))
    contact.frame[:3] *= -1.0
    gripped._touches = None
    try:
        felt = gripped.link_forces()[one.link]
        wanted = max(0.0, before[one.link] - 2.0 * one.normal_force)
        # Normals of a link's contacts differ a little, and so do the directions of friction.
        assert felt == pytest.approx(wanted, abs=0.2 * one.normal_force)
        read = next(pad for pad in Touch(HAND, gripped.options).read(gripped)
                    if pad.link == one.link)
        assert read.pressures.sum() * read.area == pytest.approx(felt)
        assert read.pressures.min() >= 0.0
    finally:
        contact.frame[:3] *= -1.0
        gripped._touches = None


def test_pads_tell_where_their_forces_act_and_the_wrist_what_it_bears(carried):
    T_palm_world, touches = np.linalg.inv(carried.T_world_palm), carried.touch_points()
    for reading in Touch(HAND, carried.options).read(carried):
        mine = [touch for touch in touches if touch.link == reading.link]
        if not mine:
            assert np.isnan(reading.centre_link).all()
            continue
        middle = np.average([touch.point for touch in mine], axis=0,
                            weights=[touch.normal_force for touch in mine])
        np.testing.assert_allclose(apply(carried.link_pose(reading.link),
                                         reading.centre_link[None])[0], middle, atol=ATOL_ROUNDOFF)
    load = wrist_load(carried)
    np.testing.assert_allclose(
        load[:3], T_palm_world[:3, :3] @ sum(touch.force for touch in touches),
        atol=ATOL_ROUNDOFF)
    centre = apply(T_palm_world, carried.centre_of_mass[None])[0]
    np.testing.assert_allclose(load[3:], np.cross(centre, load[:3]), rtol=0,
                               atol=RTOL_SETTLED * np.abs(np.cross(centre, load[:3])).max())


@pytest.mark.slow
def test_a_soft_object_is_lifted_too_and_gives_way(mujoco, monkeypatch):
    tetrahedra = cube_of_tetrahedra(0.05)   # the mesher's differ from run to run
    monkeypatch.setattr('gripsim_ros.hardware.sim.world_model.tetrahedra_of',
                        lambda *given: (tetrahedra.nodes, tetrahedra.corners))
    world = World(HAND, default_options(node_spacing=0.02), T_WORLD_PALM, PRESHAPE.open,
                  cube(SOFT))
    grip(world)
    assert set(FINGERS) <= set(world.link_forces())
    nodes = apply(world.T_world_object, world.soft.nodes)
    assert np.linalg.norm(world.nodes_world - nodes, axis=1).max() > 1e-4
    world.lift_off()
    advance(world, 0.4)
    weight, forces = world.grasp_object.mass_properties.mass * GRAVITY, []
    for _ in range(400):    # a coarse body chatters about the mean
        world.step()
        forces.append(sum(touch.force for touch in world.touch_points()))
    np.testing.assert_allclose(np.mean(forces, axis=0), [0.0, 0.0, -weight], rtol=0,
                               atol=RTOL_SETTLED * weight)
    np.testing.assert_allclose(world.soft.masses.sum(),
                               world.grasp_object.mass_properties.mass, rtol=1e-9)


@pytest.mark.slow
def test_the_mesher_makes_a_soft_object_that_hangs_in_the_hand(mujoco, mesher):
    world = World(HAND, default_options(node_spacing=0.02), T_WORLD_PALM, PRESHAPE.open,
                  cube(SOFT))
    grip(world)
    world.lift_off()
    begin = world.nodes_world
    advance(world, 0.4)
    assert set(FINGERS) <= set(world.link_forces())
    fallen = (begin - world.nodes_world)[:, 2] @ world.soft.masses / world.soft.masses.sum()
    assert fallen < 0.1 * 0.5 * GRAVITY * 0.4**2


def cube_of_tetrahedra(edge, cells=3):
    """Return a cube about the origin cut into cells and these into tetrahedra, always the same."""
    ticks = np.linspace(-0.5 * edge, 0.5 * edge, cells + 1)
    nodes = np.stack(np.meshgrid(ticks, ticks, ticks, indexing='ij'), axis=-1).reshape(-1, 3)
    steps = np.array([(cells + 1) ** 2, cells + 1, 1])
    ways = [np.concatenate([[0], np.cumsum(steps[list(order)])])
            for order in permutations(range(3))]
    firsts = [steps @ np.array(cell) for cell in product(range(cells), repeat=3)]
    corners = np.array([first + way for first in firsts for way in ways])
    flipped = tetrahedron_volumes(nodes, corners) < 0.0
    corners[flipped] = corners[flipped][:, [0, 2, 1, 3]]
    masses = node_masses(nodes, corners, 500.0)
    return SoftMesh(nodes, corners, outer_faces(corners), masses)


@pytest.mark.parametrize('thickness, share', [(0.11, 1.0), (0.06, 0.75), (0.03, 0.5)])
def test_what_is_thin_has_finer_tetrahedra(monkeypatch, thickness, share):
    """Four across, turned any way; half of what is wanted at least, and no coarser than it."""
    edges = []

    def mesh_of(body, edge):
        edges.append(edge)
        filled = cube_of_tetrahedra(0.05)
        return filled.nodes, filled.corners
    monkeypatch.setattr(world_model, 'tetrahedra_of', mesh_of)
    turned = shapes.box((0.2, thickness, 0.12))
    turned = TriangleMesh(turned.vertices @ Rotation.from_rotvec([0.3, 0.2, 0.5]).as_matrix(),
                          turned.faces)
    world_model.soft_mesh_of(GraspObject(turned, FIRM), 0.02)
    assert edges[0] == pytest.approx(0.02 * share)


@pytest.mark.slow
@pytest.mark.parametrize('modulus', [2e4, 1e6])
def test_a_soft_cube_between_plates_obeys_hookes_law(mujoco, mesher, modulus):
    """Without friction the force is E A e, e the strain of what is between the faces."""
    options, edge = default_options(body='soft', node_spacing=0.02), 0.05
    spec = mujoco.MjSpec()
    spec.option.timestep, spec.option.gravity = options.time_step, [0.0, 0.0, 0.0]
    for side in (-1.0, 1.0):
        plate = spec.worldbody.add_body(pos=[0.0, 0.0, side * (0.5 * edge + 0.0102)])
        plate.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[edge, edge, 0.01], mass=1.0)
    plate.add_joint(name='press', type=mujoco.mjtJoint.mjJNT_SLIDE, axis=[0.0, 0.0, -1.0])
    actuator = spec.add_actuator(name='press', target='press',
                                 trntype=mujoco.mjtTrn.mjTRN_JOINT)
    actuator.set_to_position(kp=1e5, kv=1e3)
    slippery = Material(modulus, 0.3, 500.0, 1e-3)
    soft = add_object(spec, cube(slippery), np.eye(4), options, cube_of_tetrahedra(edge))
    model = spec.compile()
    data = mujoco.MjData(model)
    for k in range(300):
        data.ctrl[0] = 0.002 * min(1.0, k / 150)
        mujoco.mj_step(model, data)
    heights = data.xpos[[model.body(node_name(i)).id for i in range(len(soft.nodes))], 2]
    top, low = (side * soft.nodes[:, 2] > 0.5 * edge - 1e-4 for side in (1.0, -1.0))
    strain = 1.0 - (heights[top].mean() - heights[low].mean()) / edge
    assert strain > 0.02
    np.testing.assert_allclose(data.actuator_force[0], modulus * edge**2 * strain, rtol=RTOL_HOOKE)


def test_an_object_that_is_not_held_falls_freely(mujoco):
    far = transform(np.eye(3), np.array([0.0, 0.0, -0.4]))
    world = World(HAND, default_options(), far, PRESHAPE.open, cube(FIRM))
    advance(world, 0.2)
    np.testing.assert_allclose(world.T_world_object, np.eye(4), rtol=0, atol=ATOL_ROUNDOFF)
    world.lift_off()
    advance(world, 0.1)
    step = world.options.time_step
    assert world.T_world_object[2, 3] == pytest.approx(-0.5 * GRAVITY * 0.1**2,
                                                       abs=GRAVITY * 0.1 * step)
    world.reset(far, PRESHAPE.open)
    np.testing.assert_allclose(world.T_world_object, np.eye(4), rtol=0, atol=ATOL_ROUNDOFF)


def test_the_support_leaves_evenly_where_it_takes_its_time(mujoco):
    far = transform(np.eye(3), np.array([0.0, 0.0, -0.4]))
    world = World(HAND, default_options(unloading_time=0.1), far, PRESHAPE.open, cube(FIRM))
    world.lift_off()
    advance(world, 0.1)     # a = g t / T
    step = world.options.time_step
    assert world.T_world_object[2, 3] == pytest.approx(-GRAVITY * 0.1**2 / 6.0,
                                                       abs=GRAVITY * 0.1 * step)


def test_joints_stay_within_torque_limits_and_the_mimic_follows(mujoco):
    world = World(HAND, default_options(), T_WORLD_PALM, PRESHAPE.open, cube(FIRM))
    world.setpoints = np.array([0.6, 1.2, 1.2, 1.2, 1.2, 1.2, 1.2])
    most = np.zeros(7)
    for _ in range(300):
        world.step()
        most = np.maximum(most, np.abs(world.joint_efforts))
    assert (most <= HAND.joint_efforts + ATOL_ROUNDOFF).all()
    assert (most[1:] > 0.9 * HAND.joint_efforts[1:]).any()
    mimic = float(world.data.joint('sdh_finger_21_joint').qpos[0])
    assert mimic == pytest.approx(world.joints[0], abs=ATOL_LAG)


def test_the_palm_keeps_its_speed_limit_and_carries_the_hand(mujoco):
    world = World(HAND, default_options(), T_WORLD_PALM, PRESHAPE.open)
    turn = Rotation.from_rotvec([0.0, 0.0, 0.2]).as_matrix()
    world.move_palm(transform(turn, np.array([0.05, 0.0, -0.17])))
    advance(world, 0.25)            # of which 0.2 s to come to its speed
    assert world.T_world_palm[0, 3] == pytest.approx(0.1 * 0.15, abs=1e-3) and world.palm_moves
    advance(world, 0.5)
    np.testing.assert_allclose(world.T_world_palm[:3, :3], turn, rtol=0, atol=1e-3)
    np.testing.assert_allclose(world.joints, PRESHAPE.open, rtol=0, atol=ATOL_LAG)


def test_all_links_of_the_urdf_are_kept(mujoco, tmp_path):
    from gripsim_ros.library.resources import share_directory
    names = {body.name for body in hand_spec(share_directory() / 'urdf' / 'meshes').bodies}
    assert set(HAND.link_names) <= names


def test_a_picture_shows_where_the_object_is(gripped):
    from gripsim_ros.hardware.sim.pictures import draw_world
    image = np.asarray(draw_world(gripped, (160, 120)), float)
    orange = (image[..., 0] > 1.4 * image[..., 2]) & (image[..., 0] > 60.0)
    assert image.shape == (120, 160, 3) and orange.sum() > 50


@pytest.mark.parametrize('changes, message', [
    ({'body': 'jelly'}, 'must be one of auto, rigid, soft'),
    ({'contact_time': 0.003}, 'at least two time steps')])
def test_options_outside_their_range_are_refused(changes, message):
    with pytest.raises(SimulationError, match=message):
        default_options(**changes)


# -- solids --------------------------------------------------------------------------


@pytest.mark.slow
def test_tetrahedra_fill_the_object(mesher):
    body = shapes.box([0.04, 0.05, 0.06])
    nodes, corners = tetrahedra_of(body, 0.03)
    volumes = tetrahedron_volumes(nodes, corners)
    assert (volumes > 0.0).all()
    np.testing.assert_allclose(volumes.sum(), 0.04 * 0.05 * 0.06, rtol=0.02)
    np.testing.assert_allclose(node_masses(nodes, corners, 1e3).sum(), 1e3 * volumes.sum(),
                               rtol=1e-9)
    faces = nodes[outer_faces(corners)]     # outward, so that they enclose the volume
    np.testing.assert_allclose(np.linalg.det(faces).sum() / 6.0, volumes.sum(), rtol=1e-9)


def test_the_nearest_motion_of_a_rigid_motion_is_itself(rng):
    points, weights = rng.normal(size=(20, 3)), rng.uniform(0.5, 2.0, 20)
    motion = transform(Rotation.random(random_state=3).as_matrix(), rng.normal(size=3))
    np.testing.assert_allclose(nearest_motion(points, apply(motion, points), weights), motion,
                               rtol=0, atol=ATOL_ROUNDOFF)


# -- set-points ----------------------------------------------------------------------


@settings(max_examples=20)
@given(st.lists(st.floats(-1.5, 1.5), min_size=7, max_size=7), st.floats(0.001, 2.0))
def test_set_points_keep_the_velocity_limits_and_arrive(goal, duration):
    goal = np.clip(goal, HAND.joint_lower, HAND.joint_upper)
    follower = SetpointFollower(HAND, np.zeros(7))
    follower.at(0.0)
    follower.follow(HAND.joint_names, [goal], [duration], 0.0)
    last = np.zeros(7)
    for time in np.arange(0.02, 3.0 + duration, 0.02):
        now = follower.at(time)
        assert (np.abs(now - last) <= 0.02 * HAND.joint_velocities + ATOL_ROUNDOFF).all()
        last = now
    np.testing.assert_allclose(last, goal, rtol=0, atol=ATOL_ROUNDOFF)


@settings(max_examples=20)
@given(st.floats(0.01, 0.5), st.lists(st.floats(0.0, 0.2), min_size=7, max_size=7))
def test_rows_that_come_late_are_joined_on_their_way(late, goal):
    """So that a hand which hears late is where it would be had it heard at once."""
    rows, times = np.array([0.5 * np.array(goal), goal]), [1.0, 2.0]
    early, joined = (SetpointFollower(HAND, np.zeros(7)) for _ in range(2))
    for follower in (early, joined):
        follower.at(0.0)
    early.follow(HAND.joint_names, rows, times, 0.0)
    joined.at(late)
    joined.follow(HAND.joint_names, rows, times, late, 0.0)
    for time in (late + 0.5, 1.5, 2.5):
        np.testing.assert_allclose(joined.at(time), early.at(time), rtol=0, atol=ATOL_ROUNDOFF)


@settings(max_examples=20)
@given(st.floats(0.01, 5.0), st.sampled_from([0.0, 0.5]))
def test_rows_to_come_begin_in_their_time(wait, first):
    """Until then joints stay where they are sent, also where the first row is due at once."""
    rows, times = np.array([np.full(7, 0.01), np.full(7, 0.1)]), [first, 1.0]
    waiting, at_once = (SetpointFollower(HAND, np.zeros(7)) for _ in range(2))
    for follower in (waiting, at_once):
        follower.at(0.0)
    waiting.follow(HAND.joint_names, rows, times, 0.0, wait)
    at_once.follow(HAND.joint_names, rows, times, 0.0)
    for share in (0.3, 0.999):
        assert not waiting.at(share * wait).any()
    for time in (0.2, 0.7, 1.0):
        np.testing.assert_allclose(waiting.at(wait + time), at_once.at(time), rtol=0,
                                   atol=ATOL_ROUNDOFF)


@settings(max_examples=20)
@given(st.lists(st.floats(-1.0, 1.0), min_size=4, max_size=4), st.floats(0.0, 1.0))
def test_between_rows_with_velocities_set_points_go_along_the_cubic_curve(cubic, share):
    """A polynomial of degree 3 from rest is followed as it is, not along its chords."""
    way = np.polynomial.Polynomial([0.0, 0.0, *0.2 * np.array(cubic[:2])])
    times = np.array([0.5, 1.0])
    follower = SetpointFollower(HAND, np.zeros(7))
    follower.follow(HAND.joint_names[1:2], way(times)[:, None], times, 0.0,
                    velocities=way.deriv()(times)[:, None])
    np.testing.assert_allclose(follower.at(share)[1], way(share), rtol=0, atol=ATOL_ROUNDOFF)


def test_velocities_that_do_not_fit_their_rows_are_refused():
    follower = SetpointFollower(HAND, np.zeros(7))
    with pytest.raises(TaskError, match='velocities'):
        follower.follow(HAND.joint_names[:1], [[0.1]], [1.0], 0.0, velocities=[[0.1, 0.2]])
    assert follower.at(2.0)[0] == 0.0


def test_joints_keep_to_the_time_of_a_sine_at_their_rated_speed(mujoco):
    """
    In their freedom all joints follow a swing of 40 rows within 0.02 rad of its own time.

    The fastest moment asks for 95 % of the slowest joint's velocity limit.
    """
    seconds, size = 2.0, np.full(7, 0.3)        # within which no links meet
    world = World(HAND, default_options(), T_WORLD_PALM, PRESHAPE.open)
    turn = 0.95 * HAND.joint_velocities.min() / (0.5 * size[0])

    def wanted(time):
        return PRESHAPE.open + np.outer(1.0 - np.cos(turn * np.atleast_1d(time)), 0.5 * size)

    follower = SetpointFollower(HAND, PRESHAPE.open)
    times = np.linspace(0.0, seconds, 41)[1:]
    follower.follow(HAND.joint_names, wanted(times), times, 0.0)
    off = []
    while world.time < seconds - 0.01:
        world.follow(follower)
        world.step()
        off.append(np.abs(world.joints - wanted(world.time)[0]))
    assert np.max(off) <= ATOL_IN_TIME, np.max(off, axis=0)


def test_joints_that_are_not_named_stay_and_a_stop_stops():
    follower = SetpointFollower(HAND, np.zeros(7))
    follower.at(0.0)
    follower.follow(['sdh_thumb_3_joint', 'sdh_thumb_2_joint'], [[0.2, 0.1]], [1.0], 0.0)
    np.testing.assert_allclose(follower.at(0.5), [0, 0, 0, 0, 0, 0.05, 0.1], rtol=0,
                               atol=ATOL_ROUNDOFF)
    follower.stop()
    np.testing.assert_allclose(follower.at(2.0), [0, 0, 0, 0, 0, 0.05, 0.1], rtol=0,
                               atol=ATOL_ROUNDOFF)


@pytest.mark.parametrize('names, rows, times, message', [
    (['elbow'], [[0.0]], [1.0], 'joint names must be of'),
    (['sdh_thumb_2_joint'], [[2.0]], [1.0], 'sdh_thumb_2_joint must stay within'),
    (['sdh_thumb_2_joint'], [[0.0, 1.0]], [1.0], 'rows of 1 finite'),
    (['sdh_thumb_2_joint'], [[np.nan]], [1.0], 'rows of 1 finite'),
    (['sdh_thumb_2_joint'], [[0.0], [0.1]], [1.0, 1.0], 'must grow')])
def test_trajectories_that_do_not_fit_are_refused_and_nothing_moves(names, rows, times, message):
    follower = SetpointFollower(HAND, np.zeros(7))
    with pytest.raises((HandError, TaskError), match=message):
        follower.follow(names, rows, times, 0.0)
    assert not follower.at(5.0).any() and issubclass(SimulationError, GripsimError)


def test_an_object_has_the_modulus_that_it_truly_has_whatever_is_believed():
    believed, options = GraspObject(shapes.sphere(0.03, 0.01), FIRM), default_options()
    assert not is_soft(believed, options)
    softer = default_options(object_modulus=SOFT.youngs_modulus)
    assert is_soft(believed, softer) and true_modulus(believed, softer) == SOFT.youngs_modulus
    with pytest.raises(SimulationError, match='object_modulus must be'):
        default_options(object_modulus=-1.0)
