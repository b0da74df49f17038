"""Growth, changing objects, two cores, memory and broad phase of the contact queries."""

import time
from typing import Any

import numpy as np

from benchmarks.contact import bodies
from benchmarks.contact.boxes import separation
from benchmarks.contact.peers import EXACT, embreex_numpy, embreex_scene
from benchmarks.contact.speed import CASES, interleaved
from gripsim_ros.core.contact import ContactMesh, vertex_contacts
from gripsim_ros.core.contact.geometry.closest_point import triangles_in_box
from gripsim_ros.core.contact.geometry.culling import transformed_frame, vertices_in_box
from gripsim_ros.core.bodies.oriented_box import interaction_region
from gripsim_ros.core.contact.geometry.ray_casting import direction_frame
from gripsim_ros.core.contact.vertices import kernels
from gripsim_ros.core.contact.vertices.batch import batch_vertex_contacts
from gripsim_ros.core.transforms import apply, inverse

#: Series of cases along which one size grows: label, and link, object and depth [m].
SERIES = {
    'triangles of the object': [('cap5k', f'apple{size}', 5e-3)
                                for size in ('1k', '5k', '20k', '80k')],
    'triangles of the link': [(f'cap{size}', 'apple20k', 5e-3) for size in ('500', '5k', '50k')],
    'penetrating vertices': [('rbox50k', 'sphere20k', depth)
                             for depth in (-1e-3, 5e-4, 2e-3, 5e-3, 1e-2, 2e-2)]}
#: Configurations of each link in the test of two cores, and tries of which the best counts.
CONFIGURATIONS, TRIES = 600, 7
BROAD_LINKS = ('cap500', 'rbox500', 'sdh_tip', 'sdh_finger', 'sdh_knuckle', 'sdh_palm')
BROAD_POSES = 40
#: Tests of oriented boxes.
ORIENTED = ('six', 'fifteen', 'region')
#: Pairs for the time that the region of potential interaction saves.
REGION_CASES = (('cap500', 'apple5k'), ('cap5k', 'apple20k'), ('rbox50k', 'sphere20k'),
                ('sdh_tip', 'apple20k'), ('sdh_palm', 'apple20k'))
_METHODS: dict[tuple[int, int], Any] = {}


def growth(names: list[str], budget: float) -> dict[str, dict[str, Any]]:
    """Return, per series, the sizes along it and seconds of each method."""
    found = {}
    for label, cases in SERIES.items():
        sizes, seconds = [], {name: [] for name in names}
        for link, body, depth in cases:
            own, other, pose = bodies.mesh(link), bodies.mesh(body), bodies.poses(
                link, body, (depth,))[0]
            methods = {name: EXACT[name](own, other) for name in names}
            contacts = sum(len(side[0]) for side in methods['gripsim'](pose))
            sizes.append({'triangles of the object': len(other.faces),
                          'triangles of the link': len(own.faces),
                          'penetrating vertices': contacts}[label])
            for name, value in interleaved(methods, pose, budget).items():
                seconds[name].append(value)
        found[label] = {'sizes': sizes, 'seconds': seconds}
    return found


def print_growth(series: dict[str, dict[str, Any]]) -> None:
    """Print one table a series."""
    for label, row in series.items():
        print(f'\ngrowth with {label}: ms at {row["sizes"]}')
        for name, values in row['seconds'].items():
            print(f'  {name:18} ' + ' '.join(f'{1e3 * value:8.3f}' for value in values))


def update(budget: float, link: str = 'sdh_tip', body: str = 'apple20k') -> dict[str, float]:
    """Return seconds of: a new shape and a query, ours refitted and Embree rebuilt."""
    own, other, pose = bodies.mesh(link), bodies.mesh(body), bodies.poses(link, body, (5e-3,))[0]
    a, b = ContactMesh(own), ContactMesh(other)
    _ = a.flat_tree, b.flat_tree
    rng = np.random.default_rng(bodies.SEED)
    shapes = [other.vertices + 1e-4 * rng.normal(size=other.vertices.shape) for _ in range(4)]
    turn = {'ours': 0, 'embree': 0}
    forth = embreex_numpy(own, other)

    def refit(_: Any) -> None:
        turn['ours'] += 1
        moved = b.with_vertices(shapes[turn['ours'] % len(shapes)])
        vertex_contacts(a, moved, pose.T_link_object, pose.direction)

    def rebuild(_: Any) -> None:
        turn['embree'] += 1
        embreex_scene(shapes[turn['embree'] % len(shapes)], other.faces)
        forth(pose)
    return interleaved({'refit + query': refit, 'Embree rebuild + query': rebuild}, None, budget)


def two_cores(links: tuple[str, ...] = ('sdh_tip', 'sdh_finger', 'sdh_palm'),
              body: str = 'apple20k') -> dict[int, float]:
    """Return the least wall time [s] of a batch of (link, configuration) jobs, by workers."""
    depths = tuple(np.linspace(1e-3, 6e-3, CONFIGURATIONS))
    poses = [bodies.poses(link, body, depths) for link in links]
    T = np.array([[pose.T_link_object for pose in row] for row in poses]).swapaxes(0, 1)
    directions = np.array([[pose.direction for pose in row] for row in poses]).swapaxes(0, 1)
    meshes, target = [bodies.contact_mesh(link) for link in links], bodies.contact_mesh(body)
    best = {1: np.inf, 2: np.inf}
    for _ in range(TRIES + 1):
        for workers in best:
            begin = time.perf_counter()
            batch_vertex_contacts(meshes, target, T, directions, workers)
            best[workers] = min(best[workers], time.perf_counter() - begin)
    return best


def memory(names: tuple[str, ...]) -> dict[str, tuple[int, int]]:
    """Return triangles and bytes of tree and query arrays of each mesh."""
    found = {}
    for name in names:
        mesh = bodies.contact_mesh(name)
        arrays = [value for part in (mesh.tree, mesh.flat_tree) for value in part
                  if isinstance(value, np.ndarray)]
        different = {value.__array_interface__['data'][0]: value.nbytes for value in arrays}
        found[name] = len(mesh.mesh.faces), sum(different.values())
    return found


def broad_phase(objects: tuple[str, ...] = bodies.OBJECTS) -> dict[str, int]:
    """
    Return numbers of pairs: all, those that meet, and that pass each test.

    Bounding spheres, axis-aligned boxes, oriented boxes by 6 axes, by 15, and then regions.

    Poses put links anywhere within reach of the object's box. A pair that passes is a false
    positive if no triangle of one lies in the region of potential interaction of the other.
    """
    rng = np.random.default_rng(bodies.SEED)
    counts = dict.fromkeys(('pairs', 'meet', 'spheres', 'aligned', *ORIENTED), 0)
    for link in BROAD_LINKS:
        for body in objects:
            own, other = bodies.contact_mesh(link), bodies.contact_mesh(body)
            reach = (np.linalg.norm(own.box.half_lengths)
                     + np.linalg.norm(other.box.half_lengths))
            for _ in range(BROAD_POSES):
                T = _random_pose(rng, own, other, reach)
                moved = other.box.with_transform(T)
                counts['pairs'] += 1
                counts['spheres'] += _spheres_meet(own, other, T)
                counts['aligned'] += _aligned_boxes_meet(own, other, T)
                counts['six'] += separation(own.box, moved, False) <= 0.0
                near = separation(own.box, moved) <= 0.0
                counts['fifteen'] += near
                regions = near and _both_regions(own, other, T)
                counts['region'] += regions
                counts['meet'] += regions and _meet(own, other, T)
    return counts


def _spheres_meet(own: ContactMesh, other: ContactMesh, T: np.ndarray) -> bool:
    """Tell whether the spheres about the middles of both oriented boxes meet."""
    radii = sum(np.linalg.norm(mesh.mesh.vertices - mesh.box.centre, axis=1).max()
                for mesh in (own, other))
    way = T[:3, :3] @ other.box.centre + T[:3, 3] - own.box.centre
    return bool(np.linalg.norm(way) <= radii)


def _aligned_boxes_meet(own: ContactMesh, other: ContactMesh, T: np.ndarray) -> bool:
    """Tell whether the boxes of all vertices along the axes of the object's frame meet."""
    moved, still = apply(inverse(T), own.mesh.vertices), other.mesh.vertices
    return bool((moved.min(axis=0) <= still.max(axis=0)).all()
                and (still.min(axis=0) <= moved.max(axis=0)).all())


def _random_pose(rng: np.random.Generator, own: ContactMesh, other: ContactMesh,
                 reach: float) -> np.ndarray:
    rotation = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    rotation[0] *= np.sign(np.linalg.det(rotation))
    way = rng.normal(size=3)
    way *= reach * rng.uniform() ** (1.0 / 3.0) / np.linalg.norm(way)
    T = np.eye(4)
    T[:3, :3] = rotation
    T[:3, 3] = own.box.centre + way - rotation @ other.box.centre
    return T


def _both_regions(own: ContactMesh, other: ContactMesh, T: np.ndarray) -> bool:
    """Tell whether both meshes have triangles in their regions of potential interaction."""
    back = inverse(T)
    for mesh, box in ((own, other.box.with_transform(T)), (other, own.box.with_transform(back))):
        region = interaction_region(mesh.box, box)
        if region is None or not len(triangles_in_box(mesh.tree, region.axes, region.centre,
                                                      region.half_lengths)):
            return False
    return True


def _meet(own: ContactMesh, other: ContactMesh, T: np.ndarray) -> bool:
    """Tell whether triangles cross: python-fcl decides."""
    from benchmarks.contact.peers import fcl
    key = id(own), id(other)
    if key not in _METHODS:
        _METHODS[key] = fcl(own.mesh, other.mesh)
    return len(_METHODS[key](bodies.Pose(T, np.ones(3)))) > 0


def region_saving(budget: float) -> dict[str, float]:
    """
    Return, per pair, the time of a query over the time without looking at regions.

    Without: every vertex of either mesh is cast, as if the boxes were far larger.
    """
    saved = {}
    for link, body in REGION_CASES:
        pose = bodies.poses(link, body, (5e-3,))[0]
        near = [ContactMesh(bodies.mesh(name)) for name in (link, body)]
        wide = [ContactMesh(bodies.mesh(name)) for name in (link, body)]
        for mesh in wide:
            mesh.flat_tree.box[4] += 1.0
        queries = {
            'with': lambda p: vertex_contacts(*near, p.T_link_object, p.direction),
            'without': lambda p: vertex_contacts(*wide, p.T_link_object, p.direction)}
        times = interleaved(queries, pose, budget)
        saved[f'{link} | {body}'] = times['with'] / times['without']
    return saved


def tree_against_grid(budget: float, cases: tuple[tuple[str, str, float], ...] = CASES
                      ) -> dict[str, float]:
    """Return, per case, the time to stream all triangles over the time by the tree."""
    return {f'{link} | {body} {1e3 * depth:g} mm': _all_over_tree(link, body, depth, budget)
            for link, body, depth in cases}


def _all_over_tree(link: str, body: str, depth: float, budget: float) -> float:
    pose = bodies.poses(link, body, (depth,))[0]
    pair = bodies.contact_mesh(link).flat_tree, bodies.contact_mesh(body).flat_tree
    T = inverse(pose.T_link_object)
    prepared = [_prepared(pair[0], pair[1], T, T[:3, :3] @ pose.direction),
                _prepared(pair[1], pair[0], pose.T_link_object, -pose.direction)]

    def by_tree(_: Any) -> None:
        for target, frame, grid, _every in filter(None, prepared):
            found = kernels._triangles_over(target, frame, grid, 1e-13)
            kernels._first_hits(target, found, frame, grid, 1e-13)

    def over_all(_: Any) -> None:
        for target, frame, grid, every in filter(None, prepared):
            kernels._first_hits(target, every, frame, grid, 1e-13)
    times = interleaved({'tree': by_tree, 'all': over_all}, None, budget)
    return times['all'] / times['tree']


def _prepared(query: Any, target: Any, T: np.ndarray, direction: np.ndarray) -> tuple | None:
    """Return target, frame, grid of the query's vertices and all triangles, if there are any."""
    rotation, origin = np.ascontiguousarray(T[:3, :3]), T[:3, 3].copy()
    near = vertices_in_box(query.balls, query.nodes, query.vertices, int(query.sizes[0]),
                           transformed_frame(target.box[:3], rotation, origin - target.box[3]),
                           target.box[4])
    if not len(near):
        return None
    frame, count = direction_frame(direction), len(target.triangles)
    points = kernels._projected(query.vertices, near, transformed_frame(frame, rotation, origin))
    grid = kernels._sorted_into_cells(*points, near, count)
    return target, frame, grid, np.arange(count, dtype=np.uint32)
