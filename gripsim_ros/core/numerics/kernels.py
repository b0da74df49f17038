"""
How kernels are declared, and what keeps compiling them short.

Numba compiles each of numpy's functions of arrays anew for each kernel that uses it, and with
``a[i] = b`` of two arrays the text of the error of shapes that do not fit: thousands of
instructions in every kernel that calls such a one. Loops over entries have neither.

The compiler itself is loaded when the first kernel is called: that takes half a second, which
a program that needs none need not wait for.
"""

import os
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, partial, update_wrapper
from typing import Any, cast, TypeVar

import numpy as np
from numpy.typing import NDArray

F = TypeVar('F', bound=Callable[..., Any])

#: Set where numba compiles nothing, and leaves each function as it is.
PLAIN = 'NUMBA_DISABLE_JIT'
#: Whether kernels that were not called before run as Python.
_interpreted: ContextVar[bool] = ContextVar('interpreted', default=False)


class Kernel(partial[Any]):
    """
    A function that numba compiles twice at most: as Python calls it, and as kernels call it.

    Most kernels are called by kernels alone. What takes Python's objects apart and makes them anew
    was a sixth of what LLVM got to compile; now only those have it that Python calls. A
    ``partial``, since its calls cost nothing: in a method's, a plan spent some hundredths. Until
    its first call it is one of ``_call_first``, and numba does not know it.
    """

    _source: Callable[..., Any]
    _options: dict[str, Any]

    def __new__(cls, source: Callable[..., Any], **options: Any) -> 'Kernel':
        """Keep the function, and the options of ``numba.njit`` for when it is called."""
        def call_first(*arguments: Any, **named: Any) -> Any:
            function = source if _interpreted.get() else kernel.from_python
            return function(*arguments, **named)

        kernel = super().__new__(cls, call_first)
        update_wrapper(kernel, source)
        kernel._source, kernel._options = source, options
        return kernel

    @property
    def from_python(self) -> Any:
        """Return what Python calls; from the first time on, calls of the kernel go there."""
        found = vars(self).get('_from_python')
        if found is None:   # two threads may come here at once: the first one's is kept
            compiler = _compiler()
            from .kernel_cache import heed_what_it_calls
            from .kernel_type import keep_code_alone
            made = keep_code_alone(
                compiler.njit(no_cfunc_wrapper=True, **self._options)(self._source))
            heed_what_it_calls(made, self._source)
            found = vars(self).setdefault('_from_python', made)
            self.__setstate__((found, (), {}, vars(self)))  # type: ignore[attr-defined]
        return found

    @property
    def from_kernels(self) -> Any:
        """Return what kernels call."""
        found = vars(self).get('_from_kernels')
        if found is None:
            # None of them holds Python's lock of its own.
            options = {key: value for key, value in self._options.items() if key != 'nogil'}
            made = _compiler().njit(no_cfunc_wrapper=True, no_cpython_wrapper=True, **options)(
                _renamed(self._source))
            from .kernel_cache import heed_what_it_calls
            heed_what_it_calls(made, self._source)
            found = vars(self).setdefault('_from_kernels', made)
        return found

    @property
    def signatures(self) -> list[Any]:
        """Return the kinds of arguments that it is compiled for."""
        known = (vars(self).get(name) for name in ('_from_python', '_from_kernels'))
        return [kinds for made in known if made is not None for kinds in made.signatures]


@contextmanager
def interpreted() -> Iterator[None]:
    """
    Have this thread run kernels that were not called before as Python, in a ``with`` statement.

    For a few numbers, where loading the compiler would take far longer. The answers are those of
    the compiled kernel: numba keeps the order of operations, and its functions are libm's.
    """
    before = _interpreted.set(True)
    try:
        yield
    finally:
        _interpreted.reset(before)


@cache
def _compiler() -> types.ModuleType:
    """Return numba, told what kernels are."""
    import numba

    from .kernel_cache import number_functions_apart
    from .kernel_type import register_kernels
    number_functions_apart()
    os.register_at_fork(after_in_child=number_functions_apart)
    register_kernels(Kernel, lambda kernel: kernel.from_kernels)
    return numba


def _renamed(source: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function once more, under a name of its own in numba's cache."""
    function = types.FunctionType(source.__code__, source.__globals__, source.__name__,
                                  source.__defaults__, source.__closure__)
    function.__qualname__ = source.__qualname__ + '_from_kernels'
    return function


def njit(**options: Any) -> Callable[[F], F]:
    """Return a decorator that makes a kernel of a function, with options of ``numba.njit``."""
    def declare(source: F) -> F:
        if 'inline' in options or os.environ.get(PLAIN, '0') not in ('', '0'):
            return cast(F, _compiler().njit(no_cfunc_wrapper=True, **options)(source))
        return cast(F, Kernel(source, **options))
    return declare


def read_only(array: NDArray[Any], kind: type = np.float64) -> NDArray[Any]:
    """
    Return what a kernel is to read: of a kind, in C order, read-only, mostly without a copy.

    A kernel is compiled once more for arrays that may be written.
    """
    view: NDArray[Any] = np.ascontiguousarray(array, kind).view()
    view.setflags(write=False)
    return view


@njit(cache=True, forceinline=True)
def copy_entries(source: Any, target: Any) -> None:
    """Write ``source (n,)`` to ``target (n,)``."""
    for i in range(len(target)):
        target[i] = source[i]
