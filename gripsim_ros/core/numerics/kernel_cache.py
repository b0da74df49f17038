"""Which compiled code on disk is of today's source: a kernel's own, and that of all it calls."""

import hashlib
import itertools
import secrets
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

Function = Callable[..., Any]

#: Where functions that numba knows keep those they were made of: kernels, dispatchers, intrinsics.
MADE_OF = '_source', 'py_func', '_defn'
#: Length of the number from which a process counts the functions that it compiles.
NUMBER_BITS = 40
#: Values that become part of the code, like numbers written in it.
NUMBERS = (bool, int, float, complex, str, bytes, type(None), np.generic)


def heed_what_it_calls(dispatcher: Any, source: Function) -> None:
    """
    Have what numba keeps on disk of a function count as old where what it calls has changed.

    Numba looks at the time of the file alone in which the function itself stands: a changed
    function went on as it was within those of other files that call it. Numba has no public name
    for it: a release that keeps it elsewhere goes on with the file's time.
    """
    file = getattr(getattr(dispatcher, '_cache', None), '_cache_file', None)
    stamp = getattr(file, '_source_stamp', None)
    if stamp is not None:
        file._source_stamp = (stamp, digest_of(source))     # type: ignore[union-attr]


def number_functions_apart() -> None:
    """
    Have functions that numba compiles bear other numbers than those of any other process.

    By a number, counted within a process, numba tells apart functions of one name and the same
    kinds of arguments, such as what a factory made twice. What several processes have kept on
    disk is linked into one kernel: of two functions of one number the first then stood for both.
    A release that keeps the number elsewhere goes on counting from 1.
    """
    from numba.core.bytecode import FunctionIdentity
    if hasattr(FunctionIdentity, '_unique_ids'):
        FunctionIdentity._unique_ids = itertools.count(secrets.randbits(NUMBER_BITS))


def digest_of(source: Function) -> str:
    """Return a digest of a function's code, of all it calls that numba compiles, and numbers."""
    found = hashlib.sha1(usedforsecurity=False)
    for part in _parts(source, set()):
        found.update(part)
        found.update(b'\0')
    return found.hexdigest()


def _parts(source: Function, seen: set[types.CodeType]) -> Iterator[bytes]:
    """Yield what code, numbers and called functions consist of, each function once."""
    code = source.__code__
    if code in seen:
        return
    seen.add(code)
    yield from _code_parts(code)
    cells = zip(code.co_freevars, source.__closure__ or ())
    known = source.__globals__ | {name: cell.cell_contents for name, cell in cells}
    for name in sorted(_names(code) & known.keys()):
        value = known[name]
        inner = next((vars(value)[key] for key in MADE_OF if key in getattr(
            value, '__dict__', ())), None)
        if isinstance(inner, types.FunctionType):
            yield name.encode()
            yield from _parts(inner, seen)
        elif _is_number(value):
            yield f'{name} {value!r}'.encode()
        elif isinstance(value, np.ndarray):
            yield name.encode() + value.tobytes()


def _is_number(value: Any) -> bool:
    """Return whether a value, or all of a tuple, is told by its text alone."""
    return all(map(_is_number, value)) if isinstance(value, tuple) else isinstance(value, NUMBERS)


def _code_parts(code: types.CodeType) -> Iterator[bytes]:
    yield code.co_code
    yield repr(code.co_names + code.co_varnames).encode()
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _code_parts(constant)
        else:
            told = sorted(map(repr, constant)) if isinstance(constant, frozenset) else constant
            yield repr(told).encode()


def _names(code: types.CodeType) -> set[str]:
    """Return the names that code looks up, also within functions in it."""
    inner = (constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return {*code.co_names, *code.co_freevars}.union(*map(_names, inner))
