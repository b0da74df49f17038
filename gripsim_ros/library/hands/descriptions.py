"""A hand's description from a URDF or xacro file, and the link that is its palm."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import contextmanager, redirect_stderr
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...core.errors import HandError
from ...core.hand.files import package_beside
from ...core.hand.tree import parse_hand

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Kinds of joints whose value can change.
MOVABLE = ('revolute', 'continuous', 'prismatic')


def urdf_text(path: Path, packages: Mapping[str, Path],
              arguments: Mapping[str, str] | None = None) -> bytes:
    """
    Return the text of a URDF; that of a xacro file is worked out.

    Parameters
    ----------
    path : Path
        A file that ends in ``.xacro`` is expanded.
    packages : mapping
        Folders of packages by name, for ``$(find …)``.
    arguments : mapping, optional
        Of the xacro, by name; others have their defaults.

    Raises
    ------
    HandError
        The file cannot be read, or the xacro cannot be worked out.
    """
    if path.suffix != '.xacro':
        try:
            return path.read_bytes()
        except OSError as error:
            raise HandError(f'cannot read {path}: {error.strerror}') from None
    try:
        import xacro
    except ModuleNotFoundError:
        raise HandError(f'{path.name}: a xacro file needs the package xacro: '
                        'pip install xacro') from None
    if not path.is_file():
        raise HandError(f'cannot read {path}: there is no such file')
    missing: list[HandError] = []
    try:
        with _packages_found(path, packages, missing), redirect_stderr(StringIO()):
            return xacro.process_file(str(path), mappings=dict(arguments or {})).toxml().encode()
    except (Exception, SystemExit) as error:   # whatever expressions of the file may raise
        if missing:         # xacro wraps it
            raise missing[0] from None
        reason = ' '.join(str(error).split())[:300] or type(error).__name__
        wanted = re.search(r'Undefined substitution argument (\w+)', reason)
        told = f'; give it with --arg {wanted[1]}:=VALUE' if wanted else ''
        raise HandError(f'{path.name}: xacro cannot work it out: {reason}{told}') from None


@contextmanager
def _packages_found(path: Path, packages: Mapping[str, Path], missing: list[HandError]
                    ) -> Iterator[None]:
    """
    Let ``$(find …)`` look at the named folders, then around the file, then at ROS.

    What is not found there is put into ``missing``.
    """
    from xacro import substitution_args
    before = substitution_args._eval_find

    def find(name: str) -> str:
        if name in packages:
            return str(Path(packages[name]).absolute())
        folder = package_beside(path, name)
        if folder is not None:
            return str(folder)
        try:
            return str(before(name))
        except (Exception, SystemExit):
            missing.append(HandError(
                f'{path.name}: no package {name!r} is installed here, and no folder around the '
                f'file is called so; name it with --package {name}=DIR'))
            raise missing[0] from None
    substitution_args._eval_find = find
    try:
        yield
    finally:
        substitution_args._eval_find = before


def find_base(robot: Any, label: str) -> str:
    """
    Return the link that the fingers branch from.

    From the root the only branch with joints that move is followed, an arm or a wrist for
    example, until there are two or more. Where that link has no shape of its own or of a link
    fixed to it, it is the nearest before it, by fixed joints, that has one.

    Raises
    ------
    HandError
        There is no such link: no two fingers.
    """
    children: dict[str, list[Any]] = {}
    for joint in robot.joints:
        children.setdefault(joint.parent, []).append(joint)
    if not robot.links:
        raise HandError(f'{label}: it has no links; a xacro that only defines a macro is to be '
                        'called by another, which is the file to name here')
    links = {link.name: link for link in robot.links}
    placed = {joint.child for joint in robot.joints if joint.parent in links}   # Drake's world: no
    roots = [name for name in links if name not in placed]
    if len(roots) != 1:
        raise HandError(f'{label}: one root link is needed, got {sorted(roots)}')

    def moves(link: str) -> bool:
        return any(joint.type in MOVABLE or moves(joint.child)
                   for joint in children.get(link, []))
    name, fixed_above = roots[0], list[str]()
    while True:
        branches = [joint for joint in children.get(name, [])
                    if joint.type in MOVABLE or moves(joint.child)]
        if len(branches) > 1:
            break
        if not branches:
            raise HandError(f'{label}: no link has two branches that move: a hand needs two '
                            'fingers or more (--base LINK names the palm)')
        fixed_above = [*fixed_above, name] if branches[0].type == 'fixed' else []
        name = branches[0].child

    def solid(link: str) -> bool:
        shapes = links[link]
        return bool(shapes.collisions or shapes.visuals) or any(
            solid(joint.child) for joint in children.get(link, []) if joint.type == 'fixed')
    return next((link for link in [name, *reversed(fixed_above)] if solid(link)), name)


def actuated_joints(robot: Any, base: str) -> list[str]:
    """Return the joints below a link that move by themselves, in the order of the URDF."""
    below, grown = {base}, True
    while grown:
        children = {joint.child for joint in robot.joints if joint.parent in below}
        grown = bool(children - below)
        below |= children
    return [joint.name for joint in robot.joints
            if joint.parent in below and joint.type in MOVABLE and joint.mimic is None]


def parsed(text: bytes, label: str) -> Any:
    """Return the robot of a URDF text."""
    return parse_hand(text, label)


def relative_to(path: Path, folder: Path) -> str:
    """Return a path relative to a folder."""
    return os.path.relpath(Path(path).absolute(), Path(folder).absolute())
