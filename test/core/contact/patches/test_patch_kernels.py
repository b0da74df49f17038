"""Steps of a patch in kernels against the plain formulas."""

from types import SimpleNamespace

from gripsim_ros.core.batches import PATCH_THROUGH
from gripsim_ros.core.bodies import shapes
from gripsim_ros.core.contact import (ContactMesh, MeshIndenter, Patch, PatchOptions,
                                      SphereIndenter)
from gripsim_ros.core.contact.geometry.closest_point import bounds_in_box, triangles_in_box
from gripsim_ros.core.contact.geometry.curved_surface import lift_onto_surface
from gripsim_ros.core.bodies.oriented_box import OrientedBox
from gripsim_ros.core.contact.geometry.ray_casting import cast_rays
from gripsim_ros.core.contact.patches.patch import (
    THICKNESS_LIMIT, _Pair, _coarse_samples, _is_duplicate, _make_patch, _mean_normal,
    _nearest_label)
from gripsim_ros.core.contact.patches.patch_flags import patch_flags, ray_thickness
from gripsim_ros.core.contact.patches.region import (
    MAX_PARTS, MIN_FACING, MIN_RESULTANT, REGION_MARGIN, _clip, _initial_guesses, _inward_areas,
    find_region)
from gripsim_ros.core.contact.patches.rims import fit_to_rims
from gripsim_ros.core.contact.patches.sampling_grid import SamplingGrid
from gripsim_ros.core.contact.stage import _motion, MOTIONLESS
from gripsim_ros.core.transforms import apply, inverse, transform
from hypothesis import given, settings, strategies as st
import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest
from scipy.spatial.transform import Rotation
import trimesh

RTOL = 1e-12
#: Directions of sums in another order [-].
ATOL_SUMS = 1e-9
#: Directions and places lose this much to rounding; bodies are centimetres wide [m].
ATOL_ROUNDOFF = 1e-12

seeds = st.integers(0, 2 ** 31)


def nodes(seed, count=40):
    rng = np.random.default_rng(seed)
    normals = rng.normal(size=(count, 3)) * 0.2 + [0.0, 0.0, 1.0]
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return rng, rng.normal(size=(count, 3)), normals, rng.normal(size=count), normals[:, 2].copy()


def pose(seed, rng):
    return transform(Rotation.random(random_state=seed).as_matrix(), rng.normal(size=3))


@pytest.mark.parametrize('seed', range(4))
def test_the_mean_normal_is_weighted_by_depth_and_area(seed):
    _, _, normals, depths, slopes = nodes(seed)
    deep = depths > 0.0
    total = (depths[deep, None] / slopes[deep, None] * normals[deep]).sum(axis=0)
    overlaps, mean = _mean_normal(normals, depths, slopes)
    assert overlaps
    assert_allclose(mean, total / np.linalg.norm(total), rtol=RTOL)
    assert not _mean_normal(normals, -np.abs(depths), slopes)[0]


def motion(T, twist, centre, half, at):
    """Return the direction in which a point of a link with such a box moves."""
    body = SimpleNamespace(box=SimpleNamespace(centre=centre, half_lengths=half))
    scene = SimpleNamespace(shapes=SimpleNamespace(bodies=[body]))
    return _motion(scene, 0, T, twist, at)


@pytest.mark.parametrize('at_centre', [True, False])
def test_a_point_of_a_turning_link_moves_across_the_axis(at_centre):
    rng = np.random.default_rng(5)
    T, twist, centre, at = pose(5, rng), rng.normal(size=6), rng.normal(size=3), rng.normal(size=3)
    place = apply(T, centre[None])[0] if at_centre else at
    velocity = twist[:3] + np.cross(twist[3:], place - T[:3, 3])
    way = motion(T, twist, centre, np.ones(3), None if at_centre else at)
    assert_allclose(way, velocity / np.linalg.norm(velocity), rtol=0.0, atol=RTOL)


@pytest.mark.parametrize('share, moves', [(0.0, False), (0.5, False), (2.0, True)])
def test_a_point_beside_the_axis_rests_within_round_off(share, moves):
    half = np.full(3, 2.0 / np.sqrt(12.0))      # a diagonal of length 1
    at = np.array([share * MOTIONLESS, 0.0, 0.0])
    twist = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 3.0])
    assert (motion(np.eye(4), twist, np.zeros(3), half, at) is not None) == moves
    assert motion(np.eye(4), np.zeros(6), np.zeros(3), half, np.ones(3)) is None


def small_mesh(subdivisions, radius):
    mesh = trimesh.creation.icosphere(subdivisions, radius)
    return ContactMesh.from_arrays(mesh.vertices, mesh.faces)


BALL, FINGER, FEW_FACES = small_mesh(1, 0.04), small_mesh(2, 0.03), small_mesh(0, 0.03)
PLATE = ContactMesh(shapes.box([0.06, 0.06, 0.004]))


@settings(max_examples=20)
@given(seeds, st.sampled_from([0.0, 0.01, 0.04, np.inf]), st.sampled_from([BALL, FEW_FACES]))
def test_a_mesh_is_left_ahead_or_behind_where_its_curved_surface_is(seed, behind, mesh):
    rng = np.random.default_rng(seed)
    tree, surface = mesh.tree, mesh.surface
    points = rng.uniform(-0.04, 0.04, (25, 3))
    direction = rng.normal(size=3)
    direction /= np.linalg.norm(direction)
    hits = cast_rays(tree, points, direction, behind)
    depths, labels = MeshIndenter(mesh.mesh).ray_depths(points, direction, behind)
    for i in range(len(points)):
        ways = [column for column in (0, 1) if hits.edges[i, column, 3] > 0.0]
        if not ways:
            assert depths[i] == -np.inf and labels[i] == -1
            continue
        position = hits.positions[i, ways[0]]
        edges = hits.edges[i, ways[0]]
        move = lift_onto_surface(tree.corners, surface.normals, surface.limits, position,
                                 tuple(edges[:3] / edges[3]), tuple(direction))[0]
        assert_allclose(depths[i], hits.distances[i, ways[0]] + move, rtol=0.0,
                        atol=ATOL_ROUNDOFF)
        assert labels[i] == surface.sides[position]


@settings(max_examples=10)
@given(seeds)
def test_areas_point_inward_and_have_their_size_beside_them(seed):
    rng = np.random.default_rng(seed)
    corners, positions = rng.normal(size=(9, 3, 3)), rng.integers(0, 9, 6)
    a, b, c = corners[positions].transpose(1, 0, 2)
    inward = np.cross(c - a, b - a) / 2.0
    found = _inward_areas(corners, positions)
    assert_allclose(found[:, :3], inward, rtol=0.0, atol=ATOL_ROUNDOFF)
    assert_allclose(found[:, 3], np.linalg.norm(inward, axis=1), rtol=RTOL)


@settings(max_examples=20)
@given(seeds)
def test_a_clipped_box_is_cut_to_its_triangles_and_a_margin(seed):
    rng = np.random.default_rng(seed)
    T, margin = pose(seed, rng), rng.choice([0.0, 0.004])
    half, centre = rng.uniform(1e-3, 0.04, 3), rng.uniform(-0.04, 0.04, 3)
    axes = T[:3, :3].copy()
    lower, upper = bounds_in_box(BALL.tree, axes, centre, half)
    met, middle, less = _clip(BALL.tree, margin, axes, centre, half)
    assert met == (len(triangles_in_box(BALL.tree, axes, centre, half)) > 0)
    if met:
        local = axes @ (middle - centre)
        assert_allclose(local - less, np.maximum(lower - margin, -half), atol=ATOL_ROUNDOFF)
        assert_allclose(local + less, np.minimum(upper + margin, half), atol=ATOL_ROUNDOFF)


def starts_of(inward, sides, outward, hint):
    """Return rows of side and direction to try, and whether each is the mean of what is left."""
    areas, found, clear = np.linalg.norm(inward, axis=1), [], True
    for side in np.unique(sides):
        left = sides == side
        for _ in range(MAX_PARTS):
            if not left.any():
                break
            total = inward[left].sum(axis=0)
            if np.linalg.norm(total) < MIN_RESULTANT * areas[left].sum():
                clear = False
                sums = [inward[left & (inward @ guide > 0.0)].sum(axis=0)
                        for guide in (outward, hint)]
                total = sums[0] if sums[0].any() else sums[1]
            if not total.any():
                break
            direction = total / np.linalg.norm(total)
            found.append([side, *direction])
            left = left & (inward @ direction < MIN_FACING * areas)
    return np.array(found).reshape(-1, 4), clear


@settings(max_examples=100)
@given(seeds, st.integers(0, 9), st.sampled_from([0.0, 0.3, 1.0]), st.booleans(), st.booleans())
def test_sides_start_where_most_of_them_faces_then_the_rest(seed, count, share, outward, hint):
    rng = np.random.default_rng(seed)
    corners, sides = rng.normal(size=(12, 3, 3)), rng.integers(0, 2, 12) * 4
    away = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])[:, 0] > 0.0
    turned = away & (rng.random(12) < share)
    corners[turned] = corners[turned][:, [0, 2, 1]]
    positions = rng.permutation(12)[:count]
    if share == 0.0:      # sheets seen from both sides: no mean of their own
        corners[6:], sides[6:] = corners[:6, ::-1], sides[:6]
        positions = np.concatenate([positions % 6, positions % 6 + 6])
    guides = rng.normal(size=3) * outward, rng.normal(size=3) * hint
    a, b, c = corners[positions].transpose(1, 0, 2)
    expected, is_clear = starts_of(np.cross(c - a, b - a) / 2.0, sides[positions], *guides)
    starts, directions, clear = _initial_guesses(corners, sides, positions, *guides)
    assert clear == is_clear
    assert_array_equal(starts, expected[:, 0])
    assert_allclose(directions, expected[:, 1:], rtol=0.0, atol=ATOL_ROUNDOFF)


def clipped(mesh, margin, box):
    met, centre, half = _clip(mesh.tree, margin, box.axes, box.centre, box.half_lengths)
    return OrientedBox(box.axes, centre, half) if met else None


def box_of(body, indenter, T):
    """Return the region as boxes moved and clipped in turn, or None."""
    margin = REGION_MARGIN * body.tree.size
    box = clipped(body, body.bulge, indenter.box.with_transform(T).inflated(indenter.bulge
                                                                            + body.bulge))
    if box is not None and indenter.tree is not None:
        box = box.with_transform(inverse(T)).inflated(margin)
        box = clipped(indenter, indenter.bulge, box)
        box = box and box.with_transform(T)
    elif box is not None:
        box = box.inflated(margin)
    box = box and clipped(body, body.bulge, box.inflated(body.bulge))
    return box and box.inflated(margin)


@settings(max_examples=30)
@given(seeds, st.sampled_from([MeshIndenter(FINGER.mesh), SphereIndenter(0.03),
                               MeshIndenter(PLATE.mesh)]),
       st.sampled_from([BALL, PLATE]), st.floats(0.0, 0.08), st.booleans())
def test_a_region_is_where_both_surfaces_may_be(seed, indenter, body, away, moving):
    rng = np.random.default_rng(seed)
    T = transform(Rotation.random(random_state=seed).as_matrix(), np.zeros(3))
    T[:3, 3] = T[:3, 0] * away
    motion = rng.normal(size=3) if moving else None
    expected, region = box_of(body, indenter, T), find_region(body, indenter, T, motion)
    assert (region is None) == (expected is None)
    if region is None:
        return
    for name in ('axes', 'centre', 'half_lengths'):
        assert_allclose(getattr(region.box, name), getattr(expected, name), rtol=0.0,
                        atol=ATOL_ROUNDOFF)
    found = triangles_in_box(body.tree, region.box.axes, region.box.centre,
                             region.box.half_lengths)
    outward = T[:3, :3] @ indenter.mean_normal(region.box.with_transform(inverse(T)))
    inward = -np.cross(*(body.tree.corners[found, k] - body.tree.corners[found, 0]
                         for k in (1, 2))) / 2.0
    rows = starts_of(inward, body.surface.sides[found], outward,
                     outward if motion is None else motion)[0]
    assert_array_equal([side for side, _ in region.guesses], rows[:, 0])
    assert_allclose(np.array([direction for _, direction in region.guesses]).reshape(-1, 3),
                    rows[:, 1:], rtol=0.0, atol=ATOL_SUMS)


@settings(max_examples=20)
@given(seeds)
def test_a_point_has_the_spot_of_the_nearest_lattice_point(seed):
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(1, 6, 2))
    labels = rng.integers(-1, 3, shape)
    window = SamplingGrid(pose(seed, rng)[:3, :3], rng.normal(size=2), 0.3, np.zeros(2),
                          labels > 0)
    points = rng.normal(size=(20, 3))
    places = np.indices(shape).reshape(2, -1).T * 0.3 + window.start
    ways = (points @ window.frame[:2].T)[:, None] - places
    nearest = (ways ** 2).sum(axis=-1).argmin(axis=1)
    assert_array_equal(_nearest_label(points, window, 0.3, labels), labels.ravel()[nearest])


@pytest.mark.parametrize('depth', [5e-4, 1e-3, 2.5e-3, 3e-3])
@pytest.mark.parametrize('others', [False, True])
def test_a_patch_keeps_its_own_nodes_and_narrow_gaps(depth, others):
    T, ball = transform(np.eye(3), np.array([0.003, 0.002, 0.022 - depth])), SphereIndenter(0.02)
    pair = _Pair(PLATE, ball, T, PatchOptions(gap_ratio=1.5))
    region = find_region(PLATE, ball, T, None)
    (side, direction), = (guess for guess in region.guesses if guess[1][2] < -0.9)
    field, _ = _coarse_samples(pair, region, side, direction)
    own = np.flatnonzero((field.depths > 0.0) & (field.points[:, 0] < (0.004 if others else 1.0)))
    patch = _make_patch(pair, side, field, own, others)
    greatest, thickness = field.depths[own].max(), ray_thickness(PLATE, field, own)
    held = field.node[field.node >= 0]
    chosen = held[field.depths[held] > -1.5 * greatest]
    if others:
        chosen = [at for at in chosen if at in own or field.depths[at] <= 0.0]
    limit = THICKNESS_LIMIT * thickness
    # So deep in this coarse grid flanks fall as steeply as beside a rim.
    fitted, shares, spreads = fit_to_rims(field, ball, T)
    assert (fitted is field) == (depth < 2e-3)
    assert_array_equal(patch.points, fitted.points[chosen])
    assert_array_equal(patch.normals, field.normals[chosen])
    assert_allclose(patch.areas, shares[chosen] * field.grid.spacing ** 2 / field.slopes[chosen],
                    rtol=RTOL)
    assert_array_equal(patch.depths, fitted.depths[chosen])
    assert_array_equal(patch.spreads, spreads[chosen])
    assert_array_equal(spreads, 1.0)    # but they fall evenly
    assert patch.flags == patch_flags(field, own) + PATCH_THROUGH * (greatest > limit)
    assert (patch.thickness, patch.side) == (thickness, side)
    assert_array_equal(patch.direction, direction)


def patch_of(points, depths, areas, side=0):
    return Patch(np.array(points), np.zeros((len(points), 3)), np.array(areas), np.array(depths),
                 1.0, 0, side, np.zeros(3), np.ones(len(points)))


@pytest.mark.parametrize('away, repeats', [(1.9, True), (2.1, False)])
@pytest.mark.parametrize('areas', [([1.0, 4.0], [0.25, 0.16]), ([0.25, 4.0], [0.5, 1.0])])
def test_a_patch_repeats_one_of_its_side_with_nodes_where_it_is_deepest(away, repeats, areas):
    own, others = areas
    patch = patch_of([[0.0, 9.0, 0.0], [0.0, 0.0, 0.0]], [0.1, 0.2], own)
    known = patch_of([[0.0, 0.0, 0.1], [0.0, 0.0, away]], [-0.1, 0.1], others)
    far = patch_of([[50.0, 0.0, 0.0]], [0.1], [0.1])
    assert _is_duplicate(patch, [far, known]) == repeats
    assert not _is_duplicate(patch, [patch_of(known.points, known.depths, others, side=1)])
    assert not _is_duplicate(patch, [])
