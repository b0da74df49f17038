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


register_model(KernelType)(models.OpaqueModel)
