"""The file of grasping facts of a hand, read and checked."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import yaml

from ..arrays import Array
from ..errors import HandError
from .description import Pad, Preshape, checked_direction, named_vector


_KEYS = {'name', 'base_link', 'joints', 'joint_stiffness', 'fingers', 'pads', 'surfaces',
         'adjacent', 'preshapes', 'urdf', 'packages', 'approach', 'across', 'merge_fixed',
         'joint_efforts', 'joint_velocities'}
_REQUIRED = {'name', 'base_link', 'joints', 'joint_stiffness', 'fingers', 'preshapes'}
#: Largest cosine between the directions of approach and across [-].
MOST_ALONG = 0.99


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
