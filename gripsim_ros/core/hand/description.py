"""The parts of a hand: pads, links with their surfaces, fingers, preshapes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import Array
from ..errors import HandError
from ..fields import checked_array

if TYPE_CHECKING:
    from ..bodies.mesh import TriangleMesh


@dataclass(frozen=True)
class Pad:
    """
    The elastic layer on a link's palmar side.

    Attributes
    ----------
    youngs_modulus : float
        [Pa], above 0.
    poisson_ratio : float
        [-], above -1 and below 0.5.
    thickness : float
        [m], above 0.
    max_pressure : float
        What the pad bears, or its sensor reads [Pa], above 0.

    Raises
    ------
    HandError
        A number is outside its range.
    """

    youngs_modulus: float
    poisson_ratio: float
    thickness: float
    max_pressure: float = np.inf

    def __post_init__(self) -> None:
        """Check the ranges."""
        for name in ('youngs_modulus', 'thickness', 'max_pressure'):
            if not getattr(self, name) > 0.0:
                raise HandError(f'pad {name} must be above 0, got {getattr(self, name)}')
        if not -1.0 < self.poisson_ratio < 0.5:
            raise HandError('pad poisson_ratio must be above -1 and below 0.5, '
                            f'got {self.poisson_ratio}')


@dataclass(frozen=True, eq=False)
class HandLink:
    """
    A link with geometry, in its own frame.

    Attributes
    ----------
    name : str
    mesh : TriangleMesh
        [m].
    pad : Pad or None
        None: the link's surface is taken as rigid.
    pad_point : (3,) float
        Middle of the palmar surface, on the mesh [m].
    pad_normal : (3,) float
        Outward unit normal there.
    """

    name: str
    mesh: TriangleMesh
    pad: Pad | None
    pad_point: Array
    pad_normal: Array


@dataclass(frozen=True, eq=False)
class Preshape:
    """A named pair of postures: joint vectors ``open`` and ``closed``, ``(J,)`` [rad]."""

    name: str
    open: Array
    closed: Array


@dataclass(frozen=True, eq=False)
class Finger:
    """A chain from the palm to an outermost link; indices of links and of joints."""

    name: str
    links: tuple[int, ...]
    joints: tuple[int, ...]


def named_vector(joint_names: tuple[str, ...], values: Mapping[str, float], where: str) -> Array:
    """Return ``(J,)`` floats from a mapping that names each joint once."""
    unknown = [name for name in values if name not in joint_names]
    if unknown:
        raise HandError(f'{where}: unknown joint {unknown[0]!r}; '
                        f'the actuated joints are {list(joint_names)}')
    missing = [name for name in joint_names if name not in values]
    if missing:
        raise HandError(f'{where}: no value for joint {missing[0]!r}')
    return checked_array([values[name] for name in joint_names], f'{where}: joint values',
                         len(joint_names), error=HandError)


def three_numbers(values: Any, wanted: str) -> Array:
    """Return three finite numbers, or raise ``HandError`` that says what is wanted."""
    try:
        vector = np.asarray(values, float)
    except (TypeError, ValueError):
        vector = np.zeros(0)
    if vector.shape != (3,) or not np.isfinite(vector).all():
        raise HandError(f'{wanted}, got {values!r}')
    return vector


def checked_direction(values: Any, name: str) -> Array:
    """Return a direction of three numbers at length 1, or raise ``HandError``."""
    wanted = f'{name} must be three finite numbers, not all 0'
    vector = three_numbers(values, wanted)
    if not np.linalg.norm(vector) > 1e-9:
        raise HandError(f'{wanted}, got {values!r}')
    return vector / np.linalg.norm(vector)
