"""``gripsim fk``: where the links are."""

from pathlib import Path
from typing import Annotated

import typer

from .arguments import finite_numbers
from .inputs import InputError, read_outline
from .options import Hand
from .output import check_writable, print_table, write_json


def fk(
        joints: Annotated[str, typer.Option(
            '--joints', metavar='Q0 … Q6', help='Angles of the actuated joints [rad].')],
        hand: Hand = '',
        json: Annotated[bool, typer.Option('--json', help='JSON on standard output.')] = False,
        out: Annotated[Path | None, typer.Option(
            '--out', help='Write the JSON to a file.')] = None) -> None:
    """Pose of every link in the hand's base link, for given joint angles."""
    import numpy as np

    from ...core.hand import forward_kinematics
    from ...core.numerics.kernels import interpreted
    from ...core.transforms import to_pose
    check_writable(out)
    positions = finite_numbers('--joints', joints)
    model = read_outline(hand)
    if len(positions) != len(model.joint_names):
        raise InputError(f'--joints takes {len(model.joint_names)} angles '
                         f'({", ".join(model.joint_names)}), got {len(positions)}')
    with interpreted():
        poses = [to_pose(T_palm_link) for T_palm_link in
                 np.asarray(forward_kinematics(model, positions[None]))[0]]
    write_json({'base_link': model.base_link, 'links': {
        name: {'position': position, 'orientation': orientation}
        for name, (position, orientation) in zip(model.link_names, poses)}}, json, out)
    if not json:
        columns = 'link', 'position [m]', 'quaternion x y z w'
        print_table(f'Links in {model.base_link}', columns, [
            (name, ' '.join(f'{x:9.5f}' for x in position),
             ' '.join(f'{x:8.5f}' for x in orientation))
            for name, (position, orientation) in zip(model.link_names, poses)])
