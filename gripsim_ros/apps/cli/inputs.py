"""Reading what a command is given: meshes, materials, hands, poses; nothing is imported early."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...core.errors import GripsimError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ...core.bodies import LoadedMesh, Material
    from ...core.hand import HandModel, HandOutline


class InputError(GripsimError):
    """An argument of the command line, or a file it names, cannot be used."""


def existing_file(path: Path | str, what: str) -> Path:
    """Return the path of a file, or raise ``InputError`` in one line."""
    path = Path(path)
    if not path.exists():
        raise InputError(f'{what}: no such file: {path}')
    if not path.is_file():
        raise InputError(f'{what}: not a file: {path}')
    return path


def read_yaml(path: Path, what: str) -> Any:
    """Return the content of a YAML file."""
    import yaml
    try:
        return yaml.safe_load(existing_file(path, what).read_text(encoding='utf-8'))
    except (yaml.YAMLError, UnicodeDecodeError, OSError) as error:
        raise InputError(f'{what} {path}: {" ".join(str(error).split())}') from error


def read_pose(path: Path, what: str) -> NDArray[np.float64]:
    """Return the transform of a YAML file ``{position, orientation}``, quaternion x y z w."""
    from ...library.task_file import pose_from_mapping
    return pose_from_mapping(read_yaml(path, what), f'{what} {path}')


def read_mesh(text: str, scale: float) -> LoadedMesh:
    """Load, check and repair an object's mesh from a path or a package:// or file:// URI."""
    from ...core.bodies import load_mesh
    from ...library.resources import resolve_uri
    return load_mesh(resolve_uri(text), scale)


def read_material(text: str | None) -> Material:
    """Return a material by its name in the library or from a file; None is the default one."""
    from ...core.bodies import load_material
    from ...library.resources import material_library
    if text is not None and (Path(text).suffix in ('.yaml', '.yml') or Path(text).is_file()):
        return load_material(existing_file(text, 'material'))
    library = material_library()
    name = 'default' if text is None else text
    if name not in library:
        raise InputError(f'unknown material {name!r}; known are {", ".join(library)}, '
                         'or give a YAML file')
    return library[name]


def read_hand(file: str = '') -> HandModel:
    """Return the hand of a file that names its URDF; '' is the one that comes along."""
    from ...library.resources import load_hand
    if file:
        existing_file(file, 'hand')
    return load_hand(file)


def read_outline(file: str = '') -> HandOutline:
    """Return the hand of a file without its meshes; '' is the one that comes along."""
    from ...library.resources import load_outline
    if file:
        existing_file(file, 'hand')
    return load_outline(file)


def hand_of_grasps(file: str, content: Any, what: str = 'grasps are') -> HandModel:
    """
    Return the hand that is named, else that of a file of grasps, else the one that comes along.

    A hand whose files have changed since is told on standard error, and goes on.

    Raises
    ------
    InputError
        The grasps are of another hand than the one named, or their hand's file is gone.
    """
    written = (content.get('hand') if isinstance(content, dict) else None) or {}
    recorded = str(written.get('file') or '')
    if not file and recorded and not Path(recorded).is_file():
        raise InputError(f'the {what} of the hand {recorded}, which is not there: name it '
                         'with --hand')
    hand = read_hand(file or recorded)
    name, known = str(written.get('name') or hand.name), str(written.get('id') or hand.id)
    if name != hand.name:
        raise InputError(f'the {what} of the hand {name}, not of {hand.name}: name theirs with '
                         '--hand')
    if not hand.id.startswith(known):
        print(f'warning: the {what} of the hand {name} as its files were then ({known:.12}); they '
              f'have changed since ({hand.id:.12})', file=sys.stderr, flush=True)
    return hand
