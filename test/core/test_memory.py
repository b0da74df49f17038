"""Freed memory of large blocks goes back to the system, in a process of its own."""

import json
import os
import platform
import subprocess
import sys

import pytest

from gripsim_ros.core.memory import USERS_SETTINGS

#: Large blocks with a small one after each, that stays: some MB, like the arrays of large meshes.
LARGE, COUNT = 6 << 20, 20
#: Of their memory so much may stay; that of the small ones is a few pages.
KEPT_SHARE = 0.05
#: What a process does: frees one block of 30 MB, as the first large mesh does, then frees the
#: large blocks in threads and in the main thread, and tells what it holds more than before.
PROGRAM = f"""
import ctypes, json, sys, threading
from gripsim_ros.core.memory import manage_memory

managed = manage_memory() if sys.argv[1] == 'managed' else None
library = ctypes.CDLL(None)
library.malloc.restype = ctypes.c_void_p
library.free.argtypes = [ctypes.c_void_p]

def held():
    return next(int(line.split()[1]) << 10 for line in open('/proc/self/status')
                if line.startswith('RssAnon'))

def block(size):
    found = library.malloc(size)
    ctypes.memset(ctypes.c_void_p(found), 1, size)
    return found

def work():
    large, small = [], []
    for _ in range({COUNT}):
        large.append(block({LARGE}))
        small.append(block(200))
    most.append(held())
    for found in large:
        library.free(found)

library.free(block(30 << 20))
before, most = held(), []
work()
for _ in range(3):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
print(json.dumps(dict(managed=managed, grown=held() - before, most=max(most) - before)))
"""

pytestmark = pytest.mark.skipif(platform.libc_ver()[0] != 'glibc', reason='not with glibc')


def run(word: str, **environment) -> dict:
    """Return what a process of the program tells."""
    plain = {name: value for name, value in os.environ.items() if name not in USERS_SETTINGS}
    done = subprocess.run([sys.executable, '-c', PROGRAM, word], check=True, text=True,
                          capture_output=True, env={**plain, **environment})
    return json.loads(done.stdout)


def test_large_blocks_go_back_as_soon_as_they_are_freed():
    told = run('managed')
    assert told['managed']
    assert told['most'] >= COUNT * LARGE        # they were there
    assert told['grown'] <= KEPT_SHARE * COUNT * LARGE


def test_the_program_sees_what_stays_by_default():
    assert run('not')['grown'] > 0.5 * COUNT * LARGE


@pytest.mark.parametrize('name', USERS_SETTINGS)
def test_what_the_environment_sets_is_kept(name):
    value = 'glibc.malloc.check=0' if name == 'GLIBC_TUNABLES' else '65536'
    assert run('managed', **{name: value})['managed'] is False
