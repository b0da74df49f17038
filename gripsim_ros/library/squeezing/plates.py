"""Squeezing objects between plates, and materials from measured squeezes."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import yaml
from numpy.typing import NDArray

from ...core.bodies import GraspObject, Material, TriangleMesh
from ...core.bodies.material import NUMBERS
from ...core.errors import TaskError
from ...core.mechanics.finite_strain.calibration import (
    Calibration, MeasuredCurve, calibrate_from_curves)
from ...core.mechanics.finite_strain.squeezing import (
    CurvePoint, SqueezedBody, Squeezing, squeeze_body)
from .measured_curves import read_curve

Array = NDArray[np.float64]

#: Points of a curve where none are asked for.
DEFAULT_STEPS = 10
#: How ends behave at the plates.
ENDS = ('sliding', 'bonded')
#: Poisson's ratio of a material that is calibrated where none is given: rubber-like.
RUBBER_RATIO = 0.499
#: What is not measured by a squeeze and must stand in a material file [kg/m^3], [-].
ASSUMED_DENSITY, ASSUMED_FRICTION = 1000.0, 0.6


def squeeze_object(grasp_object: GraspObject, way: float, *,
                   axis: Sequence[float] | Array = (0.0, 0.0, 1.0), steps: int = DEFAULT_STEPS,
                   ends: str = 'sliding',
                   on_point: Callable[[CurvePoint], bool | None] | None = None) -> Squeezing:
    """
    Return what squeezing an object between two rigid plates takes.

    Parameters
    ----------
    grasp_object : GraspObject
        Its material's modulus, Poisson's ratio and law of finite strain count.
    way : float
        By which the plates come nearer after the first touch, at most 0.8 of the object's
        thickness along the axis [m].
    axis : (3,) float
        Along which the plates move, frame object.
    steps : int
        Points of the curve.
    ends : str
        ``sliding``: without friction; ``bonded``: what touches a plate sticks to it.
    on_point : callable, optional
        Called with each point; return False to stop there.

    Raises
    ------
    TaskError, MeshError, MaterialError
        In one clear line.
    """
    _check_ends(ends)
    body = SqueezedBody.of_mesh(grasp_object.mesh, np.asarray(axis, float), way,
                                way / max(steps, 1))
    return squeeze_body(body, grasp_object.material, way, steps, ends == 'bonded', on_point)


def calibrate_material(curves: Sequence[str | Path | MeasuredCurve], mesh: TriangleMesh, *,
                       axis: Sequence[float] | Array = (0.0, 0.0, 1.0), max_strain: float = 0.05,
                       law: str = 'neo_hookean', ends: str = 'sliding',
                       columns: tuple[str, str] | None = None, unit_way: str | None = None,
                       poisson_ratio: float = RUBBER_RATIO, density: float = ASSUMED_DENSITY,
                       friction: float = ASSUMED_FRICTION,
                       on_trial: Callable[[int], bool | None] | None = None) -> Calibration:
    """
    Return the material whose squeeze between plates follows measured curves.

    Parameters
    ----------
    curves : sequence of file or MeasuredCurve
        Files as ``read_curve`` takes them.
    mesh : TriangleMesh
        Of the specimen [m].
    axis : (3,) float
        Along which the plates moved, frame of the mesh.
    max_strain : float
        Way over thickness up to which the curves are read, above 0 and at most 0.7.
    law : str
        ``neo_hookean``, ``yeoh`` or ``ogden``.
    ends : str
        ``sliding`` or ``bonded``.
    columns, unit_way
        See ``read_curve``.
    poisson_ratio, density, friction : float
        Not measured by this, written as given.
    on_trial : callable, optional
        Called with the number of computed curves; return False to stop.

    Raises
    ------
    CurveError, TaskError, MeshError, MaterialError
        In one clear line.
    """
    _check_ends(ends)
    if not 0.0 < max_strain <= 0.7:
        raise TaskError(f'max_strain must be above 0 and at most 0.7, got {max_strain}')
    if not curves:
        raise TaskError('at least one curve is needed')
    start = {'yeoh': (0.0, 0.0), 'ogden': (2.0,)}.get(law, ())
    material = Material(1.0, poisson_ratio, density, friction, law=law, law_parameters=start)
    measured = [curve if isinstance(curve, MeasuredCurve) else
                read_curve(curve, columns, unit_way) for curve in curves]
    direction = np.asarray(axis, float)
    heights = mesh.vertices @ direction / max(float(np.linalg.norm(direction)), 1e-300)
    body = SqueezedBody.of_mesh(mesh, direction, max_strain * float(np.ptp(heights)))
    return calibrate_from_curves(body, measured, material, max_strain, ends == 'bonded', on_trial)


def write_material(material: Material, path: str | Path) -> None:
    """Write a material file that ``load_material`` reads."""
    values = {name: getattr(material, name) for name in NUMBERS
              if np.isfinite(getattr(material, name))}
    optional = {'law': material.law, 'law_parameters': list(material.law_parameters),
                'max_strain': material.max_strain, 'modulus_spread': material.modulus_spread,
                'source': material.source}
    text = yaml.safe_dump({**values, **optional}, sort_keys=False, allow_unicode=True)
    Path(path).write_text(text, encoding='utf-8')


def _check_ends(ends: str) -> None:
    if ends not in ENDS:
        raise TaskError(f'ends must be {" or ".join(ENDS)}, got {ends!r}')
