"""What a closing respects: first force, pressure, region, and the score that it must reach."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...batches import OBSTACLE_WIDTH
from ...bodies import GraspObject, Material
from ...hand import HandModel, Pad

Array = NDArray[np.float64]

#: Primitives of a region that is not restricted.
NO_REGION = np.zeros((0, OBSTACLE_WIDTH))
#: Fingers among which the first guess of the holding force is shared.
SHARING_FINGERS = 2


class Bar(NamedTuple):
    """
    What a closing's best score must reach: of one that may come to be quantitative, and others.

    Grasps that are not quantitative rank after all that are.
    """

    quantitative: float = -np.inf
    other: float = -np.inf


#: That of a closing that is not set aside.
NO_BAR = Bar()


@dataclass(frozen=True)
class Softness:
    """
    What yields in a contact: the object, and the softest pad on its rigid ground.

    Attributes
    ----------
    object_modulus, pad_modulus : float
        Plane strain moduli [Pa]; ``inf`` for what is rigid.
    pad_bedding : float
        Pressure on a pad that cannot give way sideways over its indentation [Pa/m].
    """

    object_modulus: float
    pad_modulus: float = np.inf
    pad_bedding: float = np.inf

    @classmethod
    def of(cls, material: Material, pads: Iterable[Pad]) -> 'Softness':
        """Return that of an object's material between pads."""
        found = cls(material.youngs_modulus / (1.0 - material.poisson_ratio ** 2))
        for pad in pads:
            e, v = pad.youngs_modulus, pad.poisson_ratio
            if e / (1.0 - v ** 2) < found.pad_modulus:
                confined = e * (1.0 - v) / ((1.0 + v) * (1.0 - 2.0 * v))
                found = cls(found.object_modulus, e / (1.0 - v ** 2), confined / pad.thickness)
        return found

    def indentation(self, force: float, radius: float) -> float:
        """
        Return about how deep a ball of a radius [m] presses with a force [N], in metres.

        Notes
        -----
        Source: Johnson, Contact Mechanics, 1985: Hertz (4.22) for either body alone; a pad
        no deeper than a layer that its ground confines (5.8). Their sum is an estimate.
        """
        pad = min(_hertz(force, self.pad_modulus, radius),
                  float(np.sqrt(force / (np.pi * radius * self.pad_bedding))))
        return _hertz(force, self.object_modulus, radius) + pad


def _hertz(force: float, modulus: float, radius: float) -> float:
    return float((0.75 * force / (modulus * np.sqrt(radius))) ** (2.0 / 3.0))


@dataclass(frozen=True, eq=False)
class Limits:
    """What the closing must respect: first force [N], stiffness, pressure [Pa], region."""

    holding_force: float
    softness: Softness
    max_pressure: float
    contact_region: Array = field(default_factory=lambda: np.zeros((0, OBSTACLE_WIDTH)))


def closing_limits(grasp_object: GraspObject, hand: HandModel, load: float,
                   max_pressure: float, contact_region: Array = NO_REGION) -> Limits:
    """Return what closings respect: first force [N], stiffness, pressure [Pa], region."""
    material = grasp_object.material
    softness = Softness.of(material, [link.pad for link in hand.links if link.pad is not None])
    return Limits(holding_force=load / (SHARING_FINGERS * material.friction), softness=softness,
                  max_pressure=max_pressure, contact_region=contact_region)
