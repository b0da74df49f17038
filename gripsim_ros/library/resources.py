"""Where the package's own files lie, and what a mesh or file URI stands for."""

from functools import lru_cache
import os
from pathlib import Path
import sys
from urllib.parse import unquote, urlsplit

from ..core.errors import MeshError

PACKAGE = 'gripsim_ros'
HAND_URDF = Path('urdf', 'sdh.urdf')
HAND_CONFIG = Path('config', 'hands', 'sdh.yaml')


def share_directory():
    """
    Return the directory that holds ``config/``, ``urdf/`` and ``launch/``.

    That is the source tree where the imported package lies in one (an editable or symlinked
    install reads its files there), else the share directory of the ROS install, else that of the
    Python prefix.

    Returns
    -------
    Path
        Absolute, existing directory.

    Raises
    ------
    RuntimeError
        Nothing of the above holds the package's files.

    """
    source = Path(__file__).resolve().parents[2]
    if (source / 'package.xml').is_file() and (source / HAND_URDF).is_file():
        return source
    installed = _find_share(PACKAGE) or Path(sys.prefix, 'share', PACKAGE)
    if not (installed / HAND_URDF).is_file():
        raise RuntimeError(f'the files of {PACKAGE} are not installed: {installed} has no '
                           f'{HAND_URDF}')
    return installed


def _find_share(package):
    """Return the share directory of a ROS package, or None where ament knows none."""
    try:
        from ament_index_python.packages import get_package_share_directory
    except ImportError:
        return None
    try:
        return Path(get_package_share_directory(package))
    except (LookupError, ValueError, OSError):
        return None


def resolve_uri(uri):
    """
    Return the file that a ``package://`` or ``file://`` URI or a plain path names.

    Parameters
    ----------
    uri : str or Path
        Percent escapes are decoded in URIs, ``~`` is expanded in plain paths. A ``package://`` URI
        stays within the share directory of its package; that of this package needs no ROS.

    Returns
    -------
    Path
        An existing file.

    Raises
    ------
    MeshError
        Empty or malformed URI, another scheme, unknown package, a way out of the package, or no
        such file.

    """
    return _existing(str(uri), _located(str(uri)))


def lasting_name(text: str) -> str:
    """Return a URI as it is, the path of a file as an absolute one: it is read elsewhere too."""
    path = Path(text).expanduser()
    return str(path.absolute()) if '://' not in text and path.is_file() else text


def confined_resolver(mesh_folders):
    """
    Return ``resolve_uri``, held within folders.

    Parameters
    ----------
    mesh_folders : str
        Absolute folders separated by ``:``. '' allows every file that the process may read while
        other machines cannot reach it (see ``is_local_only``), else what lies below the current
        folder. ``/`` allows every file.

    Returns
    -------
    callable
        Takes what ``resolve_uri`` takes. With folders it returns the real path, all symbolic links
        followed, and says nothing of files elsewhere, not even whether they exist. ``package://``
        URIs stay allowed: what is installed as a package is the administrator's choice.

    Raises
    ------
    MeshError
        A folder is not absolute, or there is no such folder. The callable raises it for files
        outside, and for all that ``resolve_uri`` refuses.

    """
    if not mesh_folders and is_local_only():
        return resolve_uri
    mesh_folders = mesh_folders or os.getcwd()
    folders = [_mesh_folder(text) for text in mesh_folders.split(':')]

    def resolve(uri):
        text = str(uri)
        path = _located(text)
        if text.startswith('package://'):
            return _existing(text, path)
        try:
            real = Path(os.path.realpath(path))
        except (OSError, ValueError) as error:
            raise MeshError(f'cannot read {text}: {error}') from error
        if not any(folder in real.parents for folder in folders):
            raise MeshError(f'cannot read {text}: it is outside mesh_folders, allowed are '
                            f'package:// and files below {mesh_folders}')
        return _existing(text, real)
    return resolve


def is_local_only():
    """Tell whether ROS discovery is limited to this machine, so that no other sends requests."""
    reach = os.environ.get('ROS_AUTOMATIC_DISCOVERY_RANGE', '').upper()
    if os.environ.get('ROS_LOCALHOST_ONLY', '') == '1':
        return True
    return reach in ('LOCALHOST', 'OFF') and not os.environ.get('ROS_STATIC_PEERS', '')


def _mesh_folder(text):
    if not os.path.isabs(text) or not os.path.isdir(text):
        raise MeshError('mesh_folders must be absolute folders that exist, separated by :, '
                        f'got {text!r}')
    return Path(os.path.realpath(text))


def _located(text):
    """Return the path that a URI or plain path stands for; there may be no such file."""
    if not text.strip() or '\0' in text:
        raise MeshError(f'a file path or URI is needed, got {text!r}')
    if '://' in text:
        return _resolve_scheme(text)
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        raise MeshError(f'cannot read {text}: {error}') from error


def _existing(text, path):
    """Return the path of a file; MeshError where there is none."""
    try:
        found = path.is_file()
    except OSError as error:
        raise MeshError(f'cannot read {text}: {error.strerror}') from error
    if not found:
        reason = 'is a directory' if path.is_dir() else 'there is no such file'
        raise MeshError(f'cannot read {text}: {reason}')
    return path


def _resolve_scheme(text):
    try:
        parts = urlsplit(text)
    except ValueError as error:
        raise MeshError(f'malformed URI {text!r}: {error}') from error
    path = unquote(text.split('://', 1)[1].partition('/')[2])
    if '\0' in path:
        raise MeshError(f'malformed URI {text!r}: it holds a null character')
    if parts.scheme == 'package':
        return _resolve_package(text, parts.netloc, path)
    if parts.scheme == 'file':
        if parts.netloc not in ('', 'localhost'):
            raise MeshError(f'{text} names the host {parts.netloc!r}: only local files are read')
        return Path('/', path)
    raise MeshError(f'cannot read {text}: scheme {parts.scheme!r} is not package://, file:// or a '
                    'plain path')


def _resolve_package(text, package, path):
    share = share_directory() if package == PACKAGE else _find_share(package)
    if share is None:
        raise MeshError(f'cannot read {text}: no package {package!r} is installed here')
    # Lexically: a symlinked install rightly points out of its share directory.
    target = Path(os.path.normpath(share / path.lstrip('/')))
    if target == share or share not in target.parents:
        raise MeshError(f'cannot read {text}: the path leaves the package')
    return target


def cache_directory():
    """
    Return where this user's programs keep what can be made again; it need not exist.

    Returns
    -------
    Path
        ``gripsim`` in ``XDG_CACHE_HOME``, or in ``~/.cache`` where that is not set.

    """
    base = os.environ.get('XDG_CACHE_HOME', '')
    return (Path(base) if os.path.isabs(base) else Path('~/.cache').expanduser()) / 'gripsim'


def material_library(uri=''):
    """
    Return materials by name, of the library that comes along where ``uri`` is empty.

    Raises
    ------
    MaterialError, MeshError
        There is no such file, or its content is not allowed.
    """
    from ..core.bodies import load_materials
    return load_materials(resolve_uri(uri) if uri
                          else share_directory() / 'config' / 'materials.yaml')


def load_hand(path=''):
    """
    Load the hand of a file that names its URDF; later calls return the same object.

    Parameters
    ----------
    path : str or Path
        YAML as `gripsim hand new` writes it; '' for the Schunk SDH.

    Returns
    -------
    HandModel

    Raises
    ------
    HandError, MeshError
        The hand cannot be used.
    """
    if not str(path):
        return load_default_hand()
    real = Path(path).expanduser().absolute()
    return _load_own_hand(real, _changed(real))


def load_outline(path=''):
    """
    Return what forward kinematics needs of a hand, its meshes not read; arguments as above.

    Returns
    -------
    HandOutline

    Raises
    ------
    HandError
        The hand cannot be used.
    """
    from ..core.hand import HandOutline
    if str(path):
        return HandOutline.load(Path(path).expanduser().absolute(), None, resolve_uri)
    share = share_directory()
    return HandOutline.load(share / HAND_URDF, share / HAND_CONFIG, resolve_uri)


@lru_cache(maxsize=4)
def _load_own_hand(path, _):
    from ..core.hand import HandModel
    return HandModel.load(path, None, resolve_uri)


def _changed(path):
    """Return when a file was changed last [ns]; 0 where there is none."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def own_hand_file(hand):
    """Return the file of a hand for ``load_hand``; '' where it comes along or is unknown."""
    if not hand.files or hand.files[1] == share_directory() / HAND_CONFIG:
        return ''
    return str(hand.files[1])


@lru_cache(maxsize=1)
def load_default_hand():
    """
    Load the Schunk SDH that comes with the package; later calls return the same object.

    Returns
    -------
    HandModel

    """
    from ..core.hand import HandModel
    share = share_directory()
    return HandModel.load(share / HAND_URDF, share / HAND_CONFIG, resolve_uri)
