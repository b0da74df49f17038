"""The deformation stage: batches in, batches out, each configuration by itself."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest
import trimesh
import yaml

from gripsim_ros.core import batches
from gripsim_ros.core.bodies import GraspObject, TriangleMesh
from gripsim_ros.core.errors import TaskError
from gripsim_ros.core.grasp_theory.grasp_map import joint_torque_map
from gripsim_ros.core.hand import forward_kinematics
from gripsim_ros.core.mechanics import (
    ElasticBody, evaluate_contacts, MechanicsOptions, stage)
from gripsim_ros.core.transforms import apply, from_rotation_vector
from gripsim_ros.library.resources import load_default_hand, share_directory
from lattice_cases import ball_under_pad
from stage_cases import (
    contact_batch, DEPTH, FINGERS, RADIUS, rows_of, SILICONE, three_fingers, WEIGHT)


STEP = 1e-6
RTOL_VIRTUAL_WORK = 1e-6


@pytest.fixture(scope='module')
def hand():
    """Return the default hand with joints too strong to matter."""
    hand = load_default_hand()
    return replace(hand, joint_efforts=np.full(len(hand.joint_names), 1e3))


@pytest.fixture(scope='module')
def body():
    """Return a soft ball of 60 mm."""
    mesh = trimesh.creation.icosphere(4, RADIUS)
    return ElasticBody(GraspObject(TriangleMesh(mesh.vertices, mesh.faces), SILICONE))


def test_three_fingers_hold_a_ball(body, hand):
    states = evaluate_contacts(body, hand, contact_batch(hand, [three_fingers()]))
    assert states.capable[0] and states.holds[0] and states.margin[0] >= 1.0
    assert len(states.patch_links) == 3
    forces = np.linalg.norm(states.patch_forces_object, axis=1)
    assert_allclose(forces, forces[0], rtol=0.01)
    assert_allclose(states.residual, 0.0, atol=0.01)
    assert states.quantitative[0] and 0.0 < states.max_displacement[0] < DEPTH
    assert states.strain_energy[0] > 0.0 and states.volume_change[0] < 0.0
    assert_allclose(states.minimal_forces_object.sum(axis=0), [0.0, 0.0, 9.81 * body.mass],
                    atol=1e-6)


def test_a_part_that_swings_is_not_told_where_cubes_have_the_body(body, hand, monkeypatch):
    """Friction would bear what bends it; boundary elements answer for no such body."""
    own = ElasticBody(body.grasp_object, MechanicsOptions(elasticity='body'))
    asked, compliance = contact_batch(hand, [three_fingers()]), own.compliance
    cubes = replace(compliance, errors=np.full(len(compliance.points), 0.01))
    for way, in_cubes, told in ((None, False, True), (None, True, True), (5.0, False, True),
                                (5.0, True, False)):
        with monkeypatch.context() as changed:
            changed.setattr(own, '_source', SimpleNamespace(
                get=lambda found=cubes if in_cubes else compliance: found))
            if way is not None:
                changed.setattr(stage, 'largest_displacement', lambda *_: way * DEPTH)
            found = evaluate_contacts(own, hand, asked)
            assert found.quantitative[0] == told
            assert ((found.patch_flags & batches.PATCH_SWINGS) > 0).tolist() == [not told] * 3


def test_each_configuration_is_answered_by_itself_to_the_last_bit(body, hand):
    alone = [three_fingers(), three_fingers(5e-4), three_fingers()[:2]]
    together = evaluate_contacts(body, hand, contact_batch(
        hand, alone, detail=batches.DETAIL_SURFACE))
    backwards = evaluate_contacts(body, hand, contact_batch(
        hand, alone[::-1], detail=batches.DETAIL_SURFACE))
    for i, patches in enumerate(alone):
        single = rows_of(evaluate_contacts(body, hand, contact_batch(
            hand, [patches], detail=batches.DETAIL_SURFACE)), 0)
        for batch, row in ((together, i), (backwards, len(alone) - 1 - i)):
            for name, values in rows_of(batch, row).items():
                assert_array_equal(values, single[name], err_msg=name)


def test_clearance_alone_computes_nothing(body, hand):
    states = evaluate_contacts(body, hand, contact_batch(
        hand, [three_fingers()], detail=batches.DETAIL_CLEARANCE))
    assert len(states.patch_links) == 0 and not states.capable[0] and not states.holds[0]
    assert np.isnan(states.centre_of_mass_object).all() and np.isnan(states.epsilon).all()


def test_without_contact_nothing_holds(body, hand):
    states = evaluate_contacts(body, hand, contact_batch(hand, [[], three_fingers()]))
    assert states.holds.tolist() == [False, True]
    assert states.patch_offsets.tolist() == [0, 0, 3]


def test_a_configuration_of_nonsense_leaves_the_others_alone(body, hand):
    bad = three_fingers()
    bad[1] = (bad[1][0], replace(bad[1][1], areas=bad[1][1].areas * 1.0))
    batch = contact_batch(hand, [three_fingers(), bad, three_fingers()])
    depths = batch.node_depths.copy()
    depths[int(batch.node_offsets[4]) + 7] = np.nan
    states = evaluate_contacts(body, hand, replace(batch, node_depths=depths))
    assert states.capable.tolist() == [True, False, True]
    assert states.holds.tolist() == [True, False, True]
    assert np.isfinite(states.patch_forces_object).all()


def test_details_bring_surface_pressures_and_metrics(body, hand):
    states = evaluate_contacts(body, hand, contact_batch(
        hand, [three_fingers()], detail=batches.DETAIL_SURFACE))
    assert states.vertices_object.shape == (1, *body.mesh.vertices.shape)
    assert states.vertex_pressures.max() <= 1.1 * states.patch_peak_pressures.max()
    assert states.vertex_pressures.max() > 0.0
    assert states.epsilon[0] >= 0.0 and states.wrench_volume[0] > 0.0
    moved = np.linalg.norm(states.vertices_object[0] - body.mesh.vertices, axis=1)
    assert moved.max() <= states.max_displacement[0] + 1e-12


def test_deformation_and_stress_are_told_with_the_surface_alone(body, hand):
    bare, full = (evaluate_contacts(body, hand, contact_batch(
        hand, [three_fingers(), []], detail=detail))
        for detail in (batches.DETAIL_FORCES, batches.DETAIL_SURFACE))
    for name in ('max_deformation', 'mean_deformation', 'peak_von_mises'):
        assert np.isnan(getattr(bare, name)).all() and np.isnan(getattr(full, name)[1])
    assert np.isnan(bare.patch_von_mises).all() and len(bare.patch_strain_energies) == 3
    assert_allclose(full.patch_strain_energies.sum(), full.strain_energy[0], rtol=1e-9)
    assert full.peak_von_mises[0] == full.patch_von_mises.max() > 0.0
    assert 0.0 < full.mean_deformation[0] < full.max_deformation[0] < DEPTH


def test_forces_alone_bring_no_surface(body, hand):
    states = evaluate_contacts(body, hand, contact_batch(hand, [three_fingers()]))
    assert states.vertices_object.shape[0] == 0 and np.isnan(states.epsilon).all()


def test_a_load_beyond_friction_and_pressure_finds_no_forces(body, hand):
    limited = ElasticBody(GraspObject(body.mesh, replace(SILICONE, max_pressure=1e4)))
    states = evaluate_contacts(limited, hand, contact_batch(
        hand, [three_fingers()], 100.0 * WEIGHT))
    assert not states.capable[0] and not states.holds[0]
    assert not states.minimal_forces_object.any() and len(states.patch_links) == 3


def test_pressures_above_the_limit_do_not_hold(body, hand):
    states = evaluate_contacts(body, hand, contact_batch(hand, [three_fingers()]))
    peak = float(states.patch_peak_pressures.max())
    held = [evaluate_contacts(
        ElasticBody(GraspObject(body.mesh, replace(SILICONE, max_pressure=limit))), hand,
        contact_batch(hand, [three_fingers()])).holds[0] for limit in (0.9 * peak, 1.5 * peak)]
    assert held == [False, True]


def test_forces_above_the_limit_of_a_link_do_not_hold_and_none_above_are_found(body, hand):
    def states(**limit):
        return evaluate_contacts(
            ElasticBody(GraspObject(body.mesh, replace(SILICONE, **limit))), hand,
            contact_batch(hand, [three_fingers()]))
    free = states()
    forces = np.einsum('ij,ij->i', free.patch_forces_object, free.patch_normals_object)
    pressed = max(forces[free.patch_links == link].sum() for link in free.patch_links)
    needed = float(free.minimal_envelope.max())
    assert needed < 0.9 * pressed
    held, crushed, lost = (states(max_force=force) for force in (
        1.1 * pressed, 0.9 * pressed, 0.9 * needed))
    assert held.holds[0] and np.array_equal(held.minimal_envelope, free.minimal_envelope)
    assert crushed.capable[0] and not crushed.holds[0]
    assert not lost.capable[0]
    spread = states(max_force=1.1 * pressed, max_force_spread=0.3)
    assert not spread.holds[0]      # 5 % of such pieces would not bear it


def test_weak_joints_do_not_hold(body, hand):
    weak = replace(hand, joint_efforts=np.full(len(hand.joint_names), 1e-3))
    states = evaluate_contacts(body, weak, contact_batch(weak, [three_fingers()]))
    assert not states.holds[0]


def test_joints_too_weak_for_the_simulated_grip_do_not_hold_though_a_gentler_one_would(
        body, hand):
    batch = contact_batch(hand, [three_fingers()])
    states = evaluate_contacts(body, hand, batch)
    torque_map = joint_torque_map(
        hand, batch.configurations.joint_positions[0], np.eye(4), states.patch_links,
        states.patch_points_object)
    simulated, least = (
        np.abs(torque_map @ np.hstack([forces, torques]).ravel()) for forces, torques in (
            (states.patch_forces_object, states.patch_torques_object),
            (states.minimal_forces_object, states.minimal_torques_object)))
    assert simulated.max() > 2.0 * least.max()
    for limit, holds in ((0.9 * simulated.max(), False), (1.1 * simulated.max(), True)):
        weak = replace(hand, joint_efforts=np.full(len(hand.joint_names), limit))
        answer = evaluate_contacts(body, weak, batch)
        assert answer.capable[0] and answer.holds[0] == holds


def test_one_link_alone_does_not_hold(body, hand):
    same = three_fingers(links=(FINGERS[0],) * 3)
    states = evaluate_contacts(body, hand, contact_batch(hand, [same]))
    assert not states.holds[0]


def test_patches_without_load_are_left_out(body, hand):
    patches = three_fingers()
    _, nodes = patches[2]
    patches[2] = (patches[2][0], replace(nodes, depths=nodes.depths - 2.0 * DEPTH))
    states = evaluate_contacts(body, hand, contact_batch(hand, [patches]))
    assert [hand.link_names[k] for k in states.patch_links] == list(FINGERS[:2])


def test_a_palm_that_no_joint_moves_is_passive(body, hand):
    palm = hand.link_names[hand.palm_index]
    patches = three_fingers() + [
        (palm, ball_under_pad(RADIUS, [0.0, 0.0, -1.0], 2e-4, 1.0, 60))]
    states = evaluate_contacts(body, hand, contact_batch(hand, [patches]))
    row = states.patch_links.tolist().index(hand.palm_index)
    assert not states.minimal_forces_object[row].any()
    assert np.linalg.norm(states.patch_forces_object[row]) > 0.0


def test_depths_end_at_a_share_of_the_thickness(body, hand):
    batch = contact_batch(hand, [three_fingers()])
    thin = replace(batch, patch_thickness=np.full(3, 1e-3))
    limit = MechanicsOptions().forces.max_depth_ratio * 1e-3
    cut = replace(batch, node_depths=np.minimum(batch.node_depths, limit))
    assert_allclose(evaluate_contacts(body, hand, thin).patch_forces_object,
                    evaluate_contacts(body, hand, cut).patch_forces_object)


def test_joint_torques_are_those_of_virtual_work(hand, rng):
    q = hand.preshapes[1].closed + rng.uniform(-0.1, 0.1, len(hand.joint_names))
    T_object_palm = from_rotation_vector(np.array([0.1, -0.2, 0.05, 0.4, -0.3, 0.7]))
    links = np.array([hand.link_index(name) for name in FINGERS])
    points = rng.normal(scale=0.1, size=(3, 3))
    wrenches = rng.normal(size=(3, 6))
    torques = joint_torque_map(hand, q, T_object_palm, links, points) @ wrenches.ravel()

    def poses(joints):
        return (T_object_palm @ forward_kinematics(hand, joints[None])[0])[links]

    local = [apply(np.linalg.inv(T), p[None])[0] for T, p in zip(poses(q), points)]
    for joint in range(len(q)):
        step = np.zeros(len(q))
        step[joint] = STEP
        before, after = poses(q - step), poses(q + step)
        work = 0.0
        for k in range(3):
            moved = apply(after[k], local[k][None])[0] - apply(before[k], local[k][None])[0]
            spin = (after[k] - before[k])[:3, :3] @ poses(q)[k][:3, :3].T
            turned = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
            work += wrenches[k, :3] @ moved + wrenches[k, 3:] @ turned
        assert_allclose(torques[joint], work / (2.0 * STEP), rtol=RTOL_VIRTUAL_WORK,
                        atol=1e-7)


def test_the_configuration_file_holds_the_defaults():
    path = share_directory() / 'config' / 'mechanics.yaml'
    options = MechanicsOptions.from_mapping(yaml.safe_load(path.read_text()))
    for name in ('forces', 'validity', 'surface', 'stability', 'minimal_forces'):
        written, default = (vars(getattr(each, name)) for each in (options, MechanicsOptions()))
        for key, value in default.items():
            if isinstance(value, float):
                assert_allclose(written[key], value, rtol=1e-4, err_msg=key)
            else:
                assert written[key] == value, key
    assert options.metrics_edges == MechanicsOptions().metrics_edges


@pytest.mark.parametrize('values, said', [
    ({'speed': 1}, 'unknown option'), ({'forces': {'colour': 1}}, 'unknown option'),
    ({'forces': 3}, 'must be a mapping'), ({'metrics_edges': 2}, 'metrics_edges'),
    ({'forces': {'softening': 'soft'}}, "forces.softening must be above 0 .* got 'soft'")])
def test_options_that_do_not_exist_are_refused(values, said):
    with pytest.raises(TaskError, match=said):
        MechanicsOptions.from_mapping(values)
