"""The modulus of what fingers felt: laws of the estimator."""

from dataclasses import replace

from execution_cases import HAND
import numpy as np
from numpy.testing import assert_allclose
from palpation_cases import BALL, felt, grasp, grip_model, LONGEST
import pytest

from gripsim_ros.core.errors import TaskError
from gripsim_ros.core.hand import forward_kinematics
from gripsim_ros.core.transforms import from_rotation_vector
from gripsim_ros.library.squeezing.fingers import squeeze_with_fingers
from gripsim_ros.library.squeezing.grip_model import prepare_grip_model, SHARES
from gripsim_ros.library.squeezing.palpated import estimate_modulus, FeltSqueeze, ONE_SIDED

RESOLUTION = 1e-6


@pytest.mark.parametrize('rigid', [pytest.param(True, marks=pytest.mark.nightly), False])
@pytest.mark.parametrize('modulus', [2e4, 2e5, 2e6])
def test_exact_readings_give_the_modulus(rigid, modulus):
    found = estimate_modulus(grip_model(rigid), [felt(modulus, rigid)] * 2, RESOLUTION)
    assert_allclose(found.youngs_modulus, modulus, rtol=0.01)
    assert not found.is_bound and found.standard_error < 0.02 * modulus and found.misfit < 0.01


def test_forces_are_those_of_fingers_that_squeeze():
    """The table against squeezes of another modulus than it holds."""
    from gripsim_ros.core.bodies import GraspObject
    thing = GraspObject(BALL.mesh, replace(BALL.material, youngs_modulus=1.37e5))
    squeezed = squeeze_with_fingers(thing, grasp().T_object_palm, grasp().trajectory[-1], 2e-3,
                                    steps=4, elasticity='half_space')
    model = grip_model(False)
    forces = model.force_at(1.37e5, model.way(squeezed.joints))
    assert_allclose(forces, [point.force for point in squeezed.curve], rtol=0.02)


def test_a_motion_of_the_whole_hand_or_object_changes_no_way():
    """Balanced forces do no work along it."""
    model = grip_model()
    poses = forward_kinematics(HAND, model.touching[None])[0]
    points = np.array([poses[link, :3, :3] @ point + poses[link, :3, 3]
                       for link, point in zip(model.links, model.points_link)])
    assert_allclose(np.linalg.norm(model.directions, axis=1).sum(), 2.0, rtol=0.05)
    for twist in np.eye(6) * 1e-5:
        T = from_rotation_vector(twist)
        moved = points @ T[:3, :3].T + T[:3, 3]
        own = np.linalg.norm(moved - points, axis=1).max()
        assert abs(np.sum(model.directions * (moved - points))) < 0.05 * own


def test_the_error_told_is_that_of_many_repetitions(noise=0.03):
    found = [estimate_modulus(grip_model(), [felt(2e5, noise=noise, seed=3 * k + i)
                                             for i in range(3)], RESOLUTION) for k in range(16)]
    scatter = np.std([one.youngs_modulus for one in found])
    told = np.sqrt(np.mean([one.standard_error ** 2 for one in found]))
    assert 0.5 < told / scatter < 2.0


def test_coarse_joints_make_a_stiff_object_a_bound_and_leave_a_soft_one():
    coarse = 1e-3
    soft = estimate_modulus(grip_model(), [felt(2e4)] * 3, coarse)
    stiff = estimate_modulus(grip_model(), [felt(5e6)] * 3, coarse)
    assert not soft.is_bound and stiff.is_bound and np.isnan(stiff.standard_error)
    assert stiff.youngs_modulus < 5e6 < 2e7


@pytest.mark.parametrize('stuck', [1.0, 1.3, 2.0])
def test_a_bound_holds_however_far_pads_stick(stuck, most=2.0):
    """Forces up to twice those of pads that slip, where sticking could double them."""
    model = replace(grip_model(), stick_over_slip=np.full(10, most),
                    sticking=np.full(10, most))
    once = felt(2e5)
    more = FeltSqueeze(once.joints, once.forces * stuck)
    found = estimate_modulus(model, [more] * 3, RESOLUTION)
    assert found.is_bound and np.isnan(found.standard_error)
    assert 0.45 * 2e5 < found.youngs_modulus < 1.001 * 2e5


def test_weak_squeezes_count_as_little_as_they_tell():
    """One of small forces that is wrong by half changes little beside one of large ones."""
    wrong = felt(2e6, top=0.05)
    found = estimate_modulus(grip_model(), [wrong, felt(2e5, top=3.0), felt(2e5, top=3.0)],
                             RESOLUTION)
    assert found.youngs_modulus == pytest.approx(2e5, rel=0.1)
    assert found.standard_error < 0.15 * found.youngs_modulus


def test_what_the_model_is_off_is_told_whatever_else_is_known():
    once = [felt(2e5)] * 3
    exact, told = (estimate_modulus(grip_model(), once, RESOLUTION, model_error=error)
                   for error in (0.0, 0.1))
    assert told.best == exact.best
    assert told.standard_error == pytest.approx(
        np.hypot(exact.standard_error, 0.1 * told.best), rel=1e-6)
    assert told.doubt == pytest.approx(told.standard_error / told.best)
    assert told.best < exact.stiffest < told.stiffest
    bounds = [estimate_modulus(grip_model(), once, 1e4 * RESOLUTION, model_error=error)
              for error in (0.0, 0.1)]
    assert bounds[0].is_bound and bounds[1].youngs_modulus < bounds[0].youngs_modulus


@pytest.mark.parametrize('modulus', [3e5, 6e5, 1e6])
@pytest.mark.parametrize('seed', range(3))
def test_a_soft_and_a_stiff_object_that_feel_alike_are_both_told_of(modulus, seed):
    """
    Where a second edge begins to bear forces are three times as large within 0.1 mm.

    The best modulus alone, with the error about it, is then a third of the true one.
    """
    model, resolution = grip_model(), 2e-4
    step = 1.0 + 2.0 / (1.0 + np.exp(-(np.arange(len(SHARES)) - 8) / 0.3))
    model = replace(model, forces=model.forces * step)
    exact = felt(modulus, model=model, top=0.5, shares=(0.3, 0.475, 0.65, 0.825, 1.0))
    noise = resolution * np.random.default_rng(seed).normal(size=exact.joints.shape)
    noise *= exact.joints != 0.0
    told = estimate_modulus(model, [FeltSqueeze(exact.joints + noise, exact.forces)], resolution)
    assert told.is_bound and told.youngs_modulus < modulus < told.stiffest
    if (modulus, seed) == (6e5, 1):
        assert told.best * np.exp(ONE_SIDED * told.doubt) < modulus


def test_a_most_modulus_changes_nothing_of_what_one_modulus_alone_fits():
    """A belief that ends there is narrower; the error told stays that of the squeezes."""
    once = [felt(2e5)] * 3
    free = estimate_modulus(grip_model(), once, 1e-3, model_error=0.07)
    for most in (2.05e5, 1e6):
        cut = estimate_modulus(grip_model(), once, 1e-3, model_error=0.07, most_modulus=most)
        assert (cut.best, cut.standard_error, cut.is_bound) == (
            free.best, free.standard_error, False)
        assert cut.stiffest == min(most, free.stiffest)


def test_of_two_moduli_that_fit_the_lower_is_told_where_the_other_cannot_be():
    """Forces grow fourfold where a second edge bears: 2.7 MPa would feel alike."""
    step = 1.0 + 3.0 / (1.0 + np.exp(-(np.arange(len(SHARES)) - 10) / 0.3))
    model = replace(grip_model(), forces=grip_model().forces * step)
    squeezes = [felt(2e5, model=model, top=2.0, shares=(0.3, 0.475, 0.65, 0.825, 1.0))] * 3
    free, cut, wide = (estimate_modulus(model, squeezes, 1e-4, most_modulus=most)
                       for most in (np.inf, 4e5, 1.4e6))
    assert free.is_bound and free.stiffest > 1.4e6
    assert wide.is_bound and 1e6 < wide.stiffest <= 1.4e6       # a part of them is left
    assert not cut.is_bound and cut.best == free.best and cut.stiffest < 2.5e5
    assert cut.standard_error == pytest.approx(free.doubt * free.best)


@pytest.mark.parametrize('most', [1.5e5, 2e5 / 1.001])
def test_what_is_stiffer_than_it_is_said_to_be_is_a_bound(most):
    free, told = (estimate_modulus(grip_model(), [felt(2e5)] * 3, 1e-4, most_modulus=one)
                  for one in (np.inf, most))
    assert told.is_bound and told.best == pytest.approx(2e5, rel=1e-3)
    assert 1.9e5 < told.youngs_modulus <= told.best and not free.is_bound
    assert told.stiffest == free.stiffest       # what was felt speaks against it


def test_what_gives_no_modulus_is_told():
    short, once = felt(2e5, shares=(0.5, 1.0)), felt(2e5)
    with pytest.raises(TaskError, match='3 points'):
        estimate_modulus(grip_model(), [short], RESOLUTION)
    backward = FeltSqueeze(once.joints[::-1], once.forces)
    with pytest.raises(TaskError, match='do not rise'):
        estimate_modulus(grip_model(), [backward] * 2, RESOLUTION)
    with pytest.raises(TaskError, match='longest must be'):
        prepare_grip_model(BALL, grasp().T_object_palm, grasp().trajectory[-1], 0.0)
    with pytest.raises(TaskError, match='stopped'):
        prepare_grip_model(BALL, grasp().T_object_palm, grasp().trajectory[-1], LONGEST,
                           on_point=lambda done, total: done < 3)
