"""Assemble a hand from its outline and its link meshes."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..arrays import Array, BoolArray, IntArray
from ..bodies.mesh import TriangleMesh
from ..errors import HandError
from .description import Finger, Pad, Preshape, checked_direction, named_vector
from .outline import HandOutline, Part
from .shapes import LinkShape, load_shape, make_link, united
from .tree import Joint, KinematicTree, Limit, Robot, neighbours, per_joint


def read_hand(outline: HandOutline) -> dict[str, Any]:
    """Return the fields of a ``HandModel`` by name; see ``HandModel.load``."""
    config, robot, tree = outline.config, outline.robot, outline.tree
    joint_names, names, frames = outline.joint_names, outline.link_names, outline.link_frames
    shapes = _shared([_shape(link, parts, outline) for link, parts in zip(names, outline.parts)])
    pads, surfaces = read_pads(config), _surfaces(config, names)
    lower, upper = joint_limits(robot, tree, joint_names)
    moves = _moves_link(tree, frames, len(joint_names))
    kinds = {joint.name: joint.type for joint in robot.joints}
    links = tuple(make_link(name, shape.mesh, surfaces.get(name, {}), pads)
                  for name, shape in zip(names, shapes))
    for shape in shapes:
        shape.mesh.clear_derived()
    return {
        'name': outline.name, 'id': outline.content_id(),
        'base_link': outline.base_link, 'joint_names': joint_names, 'link_names': names,
        'links': links,
        'joint_lower': lower, 'joint_upper': upper,
        **{key: _own_or_urdf(config, key, robot, joint_names, limit) for key, limit in (
            ('joint_efforts', 'effort'), ('joint_velocities', 'velocity'))},
        'joint_stiffness': per_joint_numbers(config, 'joint_stiffness', joint_names),
        'moves_link': moves, 'neighbours': neighbours(
            names, (_solid_parent(tree, frames, link) for link in range(len(names))),
            config.get('adjacent') or [], HandError, f'adjacent: expected pairs of {list(names)}'),
        'fingers': _fingers(config, tree, frames, names, moves),
        'preshapes': read_preshapes(config, joint_names, lower, upper),
        'palm_index': names.index(outline.base_link), 'tree': tree, 'link_frames': frames,
        'palm_axes': read_palm_axes(config),
        'prismatic': np.array([kinds[name] == 'prismatic' for name in joint_names]),
        'notes': tuple(dict.fromkeys(
            [*outline.notes, *(note for shape in shapes for note in shape.notes)])),
        'files': outline.files}


def _shape(name: str, parts: Sequence[Part], outline: HandOutline) -> LinkShape:
    """Return the shape of a link with geometry, its parts as one."""
    pieces = []
    for part in parts:
        shape = load_shape(part.name, part.collisions, outline.find)
        if part.T_link_part is not None:
            shape = LinkShape(shape.mesh.with_transform(part.T_link_part), shape.notes)
        pieces.append(shape)
    return united(name, pieces)


def _shared(shapes: Sequence[LinkShape]) -> list[LinkShape]:
    """Return shapes of which those with equal meshes, such as of three fingers, have the same."""
    known: dict[str, TriangleMesh] = {}
    return [LinkShape(known.setdefault(shape.mesh.content_hash, shape.mesh), shape.notes)
            for shape in shapes]


def _own_or_urdf(config: Mapping[str, Any], key: str, robot: Robot,
                 joint_names: tuple[str, ...], limit: str) -> Array:
    """Return the numbers of a key for the joints (J,), or of a limit in the URDF without it."""
    if key in config:
        return per_joint_numbers(config, key, joint_names)
    return per_joint(robot, joint_names, lambda joint: getattr(_limit(joint), limit))


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


def joint_limits(robot: Robot, tree: KinematicTree,
                 joint_names: tuple[str, ...]) -> tuple[Array, Array]:
    """
    Return ``(lower, upper)``, narrowed so that mimic joints keep theirs.

    Limits of a mimic joint that would leave its leader no room contradict the relation between
    both: some published hands have such, and they do not count.
    """
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
        low, high = max(lower[i], min(ends)), min(upper[i], max(ends))
        if low < high or not lower[i] < upper[i]:
            lower[i], upper[i] = low, high
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


def _solid_parent(tree: KinematicTree, frames: IntArray, link: int) -> int:
    """Return the nearest link with geometry towards the base; -1 for the base link."""
    above = [f for f in tree.path_to_base(frames[link])[1:] if f in frames]
    return int(np.flatnonzero(frames == above[0])[0]) if above else -1


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


#: Largest cosine between the directions of approach and across [-].
MOST_ALONG = 0.99


def read_pads(config: Mapping[str, Any]) -> dict[str, Pad]:
    """Return the pads by name; HandError where a number is missing or out of its range."""
    pads = {}
    for name, fields in (config.get('pads') or {}).items():
        try:
            pads[name] = Pad(**{key: float(value) for key, value in fields.items()})
        except (TypeError, ValueError, AttributeError) as error:
            raise HandError(f'pad {name!r}: {error}') from None
    return pads


def per_joint_numbers(config: Mapping[str, Any], key: str, joint_names: tuple[str, ...]) -> Array:
    """
    Return the numbers of a key as ``(J,)``: one for all joints, or one for each by its name.

    Raises
    ------
    HandError
        It is neither, or a number is not above 0.
    """
    value = config[key]
    if isinstance(value, Mapping):
        numbers = named_vector(joint_names, value, key)
    else:
        try:
            numbers = np.full(len(joint_names), float(value))
        except (TypeError, ValueError):
            raise HandError(f'{key} must be a number or a number for each joint, '
                            f'got {value!r}') from None
    if not (np.isfinite(numbers).all() and (numbers > 0.0).all()):
        raise HandError(f'{key} must be above 0, got {numbers.tolist()}')
    return numbers


def read_palm_axes(config: Mapping[str, Any]) -> Array:
    """
    Return the axes of grasping as columns ``(3, 3)``, in the palm's frame.

    The last is ``approach``, in which the palm goes to the object; the first, ``across`` made
    square to it, is that along which the fingers close.

    Raises
    ------
    HandError
        A direction is zero or no three finite numbers, or both are parallel.
    """
    z = checked_direction(config.get('approach', (0.0, 0.0, 1.0)), 'approach')
    default = np.eye(3)[0 if abs(z[0]) < 0.5 else 1]
    x = checked_direction(config.get('across', default), 'across')
    if abs(x @ z) > MOST_ALONG:
        raise HandError(f'across {x.tolist()} must not be parallel to approach {z.tolist()}')
    x = x - (x @ z) * z
    x = x / np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1)


def read_preshapes(config: Mapping[str, Any], joint_names: tuple[str, ...], lower: Array,
                   upper: Array) -> tuple[Preshape, ...]:
    """
    Return the preshapes, open and closed within the joints' limits ``(J,)``.

    Raises
    ------
    HandError
        There is none, one is incomplete, or a joint leaves its limits.
    """
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
