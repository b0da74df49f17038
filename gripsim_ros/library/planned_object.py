"""The object of a file of grasps, read again: a mesh, or points of one side that are closed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.bodies import GraspObject, load_mesh, material_from_mapping
from ..core.bodies.scans.complete import CompletedScan, complete_scan
from ..core.bodies.scans.reading import POINT_ENDINGS, has_faces, read_points
from ..core.errors import GripsimError, MeshError, ShapeError
from .resources import resolve_uri

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Completion:
    """
    How points of one side were closed.

    ``method`` is the assumption; ``viewpoint`` (3,) is where the sensor stood, in the file's
    unit, None where that was estimated.
    """

    method: str
    viewpoint: Sequence[float] | None = None

    def to_mapping(self) -> dict[str, Any]:
        """Return it as files of grasps hold it."""
        return {'method': self.method,
                'viewpoint': None if self.viewpoint is None else list(self.viewpoint)}


def are_points(path: str | Path) -> bool:
    """Return True if a file holds points and no faces, by its ending and, for PLY, its header."""
    path = Path(path)
    return path.suffix.lower().lstrip('.') in POINT_ENDINGS and path.is_file() \
        and not has_faces(path)


def completion_of_grasps(content: Any) -> Completion | None:
    """
    Return how the object of a file of grasps was completed; None where it is a mesh.

    Raises
    ------
    ShapeError
        The file tells it otherwise than ``gripsim plan`` writes it.
    """
    told = content.get('object') if isinstance(content, Mapping) else None
    given = told.get('completion') if isinstance(told, Mapping) else None
    if given is None:
        return None
    try:
        viewpoint = given.get('viewpoint')
        place = None if viewpoint is None else tuple(float(number) for number in viewpoint)
        if place is not None and (len(place) != 3 or not np.isfinite(place).all()):
            raise ValueError(f'viewpoint {viewpoint}')
        return Completion(str(given['method']), place)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ShapeError('object: completion must be {method, viewpoint: [x, y, z] or null}; '
                         f'wrong at {error}') from error


def object_of_grasps(content: Any, path: Path, mesh: str = '') -> GraspObject:
    """
    Return the object for which the grasps of a file were planned.

    Parameters
    ----------
    content : Any
        Of the file: ``object`` with ``mesh``, ``scale``, ``material`` and, of points,
        ``completion`` is read.
    path : Path
        Of the file: a mesh that is not where it says is looked for beside it.
    mesh : str
        The mesh or points, where neither is true; '' as the file says.

    Raises
    ------
    GripsimError
        Something is missing, or mesh, points or material cannot be used.
    """
    told = content.get('object') if isinstance(content, Mapping) else None
    try:
        name, scale, material = str(told['mesh']), float(told['scale']), dict(told['material'])
    except (KeyError, TypeError, ValueError) as error:
        raise ShapeError(f'{path} does not tell its object {{mesh, scale, material}} as `gripsim '
                         f'plan --out` writes it; wrong at {error}') from error
    completion, file = completion_of_grasps(content), _find(mesh or name, path)
    stuff = material_from_mapping(material)
    if completion is None or mesh and not are_points(file):
        return GraspObject(load_mesh(file, scale).mesh, stuff, file.stem)
    closed = complete_points(read_points(file), completion, scale, file)
    return GraspObject(closed.mesh, stuff, file.stem, closed.seen)


def complete_points(points: Array, completion: Completion, scale: float, name: str | Path
                    ) -> CompletedScan:
    """Return the body of points (n, 3) in the file's unit; errors name the file."""
    try:
        return complete_scan(points, completion.method, scale, completion.viewpoint)
    except GripsimError as error:
        raise type(error)(f'{name}: {error}') from None


def _find(name: str, grasps: Path) -> Path:
    """Return where a file is: where it says, or beside the grasps."""
    beside = [grasps.parent / name, grasps.parent / Path(name).name] if '://' not in name else []
    try:
        return Path(resolve_uri(name))
    except MeshError as error:
        for file in beside:
            if file.is_file():
                return file
        raise MeshError(f'{error}; --mesh names the object where it is elsewhere') from error
