"""Parts and faces that a scene file places, counted before its parser copies each instance."""

import json
import struct
import zipfile
from collections.abc import Hashable, Iterable, Mapping
from pathlib import Path
from typing import Any
from xml.parsers import expat

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
    scene = collada.Collada(str(path), ignore=[collada.common.DaeError]).scene
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
