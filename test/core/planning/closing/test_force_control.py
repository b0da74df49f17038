"""Speeds of contacts against the plain formula, and steps against the motion of the hand."""

from types import SimpleNamespace

from hypothesis import given, settings, strategies as st
import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest
from scipy.spatial.transform import Rotation

from gripsim_ros.core.hand import forward_kinematics
from gripsim_ros.core.planning.closing.force_control import (
    FORCE_EXPONENTS, MIN_APPROACH_RATIO, MIN_NORMAL_RATIO, ContactControl, contact_controls,
    force_control_steps, mean_normal_speeds)
from gripsim_ros.core.planning.hypotheses.hand_geometry import (
    Mechanism, find_fingers, find_mechanisms)
from gripsim_ros.core.transforms import cross
from gripsim_ros.library.resources import load_default_hand

#: Central differences of positions [m] over so much of a fraction.
STEP, ATOL_DIFFERENCE = 1e-5, 1e-9
RTOL_ROUNDOFF = 1e-9
#: Of speeds by differences, through stiffness.
RTOL_SPRINGS = 1e-4
FIRST_DEPTH, MAX_DEPTH = 2e-5, 1e-3

seeds = st.integers(0, 2 ** 32 - 1)
HAND = load_default_hand()
FINGERS, MECHANISMS = find_fingers(HAND), find_mechanisms(HAND)


def pose(rng):
    """Return a pose of the palm (4, 4)."""
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = Rotation.random(random_state=rng).as_matrix(), rng.normal(size=3)
    return T


def posture(rng):
    """Return joints (J,) on the way of a preshape, and the way."""
    preshape = HAND.preshapes[0]
    rates = preshape.closed - preshape.open
    return preshape.open + rng.uniform(0.1, 0.8) * rates, rates


def speed_of(point, link, joints, rates, T):
    """Return the speed (3, J) of a link's point in a pose, for each joint's fraction."""
    here = forward_kinematics(HAND, joints[None])[0, link]
    local = np.linalg.inv(T @ here) @ [*point, 1.0]
    ways = STEP * np.diag(rates)
    after, before = (T @ forward_kinematics(HAND, joints + way)[:, link] @ local
                     for way in (ways, -ways))
    return (after - before)[:, :3].T / (2.0 * STEP)


def touching(rng, links, joints, rates, T):
    """Return the state of links that bear forces on two points each, along their motion."""
    links = np.repeat(links, 2)
    poses = T @ forward_kinematics(HAND, joints[None])[0]
    points = np.stack([poses[link, :3, 3] for link in links])
    points += rng.uniform(-0.01, 0.01, points.shape)
    normals = np.stack([speed_of(point, link, joints, rates, T).sum(axis=1)
                        for point, link in zip(points, links)])
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    normals += rng.uniform(-0.3, 0.3, normals.shape)
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    return SimpleNamespace(
        links=links, points=points, normals=normals,
        normal_forces=10.0 ** rng.uniform(-2.0, 1.0, len(links)),
        link_stiffness=np.diag(10.0 ** rng.uniform(2.0, 5.0, len(HAND.links))),
        depth=10.0 ** rng.uniform(-5.0, -3.0, len(HAND.links)),
        clearance=rng.uniform(0.0, 0.01, len(HAND.links)))


def wanted_change(state, link, target):
    """Return the change of a link's depth by a power law with its force and stiffness."""
    force = state.normal_forces[state.links == link].sum()
    stiffness = state.link_stiffness[link, link]
    power = np.clip(stiffness * state.depth[link] / force, *FORCE_EXPONENTS)
    change = power * force / stiffness * ((target / force) ** (1.0 / power) - 1.0)
    return np.clip(change, -MAX_DEPTH, MAX_DEPTH)


def steps_of(state, joints, rates, T, controls, targets, max_depth=MAX_DEPTH):
    """Return the steps (J,) towards forces."""
    return force_control_steps(HAND, joints, T, rates, MECHANISMS, controls, state, targets,
                               np.full(len(controls), FIRST_DEPTH), max_depth,
                               np.full(len(HAND.links), np.nan))[0]


def tips():
    """Return the controls of the fingertips."""
    arrived = np.zeros(len(HAND.links), bool)
    arrived[[finger.links[-1] for finger in FINGERS]] = True
    return contact_controls(MECHANISMS, arrived)


def nearer(state, control, joints, rates, T, steps):
    """Return by how much steps bring a control's link nearer along its forces [m]."""
    own = np.flatnonzero(state.links == control.link)
    shares = state.normal_forces[own] / state.normal_forces[own].sum()
    return sum(share * (state.normals[k] @ speed_of(state.points[k], control.link, joints, rates,
                                                    T)) for share, k in zip(shares, own)) @ steps


@given(seeds)
@settings(max_examples=20)
def test_springs_that_press_each_other_bear_what_is_wanted_after_one_step(seed):
    rng = np.random.default_rng(seed)
    T, (joints, rates) = pose(rng), posture(rng)
    controls = tips()
    links = [control.link for control in controls]
    state = touching(rng, np.array(links), joints, rates, T)
    mixed = rng.normal(size=(len(links), len(links)))
    springs = 1e3 * (mixed @ mixed.T + 0.3 * np.eye(len(links)))
    state.link_stiffness[np.ix_(links, links)] = springs
    forces = rng.uniform(0.5, 5.0, len(links))
    state.depth[links] = np.linalg.solve(springs, forces)
    state.normal_forces[:] = np.repeat(0.5 * forces, 2)
    targets = forces * rng.uniform(0.5, 2.0, len(links))
    steps = steps_of(state, joints, rates, T, controls, targets, max_depth=1.0)
    after = forces + springs @ [nearer(state, control, joints, rates, T, steps)
                                for control in controls]
    assert_allclose(after, targets, rtol=RTOL_SPRINGS)


@given(seeds)
@settings(max_examples=20)
def test_steps_bring_every_contact_as_much_nearer_as_its_force_wants(seed):
    rng = np.random.default_rng(seed)
    T, (joints, rates) = pose(rng), posture(rng)
    arrived = np.zeros(len(HAND.links), bool)
    arrived[[link for finger in FINGERS for link in finger.links]] = True
    controls = contact_controls(MECHANISMS, arrived)
    links = np.array([control.link for control in controls])
    state = touching(rng, links, joints, rates, T)
    targets = 10.0 ** rng.uniform(-2.0, 1.5, len(controls))
    targets[rng.integers(len(controls))] = np.nan    # no more of what touches
    steps = steps_of(state, joints, rates, T, controls, targets)
    for control, target in zip(controls, targets):
        own = np.flatnonzero(state.links == control.link)
        shares = state.normal_forces[own] / state.normal_forces[own].sum()
        speeds = sum(share * (state.normals[k] @ speed_of(
            state.points[k], control.link, joints, rates, T)) for share, k in zip(shares, own))
        finger = FINGERS[control.mechanism]
        lever = finger.lever_arms[finger.links.index(control.link)].max()
        joints_of = list(control.joints)
        if speeds[joints_of].sum() < 1.01 * MIN_NORMAL_RATIO * lever * abs(
                rates[joints_of]).sum():
            continue
        change = 0.0 if np.isnan(target) else wanted_change(state, control.link, target)
        assert_allclose(speeds @ steps, change, rtol=0.0, atol=ATOL_DIFFERENCE)


def test_links_that_press_as_one_and_what_touches_first_are_counted_in():
    rng = np.random.default_rng(7)
    T, (joints, rates) = pose(rng), posture(rng)
    ends = [finger.links[-1] for finger in FINGERS]
    inner = FINGERS[0].links[-2]
    first = ContactControl(0, ends[0], FINGERS[0].joints, (inner,))
    controls = [first, *tips()[1:]]
    state = touching(rng, np.array([ends[0], inner, *ends[1:]]), joints, rates, T)
    mixed = rng.normal(size=2 * (len(HAND.links),))
    state.link_stiffness[:] = 1e3 * (mixed @ mixed.T + 3.0 * np.eye(len(HAND.links)))
    own = np.array([control.bears(np.arange(len(HAND.links))) for control in controls], float)
    springs = own @ state.link_stiffness @ own.T
    forces = own @ np.bincount(state.links, state.normal_forces, len(HAND.links))
    state.depth[ends] = np.linalg.solve(springs, forces)
    targets = 1.2 * forces
    targets[2] = np.nan         # no more of the thumb, so that it adds nothing to the others
    steps = steps_of(state, joints, rates, T, controls, targets, max_depth=1.0)
    moved = [nearer(state, control, joints, rates, T, steps) for control in controls]
    assert_allclose((forces + springs @ moved)[:2], targets[:2], rtol=RTOL_SPRINGS)
    assert_allclose(moved[2], 0.0, rtol=0.0, atol=ATOL_DIFFERENCE)


@pytest.mark.parametrize('seen, share', [
    (np.nan, 1.0), (-0.5, MIN_APPROACH_RATIO), (0.1, MIN_APPROACH_RATIO), (0.7, 0.7), (3.0, 1.0)])
def test_without_touch_joints_go_as_far_as_the_reach_seen_has_it(seen, share):
    rng = np.random.default_rng(4)
    joints, rates = posture(rng)
    finger, link = FINGERS[0], FINGERS[0].links[-1]
    ways = finger.lever_arms[-1] * np.abs(rates[list(finger.joints)])
    state = touching(rng, np.array(FINGERS[1].links[:1]), joints, rates, np.eye(4))
    observed = np.full(len(HAND.links), np.nan)
    observed[link] = seen * ways.sum()
    controls = [ContactControl(0, link, finger.joints)]
    for target in (np.nan, 2.0):
        steps, _ = force_control_steps(HAND, joints, np.eye(4), rates, MECHANISMS, controls, state,
                                       np.array([target]), np.array([FIRST_DEPTH]), MAX_DEPTH,
                                       observed)
        assert_allclose(share * (ways @ steps[list(finger.joints)]),
                        state.clearance[link] + FIRST_DEPTH, rtol=RTOL_ROUNDOFF)
        assert np.count_nonzero(steps) == len(finger.joints)


@pytest.mark.parametrize('share, moves', [(0.98, False), (1.02, True), (-1.02, False)])
def test_what_moves_across_the_normal_does_not_press(share, moves):
    rng = np.random.default_rng(5)
    joints, rates = posture(rng)
    finger, T = FINGERS[0], pose(rng)
    link, joint = finger.links[0], finger.joints[0]
    state = touching(rng, np.array([link]), joints, rates, T)
    state.points[1] = state.points[0]
    way = speed_of(state.points[0], link, joints, rates, T)[:, joint]
    across = np.cross(way, [0.3, -0.5, 0.8])
    part = share * MIN_NORMAL_RATIO * abs(rates[joint]) * finger.lever_arms[0].max() / (way @ way)
    state.normals[:] = part * way + across / np.linalg.norm(across) * np.sqrt(
        1.0 - part ** 2 * (way @ way))
    steps, _ = force_control_steps(HAND, joints, T, rates, MECHANISMS,
                                   [ContactControl(0, link, (joint,))], state, np.array([100.0]),
                                   np.array([FIRST_DEPTH]), MAX_DEPTH,
                                   np.full(len(HAND.links), np.nan))
    assert steps.any() == moves


def test_joints_between_two_contacts_govern_the_outer_one():
    moves = np.tril(np.ones((3, 3), bool))
    fingers = (Mechanism((3, 5, 7), (2, 4, 6), moves, np.ones((3, 3)), np.zeros(3, int)),
               Mechanism((0, 1), (8, 9), moves[:2, :2], np.ones((2, 2)), np.ones(2, int)))
    for links, wanted in (
            ([], []), ([2, 6, 9], [(0, 2, (3,)), (0, 6, (5, 7)), (1, 9, (0, 1))]),
            ([2, 4, 6], [(0, 2, (3,)), (0, 4, (5,)), (0, 6, (7,))]), ([4], [(0, 4, (3, 5))])):
        controls = contact_controls(fingers, np.isin(np.arange(10), links))
        assert [(c.mechanism, c.link, c.joints) for c in controls] == wanted


@pytest.mark.parametrize('count', [1, 2, 3, 9])
def test_mean_speeds_are_those_of_the_points_along_the_normals(count):
    rng = np.random.default_rng(count)
    shares, normals, offsets = rng.random(count), *rng.normal(size=(2, count, 3))
    jacobian = rng.normal(size=(6, 7))
    velocities = jacobian[None, :3] + cross(
        jacobian[3:].T[None], offsets[:, None]).swapaxes(1, 2)
    assert_array_equal(mean_normal_speeds(shares, normals, offsets, jacobian),
                       np.einsum('k,kx,kxj->j', shares, normals, velocities))
