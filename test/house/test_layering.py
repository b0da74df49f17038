"""Imports run one way, down to the rooms; the core knows neither ROS nor the terminal."""

from house import (
    is_under, LEAVES, list_folders, list_imports, list_own_imports, list_reached, MODULES,
    PACKAGE, read_source, ROOT)
import pytest

#: Largest number of lines of a module.
MAX_LINES = 400
# What each package with rooms holds, from the bottom up: what stands in a place may import from
# the places before it, and from within itself. A test compares docs/architecture.md.
LAYERS = {
    PACKAGE: 'core < library < hardware < ros < apps',
    'core': ('arrays, errors, memory < numerics < fields, options, transforms < batches, bodies '
             '< hand < grasp_theory, contact < mechanics, planning < arm < pipeline'),
    'core.bodies': ('formats, material, oriented_box, parsing, topology, triangles < mesh < mass, '
                    'reading, shapes, tetrahedra < repair < loading < scans < grasp_object '
                    '< decimate'),
    'core.hand': ('description, files < tree < outline < shapes < loading '
                  '< model < kinematics < published'),
    'core.numerics': ('kernel_cache, kernel_type < kernels, simd < card, nnls, summation, vec3 '
                      '< cholesky, rows, socp < complementarity'),
    'core.contact': ('geometry < distance, patches, vertices < stage < published < backends'),
    'core.contact.backends': 'convex < common_plane < find_contacts',
    'core.mechanics': (
        'quadratic_elements < boundary_elements, finite_strain, published, stability < contact '
        '< deformation < edges, options < body < following, indentation, state_builder < stage '
        '< published_stage'),
    'core.mechanics.boundary_elements': (
        'edge_collapse, node_count, quadrature < remesh, substructures '
        '< integrals, node_correction, shell < cells, shell_nodes < body_compliance '
        '< disk_cache, tangential_loads'),
    'core.mechanics.finite_strain': (
        'element_matrices, laws < solid < meshing, obstacles '
        '< contact_edges, equilibrium < squeezing < calibration'),
    'core.mechanics.stability': (
        'contact_springs < equilibrium < margin < stability < grasp_forces < published'),
    'core.arm': (
        'published, model < collision, loading < motion < choice'),
    'core.planning': (
        'options, ranked_grasp, rejections, task < hypotheses, progress < moving_object < closing '
        '< ranking < planar_closing < diagnosis < verdicts < manipulation, settling '
        '< ask_and_tell, closings < evaluator, planner, published'),
    'library': ('boxes, display, own_compliance, resources, task_file, whole_motion, '
                'workers < planned_arm, planned_object < grasp_file '
                '< drawing, in_process < database, hands, squeezing, strongest'),
    'hardware': 'driver, execution, sim < palpation',
    'hardware.execution': (
        'hold_plan, measurement, touch_plan, way < arm, feeling < actions, plan < closing, state '
        '< touch < holding < machine < report'),
    'hardware.sim': ('options, setpoints < arm, elements, palm, solids < described_hand '
                     '< hand_model < world_model < soft < world < pictures, touch'),
    'hardware.driver': 'emulator, options < link < motion, tactile < session',
    'ros': 'conversions, environment, programs, quality < markers < nodes < clients < record',
    'ros.conversions': 'arrays, clouds, geometry, plan_told < moveit, objects, ring < requests',
    'ros.markers': 'layers < legend, way < finger_forces, scenes',
    'ros.nodes': 'base < executor, hand, ring < planner',
    'apps': 'doctor, examples, report, sweep < view < cli',
    'apps.doctor': 'finding < packages, running_suite < examination',
    'apps.report': ('curves, packing, style < closure_picture, contact_picture, motion_payload, '
                    'section_picture, squeeze_picture < motion_picture, payload < pictures '
                    '< html'),
    'apps.cli': (
        'inputs < arguments, output < emulate_sdh, hand, joining, options, progress, '
        'requests, tables < answers, contact, doctor, evaluate, export, fk, indent, preshape, '
        'record, replay, squeeze, suite, sweep, view < calibrate, execute, plan < demo, '
        'examples, palpate < main < __main__'),
}
# Of a room that stands lower one may need a part alone: of bodies the hand takes meshes, not
# materials or objects.
PARTS = {('core.hand', 'core.bodies'): (
    'core.bodies.mesh', 'core.bodies.reading', 'core.bodies.loading')}
STAGES = ('core.contact', 'core.mechanics', 'core.arm', 'core.pipeline')
ROS_MODULES = ('rclpy', 'rcl_interfaces', 'builtin_interfaces', 'gripsim_interfaces', 'launch',
               'launch_ros')
ROS_PREFIXES = ('tf2_', 'ament_', 'rosidl_')
ROS_SUFFIXES = ('_msgs', '_srvs')
CORE = [module for module in MODULES if is_under(module, 'core')]


def places(package):
    """Map what a package holds to its place in ``LAYERS``, counted from the bottom."""
    return {name.strip(): place for place, layer in enumerate(LAYERS[package].split('<'))
            for name in layer.split(',')}


def fork(module, imported):
    """Return the package in which two modules part ways, and the name of each in it."""
    one, other = [*module.split('.'), ''], [*imported.split('.'), '']
    depth = next(i for i, (a, b) in enumerate(zip(one, other)) if a != b)
    return '.'.join(one[:depth]), one[depth], other[depth]


def is_ros(name):
    """Return True if a top-level module belongs to ROS."""
    return (name in ROS_MODULES or name.startswith(ROS_PREFIXES) or name.endswith(ROS_SUFFIXES))


def find_circle(graph):
    """Return the nodes of one circle of a graph of imports, or an empty list."""
    done, way = set(), []

    def visit(node):
        if node in way:
            return way[way.index(node):]
        if node in done:
            return []
        way.append(node)
        for other in graph[node]:
            if circle := visit(other):
                return circle
        done.add(way.pop())
        return []

    return next((circle for node in graph if (circle := visit(node))), [])


def test_every_module_and_room_has_its_layer():
    assert not [package for package, (modules, rooms) in list_folders().items()
                if rooms and set(places(package or PACKAGE)) != {*modules, *rooms}]


def test_the_docs_tell_the_layers():
    page = (ROOT / 'docs' / 'architecture.md').read_text(encoding='utf-8')
    told = ' '.join(page.split())
    for package, layers in LAYERS.items():
        assert f'{package}: {layers}' in told, package


def test_imports_point_downwards():
    levels, wrong = {package: places(package) for package in LAYERS}, []
    for module in LEAVES:
        for imported in list_own_imports(module):
            package, own, other = fork(module, imported)
            place = levels.get(package or PACKAGE)
            if place and own and other and place[other] >= place[own]:
                wrong.append((module, imported))
    assert not wrong


@pytest.mark.parametrize('room, lower', list(PARTS))
def test_only_a_part_of_a_lower_room_is_used(room, lower):
    used = {imported for module in MODULES if is_under(module, room)
            for imported in list_own_imports(module) if is_under(imported, lower)}
    assert used == set(PARTS[room, lower])


def test_no_modules_import_each_other_in_a_circle():
    assert not find_circle({module: list_own_imports(module) for module in MODULES})


def test_a_circle_is_found():
    assert set(find_circle({'a': ['b'], 'b': ['c'], 'c': ['d', 'b'], 'd': []})) == {'b', 'c'}


def test_package_roots_import_nothing():
    assert not list_own_imports('')
    assert not list_imports('core')


def test_core_knows_no_ros():
    assert not [(module, name) for module in CORE for name in list_imports(module)
                if is_ros(name.split('.')[0])]


def test_core_does_not_print():
    assert not [(module, line) for module in CORE for line in read_source(module).prints]


def test_core_reads_no_clock():
    assert not [(module, name) for module in CORE for name in list_imports(module)
                if name.split('.')[0] in ('time', 'datetime')]


def test_planner_node_holds_no_stage():
    reached = list_reached('ros.nodes.planner.grasp_planner')
    assert 'core.planning' in reached
    assert not [module for module in reached for stage in STAGES if is_under(module, stage)]


def test_modules_are_short():
    assert not [module for module in MODULES if read_source(module).lines >= MAX_LINES]
