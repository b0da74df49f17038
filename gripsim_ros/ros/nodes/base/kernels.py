"""How many kernels this process has loaded: after its start, no request should add one."""

import sys
from functools import lru_cache

from numba.core.dispatcher import Dispatcher

from ....core.numerics.kernels import Kernel

#: Package whose modules hold the kernels.
PACKAGE = 'gripsim_ros'


def count_kernels() -> int:
    """Return the number of kernels that are loaded, each kind of arguments counted."""
    return sum(len(kernel.signatures) for kernel in _kernels(len(sys.modules)))


@lru_cache(maxsize=1)
def _kernels(module_count: int) -> tuple[Dispatcher | Kernel, ...]:
    """Return the kernels of all modules; looked for again once there are other modules."""
    found = {id(value): value for name, module in list(sys.modules.items())
             if name.startswith(PACKAGE) for value in list(vars(module).values())
             if isinstance(value, (Dispatcher, Kernel))}
    return tuple(found.values())
