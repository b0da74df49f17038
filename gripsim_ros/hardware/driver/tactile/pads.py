"""Where the texels of the tactile matrices are, and which of them exist."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..link.errors import DriverError

Array = NDArray[np.float64]
MILLIMETRE = 1e-3


@dataclass(frozen=True, eq=False)
class Matrix:
    """
    One tactile matrix.

    Attributes
    ----------
    link : str
    columns, rows : int
        Of the readings; some of them may belong to no texel.
    texels : (t,) int
        Readings that belong to texels, by row and column.
    points_link, normals_link : (t, 3) float
        Middle of each texel, and its outward unit normal, frame link [m].
    area : float
        Of a texel [m^2].
    """

    link: str
    columns: int
    rows: int
    texels: NDArray[np.int64]
    points_link: Array
    normals_link: Array
    area: float


def read_layout(content: Any) -> tuple[Matrix, ...]:
    """
    Return the matrices of a file such as ``config/hands/sdh_tactile.yaml``.

    Raises
    ------
    DriverError
        A key is missing or of the wrong kind.
    """
    try:
        pads = content['pads']
        return tuple(_matrix(entry['link'], pads[entry['pad']]) for entry in content['matrices'])
    except (KeyError, TypeError, ValueError) as error:
        raise DriverError(f'the layout of the tactile sensors lacks or misuses {error}') from error


def _matrix(link: str, pad: Mapping[str, float]) -> Matrix:
    columns, rows, pitch = int(pad['columns']), int(pad['rows']), float(pad['pitch'])
    y, x = np.divmod(np.arange(columns * rows), columns)
    narrow = int(pad.get('narrow_rows', 0))
    exists = (y >= narrow) | ((x > 0) & (x < columns - 1))
    flat = y >= rows - int(pad['flat_rows'])
    points, normals = np.zeros((len(y), 3)), np.zeros((len(y), 3))
    points[:, 0] = float(pad['face'])
    points[:, 1] = pitch * (x - 0.5 * (columns - 1))
    points[:, 2] = float(pad['first']) + pitch * (rows - 1 - y)
    normals[:, 0] = 1.0
    if not flat.all():
        # Along the arc from where it begins; its rows keep the pitch.
        radius, last = float(pad['radius']), rows - int(pad['flat_rows'])
        angle = (pitch * (last - 0.5 - y[~flat])) / radius
        points[~flat, 0] = float(pad['face']) - radius * (1.0 - np.cos(angle))
        points[~flat, 2] = float(pad['arc_start']) + radius * np.sin(angle)
        normals[~flat, 0], normals[~flat, 2] = np.cos(angle), np.sin(angle)
    return Matrix(link, columns, rows, np.flatnonzero(exists), MILLIMETRE * points[exists],
                  normals[exists], (MILLIMETRE * pitch) ** 2)


@dataclass(frozen=True, eq=False)
class Touch:
    """
    One frame of all pads, in the order of the matrices.

    Attributes
    ----------
    stamp : int
        Of the controller [ms].
    readings : (r,) uint16
        As the controller sent them, those that belong to no texel too.
    pressures : (t,) float
        [Pa].
    forces_link : (m, 3) float
        On each link, in its frame [N].
    """

    stamp: int
    readings: NDArray[np.uint16]
    pressures: Array
    forces_link: Array


def touch_of(matrices: Sequence[Matrix], stamp: int, readings: NDArray[np.uint16],
             pressure_per_count: float, threshold: int) -> Touch:
    """
    Return pressures and forces of a frame's readings.

    A texel presses on its own area alone: the vendor's library multiplies by the area of the
    whole contact, which counts it more than once [I].
    """
    pressures, forces, begin = [], [], 0
    for matrix in matrices:
        cells = readings[begin:begin + matrix.columns * matrix.rows][matrix.texels].astype(float)
        begin += matrix.columns * matrix.rows
        pressure = np.where(cells >= threshold, cells, 0.0) * pressure_per_count
        pressures.append(pressure)
        forces.append(-matrix.area * pressure @ matrix.normals_link)
    return Touch(stamp, readings, np.concatenate(pressures), np.array(forces))
