"""Limits of a closing: first force, pressure, contact region, and the score to be reached."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ...arrays import Array, IntArray
from ...batches import OBSTACLE_WIDTH
from ...bodies import GraspObject, Material
from ...hand import HandModel, Pad
from .. import rejections
from .grasp_state import GraspState


#: Primitives of a contact region without restriction.
NO_REGION = np.zeros((0, OBSTACLE_WIDTH))
#: Force aimed at, at most, over that which damages: control misses by a few per cent [-]; and the
#: share of it from which on no more can be had.
AIMED_SHARE, SPENT_SHARE = 0.95, 0.9
#: Least force of a contact over the first guess, and pressure over the limit, at which more force
#: will not do: it presses harder still [-].
PRESSING, PASSED = 0.3, 1.1
#: Number of fingers that share the first guess of the holding force.
SHARING_FINGERS = 2


class ScoreThreshold(NamedTuple):
    """
    Smallest upper bound of the score with which a closing goes on.

    ``quantitative`` is for one that may become quantitative, ``other`` for the rest, which rank
    after all that are.
    """

    quantitative: float = -np.inf
    other: float = -np.inf


#: Threshold of a closing that is never deferred.
NO_THRESHOLD = ScoreThreshold()


@dataclass(frozen=True)
class ContactCompliance:
    """
    Compliance of a contact: the object's, and that of the softest pad on its rigid ground.

    Attributes
    ----------
    object_modulus, pad_modulus : float
        Plane strain moduli [Pa]; ``inf`` for what is rigid.
    pad_foundation_modulus : float
        Pressure over indentation of a pad confined sideways [Pa/m].
    """

    object_modulus: float
    pad_modulus: float = np.inf
    pad_foundation_modulus: float = np.inf

    @classmethod
    def of(cls, material: Material, pads: Iterable[Pad]) -> 'ContactCompliance':
        """Return the compliance of an object's material between pads."""
        found = cls(material.youngs_modulus / (1.0 - material.poisson_ratio ** 2))
        for pad in pads:
            e, v = pad.youngs_modulus, pad.poisson_ratio
            if e / (1.0 - v ** 2) < found.pad_modulus:
                confined = e * (1.0 - v) / ((1.0 + v) * (1.0 - 2.0 * v))
                found = cls(found.object_modulus, e / (1.0 - v ** 2), confined / pad.thickness)
        return found

    def indentation(self, force: float, radius: float) -> float:
        """
        Return the approximate indentation [m] of a ball of a radius [m] under a force [N].

        Notes
        -----
        Source: Johnson, Contact Mechanics, 1985: Hertz (4.22) for either body alone; a pad
        no deeper than a layer that its ground confines (5.8). Their sum is an estimate.
        """
        pad = min(_hertz(force, self.pad_modulus, radius),
                  float(np.sqrt(force / (np.pi * radius * self.pad_foundation_modulus))))
        return _hertz(force, self.object_modulus, radius) + pad


def _hertz(force: float, modulus: float, radius: float) -> float:
    return float((0.75 * force / (modulus * np.sqrt(radius))) ** (2.0 / 3.0))


@dataclass(frozen=True, eq=False)
class ClosingLimits:
    """
    First guess of the force [N], compliance, largest pressure [Pa], contact region, and limit.

    ``force_limit`` is the largest normal force of a link [N].
    """

    holding_force: float
    compliance: ContactCompliance
    max_pressure: float
    contact_region: Array = field(default_factory=lambda: np.zeros((0, OBSTACLE_WIDTH)))
    force_limit: float = np.inf

    @property
    def most_aimed(self) -> float:
        """Return the largest normal force that is aimed at [N]."""
        return AIMED_SHARE * self.force_limit

    def links_beyond(self, state: GraspState) -> IntArray:
        """Return links that a patch presses with more pressure, or that press harder, than may."""
        return state.links[(state.peak_pressures > self.max_pressure)
                           | (state.normal_forces_by_link > self.force_limit)]

    def pressure_is_spent(self, state: GraspState, forces: Array) -> bool:
        """Return whether all contacts press with their forces (k,) [N], one of them too hard."""
        return bool(forces.min() > PRESSING * self.holding_force
                    and state.peak_pressures.max() > PASSED * self.max_pressure)

    def reason_to_end(self, state: GraspState, forces: Array, wanted: Mapping[int, float]) -> str:
        """
        Return what is passed where a state presses with no more than is wanted, else ''.

        Parameters
        ----------
        state : GraspState
        forces : (controls,) float
            Its normal forces [N].
        wanted : mapping of int to float
            Normal forces wanted [N] by link, of each control.
        """
        pressed = {link for (link, most), force in zip(wanted.items(), forces) if force > most}
        if any(most > self.most_aimed and force >= SPENT_SHARE * self.most_aimed
               for most, force in zip(wanted.values(), forces)):
            return rejections.EXCESSIVE_FORCE
        beyond = any(link not in pressed for link in self.links_beyond(state))
        return rejections.EXCESSIVE_PRESSURE if beyond else ''


def closing_limits(grasp_object: GraspObject, hand: HandModel, load: float,
                   max_pressure: float, contact_region: Array = NO_REGION) -> ClosingLimits:
    """Return the limits of an object's closings for its largest load [N] and pressure [Pa]."""
    material = grasp_object.material
    pads = [link.pad for link in hand.links if link.pad is not None]
    force = min(load / (SHARING_FINGERS * material.friction), material.force_limit)
    return ClosingLimits(holding_force=force, compliance=ContactCompliance.of(material, pads),
                         max_pressure=max_pressure, contact_region=contact_region,
                         force_limit=material.force_limit)
