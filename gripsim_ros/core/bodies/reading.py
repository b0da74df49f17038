"""
Triangles from mesh files, just as they stand there.

Parts and faces that a scene places are counted before its parser copies each instance.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.util import find_spec
import io
import json
import logging
from pathlib import Path
import struct
from typing import Any
import warnings
from xml.parsers import expat
import zipfile

import numpy as np

from ..arrays import Array, IntArray
from ..errors import MeshError
from .formats.collada import surface_of_dae
from .formats.off import read_off
from .formats.package_3mf import unit_of_3mf
from .formats.ply import read_ply
from .formats.wavefront import read_obj

#: Largest file, also unpacked or with the files it refers to [bytes], and largest number of
#: faces that are read: two million triangles take 100 MB as binary and some 400 MB as text.
MAX_BYTES = 500_000_000
MAX_FACES = 2_000_000
#: Largest number of placed parts of a scene, and of nodes above one of them: the cost of
#: placing grows with the square of the depth.
MAX_PARTS = 10_000
MAX_DEPTH = 64
#: Of a binary STL file, as the format is told apart from the one in words; its bytes before the
#: triangles, and those of each: a normal, three corners, two bytes for whatever.
BINARY_STL = 'binary stl'
STL_HEADER = 84
STL_RECORD = np.dtype([('normal', '<f4', 3), ('corners', '<f4', (3, 3)), ('rest', '<u2')])
#: How files begin that stand in the place of a mesh, and what they are.
NOT_FILES = {
    b'version https://git-lfs': 'is a pointer of Git LFS, not the mesh; git lfs pull fetches it',
    b'<!doctype html': 'is a web page, not a mesh', b'<html': 'is a web page, not a mesh'}
#: Readers of formats that need no library.
OWN_FORMATS = {'obj': read_obj, 'off': read_off, 'ply': read_ply}
_reading: ContextVar[bool] = ContextVar('reading a mesh', default=False)


def _is_wanted(record: logging.LogRecord) -> bool:
    return not _reading.get()


@contextmanager
def quiet_reader() -> Iterator[None]:
    """Keep the reader's log records and warnings off this call's standard error."""
    logger = logging.getLogger('trimesh')
    if _is_wanted not in logger.filters:
        logger.addFilter(_is_wanted)
    token = _reading.set(True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            yield
    finally:
        _reading.reset(token)


def mesh_formats() -> tuple[str, ...]:
    """Return the file name endings, without dot, of the formats that are read."""
    from .parsing import known_formats
    return known_formats()


def read_triangles(path: str | Path) -> tuple[Array, IntArray]:
    """
    Return the triangles of a mesh file with the file's own vertex indices.

    Nothing is merged or repaired: of an STL file vertex 3 t + k is corner k of triangle
    t. Scenes are joined, each part placed where the scene has it.

    Parameters
    ----------
    path : str or Path
        A file of one of ``mesh_formats()``, at most 500 MB and two million faces.

    Returns
    -------
    (V, 3) float
        Vertices, in metres where the file names its unit (DAE, 3MF), else in that of the file.
    (F, 3) int
        Faces.

    Raises
    ------
    MeshError
        There is no such file, its format is not known, it is too large, it cannot be
        parsed, or it holds no triangles.
    """
    path = Path(path)
    ending = _check_file(path)
    if ending == BINARY_STL:
        return _read_stl(path)
    try:
        with quiet_reader():
            if ending in SCENES:
                _check_counts(path, *count_instances(path, ending))
            if ending in OWN_FORMATS:
                vertices, faces = OWN_FORMATS[ending](
                    path.read_bytes(), lambda count: _check_face_count(path, count))
                return _with_faces(path, vertices, faces)
            content, unit, parser = None, 1.0, ending
            if ending in ('dae', 'zae'):
                (content, unit), parser = surface_of_dae(path), 'dae'
            elif ending == '3mf':
                unit = unit_of_3mf(path)
            from .parsing import parse      # with trimesh, which takes half a second to load
            parts = parse(path, parser, _check_counts, MAX_BYTES, MAX_DEPTH, content)
    except MeshError:
        raise
    except Exception as error:  # whatever the parsers of a dozen formats may raise
        reason = str(error).strip().split('\n')[0][:200] or 'no reason given'
        raise MeshError(f'{path}: cannot be read as {ending.upper()} '
                        f'({type(error).__name__}: {reason})') from None
    starts = np.cumsum([0] + [len(vertices) for vertices, _ in parts[:-1]])
    return _with_faces(
        path, unit * np.concatenate([np.zeros((0, 3)), *(vertices for vertices, _ in parts)]),
        np.concatenate([np.zeros((0, 3), np.int64),
                        *(faces + start for (_, faces), start in zip(parts, starts))]))


def _with_faces(path: Path, vertices: Array, faces: IntArray) -> tuple[Array, IntArray]:
    if not len(faces):
        raise MeshError(f'{path}: holds no triangles')
    return vertices, faces


def _read_stl(path: Path) -> tuple[Array, IntArray]:
    """Return the triangles of a binary STL file, a record of 50 bytes each."""
    corners = np.fromfile(path, STL_RECORD, offset=STL_HEADER)['corners']
    return (corners.reshape(-1, 3).astype(np.float64),
            np.arange(3 * len(corners), dtype=np.int64).reshape(-1, 3))


def _check_file(path: Path) -> str:
    """Return the format's name, after all that can be checked without parsing."""
    if not path.exists():
        raise MeshError(f'{path}: there is no such file')
    if not path.is_file():
        raise MeshError(f'{path}: is not a file')
    ending = path.suffix.lower().lstrip('.')
    if ending not in ('stl', *OWN_FORMATS) and ending not in mesh_formats():
        raise MeshError(f'{path}: unknown mesh format {ending!r}; allowed are '
                        f'{", ".join(mesh_formats())}')
    try:
        size = path.stat().st_size
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                size = max(size, sum(entry.file_size for entry in archive.infolist()))
        with path.open('rb') as stream:
            head = stream.read(4096)
    except (OSError, zipfile.BadZipFile) as error:
        raise MeshError(f'{path}: cannot be read ({error})') from None
    if size == 0:
        raise MeshError(f'{path}: is empty')
    for start, what in NOT_FILES.items():
        if head.lstrip()[:64].lower().startswith(start):
            raise MeshError(f'{path}: {what}')
    if size > MAX_BYTES:
        raise MeshError(f'{path}: has {size / 1e6:.0f} MB, allowed are {MAX_BYTES / 1e6:.0f} MB')
    count = declared_faces(head, ending, size)
    _check_face_count(path, count)
    return BINARY_STL if ending == 'stl' and count else ending


def _check_counts(path: Path, parts: int, faces: int) -> None:
    if parts > MAX_PARTS:
        raise MeshError(f'{path}: places {parts} parts, allowed are {MAX_PARTS}')
    _check_face_count(path, faces)


def _check_face_count(path: Path, count: int) -> None:
    if count > MAX_FACES:
        raise MeshError(f'{path}: has {count} faces, allowed are {MAX_FACES}')


def declared_faces(head: bytes, ending: str, size: int) -> int:
    """Return the number of faces that the head of an STL or PLY file announces, or 0."""
    if ending == 'stl' and len(head) >= STL_HEADER:
        count = int(struct.unpack('<I', head[STL_HEADER - 4:STL_HEADER])[0])
        return count if size == STL_HEADER + STL_RECORD.itemsize * count else 0
    if ending == 'ply':
        for line in head.split(b'\n'):
            words = line.split()
            if words[:2] == [b'element', b'face'] and len(words) == 3 and words[2].isdigit():
                return int(words[2])
    return 0


#: The formats whose small files may place a mesh many times.
SCENES = frozenset({'gltf', 'glb', 'dae', 'zae', '3mf'})


def count_instances(path: Path, ending: str) -> tuple[int, int]:
    """
    Return how many parts a scene file places, and with how many faces in all.

    Parameters
    ----------
    path : Path
    ending : str
        Of ``SCENES``.

    Raises
    ------
    Exception
        Whatever a malformed file leads to.
    """
    if ending == '3mf':
        return _count_3mf(path)
    if ending in ('dae', 'zae'):        # the latter is the former in an archive
        return _count_dae(path)
    return _count_gltf(path, ending)


def _count_gltf(path: Path, ending: str) -> tuple[int, int]:
    with path.open('rb') as stream:
        if ending == 'glb':
            size = struct.unpack('<5I', stream.read(20))[3]
            told = json.loads(stream.read(size))
        else:
            told = json.load(stream)
    version = str(told.get('asset', {}).get('version', '2.0'))
    if not version.startswith('2'):
        raise ValueError(f'it is of version {version}, allowed is 2')
    _check_gltf(told)
    counts = [max(0, int(accessor['count'])) for accessor in told.get('accessors', ())]
    faces = []
    for mesh in told.get('meshes', ()):
        faces.append(0)
        for part in mesh['primitives']:
            index = part.get('indices', part['attributes'].get('POSITION'))
            corners = 0 if index is None else counts[index]
            faces[-1] += corners // 3 if part.get('mode', 4) == 4 else corners
    placed = [faces[node['mesh']] for node in told.get('nodes', ()) if 'mesh' in node]
    return len(placed), max(sum(faces), sum(placed))


def _check_gltf(told: Mapping[str, Any]) -> None:
    """Raise ValueError where the parser would give other corners than the file has."""
    if 'EXT_meshopt_compression' in told.get('extensionsRequired', ()):
        raise ValueError('it is compressed by meshopt, which is not read')
    accessors = told.get('accessors', ())
    for part in (part for mesh in told.get('meshes', ()) for part in mesh['primitives']):
        if 'KHR_draco_mesh_compression' in part.get('extensions', ()) \
                and find_spec('DracoPy') is None:
            raise ValueError('it is compressed by Draco, which needs the package DracoPy')
        for index in (part['attributes'].get('POSITION'), part.get('indices')):
            if index is not None and 'sparse' in accessors[index]:
                raise ValueError('it has a sparse accessor, which is not read')
        index = part['attributes'].get('POSITION')
        if index is not None and accessors[index].get('normalized'):
            raise ValueError('its positions are normalised integers, which are not read')


def _count_3mf(path: Path) -> tuple[int, int]:
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        main = _Model3mf(archive.read(next(
            name for name in names if '3d/3dmodel.model' in name.lower())))
        models = {name: _Model3mf(archive.read(name))
                  for name in {name for _, name in main.elsewhere} if name in names}
    faces = dict(main.faces)
    for key, name in main.elsewhere:        # each reference reads the other file once more
        if name in models:
            faces[key] = faces.get(key, 0) + sum(models[name].faces.values())
    parts, placed = _total(main.components, faces, main.items)
    return parts, max(placed, sum(faces.values()))


class _Model3mf:
    """Of a model in a 3MF file: faces and components of each object, and what is built."""

    def __init__(self, content: bytes) -> None:
        self.faces: dict[str, int] = {}
        self.components: dict[str, list[str]] = {}
        self.elsewhere: list[tuple[str, str]] = []
        self.items: list[str] = []
        self._object = ''
        parser = expat.ParserCreate(namespace_separator=' ')
        parser.StartElementHandler = self._begin
        parser.Parse(content, True)

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        kind = name.rsplit(' ', 1)[-1]
        if kind == 'triangle':
            self.faces[self._object] = self.faces.get(self._object, 0) + 1
        elif kind == 'object':
            self._object = attributes['id']
        elif kind == 'item':
            self.items.append(attributes['objectid'])
        elif kind == 'component':
            key = attributes['objectid']
            self.components.setdefault(self._object, []).append(key)
            self.elsewhere += [(key, value.strip('/')) for name, value in attributes.items()
                               if name.endswith('path')]


def _count_dae(path: Path) -> tuple[int, int]:
    import collada
    document = collada.Collada(io.BytesIO(surface_of_dae(path)[0]),
                               ignore=[collada.common.DaeError])
    if document.errors:     # the parser would leave out what it cannot read, and say nothing
        raise document.errors[0]
    scene = document.scene
    children: dict[Hashable, list[Hashable]] = {}
    faces: dict[Hashable, int] = {}

    def visit(node: Any) -> Hashable:
        """Note a node and what is below it; return its key: a node and its instances share it."""
        node = getattr(node, 'node', node)
        if id(node) not in children:
            children[id(node)] = []
            if isinstance(node, collada.scene.GeometryNode):
                faces[id(node)] = sum(map(_primitive_faces, node.geometry.primitives))
            children[id(node)] += [visit(child) for child in getattr(node, 'children', None) or ()]
        return id(node)
    return _total(children, faces, [visit(node) for node in scene.nodes])


def _primitive_faces(primitive: Any) -> int:
    """Return the number of triangles of a primitive of pycollada."""
    if hasattr(primitive, 'vcounts'):
        return max(0, int(primitive.vcounts.sum()) - 2 * len(primitive.vcounts))
    return int(getattr(primitive, 'ntriangles', 0))


def _total(children: Mapping[Any, Iterable[Any]], faces: Mapping[Any, int],
           roots: Iterable[Any]) -> tuple[int, int]:
    """Return the ends that are reached from the roots, each as often as it is, and their faces."""
    known: dict[Any, tuple[int, int] | None] = {}

    def count(key: Any) -> tuple[int, int]:
        if key not in known:
            known[key] = None
            below = [count(child) for child in children.get(key, ())]
            known[key] = (sum(parts for parts, _ in below) or 1,
                          faces.get(key, 0) + sum(placed for _, placed in below))
        found = known[key]
        if found is None:
            raise ValueError('a part contains itself')
        return found
    counts = [count(root) for root in roots]
    return sum(parts for parts, _ in counts), sum(placed for _, placed in counts)
