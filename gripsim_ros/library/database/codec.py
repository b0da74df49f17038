"""
Results of planning as strict JSON that keeps every bit, and back.

It goes by the fields of the data classes, whatever they are: a field that is added later is
stored without a word here. Numbers that are not finite are written as the texts ``NaN``,
``Infinity`` and ``-Infinity``, which strict JSON lacks as numbers and ``float`` reads.
"""

import json
import math
import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import lru_cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from ...core.errors import ShapeError

Result = TypeVar('Result')


def dump(value: Any) -> str:
    """
    Return a value as a line of strict JSON.

    Raises
    ------
    ShapeError
        It holds something else than data classes, mappings, sequences, arrays, texts
        and numbers.
    """
    return json.dumps(_plain(value), separators=(',', ':'), allow_nan=False)


def load(kind: type[Result], text: str) -> Result:
    """
    Return the value of type ``kind`` that ``dump`` wrote.

    Raises
    ------
    ShapeError
        The text is that of another type.
    """
    try:
        result: Result = _typed(kind, json.loads(text))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ShapeError(f'no {getattr(kind, "__name__", kind)} in the database: '
                         f'{type(error).__name__}: {error}') from error
    return result


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else json.dumps(value)
    if isinstance(value, np.ndarray):
        return _plain(value.tolist()) if value.size else {'shape': list(value.shape)}
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    raise ShapeError(f'a {type(value).__name__} cannot be stored in the database')


@lru_cache(maxsize=None)
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _typed(kind: Any, data: Any) -> Any:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        if data is None:
            return None
        (kind,) = (argument for argument in arguments if argument is not type(None))
        return _typed(kind, data)
    if origin is np.ndarray or kind is np.ndarray:
        number = get_args(arguments[1])[0] if len(arguments) > 1 else np.float64
        return np.zeros(data['shape'], number) if isinstance(data, dict) else np.array(
            data, dtype=number)
    if origin is tuple:
        every = arguments[0] if arguments[-1] is Ellipsis else None
        return tuple(_typed(every or arguments[i], item) for i, item in enumerate(data))
    if origin is list:
        return [_typed(arguments[0], item) for item in data]
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {key: _typed(arguments[1], item) for key, item in data.items()}
    if is_dataclass(kind):
        hints = _hints(kind)
        return kind(**{field.name: _typed(hints[field.name], data[field.name])
                       for field in fields(kind)})
    if kind is float:
        return float(data)
    if kind is Any or isinstance(data, kind):
        return data
    raise TypeError(f'{kind} is expected, got {data!r:.60}')
