"""Point clouds <-> arrays: sensor_msgs/PointCloud2 with x, y, z and, where known, a viewpoint."""

import numpy as np
from numpy.typing import NDArray
from sensor_msgs.msg import PointCloud2, PointField
from std_msgs.msg import Header

from ...core.bodies.scans.complete import MAX_POINTS
from ...core.errors import ShapeError

Array = NDArray[np.float64]

#: Kinds of numbers that are read, with their size [bytes].
_KINDS = {PointField.FLOAT32: ('f4', 4), PointField.FLOAT64: ('f8', 8)}
#: Coordinates, and where the sensor stood when it saw a point.
_PLACE, _VIEWPOINT = ('x', 'y', 'z'), ('vp_x', 'vp_y', 'vp_z')


def has_cloud(msg: PointCloud2) -> bool:
    """Tell whether a message holds a cloud at all."""
    return bool(msg.width or msg.height or len(msg.data))


def cloud_from_msg(msg: PointCloud2) -> tuple[Array, Array | None]:
    """
    Return the points of a cloud and where the sensor stood.

    Parameters
    ----------
    msg : PointCloud2
        Organised or not, of either byte order; fields ``x``, ``y``, ``z`` of 32 or 64 bits.
        Fields ``vp_x``, ``vp_y``, ``vp_z``, if all are there, say where the sensor stood, as
        in PCL's points with viewpoint; their median counts.

    Returns
    -------
    points : (n, 3) float
        NaN and infinity as they came.
    viewpoint : (3,) float or None

    Raises
    ------
    ShapeError
        More than two million points; a field is missing or of another kind; sizes and steps do
        not fit the data. Checked before any of the data is read.
    """
    count = int(msg.width) * int(msg.height)
    if count > MAX_POINTS:
        raise ShapeError(f'cloud may have at most {MAX_POINTS} points, got {count}')
    if count == 0:
        raise ShapeError(f'cloud must have points, got width {msg.width} and height {msg.height}')
    if msg.row_step < msg.width * msg.point_step:
        raise ShapeError(f'cloud.row_step must be at least width x point_step = '
                         f'{msg.width * msg.point_step}, got {msg.row_step}')
    if len(msg.data) != msg.row_step * msg.height:
        raise ShapeError(f'cloud.data must have row_step x height = {msg.row_step * msg.height} '
                         f'bytes, got {len(msg.data)}')
    names = {field.name: field for field in msg.fields}
    for name in _PLACE:
        _check_field(name, names, msg.point_step)
    points = _columns(msg, [names[name] for name in _PLACE])
    if not all(name in names for name in _VIEWPOINT):
        return points, None
    for name in _VIEWPOINT:
        _check_field(name, names, msg.point_step)
    places = _columns(msg, [names[name] for name in _VIEWPOINT])
    places = places[np.isfinite(places).all(axis=1)]
    return points, np.median(places, axis=0) if len(places) else None


def _check_field(name: str, fields: dict[str, PointField], step: int) -> None:
    if name not in fields:
        raise ShapeError(f'cloud must have the fields x, y and z, got {sorted(fields)}')
    field = fields[name]
    if field.datatype not in _KINDS or field.count not in (0, 1):
        raise ShapeError(f'cloud field {name} must be one FLOAT32 (7) or FLOAT64 (8), got '
                         f'{field.count} of datatype {field.datatype}')
    if field.offset + _KINDS[field.datatype][1] > step:
        raise ShapeError(f'cloud field {name} at offset {field.offset} does not fit '
                         f'point_step {step}')


def _columns(msg: PointCloud2, fields: list[PointField]) -> Array:
    """Return the fields of all points (n, fields) without copying the data first."""
    order = '>' if msg.is_bigendian else '<'
    data = np.frombuffer(msg.data, np.uint8)
    columns = [np.ndarray((msg.height, msg.width), order + _KINDS[field.datatype][0], data,
                          field.offset, (msg.row_step, msg.point_step)).ravel()
               for field in fields]
    return np.stack(columns, axis=1).astype(np.float64)


def cloud_to_msg(points: Array, viewpoint: Array | None = None,
                 frame_id: str = '') -> PointCloud2:
    """Return a cloud of 64-bit points ``(n, 3)``, with the viewpoint ``(3,)`` if it is known."""
    names = _PLACE if viewpoint is None else _PLACE + _VIEWPOINT
    rows = np.asarray(points, '<f8')
    if viewpoint is not None:
        rows = np.hstack([rows, np.tile(np.asarray(viewpoint, '<f8'), (len(rows), 1))])
    step = 8 * len(names)
    return PointCloud2(
        header=Header(frame_id=frame_id), height=1, width=len(rows), point_step=step,
        fields=[PointField(name=name, offset=8 * i, datatype=PointField.FLOAT64, count=1)
                for i, name in enumerate(names)],
        row_step=step * len(rows), is_dense=bool(np.isfinite(rows).all()),
        data=np.ascontiguousarray(rows).tobytes())
