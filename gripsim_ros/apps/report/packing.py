"""Numbers, arrays and meshes as they stand in a report: packed for a script element."""

import base64
import json
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...core.bodies import TriangleMesh


def packed_json(data: Mapping[str, Any]) -> str:
    """Return strict JSON as base64 of a zlib stream: a third as long, and ends no element."""
    text = json.dumps(data, allow_nan=False, separators=(',', ':'))
    return base64.b64encode(zlib.compress(text.encode('utf-8'))).decode('ascii')


def packed_mesh(mesh: TriangleMesh) -> dict[str, str]:
    """Return a mesh's vertices and faces, each packed."""
    return {'vertices': packed(mesh.vertices, '<f4'), 'faces': packed(mesh.faces, '<u4')}


def packed(array: ArrayLike, kind: str) -> str:
    """Return an array as base64 of numbers of a kind, such as ``<f4``."""
    return base64.b64encode(np.ascontiguousarray(array, dtype=kind).tobytes()).decode('ascii')


def numbers(array: NDArray[np.float64]) -> list[float]:
    """Return the numbers of a row ``(n,)``."""
    return [float(number) for number in array]
