"""Meeting surfaces are found whether or not a vertex is inside."""

from contact_oracles import winding_numbers
from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
from scipy.optimize import linprog
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from gripsim_ros.core.bodies import shapes
from gripsim_ros.core.contact import ContactMesh, vertex_contacts
from gripsim_ros.core.contact.geometry.triangle_intersection import intersect_edges_with_faces
from gripsim_ros.core.transforms import apply, inverse, transform

ATOL_ROUNDOFF = 1e-12
#: Overlaps thinner than this are not judged [m].
UNDECIDED = 1e-7

#: Coarse links: long boxes, of which many poses meet without a vertex inside.
BAR, PLATE = ContactMesh(shapes.box([0.08, 0.012, 0.015])), ContactMesh(
    shapes.box([0.06, 0.05, 0.008]))


def random_pose(seed, reach):
    rng = np.random.default_rng(seed)
    return transform(Rotation.random(random_state=seed % 2 ** 31).as_matrix(),
                     rng.uniform(-reach, reach, 3))


def overlap(a, b):
    """Return the radius of the largest ball in both convex hulls, negative: none [m]."""
    planes = np.concatenate([ConvexHull(1e3 * a).equations, ConvexHull(1e3 * b).equations])
    rows = np.column_stack([planes[:, :3], np.ones(len(planes))])
    answer = linprog([0.0, 0.0, 0.0, -1.0], rows, -planes[:, 3], bounds=[(None, None)] * 4)
    return 1e-3 * answer.x[3]


@settings(max_examples=150)
@given(st.integers(0, 2 ** 31))
def test_bodies_meet_exactly_where_an_edge_pierces_or_a_vertex_is_inside(seed):
    T = random_pose(seed, 0.035)
    shared = overlap(BAR.mesh.vertices, apply(T, PLATE.mesh.vertices))
    if abs(shared) < UNDECIDED:
        return
    of_bar, of_plate = intersect_edges_with_faces(BAR, PLATE, T)
    inside = vertex_contacts(BAR, PLATE, T)
    found = (len(of_bar.points) + len(of_plate.points) + len(inside.a_in_b.vertices)
             + len(inside.b_in_a.vertices))
    assert (found > 0) == (shared > 0.0)


@settings(max_examples=60)
@given(st.integers(0, 2 ** 31))
def test_a_piercing_lies_on_its_edge_and_its_face(seed):
    T = random_pose(seed, 0.02)
    vertices = (BAR.mesh.vertices, apply(T, PLATE.mesh.vertices))
    for found, one, other, faces in zip(intersect_edges_with_faces(BAR, PLATE, T), vertices,
                                        vertices[::-1], (PLATE.mesh.faces, BAR.mesh.faces)):
        ends, corners = one[found.edges], other[faces[found.faces]]
        along = ends[:, 1] - ends[:, 0]
        share = (np.einsum('ki,ki->k', found.points - ends[:, 0], along)
                 / np.einsum('ki,ki->k', along, along))
        np.testing.assert_allclose(ends[:, 0] + share[:, None] * along, found.points, rtol=0.0,
                                   atol=ATOL_ROUNDOFF)
        assert ((share > 0.0) & (share < 1.0)).all()
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        heights = np.einsum('ki,ki->k', found.points - corners[:, 0], normals)
        np.testing.assert_allclose(heights, 0.0, rtol=0.0, atol=ATOL_ROUNDOFF)


def test_a_rod_through_a_plate_is_found_though_no_vertex_is_inside():
    upright = transform(Rotation.from_euler('y', 90.0, degrees=True).as_matrix(),
                        np.array([0.003, 0.002, 0.0]))
    inside = vertex_contacts(PLATE, BAR, upright)
    assert len(inside.a_in_b.vertices) == len(inside.b_in_a.vertices) == 0
    _, of_bar = intersect_edges_with_faces(PLATE, BAR, upright)
    # Four long edges, and the diagonals of four sides, through both faces of the plate.
    np.testing.assert_allclose(np.abs(of_bar.points[:, 2]), 0.004, rtol=0.0, atol=ATOL_ROUNDOFF)
    assert len(np.unique(np.round(of_bar.points, 9), axis=0)) >= 8


def test_curved_bodies_agree_with_winding_numbers():
    apple, ball = (ContactMesh(shapes.apple(0.08, 0.01)), ContactMesh(shapes.sphere(0.03, 0.01)))
    for seed in range(20):
        T = random_pose(seed, 0.06)
        of_apple, of_ball = intersect_edges_with_faces(apple, ball, T)
        moved = apply(T, ball.mesh.vertices)
        numbers = winding_numbers(apple.mesh.triangles, moved)
        back = winding_numbers(ball.mesh.triangles, apply(inverse(T), apple.mesh.vertices))
        some = (numbers > 0.5).any() or (back > 0.5).any()
        all_in = (numbers > 0.5).all() or (back > 0.5).all()
        pierced = len(of_apple.points) + len(of_ball.points) > 0
        assert pierced or not some or all_in
