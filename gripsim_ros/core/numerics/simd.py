"""
Eight numbers side by side as one value of compiled code: a processor works on all at once.

Loops over lanes are left to chance: whether a compiler sees that arrays do not overlap. These
values always are vectors of the processor, of 8 or twice 4 numbers, each rounded as if it
were alone. In plain Python they are arrays ``(8,)``, which behave alike; ``+=`` is none of theirs.
"""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin, models, register_model
from numba.np.arrayobj import make_array
from numpy.typing import NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

#: So many numbers are one value.
EIGHT = 8
#: So many are a twist, a wrench or the springs of a contact: six of the eight.
SIX = 6
#: Arrays have this many axes at most, the last of them of eight or six.
MOST_AXES = 3

_NUMBERS = ir.VectorType(ir.DoubleType(), EIGHT)
_TRUTHS = ir.VectorType(ir.IntType(1), EIGHT)


def take(array: Array, *index: int) -> Array:
    """Return the eight numbers at ``array[index]``; the array's last axis is of eight."""
    value: Array = array[index].copy()
    return value


def put(value: Array, array: Array, *index: int) -> None:
    """Write eight numbers to ``array[index]``."""
    array[index] = value


def take_six(array: Array, *index: int) -> Array:
    """Return the six numbers at ``array[index]``, whose last axis is of six, and two zeros."""
    return np.concatenate([array[index], np.zeros(EIGHT - SIX)])


def put_six(value: Array, array: Array, *index: int) -> None:
    """Write the first six of eight numbers to ``array[index]``."""
    array[index] = value[:SIX]


def take_along(array: Array, row: int, first: int) -> Array:
    """Return the eight numbers of a row from a column on."""
    value: Array = array[row, first:first + EIGHT].copy()
    return value


def put_along(value: Array, array: Array, row: int, first: int) -> None:
    """Write eight numbers to a row from a column on."""
    array[row, first:first + EIGHT] = value


def fill(number: float) -> Array:
    """Return a number eight times."""
    return np.full(EIGHT, number)


def larger(a: Array | float, b: Array | float) -> Array:
    """Return what ``max`` returns for each pair: a where they cannot be compared."""
    return np.where(b > a, b, a)


def smaller(a: Array | float, b: Array | float) -> Array:
    """Return what ``min`` returns for each pair: a where they cannot be compared."""
    return np.where(b < a, b, a)


def where(mask: Mask, a: Array | float, b: Array | float) -> Array:
    """Return a where the mask is true, b elsewhere."""
    return np.where(mask, a, b)


def root(a: Array) -> Array:
    """Return square roots."""
    return np.sqrt(a)


class EightNumbers(types.Type):  # type: ignore[misc]
    """The type of eight numbers."""

    def __init__(self) -> None:
        super().__init__(name='EightNumbers')


class EightTruths(types.Type):  # type: ignore[misc]
    """The type of what a comparison of eight numbers returns."""

    def __init__(self) -> None:
        super().__init__(name='EightTruths')


numbers, truths = EightNumbers(), EightTruths()


@register_model(EightNumbers)
class _NumbersModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: types.Type) -> None:
        super().__init__(manager, kind, _NUMBERS)


@register_model(EightTruths)
class _TruthsModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: types.Type) -> None:
        super().__init__(manager, kind, _TRUTHS)


def _type_as(function: Callable[..., Any], result: types.Type,
             accepts: Callable[..., bool]) -> None:
    """Tell numba what a function of accepted types returns."""
    def generic(self: Any, arguments: tuple[types.Type, ...], keywords: Any) -> Any:
        if keywords or not accepts(*arguments):
            return None
        return signature(result, *arguments)

    infer_global(function)(type(function.__name__, (AbstractTemplate,), {'generic': generic}))


def _are_numbers(*kinds: types.Type) -> bool:
    """Tell whether some are eight numbers, and the others one."""
    return numbers in kinds and all(
        kind == numbers or isinstance(kind, (types.Float, types.Integer)) for kind in kinds)


def _is_place(array: types.Type, *index: types.Type) -> bool:
    return (isinstance(array, types.Array) and array.layout == 'C'
            and array.dtype == types.float64 and array.ndim == len(index) + 1
            and all(isinstance(kind, types.Integer) for kind in index))


def _is_line(array: types.Type, *index: types.Type) -> bool:
    return len(index) == 2 and _is_place(array, index[0]) and isinstance(index[1], types.Integer)


def _spread(context: Any, builder: Any, kind: types.Type, value: Any) -> Any:
    """Return eight numbers as they are, a single one eight times."""
    if kind == numbers:
        return value
    empty, first = ir.Constant(_NUMBERS, ir.Undefined), ir.Constant(ir.IntType(32), 0)
    single = builder.insert_element(
        empty, context.cast(builder, value, kind, types.float64), first)
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), EIGHT), [0] * EIGHT)
    return builder.shuffle_vector(single, empty, zeros)


def _place(context: Any, builder: Any, kinds: tuple[types.Type, ...],
           values: tuple[Any, ...], width: int) -> Any:
    """Return the address of numbers in an array whose last axis has a width."""
    array = make_array(kinds[0])(context, builder, values[0])
    sizes = cgutils.unpack_tuple(builder, array.shape, kinds[0].ndim)
    offset = ir.Constant(ir.IntType(64), 0)
    for axis, (kind, value) in enumerate(zip(kinds[1:], values[1:])):
        offset = builder.add(builder.mul(offset, sizes[axis]),
                             context.cast(builder, value, kind, types.int64))
    offset = builder.mul(offset, ir.Constant(ir.IntType(64), width))
    return builder.gep(array.data, [offset])


def _lower_take(context: Any, builder: Any, sig: Any, arguments: tuple[Any, ...]) -> Any:
    place = _place(context, builder, sig.args, arguments, EIGHT)
    return builder.load(builder.bitcast(place, _NUMBERS.as_pointer()), align=8)


def _lower_put(context: Any, builder: Any, sig: Any, arguments: tuple[Any, ...]) -> Any:
    place = _place(context, builder, sig.args[1:], arguments[1:], EIGHT)
    builder.store(arguments[0], builder.bitcast(place, _NUMBERS.as_pointer()), align=8)
    return context.get_dummy_value()


def _line(context: Any, builder: Any, kinds: tuple[types.Type, ...],
          values: tuple[Any, ...]) -> Any:
    """Return the address of eight numbers of a row from a column on."""
    array = make_array(kinds[0])(context, builder, values[0])
    row, column = (context.cast(builder, value, kind, types.int64)
                   for kind, value in zip(kinds[1:], values[1:]))
    width = cgutils.unpack_tuple(builder, array.shape, 2)[1]
    place = builder.gep(array.data, [builder.add(builder.mul(row, width), column)])
    return builder.bitcast(place, _NUMBERS.as_pointer())


def _lower_take_along(context: Any, builder: Any, sig: Any, arguments: tuple[Any, ...]) -> Any:
    return builder.load(_line(context, builder, sig.args, arguments), align=8)


def _lower_put_along(context: Any, builder: Any, sig: Any, arguments: tuple[Any, ...]) -> Any:
    builder.store(arguments[0], _line(context, builder, sig.args[1:], arguments[1:]), align=8)
    return context.get_dummy_value()


def _select(builder: Any, value: Any, other: Any, *lanes: int) -> Any:
    """Return lanes of a vector and, counted on from there, of another of its kind."""
    kind = ir.VectorType(ir.IntType(32), len(lanes))
    return builder.shuffle_vector(value, other, ir.Constant(kind, list(lanes)))


def _pointer(builder: Any, place: Any, first: int, count: int) -> Any:
    """Return the address of so many numbers from the first on, behind an address."""
    place = builder.gep(place, [ir.Constant(ir.IntType(64), first)])
    return builder.bitcast(place, ir.VectorType(ir.DoubleType(), count).as_pointer())


def _lower_take_six(context: Any, builder: Any, sig: Any, arguments: tuple[Any, ...]) -> Any:
    place = _place(context, builder, sig.args, arguments, SIX)
    four = builder.load(_pointer(builder, place, 0, 4), align=8)
    two = builder.load(_pointer(builder, place, 4, 2), align=8)
    two = _select(builder, two, ir.Constant(two.type, [0.0] * 2), 0, 1, 2, 3)
    return _select(builder, four, two, *range(EIGHT))


def _lower_put_six(context: Any, builder: Any, sig: Any, arguments: tuple[Any, ...]) -> Any:
    value, place = arguments[0], _place(context, builder, sig.args[1:], arguments[1:], SIX)
    four, two = _select(builder, value, value, *range(4)), _select(builder, value, value, 4, 5)
    builder.store(four, _pointer(builder, place, 0, 4), align=8)
    builder.store(two, _pointer(builder, place, 4, 2), align=8)
    return context.get_dummy_value()


def _lower_where(context: Any, builder: Any, sig: Any, arguments: tuple[Any, ...]) -> Any:
    a, b = (_spread(context, builder, kind, value)
            for kind, value in zip(sig.args[1:], arguments[1:]))
    return builder.select(arguments[0], a, b)


def _lower_by(operation: Callable[..., Any]) -> Callable[..., Any]:
    """Return what lowers a function of numbers to an operation of the builder's."""
    def lower(context: Any, builder: Any, sig: Any, arguments: tuple[Any, ...]) -> Any:
        return operation(builder, *(_spread(context, builder, kind, value)
                                    for kind, value in zip(sig.args, arguments)))
    return lower


def _call(name: str) -> Callable[..., Any]:
    """Return what calls a function of LLVM's."""
    def call(builder: Any, value: Any) -> Any:
        kind = ir.FunctionType(_NUMBERS, [_NUMBERS])
        function = cgutils.get_or_insert_function(
            builder.module, kind, f'llvm.{name}.v{EIGHT}f64')
        return builder.call(function, [value])
    return call


def _compare(sign: str) -> Callable[..., Any]:
    return lambda builder, a, b: builder.fcmp_ordered(sign, a, b)


def _choose(sign: str) -> Callable[..., Any]:
    return lambda builder, a, b: builder.select(builder.fcmp_ordered(sign, b, a), b, a)


def _negate(builder: Any, value: Any) -> Any:
    return builder.fneg(value)


def _register() -> None:
    pairs = ((EightNumbers, EightNumbers), (EightNumbers, types.Number),
             (types.Number, EightNumbers))
    for function, operation in (
            (operator.add, ir.IRBuilder.fadd), (operator.sub, ir.IRBuilder.fsub),
            (operator.mul, ir.IRBuilder.fmul), (operator.truediv, ir.IRBuilder.fdiv),
            (larger, _choose('>')), (smaller, _choose('<'))):
        _type_as(function, numbers, _are_numbers)
        for pair in pairs:
            lower_builtin(function, *pair)(_lower_by(operation))
    for function, sign in ((operator.lt, '<'), (operator.gt, '>'), (operator.le, '<='),
                           (operator.ge, '>=')):
        _type_as(function, truths, _are_numbers)
        for pair in pairs:
            lower_builtin(function, *pair)(_lower_by(_compare(sign)))
    singles: list[tuple[Callable[..., Any], Callable[..., Any]]] = [
        (operator.neg, _negate), (abs, _call('fabs')), (root, _call('sqrt'))]
    for single, result in singles:
        _type_as(single, numbers, _are_numbers)
        lower_builtin(single, EightNumbers)(_lower_by(result))
    _type_as(fill, numbers, lambda kind: isinstance(kind, (types.Float, types.Integer)))
    lower_builtin(fill, types.Number)(_lower_by(lambda builder, value: value))
    _type_as(where, numbers, lambda mask, *kinds: mask == truths and _are_numbers(*kinds))
    for pair in pairs:
        lower_builtin(where, EightTruths, *pair)(_lower_where)
    for taking in (take, take_six):
        _type_as(taking, numbers, _is_place)
    for putting in (put, put_six):
        _type_as(putting, types.none,
                 lambda value, *place: value == numbers and _is_place(*place))
    _type_as(take_along, numbers, _is_line)
    _type_as(put_along, types.none, lambda value, *line: value == numbers and _is_line(*line))
    line = (types.Array, types.Integer, types.Integer)
    lower_builtin(take_along, *line)(_lower_take_along)
    lower_builtin(put_along, EightNumbers, *line)(_lower_put_along)
    for axes in range(MOST_AXES):
        index = (types.Integer,) * axes
        lower_builtin(take, types.Array, *index)(_lower_take)
        lower_builtin(put, EightNumbers, types.Array, *index)(_lower_put)
        lower_builtin(take_six, types.Array, *index)(_lower_take_six)
        lower_builtin(put_six, EightNumbers, types.Array, *index)(_lower_put_six)


_register()
