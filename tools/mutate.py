"""
Mutation testing of the kernels: change one thing in a function, and see a test fail.

    python tools/mutate.py [--sample 12] [--seed 1] [--only gjk] [--replay N …]

Nothing is written: kernels run as plain Python (``NUMBA_DISABLE_JIT``), and a forked process
gives one function other code before it runs the tests of its module. So a change needs no
compiling, and no cache can hide it. What survives a few random examples of each law is asked
with more. Survivors are printed with their number, place and change; ``--replay`` runs
some again after a test was sharpened. What was found is in docs/validation/mutation.md.
"""

import argparse
import ast
import contextlib
import importlib
import inspect
import os
from pathlib import Path
import random
import resource
import sys

ROOT = Path(__file__).resolve().parents[1]
CORE = 'gripsim_ros.core'
#: Modules of the core and the tests that hold them: names of files in the folder that mirrors
#: the module's, or below test/; then an expression of pytest's -k or ''.
TARGETS = {
    'contact.distance.gjk': ('gjk', ''),
    'contact.geometry.vp_tree': ('tree_kernels', 'new_tree or refitted or node'),
    'bodies.topology': ('topology', ''),
    'bodies.triangles': ('triangles', ''),
    'contact.geometry.tree_building': ('tree_building', ''),
    'contact.geometry.closest_point': (
        'tree_kernels',
        'triangle_meets or of_any_place or closest or points_in or bounds_in'),
    'contact.geometry.culling': ('tree_kernels', 'boxes or vertices_in or rows_of'),
    'contact.geometry.ray_casting': ('ray_casting', 'not vertices'),
    'contact.vertices.kernels': (
        'core/contact/geometry/ray_casting',
        'vertices or cells or ascending'),
    'contact.backends.convex.epa': ('epa', ''),
    'contact.patches.sampling_grid': ('sampling_grid', ''),
    'contact.patches.rasterise': ('sampling_grid', ''),
    'contact.patches.grid_placement': ('grid_placement', ''),
    'numerics.vec3': ('vec3', ''),
    'contact.patches.region': ('patch_kernels', 'areas or clipped or start or region'),
    'contact.patches.patch_flags': ('patch_flags', ''),
    'contact.patches.indenters': ('patch_kernels', 'mesh'),
    'contact.patches.patch': (
        'patch_kernels patch',
        'not turning and not cylinder and not meshed and not asked'),
    'contact.backends.convex.gjk_simplex': ('gjk_simplex', ''),
    'contact.published.intersection_rule': ('intersection_rule_kernels', ''),
    'contact.distance.clearance': ('clearance_kernels', ''),
    'planning.hypotheses.prescreen': ('prescreen', ''),
    'planning.planar_closing.contour': (
        'first_touch hand_section finger_chain',
        '(cut or contour or mirrored or mesh or grazes or pieces) and not prism'),
    'planning.planar_closing.first_touch': ('first_touch finger_chain', ''),
    'planning.planar_closing.advance': ('first_touch', ''),
    'planning.closing.force_control': ('force_control closing_forces', 'not closing_ends'),
    'planning.moving_object.contact_step': ('contact_step', ''),
    'numerics.complementarity': (
        'complementarity core/mechanics/contact/contact_forces',
        'active_set or definite_problem or exchanges or coinciding'),
    'mechanics.contact.warm_start': ('warm_start', 'share_parts or not_pressed or punch'),
    'numerics.cholesky': ('cholesky', ''),
    'numerics.socp.cone': ('kernels solver', ''),
    'numerics.socp.kkt': ('kernels solver', ''),
    'numerics.socp.lanes': ('kernels solver', ''),
    'numerics.socp.solver': ('kernels solver', ''),
    'numerics.socp.iteration': ('kernels solver', ''),
    'mechanics.contact.patch_moments': ('patch_moments', ''),
    'grasp_theory.grasp_map': ('grasp_map', ''),
    'mechanics.contact.rocking_stiffness': (
        'rocking_stiffness',
        'fields or springs_bear or springs_need or in_a_line'),
    'mechanics.contact.half_space': ('half_space', ''),
    'mechanics.deformation.boussinesq': ('boussinesq', ''),
    'mechanics.stability.contact_springs': ('equilibrium', ''),
    'mechanics.stability.equilibrium': ('equilibrium', ''),
    'mechanics.stability.margin': ('equilibrium', ''),
}
#: Random examples of a law, first and where a mutant survives these.
EXAMPLES = 6, 30
#: A mutant may take this many times as long as the source, and so many seconds more, of
#: processor time, so that a busy machine kills none.
SLOWER, GRACE = 5.0, 10.0
#: Standard output, before pytest takes it.
OUTPUT = os.dup(1)
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


class Runner:
    """A pytest plugin: instead of running the tests found, ask them about each mutant."""

    def __init__(self, module, choose):
        self.module, self.choose = module, choose
        self.survivors = None

    def pytest_runtestloop(self, session):
        """Print and count the mutants that survive."""
        owner = importlib.import_module(f'{CORE}.{self.module}')
        mutants = list_mutants(Path(owner.__file__).read_text(encoding='utf-8'))
        limits, times = {}, []
        for examples in EXAMPLES:
            passed, seconds = self._ask(session, None, examples, 3600)
            if not passed:
                raise SystemExit(f'{self.module}: its tests fail on the source as it is')
            limits[examples] = int(SLOWER * seconds + GRACE)
            times.append(f'{seconds:.1f}')
        numbers, survivors = self.choose(len(mutants)), 0
        for number in numbers:
            if all(self._ask(session, mutants[number], *pair)[0] for pair in limits.items()):
                survivors += 1
                line, _, _, _, _, old, new = mutants[number]
                tell(f'  survived: {number}, line {line}: {" ".join(old.split())} -> {new}')
        tell(f'{self.module}: {len(mutants)} mutants, {len(numbers)} tried, {survivors} survived '
             f'({" and ".join(times)} s a run)')
        self.survivors = survivors
        return True

    def _ask(self, session, mutant, examples, limit):
        """Return ``(passed, seconds)`` of a fork; one past its processor time has failed."""
        child = os.fork()
        if child == 0:
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
            self._test_and_exit(session, mutant, examples)
        _, status, used = os.wait4(child, 0)
        return os.waitstatus_to_exitcode(status) == 0, used.ru_utime + used.ru_stime

    def _test_and_exit(self, session, mutant, examples):
        """Give a function its mutant's code, run the tests, and end this process."""
        code = 1
        try:
            if mutant is not None:
                owner = importlib.import_module(f'{CORE}.{self.module}')
                source = Path(owner.__file__).read_text(encoding='utf-8')
                namespace = dict(vars(owner))
                exec(compile(mutated_function(source, mutant), owner.__file__, 'exec'), namespace)
                inspect.unwrap(vars(owner)[mutant[4]]).__code__ = inspect.unwrap(
                    namespace[mutant[4]]).__code__
            code = int(any_fails(session.items, examples))
        finally:
            os._exit(code)


def any_fails(items, examples):
    """Run tests up to the first that fails, each law on so many examples."""
    from _pytest.runner import runtestprotocol
    from hypothesis import Phase, settings
    chosen = settings(deadline=None, derandomize=True, max_examples=examples,
                      phases=[Phase.explicit, Phase.generate], database=None)
    for item, following in zip(items, [*items[1:], None]):
        # A law's own number of examples would win over that of a profile.
        item.function._hypothesis_internal_use_settings = chosen
        if any(report.failed for report in runtestprotocol(item, log=False, nextitem=following)):
            return True
    return False


def tell(text):
    """Print past pytest, which keeps what tests print."""
    os.write(OUTPUT, f'{text}\n'.encode())


def test_file(module, name):
    """Return the path of a test that is named beside a module."""
    folder, _, name = name.rpartition('/')
    folder = folder or '/'.join(['core', *module.split('.')[:-1]])
    return f'test/{folder}/test_{name}.py'


def test_module(module, choose):
    """Return how many of the chosen mutants survive the tests of their module."""
    import pytest
    files, chosen = TARGETS[module]
    runner = Runner(module, choose)
    with open(os.devnull, 'w') as nowhere, contextlib.redirect_stdout(nowhere), \
            contextlib.redirect_stderr(nowhere):
        pytest.main(['-q', '-p', 'no:cacheprovider', '-m', '', '-k', chosen,
                     *(test_file(module, name) for name in files.split())], plugins=[runner])
    if runner.survivors is None:
        raise SystemExit(f'{module}: its tests could not be run as they are')
    return runner.survivors


def prepare():
    """Let kernels be plain Python, and tests be imported without what they do not need."""
    os.environ |= {'NUMBA_DISABLE_JIT': '1', 'OPENBLAS_NUM_THREADS': '1',
                   'PYTEST_DISABLE_PLUGIN_AUTOLOAD': '1'}
    os.chdir(ROOT)
    sys.path[:0] = [str(ROOT), str(ROOT / 'test' / 'helpers')]


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
    prepare()
    survivors = [test_module(module, choose) for module in modules]
    return int(any(survivors))


if __name__ == '__main__':
    sys.exit(main())
