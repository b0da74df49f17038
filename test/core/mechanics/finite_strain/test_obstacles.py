"""Contact with planes: forces from one energy, resultants, areas, what sticks."""

from block_cases import block_solid
import numpy as np
from numpy.testing import assert_allclose

from gripsim_ros.core.mechanics.finite_strain.obstacles import (
    CONTACT_STIFFNESS, ContactSurface, Plane)

UP = np.array([0.0, 0.0, 1.0])


def pressed(depth=0.1):
    """Return the surface of a unit block and a plane that enters it from below."""
    solid = block_solid((1.0, 1.0, 1.0))
    return ContactSurface(solid, 2.0), (Plane(depth * UP, UP),)


def test_the_resultant_is_the_stiffness_times_the_overlap():
    surface, planes = pressed(0.01)
    # Of the sides only what lies below 0.01 touches: the points next to the edges do not.
    edge = 0.15
    force = surface.resultant(surface.solid.nodes, planes[0], 0)
    assert_allclose(force, [0.0, 0.0, 0.01 * CONTACT_STIFFNESS * 2.0 / edge], rtol=1e-9,
                    atol=1e-9)
    touch = surface.touch(surface.points(surface.solid.nodes), planes[0], 0)
    areas = surface.current_areas(surface.solid.nodes, UP)
    assert_allclose(areas[touch.pressures > 0.0].sum(), 1.0)


def test_forces_and_stiffness_are_derivatives_of_the_energy():
    surface, planes = pressed()
    rng, h = np.random.default_rng(0), 1e-7
    x = surface.solid.nodes + 0.01 * rng.normal(size=surface.solid.nodes.shape)
    way = rng.normal(size=x.shape)
    for case in (surface, surface.with_anchors(surface.solid.nodes, planes, 0.0)):
        slope = (case.energy(x + h * way, planes) - case.energy(x - h * way, planes)) / (2 * h)
        assert_allclose((case.forces(x, planes) * way).sum(), slope, rtol=1e-5)
        faces, matrices = case.stiffness(x, planes)
        change = (case.forces(x + h * way, planes) - case.forces(x - h * way, planes)) / (2 * h)
        image = np.zeros_like(x)
        np.add.at(image, faces, np.einsum('faxby,fby->fax', matrices, way[faces]))
        assert_allclose(image, change, rtol=1e-4, atol=1e-4 * np.abs(change).max())


def test_what_sticks_is_pulled_back_and_let_go_when_lifted():
    surface, planes = pressed(0.01)
    nodes = surface.solid.nodes
    stuck = surface.with_anchors(nodes, planes, 0.0)
    dragged = stuck.resultant(nodes + [1e-3, 0.0, 0.0], planes[0], 0)
    assert dragged[0] < 0.0
    free = stuck.with_anchors(nodes + [0.0, 0.0, 1.0], planes, 0.0)
    assert np.isnan(free.anchors[0]).all()
