"""
Contacts beside an edge of the object against finite elements.

``python -m benchmarks fem_edges`` prints the table of docs/validation/finite_elements.md. Two
balls are pressed into opposite faces of a block whose one end leans, so that both faces end in an
edge of 150 to 45 degrees. Quadratic hexahedra of the quarter that symmetry leaves,
contact solved on their compliance; the product answers through the functions that planning calls.
"""

import argparse
from functools import lru_cache

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.linalg import splu

from gripsim_ros.core.bodies import GraspObject, Material, TriangleMesh
from gripsim_ros.core.contact import ContactMesh, PatchOptions, SphereIndenter, sample_patch
from gripsim_ros.core.mechanics import MechanicsOptions
from gripsim_ros.core.mechanics.body import ContactProblem, ElasticBody, solve_contact
from gripsim_ros.core.mechanics.boundary_elements.disk_cache import ComplianceOptions
from gripsim_ros.core.mechanics.contact.contact_forces import nodes_of

MATERIAL = Material(1e6, 0.4, 500.0, 0.5)
WIDTH, DEPTH, HEIGHT = 0.05, 0.05, 0.04
#: Contact is looked for this near to the edge and to the middle of the block, by elements of a
#: size; they grow beyond [m, m, m, -].
REACH, ASIDE, ELEMENT, GROWTH = 21e-3, 13.5e-3, 1.5e-3, 1.6
#: Angles of the edge [degrees], radii and depths of the balls, ways of their middles to the edge
#: [m], and errors for which the body's nodes are chosen [-].
ANGLES, RADII, DEPTHS = (150.0, 120.0, 90.0, 60.0, 45.0), (0.01, 0.04), (5e-4, 1e-3)
WAYS, TOLERANCES = (7e-3, 4e-3, 2e-3, 1e-3, -2e-3), (0.03, 0.01)


def ticks(fine: float, end: float):
    """Return places from 0 to an end: elements of one size, then growing ones [m]."""
    places, size = [0.0], ELEMENT
    while places[-1] < fine - 1e-9:
        places.append(places[-1] + ELEMENT)
    while places[-1] + 1.3 * GROWTH * size < end:
        size *= GROWTH
        places.append(places[-1] + size)
    return np.array([*places, end])


@lru_cache(maxsize=None)
def element_matrix(sizes, lean: float):
    """Return the stiffness (81, 81) of a quadratic hexahedron of sizes (3,) that leans [N/m]."""
    sizes = np.array(sizes)
    shear = 0.5 * MATERIAL.youngs_modulus / (1.0 + MATERIAL.poisson_ratio)
    bulk = 2.0 * shear * MATERIAL.poisson_ratio / (1.0 - 2.0 * MATERIAL.poisson_ratio)
    law = np.diag([2.0 * shear] * 3 + [shear] * 3)
    law[:3, :3] += bulk
    stiffness = np.zeros((81, 81))
    for place in np.ndindex(3, 3, 3):
        x = np.sqrt(0.6) * (np.array(place) - 1.0)
        values = np.stack([x * (x - 1.0) / 2.0, 1.0 - x * x, x * (x + 1.0) / 2.0])
        slopes = np.stack([x - 0.5, -2.0 * x, x + 0.5])
        along = np.stack([np.einsum('i,j,k->ijk', *(
            (slopes if k == axis else values)[:, k] for k in range(3))).ravel()
            for axis in range(3)], axis=1) * (2.0 / sizes)
        along[:, 2] -= lean * along[:, 0]
        strain = np.zeros((6, 27, 3))
        for k in range(3):
            strain[k, :, k] = along[:, k]
        for row, (a, b) in enumerate(((0, 1), (1, 2), (0, 2)), 3):
            strain[row, :, a], strain[row, :, b] = along[:, b], along[:, a]
        flat = strain.reshape(6, 81)
        weight = np.prod(np.array([5.0, 8.0, 5.0])[list(place)] / 9.0) * np.prod(sizes) / 8.0
        stiffness += weight * flat.T @ law @ flat
    return stiffness


class LeaningBlock:
    """A quarter of the block by finite elements: places ``(n, 2)`` of contact and compliance."""

    def __init__(self, lean: float) -> None:
        """Solve for a unit force at each node that contact may reach."""
        axes = ticks(REACH, WIDTH), ticks(ASIDE, DEPTH / 2.0), ticks(3e-3, HEIGHT / 2.0)
        points = np.stack(np.meshgrid(*(np.sort(np.concatenate([axis, (axis[1:] + axis[:-1]) / 2]))
                                        for axis in axes), indexing='ij'), axis=-1)
        shape, (x, y, z) = points.shape[:3], points.reshape(-1, 3).T
        within, entries = np.indices((3, 3, 3)).reshape(3, -1), []
        for cell in np.ndindex(*(len(axis) - 1 for axis in axes)):
            nodes = np.ravel_multi_index(within + 2 * np.array(cell)[:, None], shape)
            dofs = (3 * nodes[:, None] + np.arange(3)).ravel()
            sizes = np.array([axis[k + 1] - axis[k] for axis, k in zip(axes, cell)])
            entries.append((np.repeat(dofs, 81), np.tile(dofs, 81),
                            element_matrix(tuple(np.round(sizes, 9)), lean).ravel()))
        rows, columns, values = map(np.concatenate, zip(*entries))
        stiffness = coo_matrix((values, (rows, columns))).tocsc()
        middle, plane = z > HEIGHT / 2.0 - 1e-9, y < 1e-9
        fixed = np.concatenate([3 * np.flatnonzero(plane) + 1, 3 * np.flatnonzero(middle) + 2,
                                3 * np.flatnonzero(plane & middle & (x > WIDTH - 1e-9))])
        free = np.setdiff1d(np.arange(stiffness.shape[0]), fixed)
        top = np.flatnonzero((z < 1e-9) & (x < REACH + 1e-9) & (y < ASIDE + 1e-9))
        self.places = np.stack([x, y], axis=1)[top]
        solve = splu(stiffness[free][:, free].tocsc(), permc_spec='MMD_AT_PLUS_A',
                     diag_pivot_thresh=0.0, options={'SymmetricMode': True}).solve
        rows = np.searchsorted(free, 3 * top + 2)
        self.compliance = np.empty((len(top), len(top)))
        for k in range(0, len(top), 60):
            loads = np.zeros((len(free), len(rows[k:k + 60])))
            loads[rows[k:k + 60], range(loads.shape[1])] = 1.0
            self.compliance[:, k:k + 60] = solve(loads)[rows]

    def force(self, radius: float, depth: float, way: float) -> float:
        """Return what a ball bears, ``way`` from the edge [N]: both halves."""
        squared = np.minimum((self.places[:, 0] - way) ** 2 + self.places[:, 1] ** 2,
                             radius ** 2)
        overlaps = depth - radius + np.sqrt(radius ** 2 - squared)
        loaded, forces = overlaps > 0.0, np.zeros(len(overlaps))
        for _ in range(100):
            forces[:] = 0.0
            forces[loaded] = np.linalg.solve(self.compliance[np.ix_(loaded, loaded)],
                                             overlaps[loaded])
            new = np.where(loaded, forces > 0.0, overlaps > self.compliance @ forces + 1e-12)
            if (new == loaded).all():
                break
            loaded = new
        return 2.0 * float(forces.sum())


def whole_block(lean: float) -> TriangleMesh:
    """Return the surface of the whole block, its first edge at x = 0 and z = 0."""
    import trimesh
    outline = np.array([[0.0, 0.0], [WIDTH, 0.0], [WIDTH + lean * HEIGHT / 2.0, -HEIGHT / 2.0],
                        [WIDTH, -HEIGHT], [0.0, -HEIGHT], [lean * HEIGHT / 2.0, -HEIGHT / 2.0]])
    ends = np.concatenate([np.insert(outline, 1, y, axis=1) for y in (-DEPTH / 2.0, DEPTH / 2.0)])
    triangles = [[0, 1, 2], [0, 2, 5], [5, 2, 3], [5, 3, 4]]
    faces = triangles + [[6 + k for k in face[::-1]] for face in triangles]
    for k in range(6):
        after = (k + 1) % 6
        faces += [[k, 6 + k, 6 + after], [k, 6 + after, after]]
    found = trimesh.Trimesh(ends, faces, process=False)
    trimesh.repair.fix_normals(found)
    return TriangleMesh(found.vertices, found.faces)


def pinch(body: ElasticBody, surface: ContactMesh, radius: float, depth: float, way: float):
    """Return the loaded patches of two balls at opposite faces."""
    both = []
    for side, face in ((1.0, 0.0), (-1.0, -HEIGHT)):
        pose = np.eye(4)
        pose[:3, 3] = way, 0.0, face + side * (radius - depth)
        both += sample_patch(surface, SphereIndenter(radius), pose, np.array([0.0, 0.0, -side]),
                             PatchOptions(node_count=400))
    nodes = nodes_of(both, np.arange(len(both)))
    return solve_contact(body, ContactProblem(nodes, np.array([p.flags for p in both]),
                                              np.array([p.thickness for p in both])), {})


def main() -> None:
    """Print one row a pinch."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument('--angles', type=float, nargs='+', default=ANGLES)
    arguments = parser.parse_args()
    print('| edge [°] | ball [mm] | depth [mm] | way to the edge [mm] | FEM [N] | '
          'half-space [%] | flagged | ' + ' | '.join(
              f'own compliance, {tolerance:.0%}: [%] | way over spacing | flagged'
              for tolerance in TOLERANCES) + ' |\n|' + '---|' * (7 + 3 * len(TOLERANCES)))
    for angle in arguments.angles:
        lean = 1.0 / np.tan(np.deg2rad(angle)) if angle != 90.0 else 0.0
        fine, mesh = LeaningBlock(lean), whole_block(lean)
        surface, thing = ContactMesh.from_arrays(mesh.vertices, mesh.faces), GraspObject(
            mesh, MATERIAL)
        bodies = [ElasticBody(thing)] + [ElasticBody(thing, MechanicsOptions(
            elasticity='body', compliance=ComplianceOptions(tolerance=tolerance)))
            for tolerance in TOLERANCES]
        for radius in RADII:
            for depth in DEPTHS:
                for way in WAYS:
                    print(_row(angle, radius, depth, way, fine, bodies, surface), flush=True)


def _row(angle, radius, depth, way, fine, bodies, surface) -> str:
    force = fine.force(radius, depth, way)
    cells = [f'{angle:.0f}', f'{1e3 * radius:.0f}', f'{1e3 * depth:.1f}', f'{1e3 * way:.0f}',
             f'{force:.3f}']
    for k, body in enumerate(bodies):
        found = pinch(body, surface, radius, depth, way)
        cells.append(f'{100.0 * (found.results.magnitudes[0] / force - 1.0):+.1f}')
        if k:
            spacing = body.compliance.surface.spacing
            cells.append(f'{body.edges.ways(found.results.points[:1])[0] / spacing:.2f}')
        cells.append('' if found.are_quantitative else 'yes')
    return '| ' + ' | '.join(cells) + ' |'


if __name__ == '__main__':
    main()
