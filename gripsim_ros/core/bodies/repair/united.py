"""Pieces that overlap or touch, as convex decompositions and assemblies have them, made one."""

import manifold3d
import numpy as np

from ..topology import used_vertices
from .cleaning import Draft

#: Largest number of pieces, and of their faces, that are united.
MAX_UNITED, MAX_UNITED_FACES = 1000, 500_000
#: Share of the volume by which a union must be smaller, where no pieces became fewer.
LEAST_SHARED = 1e-9


def unite_pieces(draft: Draft) -> Draft | None:
    """
    Return the union of a draft's pieces; None where none overlap or touch, or it cannot be told.

    Parameters
    ----------
    draft : Draft
        Closed shells that face outward.

    Returns
    -------
    Draft or None
        Its vertices are new, and in an order of their own. With cavities there is none.

    Notes
    -----
    Source: manifold3d, booleans of closed surfaces.
    """
    labels = draft.table.labels
    count = int(labels.max()) + 1
    if not 1 < count <= MAX_UNITED or len(labels) > MAX_UNITED_FACES:
        return None
    solids = []
    for label in range(count):
        used, faces = used_vertices(draft.faces[labels == label], len(draft.vertices))
        solid = manifold3d.Manifold(manifold3d.Mesh64(
            np.ascontiguousarray(draft.vertices[used]), faces.astype(np.uint64)))
        if solid.status() != manifold3d.Error.NoError or solid.volume() <= 0.0:
            return None
        solids.append(solid)
    whole = manifold3d.Manifold.batch_boolean(solids, manifold3d.OpType.Add)
    if whole.status() != manifold3d.Error.NoError or whole.is_empty():
        return None
    apart, volume = len(whole.decompose()), sum(solid.volume() for solid in solids)
    if apart >= count and whole.volume() >= (1.0 - LEAST_SHARED) * volume:
        return None
    mesh = whole.to_mesh64()
    return Draft(np.array(mesh.vert_properties[:, :3], np.float64),
                 np.array(mesh.tri_verts, np.int64), (
        *draft.repairs, f'united those that overlap or touch: {apart} '
        f'{"is" if apart == 1 else "are"} left'), draft.unit)
