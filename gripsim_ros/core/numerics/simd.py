"""
Eight numbers as one vector register (SIMD) for compiled kernels.

Whether a compiler turns a loop over lanes into vector instructions depends on checks that
arrays do not overlap. A ``Float64x8`` always is a vector of LLVM, ``<8 x double>``: one
register of AVX-512, two of AVX2, four of SSE2 or NEON. Each lane is rounded as if it were
alone. In plain Python these values are arrays ``(8,)``, which behave alike; augmented assignment
(``+=``) is not defined for them.

Of numba only what ``numba.extending`` offers is used, and ``cgutils``, which its guide names.
Pointers may be opaque, as llvmlite's are to become, or typed, as those of numba's arrays are.
"""

import inspect
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import lower_builtin, models, register_model, type_callable
from numpy.typing import NDArray

from ..arrays import Array

Mask = NDArray[np.bool_]

#: Numbers of one vector.
LANES = 8
#: Largest number of entries of an index.
MOST_ENTRIES = 2

_FLOAT64X8 = ir.VectorType(ir.DoubleType(), LANES)
_MASK8 = ir.VectorType(ir.IntType(1), LANES)
#: Whether loads and offsets tell the type of what they address, as opaque pointers do not.
_TYPES_AT_USE = 'typ' in inspect.signature(ir.IRBuilder.load).parameters


def load(array: Array, *index: int) -> Array:
    """Return eight numbers from ``array[index]`` on, or such a row of eight, as a vector."""
    return array[_eight(array, index)].copy()


def store(value: Array, array: Array, *index: int) -> None:
    """Write a vector to ``array[index]`` and what follows, or to such a row of eight."""
    array[_eight(array, index)] = value


def _eight(array: Array, index: tuple[int, ...]) -> tuple[int | slice, ...]:
    first = index[-1] if len(index) == array.ndim else 0
    return (*index[:array.ndim - 1], slice(first, first + LANES))


def broadcast(number: float) -> Array:
    """Return a vector of eight times a number."""
    return np.full(LANES, number)


def larger(a: Array | float, b: Array | float) -> Array:
    """Return ``max(a, b)`` of each lane: a where one is not a number, unlike ``np.maximum``."""
    return np.where(b > a, b, a)


def smaller(a: Array | float, b: Array | float) -> Array:
    """Return ``min(a, b)`` of each lane: a where one is not a number, unlike ``np.minimum``."""
    return np.where(b < a, b, a)


def select(mask: Mask, a: Array | float, b: Array | float) -> Array:
    """Return a in lanes whose mask is true, b in the others."""
    return np.where(mask, a, b)


def sqrt(a: Array) -> Array:
    """Return square roots."""
    return np.sqrt(a)


class Lanes(types.Type):  # type: ignore[misc]
    """Numba's types of eight numbers, and of what a comparison of two such vectors returns."""


float64x8, mask8 = Lanes('Float64x8'), Lanes('Mask8')


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: types.Type) -> None:
        super().__init__(manager, kind, _MASK8 if kind == mask8 else _FLOAT64X8)


#: What numba binds the arguments of so many to.
_BY_COUNT: dict[int, Callable[[Callable[..., Any]], Callable[..., Any]]] = {
    1: lambda resolve: lambda a: resolve(a),
    2: lambda resolve: lambda a, b: resolve(a, b),
    3: lambda resolve: lambda a, b, c: resolve(a, b, c),
    4: lambda resolve: lambda a, b, c, d: resolve(a, b, c, d)}


def _declare(function: Callable[..., Any], count: int, result: types.Type,
             accepts: Callable[..., bool]) -> None:
    """Tell numba what a function of so many arguments of accepted types returns."""
    def resolve(context: Any) -> Callable[..., Any]:
        return _BY_COUNT[count](lambda *kinds: result if accepts(*kinds) else None)

    type_callable(function)(resolve)


def _are_vectors(*kinds: types.Type) -> bool:
    """Return True if some types are vectors, and the others numbers."""
    return float64x8 in kinds and all(
        kind == float64x8 or isinstance(kind, (types.Float, types.Integer)) for kind in kinds)


def _is_entry(*kinds: types.Type) -> bool:
    """Return True if types are an array and an index of all its axes, or of all but the last."""
    return (isinstance(kinds[0], types.Array) and kinds[0].layout == 'C'
            and kinds[0].dtype == types.float64 and kinds[0].ndim - len(kinds) in (0, -1)
            and all(isinstance(kind, types.Integer) for kind in kinds[1:]))


def _as_vector(context: Any, builder: Any, kind: types.Type, value: Any) -> Any:
    """Return a vector as it is, a number in all lanes."""
    if kind == float64x8:
        return value
    empty, first = ir.Constant(_FLOAT64X8, ir.Undefined), ir.Constant(ir.IntType(32), 0)
    single = builder.insert_element(
        empty, context.cast(builder, value, kind, types.float64), first)
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(single, empty, zeros)


def _pointer(builder: Any, address: Any) -> Any:
    """Return an address as what a vector is loaded from: itself, if pointers have no types."""
    if getattr(address.type, 'is_opaque', False):
        return address
    return builder.bitcast(address, ir.PointerType(_FLOAT64X8))


def _address(context: Any, builder: Any, kinds: tuple[types.Type, ...],
             values: tuple[Any, ...]) -> Any:
    """Return the address of ``array[index]``, the last entry of the index 0 if it is left out."""
    array = cgutils.create_struct_proxy(kinds[0])(context, builder, values[0])
    shape = cgutils.unpack_tuple(builder, array.shape, kinds[0].ndim)
    offset = ir.Constant(ir.IntType(64), 0)
    for axis, (kind, value) in enumerate(zip(kinds[1:], values[1:])):
        offset = builder.add(builder.mul(offset, shape[axis]),
                             context.cast(builder, value, kind, types.int64))
    if len(kinds) == kinds[0].ndim:
        offset = builder.mul(offset, ir.Constant(ir.IntType(64), LANES))
    if _TYPES_AT_USE:
        return builder.gep(array.data, [offset], source_etype=ir.DoubleType())
    return builder.gep(array.data, [offset])


def _lower_load(context: Any, builder: Any, sig: Any, arguments: tuple[Any, ...]) -> Any:
    address = _pointer(builder, _address(context, builder, sig.args, arguments))
    if _TYPES_AT_USE:
        return builder.load(address, align=8, typ=_FLOAT64X8)
    return builder.load(address, align=8)


def _lower_store(context: Any, builder: Any, sig: Any, arguments: tuple[Any, ...]) -> Any:
    address = _address(context, builder, sig.args[1:], arguments[1:])
    builder.store(arguments[0], _pointer(builder, address), align=8)
    return context.get_dummy_value()


def _lower_select(context: Any, builder: Any, sig: Any, arguments: tuple[Any, ...]) -> Any:
    a, b = (_as_vector(context, builder, kind, value)
            for kind, value in zip(sig.args[1:], arguments[1:]))
    return builder.select(arguments[0], a, b)


def _lower_by(operation: Callable[..., Any]) -> Callable[..., Any]:
    """Return what lowers a function of vectors to an operation of the builder's."""
    def lower(context: Any, builder: Any, sig: Any, arguments: tuple[Any, ...]) -> Any:
        return operation(builder, *(_as_vector(context, builder, kind, value)
                                    for kind, value in zip(sig.args, arguments)))
    return lower


def _call(name: str) -> Callable[..., Any]:
    """Return what calls a function of LLVM's."""
    def call(builder: Any, value: Any) -> Any:
        kind = ir.FunctionType(_FLOAT64X8, [_FLOAT64X8])
        function = cgutils.get_or_insert_function(builder.module, kind, f'llvm.{name}.v{LANES}f64')
        return builder.call(function, [value])
    return call


def _compare(sign: str) -> Callable[..., Any]:
    return lambda builder, a, b: builder.fcmp_ordered(sign, a, b)


def _choose(sign: str) -> Callable[..., Any]:
    return lambda builder, a, b: builder.select(builder.fcmp_ordered(sign, b, a), b, a)


def _register_arithmetic() -> None:
    pairs = ((float64x8, float64x8), (float64x8, types.Number), (types.Number, float64x8))
    for function, operation in (
            (operator.add, ir.IRBuilder.fadd), (operator.sub, ir.IRBuilder.fsub),
            (operator.mul, ir.IRBuilder.fmul), (operator.truediv, ir.IRBuilder.fdiv),
            (larger, _choose('>')), (smaller, _choose('<'))):
        _declare(function, 2, float64x8, _are_vectors)
        for pair in pairs:
            lower_builtin(function, *pair)(_lower_by(operation))
    for function, sign in ((operator.lt, '<'), (operator.gt, '>'), (operator.le, '<='),
                           (operator.ge, '>=')):
        _declare(function, 2, mask8, _are_vectors)
        for pair in pairs:
            lower_builtin(function, *pair)(_lower_by(_compare(sign)))
    singles: list[tuple[Callable[..., Any], Callable[..., Any]]] = [
        (operator.neg, lambda builder, value: builder.fneg(value)), (abs, _call('fabs')),
        (sqrt, _call('sqrt'))]
    for single, result in singles:
        _declare(single, 1, float64x8, _are_vectors)
        lower_builtin(single, float64x8)(_lower_by(result))
    _declare(broadcast, 1, float64x8, lambda kind: isinstance(kind, (types.Float, types.Integer)))
    lower_builtin(broadcast, types.Number)(_lower_by(lambda builder, value: value))
    _declare(select, 3, float64x8, lambda mask, *kinds: mask == mask8 and _are_vectors(*kinds))
    for pair in pairs:
        lower_builtin(select, mask8, *pair)(_lower_select)


def _register_memory() -> None:
    for entries in range(MOST_ENTRIES + 1):
        place = (types.Array,) + (types.Integer,) * entries
        _declare(load, entries + 1, float64x8, _is_entry)
        lower_builtin(load, *place)(_lower_load)
        _declare(store, entries + 2, types.none,
                 lambda value, *place: value == float64x8 and _is_entry(*place))
        lower_builtin(store, float64x8, *place)(_lower_store)


_register_arithmetic()
_register_memory()
