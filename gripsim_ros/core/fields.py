"""
Declarations of numbers: shape, unit, frame and meaning of each, told once, on its batch.

A number of a patch, a state or a grasp is a field of ``batches.GraspStateBatch`` that is made
by ``shaped``. Classes for one row of the batch are ``Row``s that take their fields from there
by ``takes_fields``; converters, files and docs/reference.md go by the fields, whatever they are.
"""

import inspect
import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import Field, dataclass, field, fields
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from .arrays import Array, BoolArray, IntArray
from .errors import GripsimError, ShapeError

#: Size of an axis of a field: a number; a symbol of ``batches``; with ``+1`` one more than that;
#: ``n?``: n or nothing.
Shape = tuple[str | int, ...]
Class = TypeVar('Class', bound=type)

#: Words of the reference for the types of numbers.
KINDS: dict[Any, str] = {Array: 'float', IntArray: 'int',
                         BoolArray: 'bool', Array | None: 'float or None',
                         float: 'float', int: 'int', bool: 'bool'}
#: Of the elements of arrays.
DTYPES: dict[Any, type] = {Array: np.float64, IntArray: np.int64, BoolArray: np.bool_}
#: Type of one number of an array.
_SINGLE: dict[Any, type] = {Array: float, IntArray: int, BoolArray: bool}


def shaped(*shape: str | int, unit: str = '-', text: str = '', contact: str = '',
           grasp: str = '', may_be: str = '', **options: Any) -> Any:
    """
    Return a dataclass field that declares a number or an array of them.

    Parameters
    ----------
    *shape : str or int
        Sizes of the axes, symbols as in ``batches``; none: one number.
    unit : str
        SI; ``-`` for none.
    text : str
        What it is, for the docstring and docs/reference.md.
    contact : str
        Its name for a contact of a ranked grasp; none: a contact does not tell it.
    grasp : str
        The part of a grasp's JSON that holds it; none: a grasp does not tell it.
    may_be : str
        What else than a finite number it may be, of the words ``inf``, ``nan`` and ``incapable``:
        NaN where no forces within the limits hold the object.
    **options
        As of ``dataclasses.field``.
    """
    return field(metadata={'shape': shape, 'unit': unit, 'text': text, 'contact': contact,
                           'grasp': grasp, 'may_be': may_be.split()}, **options)


def checked_array(values: ArrayLike, name: str, *shape: int | str, finite: bool = True,
                  error: type[GripsimError] = ShapeError) -> Array:
    """
    Return numbers of a shape, in which a symbol stands for any length.

    Raises
    ------
    ShapeError
        Or another ``error``: they are no such numbers, or one is not finite where all must be;
        it calls them ``name``.
    """
    try:
        array = np.asarray(values, np.float64, order='C')
    except (TypeError, ValueError):
        raise error(f'{name} must be numbers of shape {_told(shape)}, got {values!r:.60}'
                    ) from None
    if not _fits(array.shape, shape):
        raise error(f'{name} must have shape {_told(shape)}, got {array.shape}')
    if finite and not np.isfinite(array).all():
        raise error(f'{name} must be finite, got NaN or infinity')
    return array


def _fits(sizes: tuple[int, ...], wanted: Shape) -> bool:
    """Return whether an array has the wanted axes, a symbol being any size."""
    if len(sizes) != len(wanted):
        return False
    for there, size in zip(sizes, wanted):
        if there != size and not isinstance(size, str):
            return False
    return True


def _told(shape: Shape) -> str:
    return f'({", ".join(map(str, shape))})'


@cache
def declared(batch: type) -> Iterable[Field[Any]]:
    """Return the fields of a class that ``shaped`` made, in their order."""
    return tuple(f for f in fields(batch) if 'shape' in f.metadata)


@cache
def shapes_of(batch: type) -> Mapping[str, Shape]:
    """Return the declared shape of each array of a batch, by name, in their order."""
    return {f.name: f.metadata['shape'] for f in declared(batch)}


def may_be(batch: type, word: str) -> frozenset[str]:
    """Return the names of a batch's fields that may be no finite number, as ``shaped`` says."""
    return frozenset(f.name for f in declared(batch) if word in f.metadata['may_be'])


def short_name(name: str) -> str:
    """Return a field's name without the prefix of patches and the suffix of the frame."""
    return name.removeprefix('patch_').removesuffix('_object')


def frame_of(number: Field[Any]) -> str:
    """Return ``object`` for what is expressed in the object's frame, else nothing."""
    return 'object' if number.name.endswith('_object') or number.metadata.get('frame') else ''


def single(number: Field[Any]) -> Any:
    """Return the type of a field without its first axis: that of one number, or of an array."""
    return _SINGLE[number.type] if len(number.metadata['shape']) == 1 else number.type


def taken(number: Field[Any], name: str, kind: Any, shape: Shape, **options: Any) -> Field[Any]:
    """Return a field of a row that holds a number of the batch: renamed, of a type and shape."""
    told = {**number.metadata, 'shape': shape, 'source': number.name, 'frame': frame_of(number)}
    copy: Field[Any] = field(metadata=told, **options)
    copy.name, copy.type = name, kind
    return copy


class Row:
    """Base of the classes that ``takes_fields`` gives their fields."""

    if TYPE_CHECKING:       # A number is declared on its batch; a test holds the names in use.
        __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

        def __init__(self, **numbers: Any) -> None:
            """Take the fields by name."""

        def __getattr__(self, name: str) -> Any:
            """Return a field."""


def takes_fields(numbers: Iterable[Field[Any]]) -> Callable[[Class], Class]:
    """
    Return a decorator that makes a frozen dataclass with these fields after its own.

    Fields are given by name. The docstring gets a list of those declared.
    """
    numbers = tuple(numbers)

    def decorate(row: Class) -> Class:
        for number in numbers:
            setattr(row, number.name, number)
        row.__annotations__ = inspect.get_annotations(row) | {
            number.name: number.type for number in numbers}
        dataclass(frozen=True, eq=False, kw_only=True)(row)
        return documented(row)
    return decorate


def documented(batch: Class) -> Class:
    """Append the attributes that a dataclass declares to its docstring; a decorator."""
    lines = [inspect.cleandoc(batch.__doc__ or ''), '', 'Attributes', '----------']
    for number in declared(batch):
        lines += [f'{number.name} : {described_shape(number)}',
                  textwrap.indent(textwrap.fill(meaning(number), 90), '    ')]
    batch.__doc__ = '\n'.join(lines)
    return batch


def described_shape(number: Field[Any]) -> str:
    """Return shape and kind as docstrings write them, such as ``(P, 3) float``."""
    sizes = [str(size).replace('+', ' + ') for size in number.metadata['shape']]
    comma = ',' if len(sizes) == 1 else ''
    kind = KINDS[number.type]
    return f'({", ".join(sizes)}{comma}) {kind}' if sizes else kind


def meaning(number: Field[Any]) -> str:
    """Return text, unit and frame of a number as one phrase."""
    unit, frame = number.metadata['unit'], frame_of(number)
    notes = [f'[{unit}]'] if unit != '-' else []
    text = ' '.join([number.metadata['text'][:1].upper() + number.metadata['text'][1:], *notes])
    return f'{text}, frame {frame}.' if frame else f'{text}.'
