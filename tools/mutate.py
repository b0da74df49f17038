"""
Mutation testing of the kernels: change one thing in a function, and see a test fail.

    python tools/mutate.py [--sample 12] [--seed 1] [--only gjk] [--replay N …]

Nothing is written: kernels run as plain Python (``NUMBA_DISABLE_JIT``), and a forked process
gives one function other code before it runs the tests of its module. So a change needs no
compiling, and no cache can hide it. What survives a few random examples of each law is asked
with all of them. Survivors are printed with their number, place and change; ``--replay`` runs
some again after a test was sharpened. What was found is in docs/validation/mutation.md.
"""

import argparse
import ast
import contextlib
import importlib
import os
from pathlib import Path
import random
import signal
import sys
import time

ROOT = Path(__file__).resolve().parents[1]
CORE = 'gripsim_ros.core'
#: Modules and the tests that hold them: files, then an expression of pytest's -k or ''.
TARGETS = {
    'contact.gjk': ('test_clearance', 'hulls and not close or cubes'),
    'contact.vp_tree': ('test_vp_tree', ''),
    'contact.point_queries': ('test_vp_tree', ''),
    'contact.ray_queries': ('test_narrow_phase', ''),
    'contact.culling': ('test_penetration', ''),
    'contact.penetration': ('test_penetration', ''),
    'mechanics.active_set': ('test_contact_forces',
                             'definite_problem or exchanges or least_squares or coinciding'),
    'mechanics.cholesky': ('test_cholesky', ''),
    'mechanics.cone_algebra': ('test_cone_solver', ''),
    'mechanics.cone_equations': ('test_cone_solver', ''),
    'mechanics.cone_solver': ('test_cone_solver', ''),
}
#: Random examples of a law, first and where a mutant survives these.
EXAMPLES = {'few': 6, 'many': 60}
#: A mutant may take this many times as long as the source, and so many seconds more.
SLOWER, GRACE = 5.0, 20.0
SWAPS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
         ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult}
COMPARISONS = {ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE),
               ast.GtE: (ast.Gt, ast.Lt), ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,)}
CALLS = {'min': 'max', 'max': 'min', 'minimum': 'maximum', 'maximum': 'minimum',
         'floor': 'ceil', 'ceil': 'floor', 'sin': 'cos', 'argmin': 'argmax', 'argmax': 'argmin'}


def list_mutants(source):
    """
    Return ``(line, column, end line, end column, function, old text, new text)`` of changes.

    Operators, comparisons (each to its neighbour and its opposite), ``and`` and ``or``,
    numbers, signs, opposite functions, ``break`` and ``continue``; in functions alone.
    """
    mutants = []
    for function in ast.parse(source).body:
        if not isinstance(function, ast.FunctionDef):
            continue
        for statement in function.body:
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                continue
            for node in ast.walk(statement):
                mutants += [(node.lineno, node.col_offset, node.end_lineno, node.end_col_offset,
                             function.name, ast.get_source_segment(source, node), new)
                            for new in changes_of(node)]
    return sorted(set(mutants))


def changes_of(node):
    """Return the texts that may stand for a node."""
    if isinstance(node, ast.BinOp) and type(node.op) in SWAPS:
        return [_bracketed(ast.BinOp(node.left, SWAPS[type(node.op)](), node.right))]
    if isinstance(node, ast.AugAssign) and type(node.op) in SWAPS:
        return [ast.unparse(ast.AugAssign(node.target, SWAPS[type(node.op)](), node.value))]
    if isinstance(node, ast.Compare):
        return [_bracketed(ast.Compare(node.left, [*node.ops[:place], other(),
                                                   *node.ops[place + 1:]], node.comparators))
                for place, operator in enumerate(node.ops)
                for other in COMPARISONS.get(type(operator), ())]
    if isinstance(node, ast.BoolOp):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        return [_bracketed(ast.BoolOp(other, node.values))]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.Not)):
        return [_bracketed(node.operand)]
    if isinstance(node, ast.Constant):
        return _other_values(node.value)
    name = getattr(node, 'id', getattr(node, 'attr', None))
    if name in CALLS:
        return [ast.unparse(node)[:-len(name)] + CALLS[name]]
    return {ast.Break: ['continue'], ast.Continue: ['break']}.get(type(node), [])


def _bracketed(node):
    return f'({ast.unparse(node)})'


def _other_values(value):
    if isinstance(value, bool):
        return [repr(not value)]
    if isinstance(value, int):
        return [repr(value + 1)]
    if isinstance(value, float):
        return ['1.0'] if value == 0.0 else ['0.0', repr(1.5 * value)]
    return []


def mutated_function(source, mutant):
    """Return the source of the function that a mutant changes, changed, in its own lines."""
    first, column, last, end, name, _, new = mutant
    lines = source.encode().split(b'\n')
    before, after = lines[first - 1][:column], lines[last - 1][end:]
    text = b'\n'.join([*lines[:first - 1], before + new.encode() + after, *lines[last:]])
    function = next(node for node in ast.parse(text).body
                    if isinstance(node, ast.FunctionDef) and node.name == name)
    function.decorator_list = []
    return ast.Module([function], [])


def run_tests(module, mutant, examples, limit):
    """Return ``(passed, seconds)`` of a forked run; one past its limit has not passed."""
    start, child = time.monotonic(), os.fork()
    if child == 0:
        _test_and_exit(module, mutant, examples)
    while time.monotonic() - start < limit:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status) == 0, time.monotonic() - start
        time.sleep(0.02)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False, time.monotonic() - start


def _test_and_exit(module, mutant, examples):
    """Give a function its mutant's code, run the tests, and end this process."""
    code = 1
    try:
        with open(os.devnull, 'w') as nowhere, contextlib.redirect_stdout(nowhere), \
                contextlib.redirect_stderr(nowhere):
            if mutant is not None:
                owner = importlib.import_module(f'{CORE}.{module}')
                source = Path(owner.__file__).read_text(encoding='utf-8')
                namespace = dict(vars(owner))
                exec(compile(mutated_function(source, mutant), owner.__file__, 'exec'), namespace)
                vars(owner)[mutant[4]].__code__ = namespace[mutant[4]].__code__
            import pytest
            files, chosen = TARGETS[module]
            code = pytest.main(['-q', '-x', '-p', 'no:cacheprovider', '-k', chosen,
                                f'--hypothesis-profile={examples}',
                                *(f'test/{name}.py' for name in files.split())])
    finally:
        os._exit(int(code))


def test_module(module, choose):
    """Run the tests on each chosen mutant; print and return how many survived."""
    owner = importlib.import_module(f'{CORE}.{module}')
    mutants = list_mutants(Path(owner.__file__).read_text(encoding='utf-8'))
    limits = {}
    for examples, number in EXAMPLES.items():
        share = number / EXAMPLES['few']
        if examples == 'few':
            passed, seconds = run_tests(module, None, examples, 3600.0)
            if not passed:
                raise SystemExit(f'{module}: its tests fail on the source as it is')
        limits[examples] = share * SLOWER * seconds + GRACE
    numbers = choose(len(mutants))
    survivors = 0
    for number in numbers:
        if all(run_tests(module, mutants[number], *pair)[0] for pair in limits.items()):
            survivors += 1
            line, _, _, _, _, old, new = mutants[number]
            print(f'  survived: {number}, line {line}: {" ".join(old.split())} -> {new}',
                  flush=True)
    print(f'{module}: {len(mutants)} mutants, {len(numbers)} tried, {survivors} survived '
          f'({seconds:.0f} s a run)', flush=True)
    return survivors


def prepare(modules):
    """Import what the tests import, with fewer examples a law and failures left as found."""
    os.environ |= {'NUMBA_DISABLE_JIT': '1', 'OPENBLAS_NUM_THREADS': '1'}
    os.chdir(ROOT)
    sys.path[:0] = [str(ROOT), str(ROOT / 'test')]
    importlib.import_module('conftest')
    from hypothesis import Phase, settings
    for name, examples in EXAMPLES.items():
        settings.register_profile(name, deadline=None, derandomize=True, max_examples=examples,
                                  phases=[Phase.explicit, Phase.generate])
    settings.load_profile('few')
    for module in modules:
        for name in TARGETS[module][0].split():
            importlib.import_module(name)


def main():
    """Sample mutants of every module, or run some again."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[1])
    parser.add_argument('--sample', type=int, default=12, help='mutants of each module')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--only', default='', help='part of the names of modules')
    parser.add_argument('--replay', type=int, nargs='+', help='numbers of mutants')
    arguments = parser.parse_args()

    def choose(count):
        few = random.Random(arguments.seed).sample(range(count), min(arguments.sample, count))
        return arguments.replay or sorted(few)

    modules = [module for module in TARGETS if arguments.only in module]
    prepare(modules)
    survivors = [test_module(module, choose) for module in modules]
    return int(any(survivors))


if __name__ == '__main__':
    sys.exit(main())
