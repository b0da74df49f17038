"""A plan in words and numbers, for people: what was asked, what each grasp is worth."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import yaml
from scipy.spatial.transform import Rotation

from ...core.bodies import GraspObject
from ...core.planning import Task
from ...core.planning.ranked_grasp import RankedGrasp
from ...core.planning.task import ANY, POSE_UNCERTAINTY


@dataclass(frozen=True)
class ToldGrasp:
    """Numbers of a grasp by name, with units, and what each term gives to its score [-]."""

    numbers: Mapping[str, str] = field(default_factory=dict)
    terms: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class ToldPlan:
    """The request by name, and the grasps, best first."""

    request: Mapping[str, str] = field(default_factory=dict)
    grasps: Sequence[ToldGrasp] = ()

    def grasp(self, rank: int) -> ToldGrasp:
        """Return what is told of a grasp; nothing of one that there is not."""
        return self.grasps[rank - 1] if 0 < rank <= len(self.grasps) else ToldGrasp()

    def to_yaml(self) -> str:
        """Return it as the text that a planner publishes."""
        return yaml.safe_dump({'request': dict(self.request), 'grasps': [
            {'numbers': dict(grasp.numbers), 'terms': dict(grasp.terms)}
            for grasp in self.grasps]}, sort_keys=False, allow_unicode=True)


def plan_from_yaml(text: str) -> ToldPlan:
    """Return what ``ToldPlan.to_yaml`` wrote; an empty plan where it is something else."""
    try:
        content = yaml.safe_load(text)
        return ToldPlan({str(k): str(v) for k, v in content['request'].items()}, [
            ToldGrasp({str(k): str(v) for k, v in grasp['numbers'].items()},
                      {str(k): float(v) for k, v in grasp['terms'].items()})
            for grasp in content['grasps']])
    except (yaml.YAMLError, KeyError, TypeError, ValueError, AttributeError):
        return ToldPlan()


def tell_request(grasp_object: GraspObject, name: str, task: Task,
                 statistics: Mapping[str, Any] | None = None) -> dict[str, str]:
    """
    Return a request in words: the object, its material, what the task wants, how it went.

    Parameters
    ----------
    grasp_object : GraspObject
    name : str
        Of its mesh.
    task : Task
    statistics : mapping, optional
        ``evaluated``, ``in_contact``, ``planning_time`` [s] of the plan, ``hint`` why there is no
        grasp, as far as known.
    """
    body, material = grasp_object, grasp_object.material
    size = ' x '.join(f'{1e3 * extent:.0f}' for extent in np.asarray(body.mesh.extents))
    limit = material.max_pressure
    told = {
        'object': f'{name}, {size} mm, {1e3 * body.mass_properties.mass:.0f} g',
        'material': f'{material.name or "unnamed"}: E {_modulus(material.youngs_modulus)}, '
                    f'Poisson {material.poisson_ratio:g}, friction {material.friction:g}'
                    + (f', at most {1e-3 * limit:.4g} kPa' if limit and np.isfinite(limit)
                       else ''),
        **_task(task)}
    counts = statistics or {}
    if 'evaluated' in counts:
        told['hypotheses'] = f'{counts["evaluated"]} judged' + (
            f', {counts["in_contact"]} in contact' if 'in_contact' in counts else '')
    if 'planning_time' in counts:
        told['planning'] = f'{counts["planning_time"]:.2f} s'
    if counts.get('hint'):
        told['no grasp'] = str(counts['hint'])
    return told


def tell_grasp(grasp: RankedGrasp) -> ToldGrasp:
    """Return the numbers of a grasp that are known, and the terms of its score."""
    peak = max((contact.peak_pressure for contact in grasp.contacts), default=np.nan)
    force = sum(float(np.linalg.norm(contact.force)) for contact in grasp.contacts)
    told = {
        'score': (grasp.score, '.3f', ''), 'contacts': (len(grasp.contacts), 'd', ''),
        'force': (force, '.2f', ' N'), 'load margin': (grasp.margin, '.2f', ''),
        'damage margin': (grasp.damage_margin, '.1f', ''),
        'peak pressure': (1e-3 * peak, '.1f', ' kPa'),
        'pressed in': (1e3 * grasp.max_displacement, '.2f', ' mm'),
        'shift of the centre': (1e6 * grasp.centre_shift, '.1f', ' µm'),
        "arm's way": (np.nan if grasp.arm_motion is None else grasp.arm_motion.length, '.2f',
                      ' rad')}
    numbers = {name: f'{value:{form}}{unit}' for name, (value, form, unit) in told.items()
               if np.isfinite(value)}
    if grasp.reach is not None:
        numbers['moved by'] = grasp.reach.level.replace('_', ' ')
    if not grasp.quantitative:
        numbers['note'] = 'not quantitative'
    return ToldGrasp(numbers, {term.name: float(term.contribution) for term in grasp.terms})


def _modulus(modulus: float) -> str:
    """Return a modulus [Pa] with the unit that people read it in."""
    factor, unit = next((f, u) for f, u, least in (
        (1e-9, 'GPa', 1e9), (1e-6, 'MPa', 1e7), (1e-3, 'kPa', 0.0)) if modulus >= least)
    return f'{factor * modulus:.4g} {unit}'


def _task(task: Task) -> dict[str, str]:
    """Return the parts of a task that say something."""
    ways = len(task.gravity_directions)
    told = {'weight': f'{task.gravity:g} m/s², ' + (
        'whatever way is down' if not ways else f'{ways} direction{"s" * (ways > 1)} of down')}
    if len(task.external_wrenches):
        forces = np.linalg.norm(task.external_wrenches[:, :3], axis=1)
        told['external loads'] = f'{len(forces)}, up to {forces.max():.3g} N'
    if task.displacement_object is not None:
        T = np.asarray(task.displacement_object)
        told['moved'] = (f'{1e3 * float(np.linalg.norm(T[:3, 3])):.0f} mm, '
                         f'{np.rad2deg(Rotation.from_matrix(T[:3, :3]).magnitude()):.0f}°'
                         + ('' if task.reach == ANY else f', {task.reach.replace("_", " ")}'))
    if task.approach_direction is not None:
        told['approach'] = f'within {np.rad2deg(task.approach_half_angle):.0f}° of ' + ' '.join(
            f'{axis:.2f}' for axis in task.approach_direction)
    way, angle = task.pose_uncertainty
    if (way, angle) != POSE_UNCERTAINTY:
        told['pose known to'] = f'{1e3 * way:.3g} mm, {np.rad2deg(angle):.3g}°'
    for name in ('obstacles', 'keep_out', 'contact_region'):
        if len(getattr(task, name)):
            told[name.replace('_', ' ')] = f'{len(getattr(task, name))}'
    return told
