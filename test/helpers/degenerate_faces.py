"""Degenerate faces taken out one by one over all edges, as an oracle; and meshes of them."""

import numpy as np

from gripsim_ros.core.bodies import shapes
from gripsim_ros.core.bodies.repair.cleaning import (
    CRACK_HEIGHT, MAX_ROUNDS, Draft, face_heights, plural)
from gripsim_ros.core.bodies.topology import edge_table


def slow_turn_out_degenerate_faces(draft):
    """Return the draft without faces of no height: each round looks at every face and edge."""
    faces, turned = draft.faces.copy(), 0
    for _ in range(MAX_ROUNDS):
        low = np.flatnonzero(face_heights(draft.vertices, faces) <= CRACK_HEIGHT * draft.diagonal)
        if not low.size:
            break
        swapped = swap_longest_sides(draft.vertices, faces, low)
        if not swapped:
            break
        turned += swapped
        faces = faces[(faces >= 0).all(axis=1)]
    if not turned or not len(faces):
        return draft
    return draft.with_faces(faces, f'took out {plural(turned, "degenerate face")}')


def swap_longest_sides(vertices, faces, low):
    """Swap the longest side of faces ``low`` in place; cancelled faces become -1."""
    table = edge_table(faces)
    around = faces_by_edge(table)
    done = set()
    swapped = 0
    for face in low.tolist():
        corners = vertices[faces[face]]
        lengths = np.linalg.norm(np.roll(corners, -1, axis=0) - corners, axis=1)
        side = int(np.argmax(lengths))
        pair = around.get(int(table.edge_of_side[face, side]), [])
        other = next((f for f in pair if f != face), None)
        near = {face, other, *table_neighbours(table, around, face, other)}
        if len(pair) != 2 or other is None or near & done:
            continue
        if swap(faces, face, side, other):
            swapped += 1
            done |= near
    return swapped


def faces_by_edge(table):
    """Return the faces at each edge."""
    around = {}
    for side, edge in enumerate(table.edge_of_side.ravel().tolist()):
        around.setdefault(edge, []).append(side // 3)
    return around


def table_neighbours(table, around, *faces):
    """Return the faces that share an edge with any of ``faces``."""
    return {other for face in faces if face is not None
            for edge in table.edge_of_side[face].tolist() for other in around[edge]}


def swap(faces, face, side, other):
    """Swap one edge in place; return whether it was done."""
    a, b, c = (int(faces[face, (side + k) % 3]) for k in range(3))
    d = next((int(v) for v in faces[other] if v not in (a, b)), None)
    if d is None:
        return False
    if d == c:
        faces[[face, other]] = -1
        return True
    present = ((faces == c).any(axis=1) & (faces == d).any(axis=1)).any()
    if present:
        return False
    faces[face], faces[other] = (a, d, c), (d, b, c)
    return True


def mesh_of_chains(mesh, count, rng, longest=6):
    """Return a closed mesh, sides split on one face alone: a fan without height closes each."""
    vertices, faces, new = list(mesh.vertices), mesh.faces.copy(), []
    for face in rng.choice(len(faces), min(count, len(faces)), replace=False):
        a, b, c = np.roll(faces[face], -int(rng.integers(3)))
        shares = np.sort(rng.uniform(0.1, 0.9, int(rng.integers(1, longest + 1))))
        chain = [a, *range(len(vertices), len(vertices) + len(shares)), b]
        vertices += [(1.0 - t) * vertices[a] + t * vertices[b] for t in shares]
        faces[face] = (a, chain[1], c)
        new += [(p, q, c) for p, q in zip(chain[1:-1], chain[2:])]
        new += [(a, q, p) for p, q in zip(chain[1:-1], chain[2:])]
    return Draft(np.array(vertices), np.concatenate([faces, np.reshape(new, (-1, 3))]))


def damaged(draft, rng):
    """Return the draft with faces dropped, doubled, turned over and laid across others."""
    faces = draft.faces[rng.random(len(draft.faces)) > 0.03]
    picked = faces[rng.random(len(faces)) < 0.03]
    across = rng.integers(len(draft.vertices), size=(5, 3))
    across = across[(across != np.roll(across, 1, axis=1)).all(axis=1)]
    faces = np.concatenate([faces, picked, np.roll(picked[:, ::-1], 1, axis=1), across])
    return Draft(draft.vertices, rng.permutation(faces))


def on_lattice(mesh, rng):
    """Return the mesh with vertices rounded so coarsely that many faces are lines or points."""
    points = np.round(mesh.vertices / 0.012 + rng.uniform(size=3))
    return Draft(points, mesh.faces)


def degenerate_draft(seed):
    """Return one of the meshes, by its seed."""
    rng = np.random.default_rng(seed)
    bodies = (shapes.box([0.1, 0.06, 0.08], 0.03), shapes.apple(edge_length=0.012))
    if seed % 3 == 0:
        return on_lattice(bodies[1], rng)
    draft = mesh_of_chains(bodies[seed % 2], 40, rng)
    return draft if seed % 3 == 1 else damaged(draft, rng)
