"""Whether an answer of the ring is one to the question: what it echoes is compared."""

import numpy as np
from gripsim_interfaces.msg import GraspStates, RingHeader

from ....core.batches import OWN_COMPLIANCE, ConfigurationBatch, GraspStateBatch
from ....core.errors import GripsimError
from ....core.hand import HandModel
from ..arrays import sequence_from_msg
from .stages import grasp_states_from_msg

#: Digits of a hash that are told.
SHOWN = 12
#: Fields of the question that come back with the answer, by attribute.
ECHOED = ('T_object_palm', 'joint_positions')


def read_answer(msg: GraspStates) -> tuple[GraspStateBatch | None, str]:
    """
    Return the grasp states of an answer, None where a stage tells a failure, and '' or what is
    wrong with the message itself.
    """
    if msg.ring.status != RingHeader.OK:
        return None, ''
    try:
        return grasp_states_from_msg(msg), ''
    except GripsimError as error:
        return None, f'malformed: {error}'


def misfit(msg: GraspStates, question: ConfigurationBatch, object_id: str,
           hand: HandModel) -> str:
    """
    Return in which way an answer is not one to a question; '' where it is.

    A failure that a stage tells echoes the names of object and hand alone.

    Parameters
    ----------
    msg : GraspStates
        Well formed, see ``read_answer``.
    question : ConfigurationBatch
    object_id : str
        Hash of the object that was asked about.
    hand : HandModel
    """
    ring = msg.ring
    for what, told, asked in (('object', ring.object_id, object_id),
                              ('hand', ring.hand_id, hand.id)):
        if told != asked:
            return f'it is about {what} {told[:SHOWN]!r}, asked was about {asked[:SHOWN]!r}'
    own = question.elasticity == OWN_COMPLIANCE
    if ring.status in (RingHeader.PREPARING, RingHeader.NO_COMPLIANCE) and not own:
        return "it is about the object's own compliance, which was not asked for"
    if ring.status != RingHeader.OK:
        return ''
    for what, told, asked in (
            ('detail', msg.detail, question.detail),
            ('configurations', msg.configuration_count, question.count),
            ('clearances', len(msg.clearance), question.count * len(hand.link_names))):
        if told != asked:
            return f'{what}: {told}, asked for {asked}'
    for name in ECHOED:
        told = sequence_from_msg(getattr(msg, name.lower()), 'sequence<double>')
        if not np.array_equal(told, getattr(question, name).ravel()):
            return f'it is about another {name.lower()}'
    return ''
