"""Why there is no grasp, in one sentence with numbers."""

from collections.abc import Mapping

import numpy as np

from ...bodies import GraspObject
from ...hand import HandModel
from .. import rejections
from ..hypotheses.hand_opening import largest_opening, largest_width, least_width, meeting_gap
from ..ranked_grasp import NearestMiss
from ..ranking.score import ScoreReference

#: Friction below which slip is taken as the cause of a failure [-]; even dry metals have more.
SLIPPERY = 0.2
#: Reasons of fingers that met nothing to press.
_NOTHING_PRESSED = (rejections.TOO_FEW_FINGERS, rejections.SELF_COLLISION)


def explain_no_grasp(grasp_object: GraspObject, hand: HandModel, reference: ScoreReference,
                     rejected: Mapping[str, int], miss: NearestMiss | None) -> str:
    """
    Return the hint: too wide, small, slippery, fragile, soft or heavy, or what is in the way.

    Parameters
    ----------
    grasp_object : GraspObject
    hand : HandModel
    reference : ScoreReference
    rejected : mapping of str to int
        Rejected hypotheses by reason.
    miss : NearestMiss or None

    Returns
    -------
    str
        '' where no cause is known.

    Notes
    -----
    Own choice. The cause is the size where the object is wider than the opening of the hand, or
    where the fingers close on nothing; else it is what the nearest miss lacks.

    """
    width, opening = least_width(grasp_object.mesh), largest_opening(hand)
    if width > opening:
        return (f'too wide for the hand: at its narrowest the object measures '
                f'{_mm(width)}, between the outermost links of the open hand there are '
                f'{_mm(opening)}: {_mm(width - opening)} too wide')
    dominant = max(rejected, key=lambda reason: rejected[reason], default='')
    if dominant in _NOTHING_PRESSED or not rejected:
        size, gap = largest_width(grasp_object.mesh), meeting_gap(hand)
        if size < gap:
            return (f'too small for the hand: the object measures {_mm(size)} at most, between '
                    f'the pads of fingers that meet there are {_mm(gap)}: {_mm(gap - size)} too '
                    f'small')
    if not rejected:
        return ('no open hand finds opposed places to press, where the fingers reach and the '
                'task allows')
    if dominant == rejections.OUTSIDE_REGION:
        return _share(rejected, dominant, 'the regions allowed for contacts are too small')
    if dominant == rejections.SURROUNDINGS_COLLIDE:
        return _share(rejected, dominant, 'obstacles or regions to keep out of are in the way')
    if miss is None or not miss.links:
        return _share(rejected, dominant, 'no finger came to press') if rejected else ''
    if miss.capable:
        too_hard = rejected.get(rejections.EXCESSIVE_FORCE, 0)
        if too_hard:
            return _would_press_too_hard(miss, reference, too_hard, sum(rejected.values()))
        return _capable(miss, grasp_object.material.youngs_modulus)
    return _incapable(grasp_object, reference, miss)


def _capable(miss: NearestMiss, modulus: float) -> str:
    if miss.peak_pressure > miss.max_pressure:
        return (f'too fragile: the nearest miss holds {miss.margin:.2g} of the load with a peak '
                f'pressure of {_kpa(miss.peak_pressure)}, where damage begins at '
                f'{_kpa(miss.max_pressure)}')
    if miss.reason == rejections.EXCESSIVE_PRESSURE:
        return (f'too sharp or too fragile: the nearest miss holds {miss.margin:.2g} of the load '
                f'with a peak pressure of {_kpa(miss.peak_pressure)}; pressed harder it passes '
                f'{_kpa(miss.max_pressure)}, where damage of object or pads begins')
    if miss.peak_pressure > modulus:
        return (f'too soft: the nearest miss holds {miss.margin:.2g} of the load with a peak '
                f'pressure of {_kpa(miss.peak_pressure)}, more than the object\'s modulus of '
                f'{_kpa(modulus)}: it gives way before the fingers press hard enough')
    return (f'the nearest miss holds {miss.margin:.2g} of the load: {miss.reason}')


def _would_press_too_hard(miss: NearestMiss, reference: ScoreReference, count: int, total: int
                          ) -> str:
    """Return with what force the nearest miss presses, and how much an object bears."""
    pressed = max(sum(float(contact.force @ contact.normal) for contact in miss.contacts
                      if contact.link == link) for link in miss.links)
    return (f'too fragile: the object bears {reference.force_limit:.3g} N of a link, more would '
            f'be needed by {count} of {total} hypotheses; the nearest miss presses with '
            f'{pressed:.3g} N and holds {miss.margin:.2g} of the load: {miss.reason}')


def _incapable(grasp_object: GraspObject, reference: ScoreReference, miss: NearestMiss) -> str:
    slips = not np.isfinite(miss.needed_force) or miss.friction < SLIPPERY
    if slips and np.isfinite(miss.needed_friction):
        return (f'too slippery: friction is {miss.friction:.3g}, the nearest miss needs '
                f'{miss.needed_friction:.3g}')
    if not np.isfinite(miss.needed_force):
        return (f'the contacts of the nearest miss do not balance the load of '
                f'{reference.load:.3g} N at any friction')
    if np.isfinite(reference.force_limit):
        return _too_fragile(reference, miss)
    fragile = grasp_object.material.max_pressure <= reference.max_pressure
    if fragile and miss.needed_force > miss.allowed_force:
        return (f'too fragile: the nearest miss needs {miss.needed_force:.3g} N at a contact, '
                f'where the pressure limit of {_kpa(miss.max_pressure)} allows '
                f'{miss.allowed_force:.3g} N')
    if fragile and miss.peak_pressure > miss.max_pressure and np.isfinite(miss.held_share):
        return (f'too fragile: the load is {reference.load:.3g} N, of which the nearest miss '
                f'holds at most {miss.held_share * reference.load:.3g} N below the pressure limit '
                f'of {_kpa(miss.max_pressure)}')
    text = f'too heavy: the load is {reference.load:.3g} N'
    if np.isfinite(miss.held_share):
        text += (f', the nearest miss holds at most {miss.held_share * reference.load:.3g} N '
                 f'within the limits of pads and joints')
    text += (f'; friction alone would need {miss.needed_force:.3g} N at a contact, of which the '
             f'strongest carries {miss.allowed_force:.3g} N')
    return text if miss.needed_force > miss.allowed_force else (
        f'{text}: it is others, or joints, that bear less than their part')


def _too_fragile(reference: ScoreReference, miss: NearestMiss) -> str:
    """Return how much force it takes, and how much an object that bears a force at most allows."""
    text = f'too fragile: the load is {reference.load:.3g} N'
    if np.isfinite(miss.held_share):
        text += (f', of which the nearest miss holds at most '
                 f'{miss.held_share * reference.load:.3g} N')
    return (f'{text}; friction alone would need {miss.needed_force:.3g} N at a contact, of which '
            f'limits of {reference.force_limit:.3g} N of a link and {_kpa(miss.max_pressure)} '
            f'allow {miss.allowed_force:.3g} N')


def _share(rejected: Mapping[str, int], reason: str, text: str) -> str:
    return f'{text}: {rejected[reason]} of {sum(rejected.values())} hypotheses, {reason}'


def _mm(length: float) -> str:
    return f'{1e3 * length:.1f} mm'


def _kpa(pressure: float) -> str:
    if pressure >= 1e6:
        return f'{1e-6 * pressure:.3g} MPa'
    return f'{1e-3 * pressure:.3g} kPa'
