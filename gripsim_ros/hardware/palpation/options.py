"""How gently, how far and how often a hand squeezes to feel a modulus."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.errors import TaskError

#: Most squeezes of one palpation.
MOST_SQUEEZES = 10
#: Ways of a model's table beyond the longest that fingers may go [-].
BEYOND = 1.5


@dataclass(frozen=True)
class PalpationOptions:
    """
    Limits and times.

    Attributes
    ----------
    squeezes : int
        From 1 to 10; up to twice as many while the object is too stiff to tell.
    levels : int
        Forces at which a squeeze rests, at least 3.
    first_force : float
        Largest force of the first squeeze, when nothing is known yet; forces of a grip are half
        the sum of its normal forces [N].
    most_force : float
        Largest force of any [N].
    most_strain : float
        Longest way of the fingers over the width of what they hold [-].
    damage_room : float
        Largest pressure over that at which damage begins, by the modulus felt so far [-].
    force_growth : float
        Largest force of a squeeze over that of the one before [-].
    rest_time : float
        At each level, before joints and pads are read [s].
    palpation_time : float
        Longest, from touch to the last squeeze [s].
    joint_resolution : float
        Error of a measured joint [rad].
    surface_error : float
        Standard deviation of the surfaces of object and links from those of their meshes [m].
    most_modulus : float
        The most that the object is thought to have, ``inf``: not known [Pa].
    """

    squeezes: int
    levels: int
    first_force: float
    most_force: float
    most_strain: float
    damage_room: float
    force_growth: float
    rest_time: float
    palpation_time: float
    joint_resolution: float
    surface_error: float
    most_modulus: float = math.inf

    def __post_init__(self) -> None:
        """Check what a goal may choose."""
        if not 1 <= self.squeezes <= MOST_SQUEEZES:
            raise TaskError(f'squeezes must be 1 to {MOST_SQUEEZES}, got {self.squeezes}')
        if not 0.0 < self.most_force < math.inf:
            raise TaskError(f'most_force must be above 0 N and finite, got {self.most_force}')
        if not self.most_modulus > 0.0:
            raise TaskError(f'most_modulus must be above 0 Pa, got {self.most_modulus}')

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> 'PalpationOptions':
        """Return the options of a mapping, which may hold other keys too; 0: no most modulus."""
        chosen = {field.name: values[field.name] for field in fields(cls)}
        return cls(**{**chosen, 'most_modulus': chosen['most_modulus'] or math.inf})

    def wished(self, **wishes: float) -> 'PalpationOptions':
        """Return these options with others of a goal or command; 0: as they are."""
        return replace(self, **{name: value for name, value in wishes.items() if value})

    def check_believed(self, modulus: float) -> None:
        """Raise ``TaskError`` where a modulus [Pa] that is believed is not below the most."""
        if modulus >= self.most_modulus:
            raise TaskError(f'most_modulus must be above the {modulus:.4g} Pa that the object is '
                            f'believed to have, got {self.most_modulus:.4g}')

    @property
    def longest_strain(self) -> float:
        """Return how far a model of the grip must reach over the width of what is gripped [-]."""
        return BEYOND * self.most_strain

    def longest_way(self, vertices: NDArray[np.float64]) -> float:
        """Return how far a model of the grip must reach [m], of an object's vertices (n, 3)."""
        return BEYOND * self.most_strain * float(np.ptp(vertices, axis=0).max())
