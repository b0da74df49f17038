"""What the numbers of a patch are worth: probes, thickness, edges near it."""

from contact_oracles import first_hits
from gripsim_ros.core.batches import (PATCH_COARSE, PATCH_REACHES_LINK_EDGE,
                                      PATCH_REACHES_OBJECT_EDGE, PATCH_SPREAD)
from gripsim_ros.core.contact import ContactMesh, SphereIndenter
from gripsim_ros.core.contact.patches.patch_flags import (
    EDGE_SLOPE, EXIT_RATIO, LOADED_RATIO, MIN_NODES, PROBES, SPREAD_COSINE, _probes,
    depths_are_shortest, patch_flags, ray_thickness)
from gripsim_ros.core.contact.patches.sampling_grid import GridSamples, SamplingGrid
from gripsim_ros.core.transforms import apply, transform
from hypothesis import given, settings, strategies as st
import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest
from scipy.spatial.transform import Rotation
import trimesh

RTOL = 1e-12
#: Ways to facets lose this much to cancellation.
RTOL_WAYS = 1e-9
SPHERE = trimesh.creation.icosphere(1, 0.04)
BALL = ContactMesh.from_arrays(SPHERE.vertices, SPHERE.faces)

seeds = st.integers(0, 2 ** 31)


def pose(seed, rng):
    return transform(Rotation.random(random_state=seed).as_matrix(), rng.normal(size=3))


@pytest.mark.parametrize('count', [1, 2, PROBES - 1, PROBES, PROBES + 1, 70, 299])
def test_probes_lie_evenly_from_the_deepest_node_on(count):
    rng = np.random.default_rng(count)
    depths = rng.integers(1, 40, count + 20) / 8.0     # some nodes are as deep as others
    own = rng.permutation(count + 20)[:count]
    order = own[np.argsort(-depths[own], kind='stable')]
    expected = order[np.linspace(0, count - 1, min(PROBES, count)).astype(int)]
    assert_array_equal(_probes(own, depths), expected)


def field_of(points, depths, slopes, positions=None, node=None, labels=None, frame=None):
    """Return a field of which little is asked."""
    count = len(points)
    window = SamplingGrid(np.eye(3) if frame is None else frame, np.zeros(2), 1e-3, np.zeros(2),
                          np.ones((1, 1), bool))
    return GridSamples(window, np.arange(count).reshape(1, -1) if node is None else node, points,
                       np.zeros((count, 3)), depths, slopes,
                       np.zeros(count, int) if labels is None else labels, positions)


@settings(max_examples=40)
@given(seeds, st.integers(1, 14))
def test_depths_count_where_the_way_out_is_about_as_long(seed, count):
    rng = np.random.default_rng(seed)
    T = pose(seed, rng)
    ball = SphereIndenter(0.5, bulge=rng.choice([0.0, 0.02]))
    ways = rng.normal(size=(count, 3))
    local = ways / np.linalg.norm(ways, axis=1, keepdims=True) * rng.uniform(0.4, 0.6, (count, 1))
    depths = rng.permutation(count) + 1.0
    distances = np.abs(np.linalg.norm(local, axis=1) - 0.5) + ball.bulge
    own = rng.permutation(count)
    probes = _probes(own, depths)
    share = rng.choice([0.7, 0.9, 1.1, 1.4])
    depths *= distances[probes].sum() / (share * EXIT_RATIO * depths[probes].sum())
    field = field_of(apply(T, local), depths, np.ones(count))
    assert depths_are_shortest(field, own, ball, T) == (share > 1.0)


@settings(max_examples=30)
@given(seeds, st.integers(1, 9))
def test_a_thickness_reaches_from_the_middle_to_the_next_exit(seed, count):
    rng = np.random.default_rng(seed)
    points = rng.uniform(-0.035, 0.035, (count + 3, 3))
    depths, slopes = rng.uniform(1e-4, 1e-3, count + 3), rng.uniform(0.1, 1.0, count + 3)
    positions = rng.integers(0, len(BALL.tree.faces), count + 3)
    direction = rng.normal(size=3)
    direction /= np.linalg.norm(direction)
    own = rng.permutation(count + 3)[:count]
    centre = np.average(points[own], axis=0, weights=depths[own])
    middle = own[np.linalg.norm(points[own] - centre, axis=1).argmin()]
    nudge = BALL.surface.limits[positions[middle]] / slopes[middle] + 1e-9 * BALL.tree.size
    way, exits = first_hits(BALL.tree.corners, points[middle:middle + 1] + nudge * direction,
                            direction)
    field = field_of(points, depths, slopes, positions,
                     frame=np.vstack([np.zeros((2, 3)), direction]))
    assert_allclose(ray_thickness(BALL, field, own), nudge + (way[0] if exits[0] else 0.0),
                    rtol=RTOL_WAYS)


def edges_of(node, depths, slopes, labels, own):
    """Return whether loaded nodes reach an edge of link or object, point by point."""
    def holds(place):
        return node[tuple(place)] in own and depths[node[tuple(place)]] >= least

    least = LOADED_RATIO * depths[own].max()
    reach = max(1, round(np.sqrt(len(own) / (2.0 * np.pi))))
    loaded = [place for place in np.argwhere(node >= 0) if holds(place)]
    link, end = len({labels[node[tuple(place)]] for place in loaded}) > 1, False
    for place in loaded:
        for other in np.argwhere(node > -2):
            squared, at = ((other - place) ** 2).sum(), node[tuple(other)]
            near = node[tuple(slice(max(k - 1, 0), k + 2) for k in other)]
            link |= at >= 0 and squared == 1 and depths[at] == -np.inf
            end |= (at == -1 and squared <= reach ** 2
                    and (slopes[near[near >= 0]] > EDGE_SLOPE).any())
    return link, end, min(slopes[node[tuple(place)]] for place in loaded)


@settings(max_examples=150)
@given(seeds, st.floats(0.5, 5.0), st.sampled_from([0.0, 0.02, 0.2, 1.0]), st.integers(0, 2))
def test_flags_tell_the_edges_that_loaded_nodes_reach(seed, radius, facing, holes):
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(1, 13, 2))
    size = shape[0] * shape[1]
    at = rng.uniform(0, shape)
    node = rng.permutation(size).reshape(shape)
    squared = (np.indices(shape) - at[:, None, None]) ** 2
    depths = np.empty(size)
    depths[node] = 1.0 - squared.sum(axis=0) / radius ** 2
    for _ in range(holes):
        depths[rng.integers(size)] = -np.inf
    for _ in range(holes):
        node[tuple(rng.integers(0, shape))] = -1 - rng.integers(0, 2)
    slopes = np.where(rng.random(size) < facing, rng.choice(rng.choice([0.55, 0.9], 2), size),
                      0.45)
    labels = np.full(size, 3)
    labels[rng.integers(0, size, 3)] = rng.integers(2, 4)
    own = node[(node >= 0) & (rng.random(shape) < 0.97)]
    own = own[depths[own] > 0.0]
    if not len(own):
        return
    link, end, least = edges_of(node, depths, slopes, labels, own)
    expected = (PATCH_COARSE * (len(own) < MIN_NODES) + PATCH_REACHES_LINK_EDGE * link
                + PATCH_REACHES_OBJECT_EDGE * end + PATCH_SPREAD * (least < SPREAD_COSINE))
    field = field_of(np.zeros((size, 3)), depths, slopes, node=node, labels=labels)
    assert patch_flags(field, own) == expected


def square_field(loaded, hole, slopes):
    """Return a field and its overlapping nodes, of which one alone carries load."""
    node = np.arange(slopes.size).reshape(slopes.shape)
    depths = np.full(slopes.size, 0.1)
    depths[node[loaded]] = 1.0
    if hole is not None:
        node[hole] = -1
    return field_of(np.zeros((slopes.size, 3)), depths, slopes.ravel(), node=node)


def squared_way(one, other):
    return (one[0] - other[0]) ** 2 + (one[1] - other[1]) ** 2


@pytest.mark.parametrize('loaded', [(4, 4), (0, 3), (7, 0), (2, 7)])
@pytest.mark.parametrize('count, reach', [(1, 1), (14, 1), (15, 2), (39, 2), (40, 3)])
def test_an_edge_counts_within_a_contact_radius_of_loaded_nodes(count, reach, loaded):
    for hole in set(np.ndindex(8, 8)) - {loaded}:
        field = square_field(loaded, hole, np.full((8, 8), 0.55))
        own = field.node[loaded]
        others = field.node[(field.node >= 0) & (field.node != own)]
        flags = patch_flags(field, np.append(others[:count - 1], own))
        is_near = squared_way(hole, loaded) <= reach ** 2
        assert bool(flags & PATCH_REACHES_OBJECT_EDGE) == is_near
        assert not flags & PATCH_REACHES_LINK_EDGE


@pytest.mark.parametrize('loaded', [(1, 2), (0, 0), (0, 1), (3, 4)])
def test_a_link_ends_at_an_edge_where_a_node_beside_a_loaded_one_has_no_counterpart(loaded):
    for bare in set(np.ndindex(4, 5)) - {loaded}:
        field = square_field(loaded, None, np.ones((4, 5)))
        field.depths[field.node[bare]] = -np.inf
        own = np.flatnonzero(field.depths > -np.inf)
        flags = patch_flags(field, own)
        assert flags == PATCH_REACHES_LINK_EDGE * (squared_way(bare, loaded) == 1)


@pytest.mark.parametrize('loaded', [(0, 0), (2, 2), (4, 5), (0, 5)])
def test_a_side_ends_at_an_edge_where_a_node_next_to_its_end_faces_the_contact(loaded):
    for end in np.ndindex(5, 6):
        if squared_way(end, loaded) != 1:
            continue
        for facing in set(np.ndindex(5, 6)) - {end}:
            slopes = np.full((5, 6), 0.45)
            slopes[facing] = 0.55
            field = square_field(loaded, end, slopes)
            flags = patch_flags(field, np.array([field.node[loaded]]))
            is_next = max(abs(facing[0] - end[0]), abs(facing[1] - end[1])) <= 1
            assert bool(flags & PATCH_REACHES_OBJECT_EDGE) == is_next
