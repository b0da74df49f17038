"""The four batches of the ring <-> their messages; every float64 survives bit for bit."""

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

import numpy as np
from gripsim_interfaces.msg import (
    Contacts, GraspStates, HandConfigurations, LinkStates, RingHeader)

from ....core.batches import (
    ConfigurationBatch, ContactBatch, GraspStateBatch, LinkStateBatch)
from ....core.errors import GripsimError, ShapeError
from ....core.fields import shapes_of
from ..arrays import fields_from_msg, fields_to_msg
from .finite import check_finite

CONFIGURATION_SHAPES = shapes_of(ConfigurationBatch)
LINK_STATE_SHAPES = shapes_of(LinkStateBatch)
CONTACT_SHAPES = shapes_of(ContactBatch)
GRASP_STATE_SHAPES = shapes_of(GraspStateBatch)

_Read = TypeVar('_Read', bound=Callable)


class RingMessageError(ShapeError):
    """A message between two stages that no stage sends: no answer to anybody's question."""


def _refusing(read: _Read) -> _Read:
    """Return a reader of what a stage sent that raises nothing but ``RingMessageError``."""
    @wraps(read)
    def guarded(msg, *sizes):
        try:
            return read(msg, *sizes)
        except GripsimError as error:
            raise RingMessageError(str(error)) from error
    return guarded


def configurations_to_msg(batch: ConfigurationBatch,
                          ring: RingHeader | None = None) -> HandConfigurations:
    """Return the message of a question; ``ring`` is left empty where it is nested."""
    msg = HandConfigurations(detail=int(batch.detail), configuration_count=batch.count,
                             elasticity=batch.elasticity)
    if ring is not None:
        msg.ring = ring
    fields_to_msg(batch, msg, CONFIGURATION_SHAPES)
    return msg


def configurations_from_msg(msg: HandConfigurations,
                            joint_count: int | None = None) -> ConfigurationBatch:
    """
    Return the question of a message.

    Raises
    ------
    ShapeError
        A field has the wrong length, holds no finite number, or ``detail`` or ``elasticity`` is
        unknown.
    """
    sizes = {'n': int(msg.configuration_count)}
    if joint_count is not None:
        sizes['J'] = joint_count
    arrays = fields_from_msg(msg, CONFIGURATION_SHAPES, sizes)
    return ConfigurationBatch(      # which checks all of it
        **arrays, detail=int(msg.detail), elasticity=msg.elasticity)


def link_states_to_msg(batch: LinkStateBatch, ring: RingHeader) -> LinkStates:
    """Return the message of the forward kinematics' answer."""
    msg = LinkStates(ring=ring, configurations=configurations_to_msg(batch.configurations))
    fields_to_msg(batch, msg, LINK_STATE_SHAPES)
    return msg


@_refusing
def link_states_from_msg(msg: LinkStates, link_count: int | None = None,
                         joint_count: int | None = None) -> LinkStateBatch:
    """
    Return the forward kinematics' answer.

    Raises
    ------
    RingMessageError
        A length does not fit, or a number is not finite.
    """
    configurations = configurations_from_msg(msg.configurations, joint_count)
    arrays = fields_from_msg(msg, LINK_STATE_SHAPES, _sizes(configurations.count, link_count))
    check_finite(arrays)
    return LinkStateBatch(configurations, **arrays)


def contacts_to_msg(batch: ContactBatch, ring: RingHeader,
                    configurations: HandConfigurations | None = None) -> Contacts:
    """Return the message of the contact detection's answer; that of the question may be given."""
    msg = Contacts(ring=ring, configurations=configurations
                   or configurations_to_msg(batch.configurations))
    fields_to_msg(batch, msg, CONTACT_SHAPES)
    return msg


@_refusing
def contacts_from_msg(msg: Contacts, link_count: int | None = None,
                      joint_count: int | None = None) -> ContactBatch:
    """
    Return the contact detection's answer.

    Raises
    ------
    RingMessageError
        A length does not fit, offsets do not count up, a link does not exist, or a number is not
        finite that must be.
    """
    configurations = configurations_from_msg(msg.configurations, joint_count)
    sizes = _sizes(configurations.count, link_count)
    arrays = fields_from_msg(msg, CONTACT_SHAPES, sizes)
    _check_offsets(arrays, 'patch_offsets', 'patch_links')
    _check_offsets(arrays, 'node_offsets', 'node_areas')
    _check_offsets(arrays, 'vertex_offsets', 'vertex_points_object')
    _check_links(arrays)
    check_finite(arrays)
    return ContactBatch(configurations, **arrays)


def grasp_states_to_msg(batch: GraspStateBatch, configurations: ConfigurationBatch,
                        ring: RingHeader) -> GraspStates:
    """Return the message of the deformation's answer to ``configurations``."""
    msg = GraspStates(ring=ring, detail=int(configurations.detail),
                      configuration_count=batch.count)
    fields_to_msg(configurations, msg, {name: CONFIGURATION_SHAPES[name] for name in (
        'T_object_palm', 'joint_positions')})
    fields_to_msg(batch, msg, GRASP_STATE_SHAPES)
    return msg


@_refusing
def grasp_states_from_msg(msg: GraspStates) -> GraspStateBatch:
    """Return the deformation's answer; errors as ``contacts_from_msg``."""
    arrays = fields_from_msg(msg, GRASP_STATE_SHAPES, {'n': int(msg.configuration_count)})
    _check_offsets(arrays, 'patch_offsets', 'patch_links')
    _check_links(arrays)
    check_finite(arrays)
    _check_stiffness(arrays)
    return GraspStateBatch(**arrays)


def _sizes(count: int, link_count: int | None) -> dict[str, int]:
    return {'n': count} if link_count is None else {'n': count, 'L': link_count}


def _check_offsets(arrays: dict, name: str, rows: str) -> None:
    """Refuse offsets that would lead past the end of ``rows``."""
    offsets, count = arrays[name], len(arrays[rows])
    if offsets[0] != 0 or offsets[-1] != count or (np.diff(offsets) < 0).any():
        raise ShapeError(f'field {name} must count up from 0 to {count}')


def _check_stiffness(arrays: dict) -> None:
    """Refuse links that bear forces without a stiffness, by which fingers are steered."""
    counts, links = np.diff(arrays['patch_offsets']), arrays['patch_links']
    owners = np.repeat(np.arange(len(counts)), counts)
    if not (arrays['link_stiffness'][owners, links, links] > 0.0).all():
        raise ShapeError('field link_stiffness must be above 0 where a link has a patch')


def _check_links(arrays: dict) -> None:
    links, count = arrays['patch_links'], arrays['clearance'].shape[1]
    if links.size and links.max() >= count:
        raise ShapeError(f'field patch_links must be below {count}, got {links.max()}')
