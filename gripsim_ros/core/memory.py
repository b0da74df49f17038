"""How a long-lived process has its memory managed: what is freed shall go back to the system."""

import ctypes
import gc
import os
from contextlib import suppress

#: Blocks at least this large are mapped and so go back as soon as they are freed [bytes]. By
#: default glibc raises its threshold to the largest block freed so far, up to 32 MB; from then on
#: arrays of large meshes lie in heaps, where one small block above them keeps them.
MAPPED_SIZE = 1 << 20
#: Free space at the end of a heap that goes back [bytes]; glibc's rule is twice the above.
TRIM_SIZE = 2 * MAPPED_SIZE
#: Heaps that all threads share; by default eight a core, each with free space of its own.
HEAP_COUNT = 2
#: Variables by which whoever starts a node sets these himself.
USERS_SETTINGS = ('GLIBC_TUNABLES', 'MALLOC_ARENA_MAX', 'MALLOC_MMAP_THRESHOLD_',
                  'MALLOC_TRIM_THRESHOLD_')
# From malloc.h: M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX.
_SETTINGS = ((-1, TRIM_SIZE), (-3, MAPPED_SIZE), (-8, HEAP_COUNT))


def manage_memory() -> bool:
    """
    Have glibc give large blocks back when they are freed, and share few heaps among threads.

    Returns
    -------
    bool
        Whether it was done: not with another C library, nor where the environment sets it.
    """
    if any(name in os.environ for name in USERS_SETTINGS):
        return False
    with suppress(OSError, AttributeError):
        library = ctypes.CDLL(None)
        return all([library.mallopt(name, value) for name, value in _SETTINGS])
    return False


def return_memory(collect: bool = True) -> None:
    """
    Give freed memory back to the system, which glibc's heaps keep else: a few milliseconds.

    Parameters
    ----------
    collect : bool
        Free what refers to itself first, in some tenths of a second: a few objects with large
        arrays wait long for that.
    """
    if collect:
        gc.collect()
    with suppress(OSError, AttributeError):     # another C library
        ctypes.CDLL(None).malloc_trim(0)
