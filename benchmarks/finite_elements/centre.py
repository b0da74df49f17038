"""
Shift of the centre of mass against finite elements of the free body.

``python -m benchmarks fem_centre`` prints the table of docs/validation/finite_elements.md. Two
fingers and a thumb, balls of 10 mm, press a body that rests between them: the thumb goes as
deep as it takes, and what the pressures leave unbalanced is friction, the least that balances,
spread like the pressures. The same loads act on quadratic tetrahedra (scikit-fem), free in
space, and both are read by the same rule: mean displacement less the rigid motion that fits the
surface best farther than three contact radii from every pad.
"""

from functools import partial
import sys

import numpy as np
from scipy.optimize import brentq
from scipy.sparse.linalg import splu
from skfem import Basis, BilinearForm, ElementTetP2, ElementVector, MeshTet
from skfem.models.elasticity import lame_parameters, linear_elasticity
import trimesh

from gripsim_ros.core.bodies import GraspObject, Material, shapes
from gripsim_ros.core.bodies.tetrahedra import fill_with_tetrahedra
from gripsim_ros.core.contact import ContactMesh, PatchOptions, SphereIndenter, sample_patch
from gripsim_ros.core.contact.geometry.ray_casting import AHEAD, cast_rays
from gripsim_ros.core.mechanics import MechanicsOptions
from gripsim_ros.core.mechanics.body import (
    ContactProblem, ElasticBody, deform_body, shift_of_centre, solve_contact)
from gripsim_ros.core.mechanics.contact.contact_forces import nodes_of
from gripsim_ros.core.mechanics.deformation.centre_shift import FAR_RADII
from gripsim_ros.core.mechanics.deformation.metrics import fit_rigid_motion

MATERIAL = Material(1e6, 0.4, 500.0, 0.5)
FINGER_RADIUS, NODE_COUNT = 0.01, 400
#: Friction that acts on the body by less than this share of its strength is none: a force along
#: the normals of all pads, which only their tilt would bear [-].
LEVERAGE = 0.1
#: Edges of the product's meshes and of the tetrahedra [m].
EDGE, TETRAHEDRON = 3e-3, 7e-3
#: Depths of the thumb between which balance is looked for, over the fingers' [-] and at most [m].
THUMB_SHARES, THUMB_DEPTH = (0.3, 4.0), 9e-3
HEAD = ('| body | fingers [mm] | thumb [mm] | finite elements [um] | own compliance [um] | '
        'off by [um] | half-space [um] | off by [um] | flagged |\n'
        '|---|---|---|---|---|---|---|---|---|')


def around(*angles, heights=(4e-3, 4e-3, 0.0)):
    """Return rays towards the axis from angles [deg], at heights [m]: starts and ways."""
    rays = []
    for angle, height in zip(np.deg2rad(angles), heights):
        out = np.array([np.cos(angle), np.sin(angle), 0.0])
        rays.append((0.2 * out + [0.0, 0.0, height], -out))
    return rays


def across(axis, places, thumb):
    """Return rays along an axis through places of fingers, and against it through the thumb's."""
    way = np.eye(3)[axis]
    return [(place - 0.2 * way, way) for place in np.array(places)] + [
        (np.array(thumb) + 0.2 * way, -way)]


#: Body: its mesh, rays of two fingers and the thumb, and depths of the fingers [m].
CASES = {
    'ball': (partial(shapes.sphere, 0.04, EDGE), around(25.0, -20.0, 180.0, heights=(0.0,) * 3),
             (1e-3, 3e-3, 5e-3)),
    'apple': (partial(shapes.apple, edge_length=EDGE), around(25.0, -25.0, 180.0),
              (1e-3, 3e-3, 5e-3)),
    'banana': (partial(shapes.banana, edge_length=EDGE),
               across(1, [[-2e-3, 0.0, 0.022], [-2e-3, 0.0, -0.022]], [-1e-3, 0.0, 0.0]),
               (5e-4, 1e-3, 1.5e-3)),
    'foam block': (partial(shapes.box, (0.06, 0.08, 0.05), 4e-3),
                   across(0, [[0.0, 0.015, 4e-3], [0.0, -0.015, 4e-3]], [0.0, 3e-3, 0.0]),
                   (1e-3, 3e-3, 5e-3))}


class FreeBody:
    """Quadratic tetrahedra of a body that floats; loads are balanced by accelerations."""

    def __init__(self, mesh):
        """Mesh and factorise."""
        nodes, corners = fill_with_tetrahedra(mesh, TETRAHEDRON, 2e-3, False)
        self.mesh = MeshTet(np.ascontiguousarray(nodes.T), np.ascontiguousarray(corners.T))
        self.basis = Basis(self.mesh, ElementVector(ElementTetP2()))
        stiffness = linear_elasticity(*lame_parameters(
            MATERIAL.youngs_modulus, MATERIAL.poisson_ratio)).assemble(self.basis).tocsc()
        self._motions()
        self.free = np.setdiff1d(np.arange(self.basis.N), self._pins())
        self.factor = splu(stiffness[self.free][:, self.free].tocsc(),
                           permc_spec='MMD_AT_PLUS_A', diag_pivot_thresh=0.0,
                           options={'SymmetricMode': True})
        faces = self.mesh.facets[:, self.mesh.boundary_facets()].T
        self.surface = trimesh.Trimesh(self.mesh.p.T, faces, process=False)
        self.edges = {pair: k for k, pair in enumerate(map(tuple, np.sort(self.mesh.edges.T)))}

    def _motions(self):
        places, part = self.basis.doflocs, np.empty(self.basis.N, int)
        for k in range(3):
            part[self.basis.nodal_dofs[k]] = part[self.basis.edge_dofs[k]] = k
        self.motions = np.zeros((self.basis.N, 6))
        self.motions[np.arange(self.basis.N), part] = 1.0
        for k in range(3):
            a, b = (k + 1) % 3, (k + 2) % 3
            self.motions[part == b, 3 + k] = places[a, part == b]
            self.motions[part == a, 3 + k] = -places[b, part == a]
        self.momenta = _mass.assemble(self.basis) @ self.motions
        self.inertia = self.motions.T @ self.momenta
        self.volume = self.inertia[0, 0]
        self.places = places[part, np.arange(self.basis.N)]

    def _pins(self):
        points, dofs = self.mesh.p.T, self.basis.nodal_dofs
        first, second = np.argmax(points[:, 0]), np.argmin(points[:, 0])
        along = points[second] - points[first]
        across = np.cross(along, points - points[first])
        third = np.argmax(np.linalg.norm(across, axis=1))
        least = np.argsort(np.abs(along))
        return [*dofs[:, first], *dofs[least[:2], second],
                dofs[int(np.argmax(np.abs(across[third]))), third]]

    def displacements(self, points, forces):
        """Return the displacement (N,) under forces near the surface, without mean [m]."""
        right = np.zeros(self.basis.N)
        places, _, faces = trimesh.proximity.closest_point(self.surface, points)
        shares = trimesh.triangles.points_to_barycentric(self.surface.triangles[faces], places)
        for share, face, force in zip(shares, faces, forces):
            corners = self.surface.faces[face]
            for k in range(3):
                right[self.basis.nodal_dofs[:, corners[k]]] += share[k] * (
                    2.0 * share[k] - 1.0) * force
                pair = tuple(sorted((corners[k], corners[(k + 1) % 3])))
                right[self.basis.edge_dofs[:, self.edges[pair]]] += (
                    4.0 * share[k] * share[(k + 1) % 3] * force)
        right -= self.momenta @ np.linalg.solve(self.inertia, self.motions.T @ right)
        moves = np.zeros(self.basis.N)
        moves[self.free] = self.factor.solve(right[self.free])
        return moves

    def shift(self, moves, centres, radii):
        """Return the shift of the centre of mass against the rigid motion (3,) [m]."""
        mean, centre = (self.momenta[:, :3].T @ row / self.volume for row in (moves, self.places))
        points, faces = self.mesh.p.T, self.surface.faces
        weights = np.bincount(faces.ravel(), np.repeat(self.surface.area_faces / 3.0, 3),
                              minlength=len(points))
        for place, radius in zip(centres, radii):
            weights *= np.linalg.norm(points - place, axis=1) > FAR_RADII * radius
        turn, way = fit_rigid_motion(points, points + moves[self.basis.nodal_dofs].T, weights)
        return centre + mean - (turn @ centre + way)


@BilinearForm
def _mass(u, v, w):
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2]


def ball_centres(surface, rays, depths):
    """Return centres (m, 3) of balls pressed in along rays by depths [m]."""
    return np.array([
        start + (float(cast_rays(surface.tree, start[None], way, 0.0).distances[0, AHEAD])
                 + depth - FINGER_RADIUS) * way
        for (start, way), depth in zip(rays, depths)])


def contact_of(surface, rays, depths):
    """Return the contact of balls pressed in along rays by depths [m]."""
    patches = []
    for (_, way), place in zip(rays, ball_centres(surface, rays, depths)):
        side = np.eye(3)[int(np.argmin(np.abs(way)))]
        side = side - way * (side @ way)
        side /= np.linalg.norm(side)
        pose = np.eye(4)
        pose[:3, :3] = np.stack([side, np.cross(way, side), way], axis=1)
        pose[:3, 3] = place
        found = sample_patch(surface, SphereIndenter(FINGER_RADIUS), pose, way,
                             PatchOptions(node_count=NODE_COUNT))
        patches.append(max(found, key=lambda patch: patch.direction @ way))
    nodes = nodes_of(patches, np.arange(len(patches)))
    return ContactProblem(nodes, np.array([patch.flags for patch in patches]),
                          np.array([patch.thickness for patch in patches]))


def loads_with_friction(contact, loaded, centre, size):
    """Return points and forces of the loaded nodes, the least friction that balances included."""
    solution, results, nodes = loaded.solution, loaded.results, contact.nodes
    rows = solution.rows[solution.loaded]
    pressing = solution.forces[solution.loaded]
    forces = pressing[:, None] * nodes.normals[rows]
    tangents = np.array([np.linalg.svd(normal[None])[2][1:] for normal in results.normals])
    wrenches = np.concatenate(
        [tangents, np.cross(results.points[:, None] - centre, tangents) / size], axis=2)
    wrench = np.concatenate([forces.sum(axis=0), np.cross(
        nodes.points[rows] - centre, forces).sum(axis=0) / size])
    shares = np.linalg.lstsq(wrenches.reshape(-1, 6).T, -wrench, rcond=LEVERAGE)[0].reshape(-1, 2)
    friction = np.einsum('pt,pta->pa', shares, tangents)
    patches = np.searchsorted(results.rows, nodes.patches[rows])
    sums = np.bincount(patches, pressing)
    return (nodes.points[rows],
            forces + (pressing / sums[patches])[:, None] * friction[patches])


def compare(name):
    """Yield a row of the table for each depth."""
    make, rays, depths = CASES[name]
    thing = GraspObject(make(), MATERIAL)
    free, surface = FreeBody(thing.mesh), ContactMesh(thing.mesh)
    own = ElasticBody(thing, MechanicsOptions(elasticity='body'))
    half = ElasticBody(thing)
    for depth in depths:
        def answer(thumb):
            contact = contact_of(surface, rays, (depth, depth, thumb))
            return contact, solve_contact(own, contact, {})

        thumb = brentq(lambda deep: answer(deep)[1].results.forces.sum(axis=0) @ rays[-1][1],
                       THUMB_SHARES[0] * depth, min(THUMB_SHARES[1] * depth, THUMB_DEPTH),
                       xtol=1e-4 * depth)
        contact, loaded = answer(thumb)
        fine = free.shift(free.displacements(*loads_with_friction(
            contact, loaded, own.centre_of_mass, own.radius)),
            loaded.results.points, loaded.results.radii)
        shifts = [shift_of_centre(body, contact, patches, deform_body(body, contact, patches))
                  for body, patches in ((own, loaded), (half, solve_contact(half, contact, {})))]
        cells = [f'{1e6 * np.linalg.norm(shift):.1f} | {1e6 * np.linalg.norm(shift - fine):.1f}'
                 for shift in shifts]
        yield (f'| {name} | {1e3 * depth:.1f} | {1e3 * thumb:.1f} | '
               f'{1e6 * np.linalg.norm(fine):.1f} | {cells[0]} | {cells[1]} | '
               f'{"yes" if loaded.flags.any() else ""} |')


def main():
    """Print the table, of the bodies named or all."""
    print(HEAD)
    for name in sys.argv[1:] or CASES:
        for line in compare(name):
            print(line, flush=True)


if __name__ == '__main__':
    main()
