"""
Flat arrays of messages <-> shaped numpy arrays, without touching single elements.

A field of a batch travels in the message field of the same name in lower case.
Its shape is written as a tuple of integers and symbols such as ``('n', 'L', 3)``;
a symbol is learnt from the first field in which it alone is unknown, and ``'n+1'``
stands for one more than ``'n'``.
"""

from array import array
from functools import lru_cache
import math

import numpy as np
from numpy.typing import NDArray

from ...core.errors import ShapeError

#: Types of sequences on the wire: ``array`` type code, numpy type there and in core.
_WIRE_TYPES = {
    'sequence<double>': ('d', np.float64, np.float64),
    'sequence<uint32>': ('I', np.uint32, np.int64),
    'sequence<int32>': ('i', np.int32, np.int64),
    'sequence<boolean>': (None, np.bool_, np.bool_),
}

Shape = tuple
Sizes = dict


def sequence_to_msg(values: NDArray, wire_type: str):
    """
    Return what a sequence field of a message takes.

    Parameters
    ----------
    values : (...) array
    wire_type : str
        As in ``get_fields_and_field_types()``, such as ``'sequence<double>'``.

    Returns
    -------
    array.array or list of bool
        Row-major.

    Raises
    ------
    ShapeError
        A number does not fit the unsigned or 32-bit type of the field.
    """
    typecode, dtype, _ = _WIRE_TYPES[wire_type]
    values = np.asarray(values)
    if typecode is None:
        return values.astype(bool).ravel().tolist()
    if dtype is not np.float64 and values.size:
        limits = np.iinfo(dtype)
        if values.min() < limits.min or values.max() > limits.max:
            raise ShapeError(f'integers must lie in {limits.min} to {limits.max}, '
                             f'got {values.min()} to {values.max()}')
    flat = array(typecode)
    flat.frombytes(np.ascontiguousarray(values, dtype).tobytes())
    return flat


def sequence_from_msg(values, wire_type: str) -> NDArray:
    """
    Return the flat array of a sequence field of ``wire_type``.

    It is writable, as arrays made in the same process are: numba compiles every kernel
    once more for arrays that are not.
    """
    typecode, dtype, core_dtype = _WIRE_TYPES[wire_type]
    if typecode is None or not isinstance(values, (array, np.ndarray)):
        flat = np.asarray(values, dtype)
    else:
        flat = np.frombuffer(values, dtype) if len(values) else np.zeros(0, dtype)
    return flat.astype(core_dtype, copy=False)


def fields_to_msg(source: object, msg: object, shapes: dict[str, Shape]) -> None:
    """Fill the sequence fields of ``msg`` from the attributes of ``source`` in ``shapes``."""
    for name, field, wire_type in _fields(type(msg), tuple(shapes)):
        setattr(msg, field, sequence_to_msg(getattr(source, name), wire_type))


def fields_from_msg(msg: object, shapes: dict[str, Shape], sizes: Sizes) -> dict[str, NDArray]:
    """
    Return the shaped arrays of ``msg``, by attribute name.

    Parameters
    ----------
    msg : message
    shapes : dict
        Shape of each attribute, in an order in which symbols can be learnt.
    sizes : dict of str to int
        Known symbols; those learnt here are added.

    Returns
    -------
    dict of str to array

    Raises
    ------
    ShapeError
        The length of a field does not fit its shape.
    """
    arrays = {}
    for name, field, wire_type in _fields(type(msg), tuple(shapes)):
        flat = sequence_from_msg(getattr(msg, field), wire_type)
        arrays[name] = _shaped(field, flat, shapes[name], sizes)
    return arrays


@lru_cache(maxsize=32)
def _fields(kind: type, names: tuple[str, ...]) -> tuple[tuple[str, str, str], ...]:
    """Return attributes, their fields in messages of a type, and these fields' types."""
    types = kind.get_fields_and_field_types()
    return tuple((name, name.lower(), types[name.lower()]) for name in names)


def _shaped(field: str, flat: NDArray, shape: Shape, sizes: Sizes) -> NDArray:
    """Return ``flat`` in ``shape``; a leading ``'n?'`` allows for no rows at all."""
    if shape[0] == 'n?':
        shape = ('n', *shape[1:]) if flat.size else (0, *shape[1:])
    resolved = [_size(token, sizes) for token in shape]
    known = math.prod([size for size in resolved if size is not None])
    if None in resolved:
        unknown = [token for token, size in zip(shape, resolved) if size is None]
        missing = flat.size // known if known else 0
        resolved = [missing if size is None else size for size in resolved]
        if known:
            sizes[unknown[0]] = missing
    if math.prod(resolved) != flat.size:
        wanted = ' x '.join(f'{token}' for token in shape)
        raise ShapeError(f'field {field} must hold {wanted} numbers '
                         f'({known} of known sizes), got {flat.size}')
    return flat.reshape(resolved)


def _size(token, sizes: Sizes) -> int | None:
    if isinstance(token, int):
        return token
    if token.endswith('+1'):
        base = sizes.get(token[:-2])
        return None if base is None else base + 1
    return sizes.get(token)
