"""Assemble a hand from its URDF, its configuration and its link meshes."""

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from ..arrays import Array, BoolArray, IntArray
from ..errors import HandError
from .description import Finger, Pad, Preshape, named_vector
from .link_surfaces import LinkShape, load_shape, make_link
from .tree import KinematicTree, build_tree, parse_urdf, per_joint
from .urdf import Joint, Limit, Robot


_KEYS = {'name', 'base_link', 'joints', 'joint_stiffness', 'fingers', 'pads', 'surfaces',
         'adjacent', 'preshapes'}
_REQUIRED = {'name', 'base_link', 'joints', 'joint_stiffness', 'fingers', 'preshapes'}


def read_hand(urdf_path: str | Path, config_path: str | Path,
              resolve_uri: Callable[[str], Path]) -> dict[str, Any]:
    """Return the fields of a ``HandModel`` by name; see ``HandModel.load``."""
    urdf, config_text = _read(urdf_path), _read(config_path)
    config = _parse_config(config_text, Path(config_path).name)
    robot = parse_urdf(urdf, Path(urdf_path).name)
    joint_names = tuple(str(name) for name in config['joints'])
    tree = build_tree(robot, config['base_link'], joint_names)
    solids = {link.name: link for link in robot.links if link.collisions}
    names = tuple(name for name in tree.names if name in solids)
    if config['base_link'] not in names:
        raise HandError(f'base_link {config["base_link"]!r} has no collision geometry')
    shapes = [load_shape(solids[name], resolve_uri) for name in names]
    frames = np.array([tree.names.index(name) for name in names])
    pads, surfaces = _pads(config), _surfaces(config, names)
    lower, upper = _limits(robot, tree, joint_names)
    moves = _moves_link(tree, frames, len(joint_names))
    return {
        'name': str(config['name']), 'id': _content_hash(urdf, config_text, shapes),
        'base_link': config['base_link'], 'joint_names': joint_names, 'link_names': names,
        'links': tuple(make_link(name, shape.mesh, surfaces.get(name, {}), pads)
                       for name, shape in zip(names, shapes)),
        'joint_lower': lower, 'joint_upper': upper,
        'joint_efforts': per_joint(robot, joint_names, lambda joint: _limit(joint).effort),
        'joint_velocities': per_joint(robot, joint_names, lambda joint: _limit(joint).velocity),
        'joint_stiffness': _stiffness(config['joint_stiffness'], joint_names),
        'moves_link': moves, 'neighbours': _neighbours(config, tree, frames, names),
        'fingers': _fingers(config, tree, frames, names, moves),
        'preshapes': _preshapes(config, joint_names, lower, upper),
        'palm_index': names.index(config['base_link']), 'tree': tree, 'link_frames': frames}


def _read(path: str | Path) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise HandError(f'cannot read {path}: {error.strerror}') from None


def _parse_config(text: bytes, label: str) -> dict[str, Any]:
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
                      ('pads', dict), ('surfaces', dict), ('adjacent', list)):
        if not isinstance(config.get(key) or kind(), kind):
            raise HandError(f'{label}: {key} must be a {kind.__name__}, got {config[key]!r}')
    return config


def _content_hash(urdf: bytes, config: bytes, shapes: list[LinkShape]) -> str:
    """Hash contents: line ends of text and places of files do not matter."""
    digest = hashlib.sha256()
    for text in (urdf, config):
        digest.update(hashlib.sha256(text.replace(b'\r\n', b'\n')).digest())
    for shape in shapes:
        digest.update(shape.digest)
    return digest.hexdigest()


def _pads(config: Mapping[str, Any]) -> dict[str, Pad]:
    pads = {}
    for name, fields in (config.get('pads') or {}).items():
        try:
            pads[name] = Pad(**{key: float(value) for key, value in fields.items()})
        except (TypeError, ValueError, AttributeError) as error:
            raise HandError(f'pad {name!r}: {error}') from None
    return pads


def _surfaces(config: Mapping[str, Any], names: tuple[str, ...]) -> Mapping[str, Any]:
    surfaces: Mapping[str, Any] = config.get('surfaces') or {}
    for name in surfaces:
        if name not in names:
            raise HandError(f'surfaces: {name!r} is not a link with geometry ({list(names)})')
    return surfaces


def _limit(joint: Joint) -> Limit:
    if joint.limit is None:
        raise HandError(f'joint {joint.name!r} needs <limit> with effort and velocity')
    return joint.limit


def _limits(robot: Robot, tree: KinematicTree,
            joint_names: tuple[str, ...]) -> tuple[Array, Array]:
    """Return ``(lower, upper)``, narrowed so that mimic joints keep theirs."""
    free = {'continuous': np.pi}
    lower = per_joint(robot, joint_names,
                      lambda j: -free[j.type] if j.type in free else _limit(j).lower or 0.0)
    upper = per_joint(robot, joint_names,
                      lambda j: free[j.type] if j.type in free else _limit(j).upper or 0.0)
    for joint in robot.joints:
        f = tree.names.index(joint.child) if joint.child in tree.names else -1
        if joint.mimic is None or joint.limit is None or f < 0 or not tree.multiplier[f]:
            continue
        ends = [((value or 0.0) - tree.offset[f]) / tree.multiplier[f]
                for value in (joint.limit.lower, joint.limit.upper)]
        i = tree.actuator[f]
        lower[i], upper[i] = max(lower[i], min(ends)), min(upper[i], max(ends))
    if not (np.isfinite(lower).all() and np.isfinite(upper).all() and (lower < upper).all()):
        raise HandError('joint limits must satisfy lower < upper, got '
                        f'{dict(zip(joint_names, zip(lower.tolist(), upper.tolist())))}')
    return lower, upper


def _moves_link(tree: KinematicTree, frames: IntArray, joint_count: int) -> BoolArray:
    moves = np.zeros((len(frames), joint_count), bool)
    for link, f in enumerate(frames):
        drives = tree.actuator[tree.path_to_base(f)]
        moves[link, drives[drives >= 0]] = True
    return moves


def _stiffness(value: Any, joint_names: tuple[str, ...]) -> Array:
    if isinstance(value, Mapping):
        stiffness = named_vector(joint_names, value, 'joint_stiffness')
    else:
        try:
            stiffness = np.full(len(joint_names), float(value))
        except (TypeError, ValueError):
            raise HandError('joint_stiffness must be a number or a number for each joint, '
                            f'got {value!r}') from None
    if not (np.isfinite(stiffness).all() and (stiffness > 0.0).all()):
        raise HandError(f'joint_stiffness must be above 0, got {stiffness.tolist()}')
    return stiffness


def _solid_parent(tree: KinematicTree, frames: IntArray, link: int) -> int:
    """Return the nearest link with geometry towards the base; -1 for the base link."""
    above = [f for f in tree.path_to_base(frames[link])[1:] if f in frames]
    return int(np.flatnonzero(frames == above[0])[0]) if above else -1


def _neighbours(config: Mapping[str, Any], tree: KinematicTree, frames: IntArray,
                names: tuple[str, ...]) -> BoolArray:
    near = np.eye(len(names), dtype=bool)
    for link in range(len(names)):
        parent = _solid_parent(tree, frames, link)
        if parent >= 0:
            near[link, parent] = near[parent, link] = True
    for pair in config.get('adjacent') or []:
        if not isinstance(pair, list) or len(pair) != 2 or \
                any(name not in names for name in pair):
            raise HandError(f'adjacent: expected pairs of {list(names)}, got {pair!r}')
        a, b = names.index(pair[0]), names.index(pair[1])
        near[a, b] = near[b, a] = True
    return near


def _fingers(config: Mapping[str, Any], tree: KinematicTree, frames: IntArray,
             names: tuple[str, ...], moves: BoolArray) -> tuple[Finger, ...]:
    fingers = []
    for name, tip in config['fingers'].items():
        if tip not in names or tip == config['base_link']:
            raise HandError(f'finger {name!r}: {tip!r} is not a finger link with geometry '
                            f'({list(names)})')
        chain = [names.index(tip)]
        while _solid_parent(tree, frames, chain[0]) > 0:
            chain.insert(0, _solid_parent(tree, frames, chain[0]))
        joints = tuple(int(j) for j in np.flatnonzero(moves[chain[-1]]))
        fingers.append(Finger(str(name), tuple(chain), joints))
    return tuple(fingers)


def _preshapes(config: Mapping[str, Any], joint_names: tuple[str, ...], lower: Array,
               upper: Array) -> tuple[Preshape, ...]:
    if not config['preshapes']:
        raise HandError('preshapes: at least one is needed')
    preshapes = []
    for name, ends in config['preshapes'].items():
        if not isinstance(ends, dict) or set(ends) != {'open', 'closed'}:
            raise HandError(f'preshape {name!r} needs the keys open and closed, got {ends!r}')
        vectors = [_posture(ends[key], joint_names, f'preshape {name!r}, {key}')
                   for key in ('open', 'closed')]
        for vector in vectors:
            outside = np.flatnonzero((vector < lower) | (vector > upper))
            if len(outside):
                j = outside[0]
                raise HandError(f'preshape {name!r}: {joint_names[j]} = {vector[j]} is outside '
                                f'its limits {lower[j]:.4g} to {upper[j]:.4g}')
        preshapes.append(Preshape(str(name), *vectors))
    return tuple(preshapes)


def _posture(values: object, joint_names: tuple[str, ...], where: str) -> Array:
    if isinstance(values, list):
        if len(values) != len(joint_names):
            raise HandError(f'{where}: {len(joint_names)} values are needed, got {len(values)}')
        values = dict(zip(joint_names, values))
    if not isinstance(values, dict):
        raise HandError(f'{where}: expected a list or a mapping of joints, got {values!r}')
    return named_vector(joint_names, values, where)
