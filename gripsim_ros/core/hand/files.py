"""Where the meshes of a hand's description lie."""

from collections.abc import Callable, Mapping
from pathlib import Path
import re
from urllib.parse import unquote

from ..errors import GripsimError, HandError

#: Gives the path of a mesh's URI.
Resolver = Callable[[str], Path]


def mesh_finder(urdf: Path, packages: Mapping[str, Path], resolve_uri: Resolver | None
                ) -> Resolver:
    """
    Return what finds the meshes of a URDF.

    Parameters
    ----------
    urdf : Path
    packages : mapping
        Folders of packages by name; they win over what is installed.
    resolve_uri : callable, optional
        Finds installed packages and everything else.

    Returns
    -------
    callable
        Takes a path relative to the URDF, an absolute one, or a ``package://`` or ``file://``
        URI; Gazebo's ``model://`` is taken for ``package://``. A package that nobody knows is
        looked for among the folders around the URDF: its own sources are most often there. It
        raises HandError or MeshError where there is no such file.
    """
    def find(uri: str) -> Path:
        uri = uri.replace('model://', 'package://', 1) if uri.startswith('model://') else uri
        near = urdf.parent / uri
        if '://' not in uri and near.is_file():
            return near
        package, _, rest = uri.partition('package://')[2].partition('/')
        if package in packages:
            return packages[package] / unquote(rest)
        try:
            if resolve_uri is not None:
                return resolve_uri(uri)
        except GripsimError:
            if not package:
                raise
        if not package:
            return Path(unquote(uri.removeprefix('file://')))
        folder = package_beside(urdf, package)
        if folder is None:
            raise HandError(f'{urdf.name}: no package {package!r} is installed here, and no '
                            'folder around the URDF is called so; name it with --package '
                            f'{package}=DIR, or under the key packages')
        return folder / unquote(rest)
    return find


def package_beside(urdf: Path, name: str) -> Path | None:
    """
    Return the folder of a package that a file is in, or that is beside one of them.

    It is called like the package, or its ``package.xml`` is: clones have names of their own.
    """
    for folder in urdf.absolute().parents:
        if folder.name == name or _names(folder / 'package.xml', name):
            return folder
        if (folder / name).is_dir():
            return folder / name
    return None


def _names(manifest: Path, name: str) -> bool:
    """Return whether a package's manifest is there and says that it is of this name."""
    try:
        found = re.search(rb'<name>\s*([^<\s]+)\s*</name>', manifest.read_bytes())
    except OSError:
        return False
    return found is not None and found[1] == name.encode()
