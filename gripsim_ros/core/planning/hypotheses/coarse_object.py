"""What the prescreen knows of an object: samples of its surface, distances, a coarse mesh."""

from weakref import WeakKeyDictionary

import numpy as np

from ...arrays import Array
from ...bodies import GraspObject, TriangleMesh, decimate_mesh
from ...errors import MeshError
from ...transforms import inverse
from .distance_field import DistanceField, build_distance_field

#: Surface samples, distance field and coarse mesh of an object, in its canonical frame.
CoarseObject = tuple[Array, DistanceField, TriangleMesh]
#: Of each object that is referenced elsewhere, by numbers of faces; no object is kept alive here.
COARSE_OBJECTS: WeakKeyDictionary[GraspObject, dict[tuple[int, int], CoarseObject]] = (
    WeakKeyDictionary())
#: Number of faces above which a mesh is decimated once before it is decimated for samples and for
#: directions, and to how many: each of the two tries several times, in time that grows with it.
MANY_FACES, FINE_FACES = 60_000, 20_000


def coarse_object(grasp_object: GraspObject, sample_faces: int, face_count: int) -> CoarseObject:
    """
    Return an object prepared for the prescreen; kept as long as the object exists.

    Parameters
    ----------
    grasp_object : GraspObject
    sample_faces, face_count : int
        Wanted faces of the mesh whose corners and middles are the samples, and of the mesh whose
        faces are approached.

    Returns
    -------
    samples : (n, 3) float
        [m].
    field : DistanceField
    faces : TriangleMesh
        All in the object's canonical frame.
    """
    known, key = COARSE_OBJECTS.setdefault(grasp_object, {}), (sample_faces, face_count)
    if key not in known:
        mesh = grasp_object.mesh.with_transform(inverse(grasp_object.canonical_frame))
        fine = _fine(mesh)
        coarse = decimated(fine, sample_faces)
        samples = np.concatenate([coarse.vertices, coarse.vertices[coarse.faces].mean(axis=1)])
        known[key] = samples, build_distance_field(mesh), decimated(fine, face_count)
    return known[key]


def _fine(mesh: TriangleMesh) -> TriangleMesh:
    """Return a mesh of not too many faces that can be decimated further: closed, as it was."""
    if len(mesh.faces) > MANY_FACES:
        fewer = decimate_mesh(mesh, FINE_FACES, np.eye(4))
        return fewer if fewer.is_closed else mesh
    return mesh


def decimated(mesh: TriangleMesh, face_count: int) -> TriangleMesh:
    """Return the decimated mesh, with more faces where these cannot keep the shape."""
    while face_count < len(mesh.faces):
        try:
            return decimate_mesh(mesh, face_count)
        except MeshError:
            face_count *= 2
    return mesh
