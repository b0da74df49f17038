"""What a caller may set is refused in one line that names it, where it is out of range."""

import re

import numpy as np
import pytest

from gripsim_ros.core.errors import HandError, ShapeError, TaskError
from gripsim_ros.core.grasp_theory.contact_set import ContactSet, TorqueOptions
from gripsim_ros.core.grasp_theory.grasp_map import contact_frames
from gripsim_ros.core.grasp_theory.wrench_space import primitive_wrenches
from gripsim_ros.core.hand.outline import parse_config
from gripsim_ros.core.hand.description import three_numbers
from gripsim_ros.core.mechanics.boundary_elements.disk_cache import ComplianceOptions
from gripsim_ros.core.mechanics.contact.contact_forces import ContactForceOptions, PatchNodes
from gripsim_ros.core.mechanics.contact.patch_resultants import ValidityOptions
from gripsim_ros.core.mechanics.deformation.deformed_surface import SurfaceOptions
from gripsim_ros.core.mechanics.options import MechanicsOptions
from gripsim_ros.core.grasp_theory.grasp_force_socp import MinimalForceOptions
from gripsim_ros.core.mechanics.stability.stability import StabilityOptions

NAN, INFINITE = float('nan'), float('inf')
OPTIONS = [
    (ComplianceOptions, 'node_count', 3), (ComplianceOptions, 'node_count', 200.0),
    (ComplianceOptions, 'folder', None), (ComplianceOptions, 'max_size', -1.0),
    (ContactForceOptions, 'candidate_gap', 1.1), (ContactForceOptions, 'candidate_gap', NAN),
    (ContactForceOptions, 'max_depth_ratio', 0.0),
    (MinimalForceOptions, 'mode', 'linear'), (MinimalForceOptions, 'sum_weight', 0.0),
    (MinimalForceOptions, 'sum_weight', 0.2), (MinimalForceOptions, 'passive_share', -0.1),
    (TorqueOptions, 'length_scale', INFINITE), (TorqueOptions, 'length_scale', -1.0),
    (MechanicsOptions, 'metrics_edges', 2), (MechanicsOptions, 'metrics_edges', 8.0),
    (MechanicsOptions, 'elasticity', 'shell'),
    (ValidityOptions, 'min_nodes', 0), (ValidityOptions, 'max_spread', NAN),
    (StabilityOptions, 'margin_cap', 0.5),
    (StabilityOptions, 'margin_steps', 51),
    (SurfaceOptions, 'mode', 'rough'), (SurfaceOptions, 'volume', 'free'),
    (SurfaceOptions, 'ring_reach', 0.0), (SurfaceOptions, 'guard_cosine', 1.0),
    (SurfaceOptions, 'guard_area', -0.1)]


def patches(**changed):
    """Return a set of one patch, but for what is changed."""
    fields = {'points': np.zeros((1, 3)), 'normals': np.eye(3)[:1], 'forces': np.eye(3)[:1],
              'torques': np.zeros((1, 3)), 'friction_radii': np.ones(1),
              'normal_stiffness': np.ones(1), 'tangential_stiffness': np.ones(1),
              'max_normal_forces': np.full(1, INFINITE), 'passive': np.zeros(1, bool)}
    return ContactSet(**fields | changed)


def nodes(**changed):
    """Return one node of one patch, but for what is changed."""
    fields = {'points': np.zeros((1, 3)), 'normals': np.eye(3)[:1], 'areas': np.ones(1),
              'depths': np.ones(1), 'patches': np.zeros(1, int), 'links': np.zeros(1, int)}
    return PatchNodes(**fields | changed)


def assert_one_line(caught, name):
    """Check that an error names what is wrong and is one line."""
    assert name in str(caught.value) and '\n' not in str(caught.value)


@pytest.mark.parametrize('kind, name, value', OPTIONS)
def test_an_option_out_of_range_is_named_with_what_was_given(kind, name, value):
    with pytest.raises(TaskError, match=re.escape(repr(value).strip("'"))) as caught:
        kind(**{name: value})
    assert_one_line(caught, f'.{name} must ')


@pytest.mark.parametrize('name, value', [
    ('points', np.zeros((2, 3))), ('forces', np.full((1, 3), NAN)), ('passive', np.zeros(2)),
    ('normal_stiffness', np.zeros(1)), ('tangential_stiffness', -np.ones(1)),
    ('friction_radii', -np.ones(1)), ('max_normal_forces', -np.ones(1)),
    ('max_normal_forces', np.full(1, NAN))])
def test_a_field_of_a_set_of_patches_is_named(name, value):
    assert patches().count == 1
    with pytest.raises(ShapeError) as caught:
        patches(**{name: value})
    assert_one_line(caught, f'patches.{name} must')


@pytest.mark.parametrize('name, value', [
    ('points', np.zeros((2, 3))), ('patches', np.zeros(2, int)),
    ('normals', np.full((1, 3), NAN)), ('areas', np.zeros(1)), ('depths', np.full(1, INFINITE))])
def test_a_field_of_nodes_is_named(name, value):
    assert nodes().patch_count == 1
    with pytest.raises(ShapeError) as caught:
        nodes(**{name: value})
    assert_one_line(caught, f'nodes.{name} must')


@pytest.mark.parametrize('normals', [np.zeros((2, 2)), np.ones((1, 3)), np.zeros((1, 3))])
def test_contact_normals_are_rows_of_length_one(normals):
    with pytest.raises(ShapeError) as caught:
        contact_frames(normals)
    assert_one_line(caught, 'contact normals must')


@pytest.mark.parametrize('name, value', [('friction', -0.1), ('friction', NAN),
                                         ('length_scale', 0.0), ('edge_count', 2)])
def test_a_parameter_of_linearised_cones_is_named(name, value):
    given = {'friction': 0.5, 'length_scale': 1.0, 'edge_count': 8, name: value}
    with pytest.raises(TaskError) as caught:
        primitive_wrenches(np.zeros((1, 3)), np.eye(3)[:1], np.zeros(3), **given)
    assert_one_line(caught, f'{name} must be')


@pytest.mark.parametrize('text', ['a: [1', '- 1\n- 2', 'colour: red', 'name: hand'])
def test_a_hand_file_that_is_no_mapping_of_its_keys_is_refused(text):
    with pytest.raises(HandError) as caught:
        parse_config(text.encode(), 'hand.yaml')
    assert_one_line(caught, 'hand.yaml: ')


@pytest.mark.parametrize('value', ['up', [1.0, 2.0], [0.0, 0.0, INFINITE], None, {'x': 1.0}])
def test_a_vector_of_a_hand_file_is_three_finite_numbers(value):
    with pytest.raises(HandError) as caught:
        three_numbers(value, 'outward must be three finite numbers')
    assert_one_line(caught, 'outward must be three finite numbers')
