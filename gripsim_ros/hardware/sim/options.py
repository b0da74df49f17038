"""What the simulated hand can be told; the defaults are in ``config/params.yaml``."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import yaml

from ...core.errors import GripsimError
from ...library.resources import share_directory

#: How the object may be built: by its modulus, or as told.
BODY_KINDS = ('auto', 'rigid', 'soft')


class SimulationError(GripsimError):
    """The simulation cannot be built, or is asked for something it does not do."""


@dataclass(frozen=True)
class SimulationOptions:
    """
    Options of the world.

    Attributes
    ----------
    time_step : float
        Of the simulation [s].
    contact_time : float
        Time constant of contacts [s], at least two time steps.
    torsion : float
        Torque about the normal that a contact bears over its normal force [m].
    body : str
        `rigid`, `soft`, or `auto`: soft where the modulus is at most ``soft_below``.
    soft_below : float
        [Pa].
    object_modulus : float
        That the object truly has, whatever it is believed to have; 0: as published [Pa].
    node_spacing : float
        Edge of the tetrahedra of soft objects, of thin ones down to half of it [m].
    soft_damping : float
        Damping over stiffness of soft objects [s].
    support_time : float
        Time in which the object comes to rest while it is not lifted [s]; it floats then.
    unloading_time : float
        Time in which the support leaves a lifted object to the hand, evenly; 0: at once [s].
    joint_damping : float
        Of the position control [N m s/rad].
    palm_speed, palm_spin : float
        Limits of the palm's motion [m/s, rad/s].
    palm_acceleration, palm_spin_acceleration : float
        Limits of its change [m/s^2, rad/s^2]; what the hand holds feels them beside its weight.
    texel_rows, texel_columns : int
        Of a pad, along the finger and across.
    texel_pitch : float
        [m].
    """

    time_step: float
    contact_time: float
    torsion: float
    body: str
    soft_below: float
    object_modulus: float
    node_spacing: float
    soft_damping: float
    support_time: float
    unloading_time: float
    joint_damping: float
    palm_speed: float
    palm_spin: float
    palm_acceleration: float
    palm_spin_acceleration: float
    texel_rows: int
    texel_columns: int
    texel_pitch: float

    def __post_init__(self) -> None:
        """Check what a range alone does not."""
        if self.body not in BODY_KINDS:
            raise SimulationError(f'body must be one of {", ".join(BODY_KINDS)}, '
                                  f'got {self.body!r}')
        if not 0.0 <= self.object_modulus <= 1e12:
            raise SimulationError('object_modulus must be 0 (as published) up to 1e+12 Pa, '
                                  f'got {self.object_modulus}')
        if self.contact_time < 2.0 * self.time_step:
            raise SimulationError('contact_time must be at least two time steps of '
                                  f'{self.time_step} s, got {self.contact_time} s')

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> 'SimulationOptions':
        """Return the options of a mapping, which may hold other keys too."""
        return cls(**{field.name: values[field.name] for field in fields(cls)})


def default_options(**changes: Any) -> SimulationOptions:
    """Return the options of ``config/params.yaml`` with some changed."""
    text = (share_directory() / 'config' / 'params.yaml').read_text(encoding='utf-8')
    values = yaml.safe_load(text)['/**/sdh_simulator']['ros__parameters']
    return SimulationOptions.from_mapping({**values, **changes})
