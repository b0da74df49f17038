"""Whether numbers are promised hangs on geometry and on what yields, never on a modulus alone."""

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest
import trimesh
from hypothesis import given, settings, strategies as st
from numpy.testing import assert_allclose

from gripsim_ros.core.batches import PATCH_FLAG_TEXTS, PATCH_THIN
from gripsim_ros.core.bodies import GraspObject, Material, TriangleMesh, shapes
from gripsim_ros.core.mechanics import ElasticBody, indent_body, LinkIndenter, SphereIndenter
from gripsim_ros.library.resources import load_default_hand

#: Radius of the rigid ball that presses, and how deep it and a finger's pad do [m].
BALL, DEPTH, PAD_DEPTH = 0.005, 1e-4, 3e-4
INWARD = np.array([-1.0, 0.0, 0.0])
#: Vessels: outer radius, height and wall [m].
VESSELS = {'paper cup': (0.035, 0.09, 1.5e-4), 'egg shell': (0.022, None, 3.5e-4),
           'bottle': (0.035, 0.2, 5e-4), 'cup': (0.04, 0.09, 3e-3)}
MODULI = st.floats(5.0, 11.5).map(lambda power: 10.0 ** power)


@lru_cache(maxsize=None)
def vessel(name):
    """Return an open cup, or a closed shell where it has no height."""
    radius, height, wall = VESSELS[name]
    if height is None:
        outer, inner = (trimesh.creation.icosphere(4, r) for r in (radius, radius - wall))
        inner.invert()
        mesh = trimesh.util.concatenate([outer, inner])
    else:
        profile = [[0, 0], [radius, 0], [radius, height], [radius - wall, height],
                   [radius - wall, wall], [0, wall]]
        mesh = trimesh.creation.revolve(profile, sections=96)
        mesh.apply_translation([0.0, 0.0, -0.45 * height])
    return TriangleMesh(mesh.vertices, mesh.faces)


def material(modulus):
    return Material(modulus, 0.3, 1000.0, 0.5)


def pressed(mesh, modulus, radius, indenter=SphereIndenter(BALL), depth=DEPTH):
    """Press on the outermost point of +x."""
    body = ElasticBody(GraspObject(mesh, material(modulus)))
    return indent_body(body, indenter, [radius, 0.0, 0.0], INWARD, depth)


def is_thin(result):
    return PATCH_FLAG_TEXTS[PATCH_THIN] in result.warnings


@lru_cache(maxsize=None)
def fingertip(modulus):
    """Return a finger whose pad has a modulus."""
    hand = load_default_hand()
    link = hand.links[hand.link_index('sdh_finger_13_link')]
    return LinkIndenter(replace(link, pad=replace(link.pad, youngs_modulus=modulus)))


@pytest.mark.parametrize('name', VESSELS)
@given(modulus=MODULI)
@settings(max_examples=5)
def test_no_wall_is_quantitative_under_a_rigid_ball_whatever_its_modulus(name, modulus):
    result = pressed(vessel(name), modulus, VESSELS[name][0])
    assert not result.quantitative and is_thin(result)


@given(modulus=MODULI)
@settings(max_examples=10)
def test_a_solid_ball_is_quantitative_whatever_its_modulus(modulus):
    assert pressed(shapes.sphere(0.03, 0.003), modulus, 0.03).quantitative


@pytest.mark.nightly     # by day a ball of any modulus
@given(modulus=st.floats(5.0, 8.0).map(lambda power: 10.0 ** power),
       factor=st.floats(0.1, 10.0))
@settings(max_examples=8)
def test_pad_and_body_alike_stiffer_scale_the_force_and_change_no_flag(modulus, factor):
    ball = shapes.sphere(0.03, 0.003)
    found, scaled = (pressed(ball, by * modulus, 0.03, fingertip(by * 2e6), PAD_DEPTH)
                     for by in (1.0, factor))
    assert found.warnings == scaled.warnings and found.quantitative == scaled.quantitative
    assert_allclose(scaled.normal_force, factor * found.normal_force, rtol=1e-6)


@pytest.mark.parametrize('name, modulus, thin', [
    ('bottle', 2.8e9, True), ('paper cup', 3e9, True), ('cup', 7e10, False),
    ('cup', 2e8, True)])
def test_under_a_pad_a_wall_counts_where_it_yields_beside_the_pad(name, modulus, thin):
    radius, _, wall = VESSELS[name]
    result = pressed(vessel(name), modulus, radius, fingertip(2e6), min(PAD_DEPTH, 0.5 * wall))
    assert is_thin(result) == thin
