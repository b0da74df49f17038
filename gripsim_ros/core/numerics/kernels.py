"""
How kernels are declared, and what keeps compiling them short.

Numba compiles each of numpy's functions of arrays anew for each kernel that uses it, and with
``a[i] = b`` of two arrays the text of the error of shapes that do not fit: thousands of
instructions in every kernel that calls such a one. Loops over entries have neither.
"""

import types
from collections.abc import Callable
from functools import partial, update_wrapper
from typing import Any, cast, TypeVar

import numba
from numba.extending import models, register_model, typeof_impl

F = TypeVar('F', bound=Callable[..., Any])


class Kernel(partial[Any]):
    """
    A function that numba compiles twice at most: as Python calls it, and as kernels call it.

    Most kernels are called by kernels alone. What takes Python's objects apart and makes them anew
    was a sixth of what LLVM got to compile; now only those have it that Python calls. A
    ``partial``, since its calls cost nothing: in a method's, a plan spent some hundredths.
    """

    #: What kernels call.
    from_kernels: Any

    def __new__(cls, source: Callable[..., Any], **options: Any) -> 'Kernel':
        """Declare both to numba, whose options are given."""
        kernel = super().__new__(cls, numba.njit(no_cfunc_wrapper=True, **options)(source))
        update_wrapper(kernel, source)
        # None of them holds Python's lock of its own.
        options.pop('nogil', None)
        kernel.from_kernels = numba.njit(
            no_cfunc_wrapper=True, no_cpython_wrapper=True, **options)(_renamed(source))
        return kernel

    @property
    def signatures(self) -> list[Any]:
        """Return the kinds of arguments that it is compiled for."""
        from_python: Any = self.func
        return from_python.signatures + self.from_kernels.signatures


class KernelType(numba.types.Dispatcher):  # type: ignore[misc]
    """
    What a kernel is to kernels that call it.

    Numba would compile one that is called with constants anew for each constant.
    """

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        """Return the signature of a call, in which constants are of their numbers' kinds."""
        return super().get_call_type(context, tuple(map(numba.types.unliteral, args)), {
            name: numba.types.unliteral(kind) for name, kind in kws.items()})


register_model(KernelType)(models.OpaqueModel)
typeof_impl.register(Kernel)(lambda kernel, context: KernelType(kernel.from_kernels))


def _renamed(source: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function once more, under a name of its own in numba's cache."""
    function = types.FunctionType(source.__code__, source.__globals__, source.__name__,
                                  source.__defaults__, source.__closure__)
    function.__qualname__ = source.__qualname__ + '_from_kernels'
    return function


def njit(**options: Any) -> Callable[[F], F]:
    """Return a decorator that makes a kernel of a function, with options of ``numba.njit``."""
    def declare(source: F) -> F:
        if numba.config.DISABLE_JIT or 'inline' in options:
            return numba.njit(no_cfunc_wrapper=True, **options)(source)
        return cast(F, Kernel(source, **options))
    return declare


@njit(cache=True, forceinline=True)
def copy_entries(source: Any, target: Any) -> None:
    """Write ``source (n,)`` to ``target (n,)``."""
    for i in range(len(target)):
        target[i] = source[i]
