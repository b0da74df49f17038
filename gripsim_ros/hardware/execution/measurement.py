"""What is measured while a grasp is carried out."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Measurement:
    """
    What is known of the hand at a time [s].

    ``joints (J,)`` [rad]; ``forces`` normal force by link [N], links without a pad are not in
    it, felt at ``forces_time`` [s] (None: at ``time``); ``T_palm_object`` and ``palm_rests``
    (the palm is where it was sent) are None where nobody tells. ``centres (3,)`` of pressure by
    link that feels something, in its frame [m]; ``load (6,)`` of the object on the hand at the
    wrist, torque about the palm's origin [N, N m], frame palm, None where no wrist tells.
    ``torques (J,)`` of the joints' motors [N m], None where the hand does not tell them.
    """

    time: float
    joints: Array
    forces: Mapping[str, float] = field(default_factory=dict)
    T_palm_object: Array | None = None
    palm_rests: bool | None = None
    forces_time: float | None = None
    centres: Mapping[str, Array] = field(default_factory=dict)
    load: Array | None = None
    torques: Array | None = None

    @property
    def felt_at(self) -> float:
        """Return when the forces were felt [s]."""
        return self.time if self.forces_time is None else self.forces_time
