"""The deform step on scans, and what the deformed surface depends on."""

import os
from pathlib import Path

import numpy as np
import trimesh

from gripsim_ros.core.bodies import GraspObject, Material, TriangleMesh, load_mesh, shapes
from gripsim_ros.core.contact import (ContactMesh, PatchOptions, SphereIndenter, sample_patch)
from gripsim_ros.core.contact.geometry.ray_casting import AHEAD, cast_rays
from gripsim_ros.core.mechanics.body import ContactProblem, ElasticBody, deform_body, solve_contact
from gripsim_ros.core.mechanics.contact.contact_forces import nodes_of, solve_contact_forces
from gripsim_ros.core.mechanics.contact.half_space import GRID_SOFTENING
from gripsim_ros.core.mechanics.contact.patch_resultants import summarise_patches
from gripsim_ros.core.mechanics.deformation.boussinesq import (
    boussinesq_displacements, surface_loads)
from gripsim_ros.core.mechanics.deformation.deformed_surface import SurfaceOptions, deform_surface
from gripsim_ros.core.transforms import transform

from .cases import evenly, interleaved, pressed_ball

FRUIT = Material(youngs_modulus=5e5, poisson_ratio=0.45, density=900.0, friction=0.5)
PAD_RADIUS, PRESS = 0.01, 1e-3
#: Cut-offs of the rings [m], and the press and load of the published case.
CUT_OFFS = (1e-3, 3e-4, 1e-4, 3e-5, 1e-5)
BALL, BALL_PRESS = 0.04, 3e-3


def bodies():
    """Return bodies of about 16,000 triangles by name: an apple, and a scan if there is one."""
    found = {'apple': shapes.apple(edge_length=1.53e-3)}
    scan = Path(os.environ.get('GRIPSIM_DATA', '')) / 'ycb' / 'YcbBanana.ply'
    if scan.is_file():
        found['scan of a banana'] = load_mesh(scan).mesh
    return {name: ElasticBody(GraspObject(mesh, FRUIT)) for name, mesh in found.items()}


def three_pads(body, nodes):
    """Return the contact of three rigid balls pressed in, with a number of nodes in all."""
    surface, axes = ContactMesh(body.mesh), body.grasp_object.canonical_frame[:3, :3]
    patches = []
    for direction in evenly(3) @ axes.T:
        start = body.centre_of_mass + 3.0 * body.radius * direction
        hits = cast_rays(surface.tree, start[None], -direction, 0.0)
        touch = start - float(hits.distances[0, AHEAD]) * direction
        pose = transform(np.eye(3), touch + (PAD_RADIUS - PRESS) * direction)
        patches += sample_patch(surface, SphereIndenter(PAD_RADIUS), pose, -direction,
                                PatchOptions(node_count=nodes * 2 // 3))
    return ContactProblem(nodes_of(patches, np.arange(len(patches))),
                          np.array([patch.flags for patch in patches]),
                          np.array([patch.thickness for patch in patches]))


def deform_step(node_counts):
    """Print the time of the step that deforms a scan, and what lumping costs in accuracy."""
    print('\nDeform step: displacements, volume and centre of mass; three pads; one thread, ms.'
          '\nLumping beyond four contact radii; its error over the largest displacement\n')
    print(f'{"body":18} {"triangles":>9} {"loaded":>7} {"step":>7} {"displacements":>14} '
          f'{"unlumped":>9} {"error":>9} {"volume error":>13}')
    for name, body in bodies().items():
        for nodes in node_counts:
            contact = three_pads(body, nodes)
            patches = solve_contact(body, contact, {})
            loads = surface_loads(contact.nodes, patches.solution, patches.results,
                                  GRID_SOFTENING)
            vertices = body.mesh.vertices

            def displacements(ratio, loads=loads, body=body, vertices=vertices):
                return boussinesq_displacements(vertices, loads, body.modulus, ratio)

            step, lumped, whole = interleaved([
                lambda: deform_body(body, contact, patches),
                lambda: displacements(4.0), lambda: displacements(1e9)])
            exact = displacements(1e9)
            error = np.abs(displacements(4.0) - exact).max() / np.abs(exact).max()
            surface = deform_body(body, contact, patches)
            wanted = surface_target(body, loads)
            print(f'{name:18} {len(body.mesh.faces):9d} {len(loads.points):7d} {step:7.2f} '
                  f'{lumped:14.2f} {whole:9.2f} {error:9.2%} '
                  f'{abs(surface.volume / wanted - 1.0):13.0e}')


def surface_target(body, loads):
    """Return the volume that a linear elastic body has under loads [m^3]."""
    from gripsim_ros.core.mechanics.deformation.deformed_surface import elastic_volume_change
    return body.mesh.volume + elastic_volume_change(loads, body.material, body.centre_of_mass)


def ring_case():
    """Return a ball of 80 mm and the loads of two balls of 20 mm, 3 mm deep (12.3 N each)."""
    ball = trimesh.creation.icosphere(4, BALL)
    mesh = TriangleMesh(ball.vertices, ball.faces)
    nodes = pressed_ball(BALL, PAD_RADIUS, BALL_PRESS, evenly(2), 150)
    solution = solve_contact_forces(nodes, FRUIT.plane_strain_modulus, {})
    results = summarise_patches(nodes, solution, FRUIT.poisson_ratio, {})
    return mesh, surface_loads(nodes, solution, results, GRID_SOFTENING)


def rings():
    """Print and return how the surface of mode ``seed`` depends on its cut-off."""
    mesh, loads = ring_case()
    force = np.linalg.norm(loads.totals[0])
    print(f'\nRings on a ball of 80 mm, {len(mesh.vertices)} vertices, two pads of {force:.1f} N'
          '\n(the distance not limited)\n')
    print(f'{"cut-off [mm]":>12} {"ring vertices":>14} {"even shift [mm]":>16}')
    smooth = deform_surface(mesh, FRUIT, loads)
    found = {'smooth': smooth.vertices}
    for cut_off in CUT_OFFS:
        surface = deform_surface(mesh, FRUIT, loads, SurfaceOptions(
            mode='seed', volume='constant', ring_displacement=cut_off, ring_reach=1e3))
        along = ((surface.vertices - mesh.vertices) * mesh.vertex_normals).sum(axis=1)
        values, counts = np.unique(np.round(along, 9), return_counts=True)
        shift, rest = values[counts.argmax()], counts.max()
        print(f'{1e3 * cut_off:12g} {len(mesh.vertices) - rest:14d} {1e3 * shift:16.3f}')
        found[f'cut-off {1e3 * cut_off:g} mm'] = surface.vertices
    return mesh, found
