"""The parts of a robot parsed by ``urdf_parser_py`` that are read."""

from collections.abc import Sequence
from typing import Any, Protocol


class Origin(Protocol):
    """Pose of a frame in its parent: position [m], roll, pitch and yaw [rad]."""

    xyz: Sequence[float] | None
    rpy: Sequence[float] | None


class Limit(Protocol):
    """Limits of a joint; ends that the URDF leaves out are None."""

    lower: float | None
    upper: float | None
    effort: float
    velocity: float


class Mimic(Protocol):
    """The joint that one follows, ``multiplier * its value + offset``."""

    joint: str
    multiplier: float | None
    offset: float | None


class Joint(Protocol):
    """A joint between two links."""

    name: str
    type: str
    parent: str
    child: str
    axis: Sequence[float] | None
    origin: Origin | None
    limit: Limit | None
    mimic: Mimic | None


class Collision(Protocol):
    """A collision shape, whose kind follows from the fields of its geometry."""

    origin: Origin | None
    geometry: Any


class Link(Protocol):
    """A link with its collision and its visual shapes."""

    name: str
    collisions: Sequence[Collision]
    visuals: Sequence[Collision]


class Robot(Protocol):
    """A whole URDF."""

    links: Sequence[Link]
    joints: Sequence[Joint]
