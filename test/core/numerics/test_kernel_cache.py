"""Compiled code on disk is taken only where all that it was made of is as it was."""

import subprocess
import sys

from gripsim_ros.core.numerics.kernel_cache import digest_of
from gripsim_ros.core.numerics.kernels import njit
from house import ROOT

INNER = """
from gripsim_ros.core.numerics.kernels import njit

FACTOR = {factor}


@njit(cache=True)
def scaled(x):
    return FACTOR * x {more}
"""
OUTER = """
from inner import scaled
from gripsim_ros.core.numerics.kernels import njit


@njit(cache=True)
def twice(x):
    return scaled(x) + scaled(x)
"""
CALL = """
import sys
sys.path[:0] = sys.argv[1:]
import outer
print(outer.twice(1.0), sum(outer.twice.from_python.stats.cache_hits.values()))
"""


def run(folder):
    """
    Return what a new process gets of the outer function, and whether it came from disk.

    Python itself keeps nothing: it takes a source of the same second and length for unchanged.
    """
    value, hits = subprocess.run(
        [sys.executable, '-B', '-c', CALL, str(folder), str(ROOT)], check=True,
        capture_output=True, text=True, timeout=120).stdout.split()
    return float(value), int(hits)


def test_a_function_is_compiled_anew_where_one_that_it_calls_has_changed(tmp_path):
    (tmp_path / 'outer.py').write_text(OUTER, encoding='utf-8')
    for factor, more, value in ((3.0, '', 6.0), (5.0, '', 10.0), (5.0, '+ 1.0', 12.0)):
        (tmp_path / 'inner.py').write_text(INNER.format(factor=factor, more=more),
                                           encoding='utf-8')
        assert run(tmp_path) == (value, 0)
    assert run(tmp_path) == (value, 1)


#: Two functions of one name and kind, which a factory made; too long to be copied into what calls.
MADE_TWICE = """
import math
import numba
from gripsim_ros.core.numerics.kernels import njit


def make(number):
    def made(x):
        total = number
        for i in range(int(x)):
            if total > 1e9:
                raise ValueError('too much')
{body}
        return number
    return numba.njit(made)


first, second = make(1.0), make(2.0)
"""
#: Kernels that call them, by their names: what each returns.
CALLING = """

@njit(cache=True)
def {name}(x):
    return {answer}
"""
ANSWERS = {'call_first': 'first(x)', 'call_second': 'second(x)', 'first_alone': 'call_first(x)',
           'second_alone': 'call_second(x)', 'both': 'call_first(x) + 10.0 * call_second(x)'}
LINE = '            total += math.sin(total + {k}) * math.cos(number * total + {k}) + math.exp(-x)'
CALL_ONE = """
import sys
sys.path[:0] = sys.argv[2:]
import made_twice
print(getattr(made_twice, sys.argv[1])(3.0))
"""


def test_functions_of_one_name_that_two_processes_compiled_are_told_apart(tmp_path):
    body = '\n'.join(LINE.format(k=k) for k in range(40))
    calling = ''.join(CALLING.format(name=name, answer=answer) for name, answer in ANSWERS.items())
    (tmp_path / 'made_twice.py').write_text(MADE_TWICE.format(body=body) + calling,
                                            encoding='utf-8')
    answers = [float(subprocess.run(
        [sys.executable, '-c', CALL_ONE, name, str(tmp_path), str(ROOT)], check=True,
        capture_output=True, text=True, timeout=120).stdout)
        for name in ('first_alone', 'second_alone', 'both')]
    assert answers == [1.0, 2.0, 21.0]


HALF = 0.5


@njit(cache=True)
def halved(x):
    """Return half of a number."""
    return HALF * x


def plain(x):
    """Return what a kernel makes of a number, one way or the other."""
    return [halved(value) for value in (x, 1.0)]


def test_digests_are_of_called_kernels_and_numbers(monkeypatch):
    before = digest_of(plain)
    assert before == digest_of(plain)
    monkeypatch.setitem(globals(), 'HALF', 0.25)
    assert digest_of(plain) != before


def test_what_calls_itself_has_a_digest():
    def again(n):
        return 0 if n == 0 else again(n - 1)
    assert digest_of(again) == digest_of(again)
