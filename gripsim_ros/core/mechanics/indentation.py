"""One indenter pressed into an object: a sphere, a flat punch, or the pad of a link."""

from dataclasses import dataclass, fields

import numpy as np

from .. import batches
from ..arrays import Array
from ..contact import (
    ContactMesh, Indenter, MeshIndenter, Patch, PatchOptions, PunchIndenter, SphereIndenter,
    sample_patch)
from ..contact.geometry.curved_surface import lift_onto_surface
from ..contact.geometry.ray_casting import AHEAD, cast_rays
from ..contact.patches.grid_placement import grid_frame
from ..errors import TaskError
from ..fields import checked_array
from ..hand import HandLink
from ..transforms import transform
from .body import (ContactProblem, ElasticBody, LoadedPatches, deform_body, largest_displacement,
                   pad_layers, solve_contact)
from .contact.contact_forces import nodes_of
from .deformation.metrics import DeformationMetrics, measure_deformation


#: Number of overlapping nodes wanted in the patch; about half carry load. The radius of a
#: round contact is then within 2 % of Hertz's: nodes lie on a lattice, whose rings are full
#: or empty.
NODE_COUNT = 1500
#: Distance before its point at which the ray starts, over the object's size, so that a
#: point on the surface is met [-].
RAY_SLACK = 1e-9
#: Share of the approach that the object yields below which the pad is said to govern [-].
PADS_GOVERN = 0.1


@dataclass(frozen=True)
class CylinderIndenter:
    """A rigid flat-ended punch of a radius [m], along the direction of the push."""

    radius: float


@dataclass(frozen=True, eq=False)
class LinkIndenter:
    """A link of a hand; the middle of its pad goes first, with the pad's elasticity."""

    link: HandLink


#: What can be pressed into an object.
AnyIndenter = SphereIndenter | CylinderIndenter | LinkIndenter


@dataclass(frozen=True, eq=False)
class Indentation:
    """
    Forces on an indented object and its deformation; frame object.

    Attributes
    ----------
    force : (3,) float
        [N].
    normal_force : float
        Along the push, above 0 [N].
    contact_radius, area : float
        ``sqrt(area / pi)`` [m] of the nodes under load [m^2].
    peak_pressure : float
        Smoothed [Pa].
    loaded_vertices : int
        Nodes under load.
    peak_von_mises : float
        Estimated largest von Mises stress below the contact [Pa].
    max_displacement : float
        Of the object's surface [m].
    max_deformation, mean_deformation : float
        Without the surface's best-fit rigid motion [m].
    strain_energy : float
        In the object [J].
    volume, volume_change : float
        Deformed, and against undeformed [m^3].
    centre_of_mass : (3,) float
        Of the deformed object [m].
    quantitative : bool
        The numbers lie in the model's range.
    warnings : tuple of str
    """

    force: Array
    normal_force: float
    contact_radius: float
    area: float
    peak_pressure: float
    peak_von_mises: float
    loaded_vertices: int
    max_displacement: float
    max_deformation: float
    mean_deformation: float
    strain_energy: float
    volume: float
    volume_change: float
    centre_of_mass: Array
    quantitative: bool
    warnings: tuple[str, ...]


#: Numbers that the measures of a deformation have by the same name.
_METRICS = {f.name for f in fields(Indentation)} & {f.name for f in fields(DeformationMetrics)}


def indent_body(body: ElasticBody, indenter: AnyIndenter, at: Array, along: Array,
                depth: float) -> Indentation:
    """
    Push an indenter into an object.

    Its foremost point starts where the ray from ``at`` along ``along`` first meets the
    mesh, and goes ``depth`` further.

    Parameters
    ----------
    body : ElasticBody
    indenter : SphereIndenter, CylinderIndenter or LinkIndenter
    at : (3,) float
        Where the ray starts, frame object [m].
    along : (3,) float
        Direction of the push, any length above 0.
    depth : float
        [m], above 0.

    Returns
    -------
    Indentation

    Raises
    ------
    TaskError
        A number is out of range, the ray misses the object or starts inside it, or nothing
        resists the push, as where the indenter is buried.
    """
    at, direction, depth = _checked(at, along, depth)
    surface = ContactMesh(body.mesh)
    touch, move = _first_touch(surface, at, direction)
    _check_depth(surface, touch, direction, depth)
    tip = touch + (move + depth) * direction
    shape, T_object_indenter = _placed(indenter, body, tip, direction)
    patches = sample_patch(surface, shape, T_object_indenter, direction,
                           PatchOptions(node_count=NODE_COUNT))
    contact = _contact(patches)
    layers = (pad_layers([indenter.link], contact.nodes.links)
              if isinstance(indenter, LinkIndenter) else {})
    loaded = solve_contact(body, contact, layers)
    _check_force(indenter, float(loaded.results.forces.sum(axis=0) @ direction), depth)
    return _summarise(body, contact, loaded, direction, indenter)


def _checked(at: Array, along: Array, depth: float) -> tuple[Array, Array, float]:
    at, along = (checked_array(value, name, 3, error=TaskError)
                 for name, value in (('at', at), ('along', along)))
    length = float(np.sqrt((along ** 2).sum()))
    if not length > 0.0:
        raise TaskError('along must not be zero')
    if not (np.isfinite(depth) and depth > 0.0):
        raise TaskError(f'depth must be above 0 m, got {depth}')
    return at, along / length, float(depth)


def _first_touch(surface: ContactMesh, at: Array, direction: Array) -> tuple[Array, float]:
    """Return where the ray first meets the mesh, and the way from there to its curved surface."""
    slack = RAY_SLACK * surface.tree.size
    hits = cast_rays(surface.tree, (at - slack * direction)[None], direction, 0.0)
    position = int(hits.positions[0, AHEAD])
    if position < 0:
        raise TaskError(f'the ray from {at.tolist()} along {direction.tolist()} misses the '
                        'object')
    a, b, c = surface.tree.corners[position]
    if direction @ np.cross(b - a, c - a) > 0.0:
        raise TaskError(f'the ray starts inside the object, at {at.tolist()}; it must start '
                        'outside')
    edges, curved = hits.edges[0, AHEAD], surface.surface
    move, _, _ = lift_onto_surface(surface.tree.corners, curved.normals, curved.limits, position,
                                   tuple(edges[:3] / edges[3]), tuple(direction))
    return at + (float(hits.distances[0, AHEAD]) - slack) * direction, float(move)


def _check_depth(surface: ContactMesh, touch: Array, direction: Array, depth: float) -> None:
    """Refuse a depth that leads out of the object again."""
    thickness = _thickness(surface, touch, direction)
    if depth >= thickness:
        raise TaskError(f'depth must be below the thickness of the object there, '
                        f'{thickness:.4g} m, got {depth}')


def _thickness(surface: ContactMesh, point: Array, direction: Array) -> float:
    """Return how far a mesh reaches from a point of it along a direction [m]; inf: no end."""
    nudge = RAY_SLACK * surface.tree.size
    hits = cast_rays(surface.tree, (point + nudge * direction)[None], direction, 0.0)
    return nudge + float(hits.distances[0, AHEAD])


def _check_force(indenter: AnyIndenter, normal_force: float, depth: float) -> None:
    """Refuse a push that nothing resists: the indenter is buried, or finds no surface."""
    if normal_force > 0.0:
        return
    thickness = _indenter_thickness(indenter)
    if depth > 0.5 * thickness:
        raise TaskError('the indenter is buried in the object: depth must be well below its '
                        f'thickness along the push, {thickness:.4g} m (half of it will do), '
                        f'got {depth}')
    raise TaskError(f'nothing resists the indenter at a depth of {depth} m; depth must be '
                    'larger, or the push elsewhere')


def _indenter_thickness(indenter: AnyIndenter) -> float:
    """Return how far an indenter reaches back from its foremost point [m]."""
    if isinstance(indenter, SphereIndenter):
        return 2.0 * indenter.radius
    if isinstance(indenter, CylinderIndenter):
        return np.inf
    link = indenter.link
    return _thickness(ContactMesh(link.mesh), link.pad_point, -link.pad_normal)


def _placed(indenter: AnyIndenter, body: ElasticBody, tip: Array,
            direction: Array) -> tuple[Indenter, Array]:
    """Return the shape that presses and its pose, its foremost point at the tip."""
    frame = grid_frame(direction, np.array(body.grasp_object.canonical_frame[:3, :3])).T
    if isinstance(indenter, LinkIndenter):
        link = indenter.link
        rotation = frame @ grid_frame(np.array(link.pad_normal), np.eye(3))
        return (MeshIndenter(link.mesh),
                transform(rotation, tip - rotation @ link.pad_point))
    radius = indenter.radius
    if not (np.isfinite(radius) and radius > 0.0):
        raise TaskError(f'the radius of an indenter must be above 0 m, got {radius}')
    if isinstance(indenter, SphereIndenter):
        return indenter, transform(frame, tip - radius * direction)
    return PunchIndenter(radius, 4.0 * body.radius + radius), transform(frame, tip)


def _contact(patches: list[Patch]) -> ContactProblem:
    nodes = nodes_of(patches, np.zeros(len(patches)))
    return ContactProblem(nodes, np.array([patch.flags for patch in patches], np.int64),
                          np.array([patch.thickness for patch in patches], float))


def _summarise(body: ElasticBody, contact: ContactProblem, loaded: LoadedPatches, direction: Array,
               indenter: AnyIndenter) -> Indentation:
    results, surface = loaded.results, deform_body(body, contact, loaded)
    metrics = measure_deformation(
        body.mesh.vertices, surface.vertices, body.mesh.vertex_areas, contact.nodes,
        loaded.solution, results, body.material.poisson_ratio)
    force = results.forces.sum(axis=0)
    area = float(results.areas.sum())
    bad, warnings = _judge(body, contact, loaded, indenter)
    if surface.guarded_faces:
        warnings.append(f'{surface.guarded_faces} triangles would have turned over; their '
                        'displacement was reduced')
    return Indentation(
        force=force, normal_force=float(force @ direction),
        contact_radius=float(np.sqrt(area / np.pi)), area=area,
        loaded_vertices=int(results.node_counts.sum()),
        max_displacement=largest_displacement(body, surface, loaded),
        volume=surface.volume, volume_change=surface.volume_change,
        centre_of_mass=surface.centre, quantitative=not bad, warnings=tuple(warnings),
        **{name: getattr(metrics, name) for name in _METRICS})


def _judge(body: ElasticBody, contact: ContactProblem, loaded: LoadedPatches,
           indenter: AnyIndenter) -> tuple[int, list[str]]:
    """Return the flags that make the numbers doubtful, and all warnings."""
    flags = int(np.bitwise_or.reduce(loaded.flags, initial=0))
    if isinstance(indenter, CylinderIndenter):
        # A punch ends in an edge; its force is right, its pressure there has no bound.
        flags |= batches.PATCH_REACHES_LINK_EDGE & int(np.bitwise_or.reduce(contact.flags))
    warnings = [text for flag, text in batches.PATCH_FLAG_TEXTS.items() if flags & flag]
    if isinstance(indenter, LinkIndenter):
        if loaded.results.object_shares.max(initial=0.0) < PADS_GOVERN:
            warnings.append('the pads govern: the object yields by less than '
                            f'{PADS_GOVERN:.0%} of the approach')
        return flags, warnings + list(body.warnings)
    if isinstance(indenter, CylinderIndenter):
        flags &= ~batches.PATCH_REACHES_LINK_EDGE
    return flags, warnings
