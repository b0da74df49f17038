"""Poses, vectors, meshes and primitives <-> arrays; quaternions are x, y, z, w."""

import numpy as np
from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import Point, Pose, Quaternion, Transform, Vector3
from numpy.typing import NDArray
from shape_msgs.msg import Mesh, MeshTriangle, SolidPrimitive

from ...core.batches import OBSTACLE_BOX, OBSTACLE_CYLINDER, OBSTACLE_SPHERE, OBSTACLE_WIDTH
from ...core.bodies.reading import MAX_FACES
from ...core.errors import MeshError, ShapeError, TaskError
from ...core.transforms import from_pose, to_pose

Array = NDArray[np.float64]

#: Kind in ``ConfigurationBatch.obstacles``, name, and how many dimensions it has.
_PRIMITIVES = {
    SolidPrimitive.BOX: (OBSTACLE_BOX, 'box', 3),
    SolidPrimitive.SPHERE: (OBSTACLE_SPHERE, 'sphere', 1),
    SolidPrimitive.CYLINDER: (OBSTACLE_CYLINDER, 'cylinder', 2)}


#: Largest length, force or acceleration that is taken [SI]; beyond it products overflow.
LARGEST = 1e6


def xyz(msg) -> Array:
    """Return a Point or Vector3 as ``(3,)``."""
    return np.array([msg.x, msg.y, msg.z])


def point_to_msg(values: Array) -> Point:
    """Return a Point."""
    x, y, z = map(float, values)
    return Point(x=x, y=y, z=z)


def vector_to_msg(values: Array) -> Vector3:
    """Return a Vector3."""
    x, y, z = map(float, values)
    return Vector3(x=x, y=y, z=z)


def quaternion_to_msg(values: Array) -> Quaternion:
    """Return a Quaternion from x, y, z, w."""
    x, y, z, w = map(float, values)
    return Quaternion(x=x, y=y, z=z, w=w)


def pose_from_msg(msg: Pose) -> Array:
    """
    Return ``T_a_b`` of a Pose; an all-zero orientation is the identity.

    Raises
    ------
    ShapeError
        A number is not finite, a position is beyond 1000 km, or the quaternion's norm is not 1.
    """
    return _rigid(msg.position, msg.orientation)


def transform_from_msg(msg: Transform) -> Array:
    """Return ``T_a_b`` of a Transform, as ``pose_from_msg`` does."""
    return _rigid(msg.translation, msg.rotation)


def _rigid(position, orientation) -> Array:
    quaternion = np.array([orientation.x, orientation.y, orientation.z, orientation.w])
    if not quaternion.any():
        quaternion[3] = 1.0
    place = xyz(position)
    if (np.abs(place) > LARGEST).any():     # what is not finite is named by from_pose
        raise ShapeError(f'a position must be within {LARGEST:g} m, got {place.tolist()}')
    return from_pose(place, quaternion)


def pose_to_msg(T_a_b: Array) -> Pose:
    """Return the Pose of ``T_a_b``."""
    position, quaternion = to_pose(T_a_b)
    return Pose(position=point_to_msg(position), orientation=quaternion_to_msg(quaternion))


def transform_to_msg(T_a_b: Array) -> Transform:
    """Return the Transform of ``T_a_b``."""
    position, quaternion = to_pose(T_a_b)
    return Transform(
        translation=vector_to_msg(position), rotation=quaternion_to_msg(quaternion))


def mesh_to_msg(vertices: Array, faces: NDArray[np.int64]) -> Mesh:
    """Return a shape_msgs/Mesh."""
    return Mesh(vertices=[point_to_msg(vertex) for vertex in vertices],
                triangles=[MeshTriangle(vertex_indices=face.astype(np.uint32))
                           for face in np.asarray(faces)])


def mesh_from_msg(msg: Mesh) -> tuple[Array, NDArray[np.int64]]:
    """
    Return ``vertices (V, 3)`` and ``faces (F, 3)`` of a shape_msgs/Mesh.

    Raises
    ------
    MeshError
        It is empty or too large, a number is not finite, or an index points past the vertices.
    """
    check_size(len(msg.vertices), len(msg.triangles))
    vertices = np.fromiter((x for p in msg.vertices for x in (p.x, p.y, p.z)), float,
                           3 * len(msg.vertices)).reshape(-1, 3)
    faces = np.fromiter((i for t in msg.triangles for i in t.vertex_indices.tolist()), np.int64,
                        3 * len(msg.triangles)).reshape(-1, 3)
    if not len(vertices) or not len(faces):
        raise MeshError(f'mesh must have vertices and triangles, got {len(vertices)} vertices '
                        f'and {len(faces)} triangles')
    if not np.isfinite(vertices).all():
        raise MeshError('mesh vertices must be finite, got '
                        f'{vertices[~np.isfinite(vertices).all(axis=1)][0].tolist()}')
    if faces.max() >= len(vertices):
        raise MeshError(f'mesh triangles must index its {len(vertices)} vertices, '
                        f'got index {faces.max()}')
    return vertices, faces


def check_size(vertices: int, faces: int) -> None:
    """Raise MeshError where a message holds more triangles than a file may, or as many points."""
    if faces > MAX_FACES or vertices > 3 * MAX_FACES:
        raise MeshError(f'a mesh may have {MAX_FACES} triangles and three times as many vertices, '
                        f'got {faces} and {vertices}')


def primitives_from_msg(primitives, poses, name: str) -> Array:
    """
    Return primitives as rows of ``ConfigurationBatch.obstacles``, in the frame of their poses.

    Parameters
    ----------
    primitives, poses : list of SolidPrimitive, list of Pose
        One pose each.
    name : str
        What they are called in errors.

    Returns
    -------
    (k, 16) float

    Raises
    ------
    TaskError
        A primitive is no box, sphere or cylinder, or has wrong dimensions.
    """
    if len(primitives) != len(poses):
        raise TaskError(f'{name} must have one pose each, '
                        f'got {len(primitives)} primitives and {len(poses)} poses')
    rows = np.zeros((len(primitives), OBSTACLE_WIDTH))
    for i, (primitive, pose) in enumerate(zip(primitives, poses)):
        kind, dimensions = _primitive(primitive, f'{name}[{i}]')
        rows[i, 0] = kind
        rows[i, 1:1 + len(dimensions)] = dimensions
        rows[i, 4:] = pose_from_msg(pose)[:3].ravel()
    return rows


def primitives_to_msg(rows: Array) -> tuple[list[SolidPrimitive], list[Pose]]:
    """Return rows of ``ConfigurationBatch.obstacles`` as primitives and poses."""
    kinds = {kind: (number, count) for number, (kind, _, count) in _PRIMITIVES.items()}
    primitives, poses = [], []
    for row in rows:
        number, count = kinds[int(row[0])]
        primitives.append(SolidPrimitive(type=number, dimensions=row[1:1 + count].tolist()))
        T_object_primitive = np.vstack([row[4:].reshape(3, 4), [0.0, 0.0, 0.0, 1.0]])
        poses.append(pose_to_msg(T_object_primitive))
    return primitives, poses


def _primitive(primitive: SolidPrimitive, name: str) -> tuple[int, Array]:
    if primitive.type not in _PRIMITIVES:
        raise TaskError(f'{name} must be a box (1), sphere (2) or cylinder (3), '
                        f'got type {primitive.type}')
    kind, word, count = _PRIMITIVES[primitive.type]
    dimensions = np.array(primitive.dimensions, float)
    if len(dimensions) != count or not (
            (dimensions > 0.0).all() and (dimensions <= LARGEST).all()):
        raise TaskError(f'{name}: a {word} needs {count} dimensions above 0 and up to '
                        f'{LARGEST:g} m, got {dimensions.tolist()}')
    return kind, dimensions


def duration_to_msg(seconds: float) -> Duration:
    """Return seconds, not negative, as a message, to the nanosecond."""
    nanoseconds = round(float(seconds) * 1e9)
    return Duration(sec=nanoseconds // 10**9, nanosec=nanoseconds % 10**9)


def time_to_msg(seconds: float) -> Time:
    """Return a stamp in seconds, not negative, as a message, to the nanosecond."""
    nanoseconds = round(float(seconds) * 1e9)
    return Time(sec=nanoseconds // 10**9, nanosec=nanoseconds % 10**9)


def seconds_from_msg(message: Time | Duration) -> float:
    """Return a stamp or a duration [s]."""
    return message.sec + 1e-9 * message.nanosec
