"""What a hand is: links with meshes and pads, joints with limits, preshapes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..bodies.mesh import TriangleMesh
from ..errors import HandError
from .tree import KinematicTree

Array = NDArray[np.float64]


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
    """A way to close: joint vectors ``open`` and ``closed``, ``(J,)`` [rad]."""

    name: str
    open: Array
    closed: Array


@dataclass(frozen=True, eq=False)
class Finger:
    """A chain from the palm to an outermost link; indices of links and of joints."""

    name: str
    links: tuple[int, ...]
    joints: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class HandModel:
    """
    A hand as its URDF and its file of grasping facts describe it.

    ``J`` actuated joints, ``L`` links with geometry, ``F`` frames (every URDF link).

    Attributes
    ----------
    name : str
    id : str
        Hash of the URDF, the configuration and the link meshes; of contents, not paths.
    base_link : str
        The palm; joint kinematics are in its frame.
    joint_names : tuple of str, (J,)
        Actuated joints; the order of every joint vector.
    link_names : tuple of str, (L,)
        Links with geometry, base link's branch first.
    links : tuple of HandLink, (L,)
    joint_lower, joint_upper : (J,) float
        [rad] (a prismatic joint: [m]), narrowed by those of mimic joints.
    joint_efforts, joint_velocities : (J,) float
        Limits [N m], [rad/s].
    joint_stiffness : (J,) float
        Of the position control [N m/rad].
    moves_link : (L, J) bool
        Joint j moves link l.
    neighbours : (L, L) bool
        Links that a joint connects or the configuration calls adjacent, and each with
        itself: pairs that need no check against each other.
    fingers : tuple of Finger
    preshapes : tuple of Preshape
    palm_index : int
        Index of the base link in ``links``.
    tree : KinematicTree
    link_frames : (L,) int
        Index of each link in the tree's frames.
    """

    name: str
    id: str
    base_link: str
    joint_names: tuple[str, ...]
    link_names: tuple[str, ...]
    links: tuple[HandLink, ...]
    joint_lower: Array
    joint_upper: Array
    joint_efforts: Array
    joint_velocities: Array
    joint_stiffness: Array
    moves_link: NDArray[np.bool_]
    neighbours: NDArray[np.bool_]
    fingers: tuple[Finger, ...]
    preshapes: tuple[Preshape, ...]
    palm_index: int
    tree: KinematicTree
    link_frames: NDArray[np.int64]

    @classmethod
    def load(cls, urdf_path: str | Path, config_path: str | Path,
             resolve_uri: Callable[[str], Path]) -> 'HandModel':
        """
        Return the hand of a URDF and a configuration file.

        Parameters
        ----------
        urdf_path, config_path : path
            Plain URDF (no xacro); YAML as ``config/hands/sdh.yaml``.
        resolve_uri : callable
            Turns a mesh's URI of the URDF into a path.

        Raises
        ------
        HandError
            A file is missing or unreadable, or the two do not fit together.
        MeshError
            A link's mesh cannot be used.
        """
        from .loading import load_hand
        return load_hand(urdf_path, config_path, resolve_uri)

    @property
    def frame_names(self) -> tuple[str, ...]:
        """Return the names of all frames, those without geometry too."""
        return self.tree.names

    def link_index(self, name: str) -> int:
        """
        Return the index of a link with geometry.

        Raises
        ------
        HandError
            There is no such link.
        """
        if name not in self.link_names:
            raise HandError(f'no link {name!r} in hand {self.name!r} ({list(self.link_names)})')
        return self.link_names.index(name)

    def joint_vector(self, values: Mapping[str, float]) -> Array:
        """
        Return the joint vector ``(J,)`` of named values [rad].

        Raises
        ------
        HandError
            A name is unknown, an actuated joint is missing, or a value is not finite.
        """
        return named_vector(self.joint_names, values, f'hand {self.name!r}')


def named_vector(joint_names: tuple[str, ...], values: Mapping[str, float],
                 where: str) -> Array:
    """Return ``(J,)`` floats from a mapping that names each joint once."""
    unknown = [name for name in values if name not in joint_names]
    if unknown:
        raise HandError(f'{where}: unknown joint {unknown[0]!r}; '
                        f'the actuated joints are {list(joint_names)}')
    missing = [name for name in joint_names if name not in values]
    if missing:
        raise HandError(f'{where}: no value for joint {missing[0]!r}')
    try:
        vector = np.array([float(values[name]) for name in joint_names])
    except (TypeError, ValueError):
        raise HandError(f'{where}: joint values must be numbers, '
                        f'got {dict(values)}') from None
    if not np.isfinite(vector).all():
        raise HandError(f'{where}: joint values must be finite, got {vector.tolist()}')
    return vector
