"""What URDF and file of a hand tell without its meshes: the tree, which links have shapes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from ..arrays import Array, IntArray
from ..errors import HandError
from .files import Resolver, mesh_finder
from .tree import FIXED, Collision, KinematicTree, Robot, build_tree, parse_hand

_KEYS = {'name', 'base_link', 'joints', 'joint_stiffness', 'fingers', 'pads', 'surfaces',
         'adjacent', 'preshapes', 'urdf', 'packages', 'approach', 'across', 'merge_fixed',
         'joint_efforts', 'joint_velocities'}
_REQUIRED = {'name', 'base_link', 'joints', 'joint_stiffness', 'fingers', 'preshapes'}


@dataclass(frozen=True, eq=False)
class Part:
    """
    Collision shapes of a link of the URDF as a part of a link with geometry.

    ``T_link_part (4, 4)`` is where that link of the URDF is in the one with geometry; None: they
    are the same.
    """

    name: str
    collisions: Sequence[Collision]
    T_link_part: Array | None


@dataclass(frozen=True, eq=False)
class HandOutline:
    """
    A hand without its meshes: all that forward kinematics needs.

    Attributes
    ----------
    name, base_link : str
    joint_names : tuple of str, (J,)
    link_names : tuple of str, (L,)
        Links with geometry, in the tree's order.
    tree : KinematicTree
    link_frames : (L,) int
        Index of each link in the tree's frames.
    parts : tuple of tuple of Part, (L,)
        What each link with geometry is made of.
    notes : tuple of str
        What stands for what.
    robot, config
        Of the URDF, and of the hand's file.
    files, texts : tuple of two
        Paths and contents of the URDF and of the hand's file.
    find : callable
        Gives the path of a mesh's URI.
    """

    name: str
    base_link: str
    joint_names: tuple[str, ...]
    link_names: tuple[str, ...]
    tree: KinematicTree
    link_frames: IntArray
    parts: tuple[tuple[Part, ...], ...]
    notes: tuple[str, ...]
    robot: Robot
    config: Mapping[str, Any]
    files: tuple[Path, Path]
    texts: tuple[bytes, bytes]
    find: Resolver

    @classmethod
    def load(cls, urdf_path: str | Path, config_path: str | Path | None = None,
             resolve_uri: Callable[[str], Path] | None = None) -> 'HandOutline':
        """
        Return the outline of a hand; arguments as of ``HandModel.load``.

        Raises
        ------
        HandError
            A file is missing or unreadable, or the two do not fit together.
        """
        own_file = config_path is None
        config_path = Path(urdf_path if config_path is None else config_path)
        config_text = _read(config_path)
        config = parse_config(config_text, config_path.name)
        urdf_path = _urdf_of(config, config_path) if own_file else Path(urdf_path)
        urdf = _read(urdf_path)
        robot = parse_hand(urdf, urdf_path.name)
        joint_names = tuple(str(name) for name in config['joints'])
        tree = build_tree(robot, config['base_link'], joint_names)
        packages = {str(name): config_path.parent / str(folder)
                    for name, folder in (config.get('packages') or {}).items()}
        parts, notes = _find_parts(robot, tree, config.get('merge_fixed', False))
        if config['base_link'] not in parts:
            raise HandError(f'base_link {config["base_link"]!r} has no collision geometry')
        return cls(
            str(config['name']), config['base_link'], joint_names, tuple(parts), tree,
            np.array([tree.names.index(name) for name in parts]),
            tuple(map(tuple, parts.values())), notes, robot, config,
            (urdf_path.absolute(), config_path.absolute()), (urdf, config_text),
            mesh_finder(urdf_path, packages, resolve_uri))

    def content_id(self) -> str:
        """
        Return the hash of the URDF, the configuration and the link meshes.

        Contents count: line ends of text and places of files do not matter.

        Raises
        ------
        HandError
            A mesh is missing.
        """
        digest = hashlib.sha256()
        for text in self.texts:
            digest.update(hashlib.sha256(text.replace(b'\r\n', b'\n')).digest())
        for parts in self.parts:
            digest.update(_joined([_joined([_digest(part.name, collision, self.find)
                                            for collision in part.collisions])
                                   for part in parts]))
        return digest.hexdigest()


def mesh_file(name: str, collision: Collision, find: Resolver) -> Path | None:
    """
    Return the file of a collision shape; None where it is a box, a cylinder or a ball.

    Raises
    ------
    HandError
        There is no such file; the message calls the link ``name``.
    """
    if not hasattr(collision.geometry, 'filename'):
        return None
    path = Path(find(collision.geometry.filename))
    if not path.is_file():
        raise HandError(f'link {name!r}: no mesh at {collision.geometry.filename}')
    return path


def _digest(name: str, collision: Collision, find: Resolver) -> bytes:
    path = mesh_file(name, collision, find)
    return b'' if path is None else hashlib.sha256(path.read_bytes()).digest()


def _joined(digests: Sequence[bytes]) -> bytes:
    return digests[0] if len(digests) == 1 else hashlib.sha256(b''.join(digests)).digest()


def _urdf_of(config: Mapping[str, Any], config_path: Path) -> Path:
    """Return the URDF that a hand's file names, relative to itself."""
    if not config.get('urdf'):
        raise HandError(f'{config_path.name}: names no URDF; add the key urdf, a path relative to '
                        'the file itself')
    return config_path.parent / config['urdf']


def _find_parts(robot: Robot, tree: KinematicTree, merge_fixed: bool
                ) -> tuple[dict[str, list[Part]], tuple[str, ...]]:
    """
    Return the parts of the links with geometry, by name in the tree's order; and notes.

    With ``merge_fixed`` a link that is fixed to another is a part of it. Where it has no visual
    shape though the other has one, it is a safety envelope of an arm's software, larger than
    what is there, and left out.
    """
    links = {link.name: link for link in robot.links}
    base = tree.names[0]
    visual = set() if any(links[name].collisions for name in tree.names) else set(tree.names)
    visual |= set() if links[base].collisions or merge_fixed else {base}
    notes = [f'{name}: no collision shape; its visual one stands for it' for name in tree.names
             if name in visual and links[name].visuals]
    parts: dict[str, list[Part]] = {}
    T_carrier = np.tile(np.eye(4), (len(tree.names), 1, 1))
    carrier = list(range(len(tree.names)))
    for f, name in enumerate(tree.names):
        if merge_fixed and f > 0 and tree.kind[f] == FIXED:
            above = int(tree.parent[f])
            carrier[f], T_carrier[f] = carrier[above], T_carrier[above] @ tree.T_parent_joint[f]
        collisions = [shape for shape in (
            links[name].visuals if name in visual else links[name].collisions)
            if not _is_a_point(shape)]
        if not collisions:
            continue
        if carrier[f] != f and links[tree.names[carrier[f]]].visuals and not links[name].visuals:
            notes.append(f'{name}: collision shapes without visual ones, fixed to '
                         f'{tree.names[carrier[f]]}: left out as a safety envelope')
            continue
        parts.setdefault(tree.names[carrier[f]], []).append(
            Part(name, collisions, T_carrier[f] if carrier[f] != f else None))
    return {name: parts[name] for name in tree.names if name in parts}, tuple(notes)


def _is_a_point(shape: Collision) -> bool:
    """Return whether a primitive has no size at all: balls of radius 0 stand for frames."""
    sizes = [getattr(shape.geometry, key, None) for key in ('size', 'radius', 'length')]
    numbers = np.ravel(np.array([size for size in sizes if size is not None], dtype=float))
    return len(numbers) > 0 and not numbers.any()


def _read(path: str | Path) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise HandError(f'cannot read {path}: {error.strerror}') from None


def parse_config(text: bytes, label: str) -> dict[str, Any]:
    """
    Return the content of a hand's file.

    Raises
    ------
    HandError
        It is no YAML, a key is unknown or missing, or a value is of the wrong kind.
    """
    try:
        config = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise HandError(f'{label}: not readable YAML: {" ".join(str(error).split())}') from None
    if not isinstance(config, dict):
        raise HandError(f'{label}: expected a mapping with the keys {sorted(_REQUIRED)}')
    if set(config) - _KEYS:
        raise HandError(f'{label}: unknown key {sorted(set(config) - _KEYS, key=str)[0]!r}; '
                        f'allowed are {sorted(_KEYS)}')
    if _REQUIRED - set(config):
        raise HandError(f'{label}: key {sorted(_REQUIRED - set(config))[0]!r} is missing')
    for key, kind in (('base_link', str), ('joints', list), ('fingers', dict), ('preshapes', dict),
                      ('pads', dict), ('surfaces', dict), ('adjacent', list), ('urdf', str),
                      ('packages', dict), ('merge_fixed', bool)):
        if not isinstance(config.get(key) or kind(), kind):
            raise HandError(f'{label}: {key} must be a {kind.__name__}, got {config[key]!r}')
    return config
