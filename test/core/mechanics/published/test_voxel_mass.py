"""Centre of mass: exact on polyhedra, and the seed's cells."""

from hypothesis import given, settings, strategies as st
import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.spatial.transform import Rotation
import trimesh

from gripsim_ros.core.errors import TaskError
from gripsim_ros.core.mechanics.deformation.volume import volume_and_centre
from gripsim_ros.core.mechanics.published.voxel_mass import voxel_centre_of_mass

RADIUS, CUT = 0.04, 6e-3

ATOL_ROUNDOFF = 1e-12
#: The flattened cap of a facet ball against the cut ball [mm].
ATOL_FACETS_MM = 6e-3
#: Of cells of 4 and 2 mm on a ball of 80 mm [m], largest over rotations.
ATOL_CELLS = {4e-3: 1.2e-4, 2e-3: 4e-5}


def cut_ball(both=False):
    """Return an icosphere whose vertices above planes are put on them."""
    ball = trimesh.creation.icosphere(5, RADIUS)
    vertices = np.array(ball.vertices)
    vertices[:, 2] = np.minimum(vertices[:, 2], RADIUS - CUT)
    if both:
        vertices[:, 2] = np.maximum(vertices[:, 2], -RADIUS + 3e-3)
    return vertices, np.array(ball.faces)


def test_a_cut_ball_has_the_published_centre():
    # Cap of 6 mm off a ball of 40 mm: z = -0.586957 mm.
    _, centre = volume_and_centre(*cut_ball())
    assert_allclose(1e3 * centre, [0.0, 0.0, -0.586957], atol=ATOL_FACETS_MM)


def test_a_cone_has_its_centre_at_a_quarter_of_its_height():
    cone = trimesh.creation.cone(0.02, 0.08, sections=64)
    _, centre = volume_and_centre(np.array(cone.vertices), np.array(cone.faces))
    assert_allclose(centre, [0.0, 0.0, 0.02], atol=ATOL_ROUNDOFF)


@given(seed=st.integers(0, 2 ** 32 - 1), far=st.floats(-10.0, 10.0))
@settings(max_examples=20)
def test_the_centre_moves_with_the_body_even_far_from_the_origin(seed, far):
    vertices, faces = cut_ball()
    rotation = Rotation.random(random_state=seed).as_matrix()
    translation = np.array([far, -far, 2.0 * far])
    _, moved = volume_and_centre(vertices @ rotation.T + translation, faces)
    assert_allclose(moved, rotation @ volume_and_centre(vertices, faces)[1] + translation,
                    atol=1e-11)


def test_a_flat_surface_has_no_centre():
    volume, centre = volume_and_centre(np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]]),
                                       np.array([[0, 1, 2], [0, 2, 1]]))
    assert volume == 0.0 and np.isnan(centre).all()


@pytest.mark.parametrize('cell', sorted(ATOL_CELLS))
def test_cells_whose_centre_lies_inside_find_the_centre(cell):
    vertices, faces = cut_ball(both=True)
    for seed in range(4):
        turned = vertices @ Rotation.random(random_state=seed).as_matrix().T
        centre, _ = voxel_centre_of_mass(turned, faces, cell)
        assert_allclose(centre, volume_and_centre(turned, faces)[1], atol=ATOL_CELLS[cell])


@pytest.mark.nightly
def test_cells_that_hold_vertices_at_full_weight_overestimate_the_volume():
    # Published: 22 % at 4 mm, 8.8 % at 2 mm; with weight 1/2: 1.4 % and 0.4 %.
    vertices, faces = cut_ball(both=True)
    _, exact = voxel_centre_of_mass(vertices, faces, 5e-4)
    errors = [voxel_centre_of_mass(vertices, faces, 4e-3, weight)[1] / exact - 1.0
              for weight in (1.0, 0.5)]
    assert 0.15 < errors[0] < 0.3 and abs(errors[1]) < 0.05


def test_a_box_of_whole_cells_is_exact():
    box = trimesh.creation.box((0.04, 0.02, 0.06))
    centre, volume = voxel_centre_of_mass(np.array(box.vertices), np.array(box.faces), 2e-3)
    assert_allclose(centre, 0.0, atol=ATOL_ROUNDOFF)
    assert_allclose(volume, 0.04 * 0.02 * 0.06, rtol=1e-9)


def test_a_density_that_grows_upwards_lifts_the_centre_as_its_integral_says():
    # A box from 0 to h with density 1000 (1 + z/h): 1500 in the mean, centre at 5/9 h.
    box = trimesh.creation.box((0.04, 0.02, 0.06))
    vertices = np.array(box.vertices) + [0.0, 0.0, 0.03]
    centre, mass = voxel_centre_of_mass(vertices, np.array(box.faces), 1e-3, None,
                                        lambda points: 1e3 * (1.0 + points[:, 2] / 0.06))
    assert_allclose(mass, 1500.0 * 0.04 * 0.02 * 0.06, rtol=1e-9)
    assert_allclose(centre, [0.0, 0.0, 5.0 / 9.0 * 0.06], atol=1e-5)


def test_an_even_density_changes_the_centre_by_nothing():
    uniform, volume = voxel_centre_of_mass(*cut_ball(), 2e-3)
    centre, mass = voxel_centre_of_mass(*cut_ball(), 2e-3, None,
                                        lambda points: np.full(len(points), 900.0))
    assert_allclose(centre, uniform, atol=ATOL_ROUNDOFF)
    assert_allclose(mass, 900.0 * volume, rtol=1e-9)


@pytest.mark.parametrize('value', [-1.0, np.nan, 0.0])
def test_absurd_densities_are_refused(value):
    with pytest.raises(TaskError, match='density must give one finite number'):
        voxel_centre_of_mass(*cut_ball(), 4e-3, None, lambda points: np.full(len(points), value))


@pytest.mark.parametrize('arguments, said', [
    ((0.0,), 'cell must be above 0'), ((1e-3, 2.0), 'vertex_weight'), ((1e-9,), 'cells'),
    ((1.0,), 'too large')])
def test_absurd_cells_are_refused(arguments, said):
    with pytest.raises(TaskError, match=said):
        voxel_centre_of_mass(*cut_ball(), *arguments)
