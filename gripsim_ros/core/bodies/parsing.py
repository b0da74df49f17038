"""What trimesh makes of a mesh file; whoever imports this loads it, and with it much else."""

from collections.abc import Callable, Iterator
import io
from pathlib import Path
from typing import Any

import numpy as np
import trimesh
from trimesh.resolvers import FilePathResolver

from ..arrays import Array, IntArray
from ..errors import MeshError

#: What trimesh reads but holds no surface, or hides its size.
_NOT_MESHES = frozenset({'svg', 'dxf', 'xyz', 'zip', 'bz2', 'tar.gz', 'tar.bz2', 'stl_ascii'})


def known_formats() -> tuple[str, ...]:
    """Return the file name endings, without dot, of the formats that are read."""
    return tuple(sorted(set(trimesh.available_formats()) - _NOT_MESHES))


#: Raises where a file, by its path, has too many parts or faces.
CheckCounts = Callable[[Path, int, int], None]


def parse(path: Path, ending: str, check_counts: CheckCounts, max_bytes: int, max_depth: int,
          content: bytes | None = None) -> list[tuple[Array, IntArray]]:
    """
    Return vertices and faces of each surface of a file, placed.

    Parameters
    ----------
    path : Path
    ending : str
        Of ``known_formats()``.
    check_counts : callable
        Takes the path, and the numbers of parts and of faces; raises where they are too many.
    max_bytes, max_depth : int
        Of the file with those that it refers to [bytes], and of parts within parts.
    content : bytes, optional
        What is parsed in place of the file.

    Raises
    ------
    Exception
        Whatever a malformed file leads to.
    """
    loaded = trimesh.load(
        str(path) if content is None else io.BytesIO(content), file_type=ending,
        resolver=_FilesBeside(path, max_bytes), process=False, maintain_order=True,
        skip_materials=True)
    _check_scene(path, loaded, check_counts, max_depth)
    return list(_parts(loaded))


class _FilesBeside(FilePathResolver):
    """Files that a mesh file refers to, such as glTF buffers: only those beside or below it."""

    def __init__(self, path: Path, max_bytes: int) -> None:
        super().__init__(str(path))
        self._folder, self._size = path.resolve().parent, path.stat().st_size
        self._max_bytes = max_bytes

    def get(self, name: str) -> bytes:
        place = (self._folder / name.strip()).resolve()
        if self._folder not in place.parents:
            raise MeshError(f'{self.file_path}: refers to {name!r}, allowed are files beside or '
                            'below it')
        if not place.is_file():
            raise MeshError(f'{self.file_path}: refers to {name!r}, there is no such file')
        self._size += place.stat().st_size
        if self._size > self._max_bytes:
            raise MeshError(f'{self.file_path}: has {self._size / 1e6:.0f} MB with what it refers '
                            f'to, allowed are {self._max_bytes / 1e6:.0f} MB')
        return place.read_bytes()


def _check_scene(path: Path, loaded: Any, check_counts: CheckCounts, max_depth: int) -> None:
    """Refuse what is too large, before any instance of it is copied."""
    if isinstance(loaded, trimesh.Trimesh):
        check_counts(path, 1, len(loaded.faces))
    if not isinstance(loaded, trimesh.Scene):
        return
    nodes = loaded.graph.geometry_nodes
    check_counts(path, sum(len(placed) for placed in nodes.values()),
                 sum(len(getattr(loaded.geometry[name], 'faces', ())) * len(placed)
                     for name, placed in nodes.items()))
    above = loaded.graph.transforms.parents
    for node in loaded.graph.nodes_geometry:
        depth = 0
        while above.get(node, node) != node:    # of old trimesh a root is its own parent
            node, depth = above[node], depth + 1
            if depth > max_depth:
                raise MeshError(f'{path}: nests its parts deeper than the {max_depth} levels '
                                'allowed')


def _parts(loaded: Any) -> Iterator[tuple[Array, IntArray]]:
    """Yield vertices and faces of each surface in what trimesh returned, placed."""
    if isinstance(loaded, trimesh.Trimesh):
        if len(loaded.faces):
            yield (np.array(loaded.vertices, dtype=np.float64),
                   np.array(loaded.faces, dtype=np.int64))
        return
    if not isinstance(loaded, trimesh.Scene):
        return
    for node in loaded.graph.nodes_geometry:
        T_scene_part, name = loaded.graph[node]
        for vertices, faces in _parts(loaded.geometry[name]):
            yield vertices @ T_scene_part[:3, :3].T + T_scene_part[:3, 3], faces
