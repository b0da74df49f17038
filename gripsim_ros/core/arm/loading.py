"""Assemble an arm from its configuration and its URDF."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from ..arrays import Array, IntArray
from ..bodies import load_mesh
from ..contact.backends.convex.decomposition import ConvexPart, convex_part
from ..errors import ArmError, GripsimError
from ..hand.tree import (
    Joint, Robot, build_tree, neighbours, origin_matrix, parse_urdf, per_joint)
from ..planning.hypotheses.primitives import box_points, cylinder_points, sphere_points
from ..transforms import apply, from_pose
from .model import ArmModel


KEYS = {'name', 'urdf', 'base_link', 'tip_link', 'joints', 'start', 'tip_palm', 'adjacent', 'lift'}
REQUIRED = KEYS - {'adjacent', 'lift'}
#: Height by which objects are lifted before they are carried, unless the file says otherwise [m].
LIFT = 0.05
#: Limit of a joint's speed where the URDF tells none [rad/s].
JOINT_SPEED = 1.0


def load_arm(path: str | Path, resolve_uri: Callable[[str], Path]) -> ArmModel:
    """
    Return the arm of a configuration file.

    Parameters
    ----------
    path : path
        YAML with the keys ``name, urdf, base_link, tip_link, joints, start, tip_palm``
        and, if wanted, ``adjacent, lift``; see docs/arm.md.
    resolve_uri : callable
        Turns a URI into a path; a plain path is taken relative to the file.

    Raises
    ------
    ArmError
        A file is missing or unreadable, or the two do not fit together.
    """
    path = Path(path)
    config = _config(path)
    urdf = _near(path, str(config['urdf']), resolve_uri)
    try:
        robot = parse_urdf(urdf.read_bytes(), urdf.name)
        names = tuple(str(name) for name in config['joints'])
        tree = build_tree(robot, str(config['base_link']), names)
    except OSError as error:
        raise ArmError(f'{path.name}: cannot read {urdf}: {error.strerror}') from None
    except GripsimError as error:
        raise ArmError(f'{path.name}: {error}') from None
    if config['tip_link'] not in tree.names:
        raise ArmError(f'{path.name}: tip_link {config["tip_link"]!r} is not a link of the URDF')
    frames, parts = _parts(robot, tree.names, lambda uri: _near(urdf, uri, resolve_uri))
    lower = per_joint(robot, names, lambda joint: _limit(joint, 'lower'))
    upper = per_joint(robot, names, lambda joint: _limit(joint, 'upper'))
    fastest = per_joint(robot, names, _speed)
    near = neighbours(tree.names, tree.parent, config.get('adjacent', []), ArmError,
                      f'{path.name}: adjacent needs pairs of links of the URDF')
    arm = ArmModel(
        str(config['name']), names, lower, upper, fastest, np.asarray(config['start'], float),
        tree, tree.names.index(config['tip_link']), _pose(config['tip_palm'], path.name), frames,
        parts, ~near[np.ix_(frames, frames)],
        _length(config.get('lift', LIFT), path.name))
    arm.checked_joints(arm.start)
    return arm


def _config(path: Path) -> Mapping[str, Any]:
    try:
        content = yaml.safe_load(path.read_text(encoding='utf-8'))
    except OSError as error:
        raise ArmError(f'cannot read {path}: {error.strerror}') from None
    except yaml.YAMLError as error:
        raise ArmError(f'{path.name}: {" ".join(str(error).split())}') from None
    if not isinstance(content, Mapping) or set(content) - KEYS or REQUIRED - set(content):
        got = sorted(content) if isinstance(content, Mapping) else content
        raise ArmError(f'{path.name}: an arm needs the keys {sorted(REQUIRED)} and may have '
                       f'{sorted(KEYS - REQUIRED)}, got {got!r}')
    if not isinstance(content['joints'], list) or not isinstance(content['start'], list):
        raise ArmError(f'{path.name}: joints and start must be lists')
    return content


def _near(path: Path, uri: str, resolve_uri: Callable[[str], Path]) -> Path:
    if '://' in uri:
        return Path(resolve_uri(uri))
    return (path.parent / uri).resolve()


def _pose(value: Any, where: str) -> Array:
    try:
        return from_pose(np.array(value['position'], float), np.array(value['orientation'], float))
    except (GripsimError, KeyError, TypeError, ValueError) as error:
        raise ArmError(f'{where}: tip_palm must be {{position: [x, y, z], orientation: '
                       f'[x, y, z, w]}}, got {value!r} ({error})') from None


def _length(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0.0 <= value < 2.0:
        raise ArmError(f'{where}: lift must be from 0 to 2 m, got {value!r}')
    return float(value)


def _limit(joint: Joint, side: str) -> float:
    limit = joint.limit
    if joint.type == 'continuous':
        return -2.0 * np.pi if side == 'lower' else 2.0 * np.pi
    if limit is None or limit.lower is None or limit.upper is None:
        raise ArmError(f'joint {joint.name!r} of the arm is {joint.type} and has no limits in the '
                       'URDF: give lower and upper, or make it continuous')
    if not limit.lower < limit.upper:
        raise ArmError(f'joint {joint.name!r} of the arm: lower must be below upper, got '
                       f'{limit.lower:g} and {limit.upper:g}')
    return float(getattr(limit, side))


def _speed(joint: Joint) -> float:
    told = 0.0 if joint.limit is None else float(joint.limit.velocity or 0.0)
    return told if told > 0.0 else JOINT_SPEED


def _parts(robot: Robot, names: tuple[str, ...], resolve: Callable[[str], Path]
           ) -> tuple[IntArray, tuple[ConvexPart, ...]]:
    frames, parts = [], []
    for link in robot.links:
        if link.name not in names:
            continue
        for collision in link.collisions:
            points = shape_points(collision.geometry, link.name, resolve)
            frames.append(names.index(link.name))
            parts.append(convex_part(apply(origin_matrix(collision.origin), points)))
    if not parts:
        raise ArmError('the URDF of the arm has no collision geometry')
    return np.array(frames), tuple(parts)


def shape_points(geometry: Any, name: str, resolve: Callable[[str], Path]) -> Array:
    """
    Return points whose hull contains a URDF shape ``(n, 3)`` [m].

    Raises
    ------
    ArmError
        The shape is of an unknown kind, or its mesh cannot be used.
    """
    if hasattr(geometry, 'filename'):
        scale = np.ones(3) if geometry.scale is None else np.asarray(geometry.scale, float)
        try:
            return load_mesh(resolve(geometry.filename)).mesh.vertices * scale
        except GripsimError as error:
            raise ArmError(f'link {name!r}: {error}') from None
    if hasattr(geometry, 'size'):
        return box_points(np.asarray(geometry.size, float))
    if hasattr(geometry, 'length'):
        return cylinder_points(float(geometry.radius), float(geometry.length))
    if hasattr(geometry, 'radius'):
        return sphere_points(float(geometry.radius))
    raise ArmError(f'link {name!r}: unknown collision shape {type(geometry).__name__}')
