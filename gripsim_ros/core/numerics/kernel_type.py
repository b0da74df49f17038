"""What numba is told of kernels that kernels call; whoever imports this loads the compiler."""

from collections.abc import Callable
from typing import Any

import numba
from numba.extending import models, register_model, typeof_impl


class KernelType(numba.types.Dispatcher):  # type: ignore[misc]
    """
    What a kernel is to kernels that call it.

    Numba would compile one that is called with constants anew for each constant.
    """

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        """Return the signature of a call, in which constants are of their numbers' kinds."""
        return super().get_call_type(context, tuple(map(numba.types.unliteral, args)), {
            name: numba.types.unliteral(kind) for name, kind in kws.items()})


def register_kernels(kernel_class: type, from_kernels: Callable[[Any], Any]) -> None:
    """Have numba take objects of a class for kernels; the dispatcher of one is asked for."""
    typeof_impl.register(kernel_class)(
        lambda kernel, context: KernelType(from_kernels(kernel)))


def keep_code_alone(dispatcher: Any) -> Any:
    """
    Have what Python calls keep the machine code alone of what it takes from numba's cache.

    Numba reads a kernel's intermediate code with it, all that it calls within, so that kernels
    compiled later may have it within them: 43 MB in a process that has loaded all. Kernels never
    call this dispatcher, but that ``from_kernels``. Numba has no public name for it: a release
    that keeps it elsewhere goes on keeping it.
    """
    cache = getattr(dispatcher, '_cache', None)
    load = getattr(cache, 'load_overload', None)
    if load is None:
        return dispatcher

    def load_code(*arguments: Any) -> Any:
        found = load(*arguments)
        if hasattr(getattr(found, 'library', None), '_shared_module'):
            found.library._shared_module = None
        return found

    cache.load_overload = load_code  # type: ignore[union-attr]
    return dispatcher


register_model(KernelType)(models.OpaqueModel)
