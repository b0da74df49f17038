"""
How kernels are declared, and what keeps compiling them short.

Numba compiles each of numpy's functions of arrays anew for each kernel that uses it, and with
``a[i] = b`` of two arrays the text of the error of shapes that do not fit: thousands of
instructions in every kernel that calls such a one. Loops over entries have neither.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import numba

F = TypeVar('F', bound=Callable[..., Any])


def njit(**options: Any) -> Callable[[F], F]:
    """
    Return numba's decorator with the options, without what C code would call a kernel by.

    Nobody calls a kernel from C; these entries were a fortieth of what is compiled.
    """
    return numba.njit(no_cfunc_wrapper=True, **options)


@njit(cache=True, forceinline=True)
def copy_entries(source: Any, target: Any) -> None:
    """Write ``source (n,)`` to ``target (n,)``."""
    for i in range(len(target)):
        target[i] = source[i]
