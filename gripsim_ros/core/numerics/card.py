"""
Kernels on a graphics card, compiled from the source that the processor's are compiled from.

Of numba.cuda what its guide names is used; ``NUMBA_ENABLE_CUDASIM=1`` has it run kernels as
Python, thread by thread, on any machine. Whoever imports this loads the compiler.
"""

import types
from collections.abc import Callable, Sequence
from functools import cache
from threading import Lock
from typing import Any

import numpy as np
from numba import cuda  # type: ignore[attr-defined]

from ..arrays import AnyArray
from ..errors import TaskError
from .kernels import Kernel

#: Threads of a block: rows differ in length, and small blocks end early.
BLOCK = 64
_launching = Lock()


def run_rows_on_card(kernel: Callable[..., None], count: int, inputs: Sequence[Any],
                     outputs: tuple[AnyArray, ...]) -> None:
    """
    Have each thread of a card write rows of its own, as of ``rows.run_rows``.

    Raises
    ------
    TaskError
        There is no card.
    """
    if not cuda.is_available():
        raise TaskError('no CUDA card can be used: numba finds no card, no driver or no toolkit')
    with _launching:    # what threads launch at once would be compiled more than once
        there = _to_card((*inputs, outputs))
        _program(kernel)[-(-count // BLOCK), BLOCK](there)
        for mine, written in zip(outputs, there[-1]):
            written.copy_to_host(mine)


def _to_card(value: Any) -> Any:
    """Return a value with the arrays that it is, or holds, on the card."""
    if isinstance(value, np.ndarray):
        return cuda.to_device(np.ascontiguousarray(value))
    if isinstance(value, tuple):
        parts = map(_to_card, value)
        return type(value)(*parts) if hasattr(value, '_fields') else tuple(parts)
    return value


@cache
def _program(kernel: Callable[..., None]) -> Any:
    """Return the program of a kernel, of whose threads each begins at a row of its own."""
    write_rows = _on_card(kernel)

    @cuda.jit  # type: ignore[untyped-decorator]
    def run(arguments: tuple[Any, ...]) -> None:
        write_rows(cuda.grid(1), cuda.gridsize(1), *arguments)

    return run


@cache
def _on_card(kernel: Callable[..., Any]) -> Any:
    """Return a kernel as the card's programs call it, and with it all that it calls itself."""
    source = kernel._source if isinstance(kernel, Kernel) else kernel
    names = {name: _on_card(value) if isinstance(value, Kernel) else value
             for name, value in source.__globals__.items() if name in source.__code__.co_names}
    return cuda.jit(device=True)(types.FunctionType(
        source.__code__, {**names, '__builtins__': __builtins__}, source.__name__,
        source.__defaults__))
