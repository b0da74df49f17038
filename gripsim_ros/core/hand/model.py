"""The model of a hand: links with meshes and pads, joints with limits, preshapes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path


from ..arrays import Array, BoolArray, IntArray
from ..errors import HandError
from .description import Finger, HandLink, Preshape, named_vector
from .outline import HandOutline
from .tree import KinematicTree


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
    palm_axes : (3, 3) float
        Columns, in the palm's frame: the last is the direction in which the palm goes to the
        object, the first that along which the fingers close.
    prismatic : (J,) bool
        Joints that slide: their values are metres and newtons.
    notes : tuple of str
        What was done to the links' shapes.
    files : tuple of Path
        Of the URDF and of the configuration, as they were read.
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
    moves_link: BoolArray
    neighbours: BoolArray
    fingers: tuple[Finger, ...]
    preshapes: tuple[Preshape, ...]
    palm_index: int
    tree: KinematicTree
    link_frames: IntArray
    palm_axes: Array
    prismatic: BoolArray
    notes: tuple[str, ...]
    files: tuple[Path, Path]

    @classmethod
    def load(cls, urdf_path: str | Path, config_path: str | Path | None = None,
             resolve_uri: Callable[[str], Path] | None = None) -> 'HandModel':
        """
        Return the hand of a URDF and a configuration file.

        Parameters
        ----------
        urdf_path, config_path : path
            Plain URDF (no xacro); YAML as ``config/hands/sdh.yaml``. With one path alone it is
            that of the YAML, which names its URDF.
        resolve_uri : callable, optional
            Turns a mesh's URI of the URDF into a path, where it is not relative to the URDF and
            not of a package that the YAML names. None: packages are looked for around the URDF.

        Raises
        ------
        HandError
            A file is missing or unreadable, or the two do not fit together.
        MeshError
            A link's mesh cannot be used.
        """
        from .loading import read_hand      # with what reads meshes, which takes a second to load
        return cls(**read_hand(HandOutline.load(urdf_path, config_path, resolve_uri)))

    @property
    def approach(self) -> Array:
        """Return the unit direction (3,), frame palm, in which the palm goes to the object."""
        return self.palm_axes[:, 2]

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
