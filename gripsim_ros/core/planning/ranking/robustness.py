"""Robustness of grasps: verdicts where the numbers of a request are varied at random."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from ...arrays import Array
from ...bodies import GraspObject, Material
from ...hand import HandModel
from ...transforms import inverse, rotation_about
from ..moving_object.closing_motion import (
    THREADS, bears_loads, close_on, mean_friction_radius, pressing_command, some_loads)
from ..options import PlannerOptions, Uncertainty
from ..ranked_grasp import RankedGrasp, Robustness
from ..task import PREFER_FINGERS, Task, task_load_cases


#: Range of varied Poisson's ratios [-].
POISSON_RANGE = (0.0, 0.499)
#: Smallest varied friction [-].
LEAST_FRICTION = 1e-3
#: Resistance to the object's translation [N s/m]: none, so that what fingers push coasts. By the
#: 2 N s/m of ``closing`` 30 g stay in a pinch of two fingers that they slip out of.
DRAG = 0.0


@dataclass(frozen=True, eq=False)
class Sample:
    """One draw: the object with another material, and its pose (4, 4) in the assumed one."""

    grasp_object: GraspObject
    T_object_moved: Array


def draw_samples(grasp_object: GraspObject, uncertainty: Uncertainty, pose_uncertainty: Array,
                 count: int, seed: int) -> Iterator[Sample]:
    """
    Draw random variations of an object and its pose, one after the other.

    Parameters
    ----------
    grasp_object : GraspObject
    uncertainty : Uncertainty
    pose_uncertainty : (2,) float
        Standard deviations along [m] and about each axis [rad].
    count : int
    seed : int
        Samples depend on it alone, and the first of them not on ``count``.

    Yields
    ------
    Sample
        Modulus, friction and force limit are lognormal with the given value as the median,
        Poisson's ratio is normal and clipped, the pose turns about the centre of mass.
    """
    for number in range(count):
        yield _draw(grasp_object, uncertainty, pose_uncertainty,
                    np.random.default_rng([seed, number]))


def _draw(grasp_object: GraspObject, uncertainty: Uncertainty, pose_uncertainty: Array,
          rng: np.random.Generator) -> Sample:
    numbers, material = rng.standard_normal(9), grasp_object.material
    varied = replace(
        material,
        youngs_modulus=material.youngs_modulus * float(np.exp(
            (material.modulus_spread or uncertainty.youngs_modulus) * numbers[0])),
        poisson_ratio=float(np.clip(
            material.poisson_ratio + uncertainty.poisson_ratio * numbers[1], *POISSON_RANGE)),
        friction=max(LEAST_FRICTION, material.friction * float(np.exp(
            uncertainty.friction * numbers[2]))))
    if np.isfinite(material.max_force):         # the draw is one piece, whose limit is its own
        force = material.max_force * float(np.exp(
            material.max_force_spread * rng.standard_normal()))
        varied = replace(varied, max_force=force, max_force_spread=0.0)
    centre = grasp_object.mass_properties.centre_of_mass
    position, rotation = pose_uncertainty
    T = rotation_about(centre, rotation * numbers[6:], position * numbers[3:6])
    return Sample(GraspObject(grasp_object.mesh, varied, grasp_object.label), T)


def judge_again(grasps: Sequence[RankedGrasp], grasp_object: GraspObject, hand: HandModel,
                task: Task, options: PlannerOptions, samples: int, seed: int = 0,
                go_on: Callable[[], bool] = lambda: True) -> list[RankedGrasp]:
    """
    Return grasps with the share of samples under which each holds its object unharmed.

    Parameters
    ----------
    grasps : sequence of RankedGrasp
    grasp_object : GraspObject
    hand : HandModel
    task : Task
        What the object stands on is moved with it.
    options : PlannerOptions
        Their ``uncertainty`` says how much all but the pose varies.
    samples, seed : int
        The same give the same numbers; 0 samples leave the grasps as they are.
    go_on : callable
        Asked before each grasp of a sample; once it returns False whole samples count alone.

    Returns
    -------
    list of RankedGrasp
        As ``surest_first`` has them; in their order where an arm or the task's wish for fingers
        has chosen it.

    Notes
    -----
    Own choice: the hand closes as planned on an object that lies elsewhere and is free; it
    holds if the closed hand bears the loads (``moving_object.closing_motion``) and no link
    presses harder than object and pad bear. Peaks of pressure grow with the third root of the
    force, as Hertz's do. Left out: pressure that rises faster at edges, and what the hand may
    meet beside the object.
    """
    loads = some_loads(task_load_cases(task, grasp_object.canonical_frame[:3, :3]))
    rows: list[list[tuple[bool, float]]] = []

    def verdict(grasp: RankedGrasp) -> tuple[bool, float] | None:
        return _verdict(grasp, sample, hand, task, options, loads) if go_on() else None

    with ThreadPoolExecutor(THREADS) as pool:
        for sample in draw_samples(grasp_object, options.uncertainty, task.pose_uncertainty,
                                   samples if grasps else 0, seed):
            row = [found for found in pool.map(verdict, grasps) if found is not None]
            if len(row) < len(grasps):
                break
            rows.append(row)
    if not rows:
        return list(grasps)
    found = [summarise(verdicts) for verdicts in zip(*rows)]
    judged = [replace(grasp, robustness=one) for grasp, one in zip(grasps, found)]
    if task.reach == PREFER_FINGERS or any(grasp.arm_motion is not None for grasp in judged):
        return judged
    return [replace(judged[number], rank=rank)
            for rank, number in enumerate(surest_first(found), start=1)]


def surest_first(found: Sequence[Robustness]) -> list[int]:
    """
    Return numbers of grasps: in their order those that nothing tells apart from the surest.

    A share is told apart where it falls short of the surest one's by more than their standard
    errors together: of eight samples two that fail, of a hundred four. The others follow by
    their shares.
    """
    best = max(found, key=lambda one: one.holding)

    def told_short(number: int) -> float:
        short = best.holding - found[number].holding
        return short if short > best.error + found[number].error else 0.0
    return sorted(range(len(found)), key=told_short)


def _verdict(grasp: RankedGrasp, sample: Sample, hand: HandModel, task: Task,
             options: PlannerOptions, loads: Array) -> tuple[bool, float]:
    """Return whether a grasp holds a sample unharmed, and which multiple of the loads."""
    body, dynamics = sample.grasp_object, replace(options.closing, drag=DRAG)
    command = pressing_command(hand, grasp, options.uncertainty.squeeze)
    moving = close_on(body, hand, task, inverse(sample.T_object_moved) @ grasp.T_object_palm,
                      grasp.trajectory, command, dynamics, mean_friction_radius(grasp))
    forces = moving.normal_forces
    holds = bool((forces <= most_forces(grasp, hand, body.material)).all()) and bears_loads(
        moving, body, command, loads)
    return holds, grasp.margin * _over_planned(grasp, forces) if holds else 0.0


def most_forces(grasp: RankedGrasp, hand: HandModel, material: Material) -> Array:
    """
    Return the normal force that each link may press with (L,) [N].

    A link that bears force in the plan may press until its peak pressure, which grows with the
    third root of the force (Hertz), comes to the limit of material or pad; others no harder than
    the gentlest of these.
    """
    forces, shares = np.zeros((2, len(hand.links)))
    links = [hand.link_index(contact.link) for contact in grasp.contacts]
    for link, contact in zip(links, grasp.contacts):
        pad = hand.links[link].pad
        limit = min(material.max_pressure, np.inf if pad is None else pad.max_pressure)
        forces[link] += abs(float(contact.closing_force @ contact.normal))
        shares[link] = max(shares[link], contact.peak_pressure / limit)
    most = np.divide(forces, shares ** 3, out=np.full(len(forces), np.inf), where=shares > 0.0)
    most[np.setdiff1d(np.arange(len(most)), links)] = most.min()
    return np.minimum(most, material.force_limit)


def _over_planned(grasp: RankedGrasp, forces: Array) -> float:
    """Return the sum of normal forces over that with which a grasp was closed [-]."""
    planned = sum(abs(float(c.closing_force @ c.normal)) for c in grasp.contacts)
    return float(forces.sum()) / planned if planned > 0.0 else 0.0


def summarise(verdicts: Sequence[tuple[bool, float]]) -> Robustness:
    """
    Return the robustness of a grasp from its verdicts: whether it holds, and its margin.

    Parameters
    ----------
    verdicts : sequence of (bool, float)
        At least one.

    Notes
    -----
    The standard error is that of Agresti & Coull 1998, sqrt(p (1 - p) / n') with two
    successes and two failures added: it does not vanish where all samples hold.

    """
    count, holding = len(verdicts), sum(holds for holds, _ in verdicts)
    share = (holding + 2.0) / (count + 4.0)
    return Robustness(count, holding / count,
                      float(np.sqrt(share * (1.0 - share) / (count + 4.0))),
                      float(np.mean([margin for _, margin in verdicts])))
