"""The house's rules: folders that can be overlooked, plain names, a test for each module."""

import ast
from collections import Counter
import re

from house import is_under, LEAVES, list_folders, MODULES, PACKAGE, read_source, ROOT
import yaml

#: Largest number of modules of a folder; the command line has one for each verb.
MOST_MODULES, MORE = 12, {'apps.cli'}
#: Largest number of modules whose names begin with the same word: more are a folder.
MOST_OF_A_PREFIX = 2
#: Largest number of modules at the top of the package, beside its root.
MOST_AT_THE_TOP = 2
#: Names that say nothing of what is inside.
EMPTY_WORDS = re.compile(r'(^|_)(utils?|misc|helpers?|common|parts|senses|stuff|things)$')
#: Largest number of arguments of a compiled function, and those that still have more: the list
#: may only become shorter.
MOST_ARGUMENTS = 10
MANY_ARGUMENTS = {
    'core.contact.patches.sampling_grid._sample_mesh': 12,
    'core.mechanics.boundary_elements.integrals._quadrature': 11,
    'core.planning.planar_closing.advance._search_block': 11,
}
#: Public names that nothing in the package calls, each with who does; the list may only become
#: shorter. What the papers print, in folders named `published`, is there for comparison.
CALLED_FROM_OUTSIDE = {
    'apps.sweep.local.LocalEngine.process_ids': 'who watches or kills workers',
    'core.bodies.mesh.TriangleMesh.face_neighbours': 'users of meshes',
    'core.bodies.mesh.TriangleMesh.with_flipped_faces': 'users of meshes',
    'core.bodies.shapes.mugs.mug': 'users who want a body to try',
    'core.bodies.shapes.solids.banana': 'users who want a body to try',
    'core.bodies.shapes.solids.bone': 'users who want a body to try',
    'core.bodies.shapes.solids.egg': 'users who want a body to try',
    'core.bodies.shapes.solids.plate': 'users who want a body to try',
    'core.bodies.shapes.solids.torus': 'users who want a body to try',
    'core.contact.vertices.batch.batch_vertex_contacts': 'users with many poses',
    'core.hand.model.HandModel.joint_vector': 'users of hands',
    'core.mechanics.stability.stability.find_equilibrium': 'users with one grasp',
    'hardware.driver.link.joint_controller.SdhHand.powers': 'users of the link',
    'hardware.sim.hand_model.hand_spec': 'the benchmark of holding',
    'hardware.sim.options.default_options': 'benchmarks with a simulated hand',
    'hardware.sim.world.World.palm_moves': 'users of the simulated hand',
    'hardware.sim.world.World.link_forces': 'benchmarks with a simulated hand',
    'hardware.sim.world.World.links_at_obstacles': 'users of the simulated hand',
    'library.in_process.load_object': 'users of the front door',
    'ros.clients.plan.PlanGraspClient.plan_by_service': 'callers of the service',
    'ros.nodes.base.ring_reader.NoExecutor.can_execute': 'rclpy',
    'ros.nodes.base.ring_reader.NoExecutor.beginning_execution': 'rclpy',
    'ros.nodes.base.ring_reader.NoExecutor.ending_execution': 'rclpy',
}
#: Folders in which whatever is computed could come from a library: each module has its line in
#: docs/decisions, by itself or with its folder.
ALGORITHMS = ('core.numerics', 'core.contact.geometry', 'core.contact.distance',
              'core.contact.backends.convex', 'core.mechanics.boundary_elements',
              'core.bodies.repair', 'library.drawing.raster')
#: What serves an algorithm that has a line, and would be no library's.
NO_ALGORITHMS = {
    'core.numerics.kernels', 'core.numerics.kernel_cache', 'core.numerics.kernel_type',
    'core.numerics.rows', 'core.numerics.card', 'core.contact.geometry.contact_mesh',
    'core.contact.geometry.flat_tree', 'core.contact.geometry.curved_surface',
    'core.contact.distance.clearance_cache', 'core.mechanics.boundary_elements.disk_cache'}
#: Lines with a figure and without a command that measures it again; may only become fewer.
WITHOUT_COMMAND = 2
COVERED_BY = yaml.safe_load((ROOT / 'test' / 'house' / 'covered_by.yaml').read_text())


def mirrored_test(module):
    """Return where the test of a module would stand."""
    *folders, name = module.split('.')
    return ROOT.joinpath('test', *folders, f'test_{name}.py')


def test_a_folder_has_a_dozen_modules_at_most():
    assert not [package for package, (modules, _) in list_folders().items()
                if len(set(modules) - {'__main__'}) > MOST_MODULES and package not in MORE]


def test_little_stands_at_the_top():
    assert len(list_folders()[''][0]) <= MOST_AT_THE_TOP


def test_modules_of_one_prefix_are_a_folder():
    prefixes = Counter((package, name.split('_')[0]) for package, (modules, _) in
                       list_folders().items() for name in modules if name != '__main__')
    assert not [prefix for prefix, count in prefixes.items() if count > MOST_OF_A_PREFIX]


def test_names_say_what_is_inside():
    assert not [module for module in MODULES if EMPTY_WORDS.search(module.rpartition('.')[2])]


def test_a_module_has_its_test_where_one_looks_for_it_or_a_listed_one():
    mirrored = {module for module in LEAVES if mirrored_test(module).is_file()}
    assert not mirrored & set(COVERED_BY), 'strike them from covered_by.yaml'
    assert not [module for module in LEAVES if module not in mirrored and not (
        COVERED_BY.get(module) and (ROOT / 'test' / COVERED_BY[module]).is_file())]


def test_listed_modules_exist():
    assert set(COVERED_BY) <= set(LEAVES)


def test_kernels_are_declared_by_the_one_decorator_that_tells_numba_of_kernels():
    """Numba knows kernels that a kernel calls once the first is called that was declared so."""
    assert not [(module, read_source(module).foreign) for module in MODULES
                if read_source(module).foreign]


def test_compiled_functions_take_few_arguments():
    many = {f'{module}.{function.name}': len(function.args.args) for module in LEAVES
            for function in read_source(module).kernels
            if len(function.args.args) > MOST_ARGUMENTS}
    assert many == MANY_ARGUMENTS


def options_of(kernel):
    """Return how a kernel is declared: numba's options, and how arithmetic ends."""
    text = {word.arg: ast.unparse(word.value) for decorator in kernel.decorator_list
            for word in getattr(decorator, 'keywords', ())}
    return text, (text.get('error_model'), text.get('fastmath'))


def test_an_inlined_kernel_calculates_as_those_that_call_it():
    """Numba compiles it with their options: by which zero may be divided, say."""
    kernels = [(function.name, *options_of(function), {
        node.id for node in ast.walk(function) if isinstance(node, ast.Name)})
        for module in LEAVES for function in read_source(module).kernels]
    inlined = {name: arithmetic for name, options, arithmetic, _ in kernels
               if 'inline' in options}
    met = [(name, caller) for caller, _, arithmetic, words in kernels
           for name in inlined.keys() & words if inlined[name] != arithmetic]
    assert len(inlined) > 5 and not met


def test_nothing_public_is_there_for_tests_alone():
    used = Counter()
    for module in MODULES:
        used.update(read_source(module).words)
    unused = {f'{module}.{name}' for module in LEAVES if '.published.' not in module
              for name in read_source(module).public
              if not used[name.rpartition('.')[2]] and name != 'main'}
    assert unused == set(CALLED_FROM_OUTSIDE)


def hand_written():
    """Return the lines of the table of hand-written algorithms, as lists of cells."""
    page = (ROOT / 'docs' / 'decisions' / 'README.md').read_text(encoding='utf-8')
    table = page.split('## Hand-written where a library offers it')[1].split('\n\n')[2]
    return [[cell.strip() for cell in line.strip('|').split('|')]
            for line in table.strip().splitlines()[2:]]


def test_a_hand_written_algorithm_has_its_library_figure_date_and_command():
    lacking = 0
    for algorithm, module, library, figure, recorded, command in hand_written():
        named = re.findall(r'`([\w/.]+)`', module)
        assert named and algorithm and library, algorithm
        for path in named:
            assert (ROOT / PACKAGE / path).exists() or (ROOT / path).exists() \
                or '/' not in path, path
        assert figure and re.fullmatch(r'\d{4}-\d\d-\d\d|–', recorded), algorithm
        lacking += recorded != '–' and command == 'no command yet'
    assert lacking == WITHOUT_COMMAND


def test_every_module_of_algorithms_is_in_the_table():
    told = {path.strip('/').removesuffix('.py').replace('/', '.')
            for row in hand_written() for path in re.findall(r'`([\w/.]+)`', row[1])}
    lost = [module for module in LEAVES for folder in ALGORITHMS
            if is_under(module, folder) and module not in NO_ALGORITHMS
            and not any(is_under(module, path) for path in told)]
    assert not lost
