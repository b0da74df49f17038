"""
How far a body's centre of mass moves as the body deforms, its rigid motion apart.

Derivations and limits: docs/model/mechanics.md, "Centre of mass".
"""

import numpy as np

from ...arrays import Array
from ...bodies import Material, TriangleMesh
from ...transforms import cross
from ..boundary_elements.quadrature import rigid_motions
from .boussinesq import SurfaceLoads
from .metrics import fit_rigid_motion


#: Distance from a patch, in contact radii, beyond which the surface shows the rigid motion [-].
FAR_RADII = 3.0
#: Least share of the surface's area beyond that, for a motion to be told [-].
LEAST_FAR_SHARE = 0.05


def centre_shift(mesh: TriangleMesh, moves: Array, loads: SurfaceLoads, material: Material,
                 undeformed: tuple[float, Array]) -> Array:
    """
    Return the shift of the centre of mass against the body's rigid motion.

    The mean displacement of the body's mass, less what the rigid motion does to the centre
    that fits the surface best, weighted by area, farther than three contact radii from every
    patch.

    Parameters
    ----------
    mesh : TriangleMesh
        Undeformed, closed.
    moves : (V, 3) float
        Displacement of each vertex [m].
    loads : SurfaceLoads
    material : Material
        Of even density.
    undeformed : (float, (3,) float)
        Volume [m^3] and centre [m] of the mesh.

    Returns
    -------
    (3,) float
        [m]; NaN where pads leave too little of the surface to tell a rigid motion.
    """
    gaps = np.sqrt(((mesh.vertices[:, None] - loads.centres) ** 2).sum(axis=2))
    far = mesh.vertex_areas * (gaps > FAR_RADII * loads.radii).all(axis=1)
    if not far.sum() > LEAST_FAR_SHARE * mesh.vertex_areas.sum():
        return np.full(3, np.nan)
    rotation, translation = fit_rigid_motion(mesh.vertices, mesh.vertices + moves, far)
    centre = undeformed[1]
    stays: Array = rotation @ centre + translation
    return centre + mean_displacement(mesh, moves, loads, material, undeformed) - stays


def mean_displacement(mesh: TriangleMesh, moves: Array, loads: SurfaceLoads, material: Material,
                      undeformed: tuple[float, Array]) -> Array:
    """
    Return the mean displacement of a body's mass from that of its surface and its loads.

    Parameters
    ----------
    mesh, moves, loads, material, undeformed
        As of ``centre_shift``.

    Returns
    -------
    (3,) float
        [m].

    Notes
    -----
    Source: Betti's reciprocity with a pressure that grows linearly along an axis k, under which
    a body of even density is in balance: ``V <u_k> = sum f . v + int x_k u . n``, with
    ``v = (1 - 2 nu) / E (|x|^2 e_k / 2 - x_k x)``. Exact for a linear body. What of the loads
    does not balance is taken to be borne by tractions in proportion to a rigid motion, as by
    the body's own compliance.
    """
    volume, centre = undeformed
    arms = mesh.vertices - centre
    corners = arms[mesh.faces]
    areas = 0.5 * np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    along = np.einsum('fka,fa->fk', moves[mesh.faces], areas)
    swept = (np.einsum('fka,fk->a', corners, along)
             + corners.sum(axis=1).T @ along.sum(axis=1)) / 12.0
    points = np.concatenate([loads.points - centre, arms])
    forces = np.concatenate([loads.forces, balancing_forces(mesh, loads)])
    squares, work = (points ** 2).sum(axis=1), (points * forces).sum(axis=1)
    factor = (1.0 - 2.0 * material.poisson_ratio) / material.youngs_modulus
    return (swept + factor * (0.5 * squares @ forces - work @ points)) / volume


def balancing_forces(mesh: TriangleMesh, loads: SurfaceLoads) -> Array:
    """Return forces on the vertices (V, 3), like a rigid motion's, that balance the loads [N]."""
    areas = mesh.vertex_areas
    middle = areas @ mesh.vertices / areas.sum()
    motions = rigid_motions(mesh.vertices, areas)
    gram = np.einsum('vai,v,vaj->ij', motions, areas, motions)
    wrench = np.concatenate([loads.forces.sum(axis=0),
                             cross(loads.points - middle, loads.forces).sum(axis=0)])
    shares = np.linalg.solve(gram, -wrench)
    return areas[:, None] * (motions @ shares)
