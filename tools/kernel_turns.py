"""Let processes that compile kernels at the same time share the work."""

import fcntl
import hashlib
from contextlib import contextmanager
from pathlib import Path

from numba.core.caching import IndexDataCacheFile


@contextmanager
def taking_turns(folder: Path):
    """
    Let one process at a time compile a kernel, and write into the cache.

    Who finds that another compiles a kernel waits, and loads it. numba itself reads, changes and
    writes its index files without a lock.
    """
    load, save = IndexDataCacheFile.load, IndexDataCacheFile.save
    with (open(folder / 'kernels.begun', 'w', encoding='utf-8') as begun,
          open(folder / 'kernels.lock', 'w', encoding='utf-8') as writing):

        def load_or_wait(self, key):
            data = load(self, key)
            if data is None:
                # Held until it is saved, or until this process ends.
                fcntl.lockf(begun, fcntl.LOCK_EX, 1, place_of(self, key))
                data = load(self, key)
                if data is not None:
                    fcntl.lockf(begun, fcntl.LOCK_UN, 1, place_of(self, key))
            return data

        def save_in_turn(self, key, data):
            fcntl.flock(writing, fcntl.LOCK_EX)
            try:
                save(self, key, data)
            finally:
                fcntl.flock(writing, fcntl.LOCK_UN)
                fcntl.lockf(begun, fcntl.LOCK_UN, 1, place_of(self, key))

        IndexDataCacheFile.load, IndexDataCacheFile.save = load_or_wait, save_in_turn
        try:
            yield
        finally:
            IndexDataCacheFile.load, IndexDataCacheFile.save = load, save


def place_of(index: IndexDataCacheFile, key: tuple) -> int:
    """Return which byte of a file stands for a kernel and the kinds of its arguments."""
    name = f'{index._index_path} {key}'
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:6], 'big')
