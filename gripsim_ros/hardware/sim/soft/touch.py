"""What a link's contacts at one place of a soft object do, handed over where places change."""

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from .mesh_compliance import Press
from .place import Place
from .touch_shape import TouchShape

Array = NDArray[np.float64]

#: How much sooner than at the tetrahedra a link may be pressed on [m].
MARGIN = 2.5e-3
#: Share of the way to what the mesh does, whose nodes come and go at once, that is gone in a step.
#: A mesh that is followed by a tenth swings.
MESH_PACE = 0.5
#: How far a place where a link touches the object may be from where it was, and the surfaces
#: there need not be looked at anew [m].
SAME = 6e-3


@dataclass
class Touch:
    """Of a link at one place: its contacts now, their force [N], compliances and depth [m]."""

    #: Where the link may touch the object, here first (n, 3) [m].
    lows: Array = field(default_factory=lambda: np.zeros((1, 3)))
    #: Sign that turns a contact's normal to the link and its number, and its row.
    contacts: list[tuple[float, int]] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    force: float = 0.0
    #: Of what nodes yield near the contact, and of MuJoCo's contacts.
    compliance: float = 0.0
    softness: float = 0.0
    depth: float = 0.0
    #: What the body yields farther away beyond what tetrahedra do [m].
    lack: float = 0.0
    #: By how much the depth grows along the surface, in the frame of the link (3,) [-].
    tilt: Array = field(default_factory=lambda: np.zeros(3))
    #: Where contacts are on the surface of the tetrahedra and on the link (k, 3), how far both are
    #: apart (k,) [m], shares of the force, 0 within the margin (k,), and what nodes yield to it
    #: (k, k) [m/N].
    points: Array = field(default_factory=lambda: np.zeros((0, 3)))
    positions: Array = field(default_factory=lambda: np.zeros((0, 3)))
    distances: Array = field(default_factory=lambda: np.zeros(0))
    shares: Array = field(default_factory=lambda: np.zeros(0))
    yielding: Array = field(default_factory=lambda: np.zeros((0, 0)))
    presses: list[Press] = field(default_factory=list)
    place: Place | None = None
    shape: TouchShape | None = None
    #: Whether the surfaces must be looked at anew, since the low is another.
    is_elsewhere: bool = False

    def depth_at(self, positions: Array) -> Array:
        """Return the depth at positions (k, 3) on the link (k,) [m]."""
        aside = (positions - self.place.on_link) @ self.tilt
        return np.asarray(np.maximum(-MARGIN, self.depth + aside))

    def follow_mesh(self, compliance: float, lack: float) -> None:
        """Take what the mesh does: at once where nothing was known, else by and by."""
        pace = MESH_PACE if self.compliance > 0.0 else 1.0
        self.compliance += pace * (compliance - self.compliance)
        self.lack += pace * (lack - self.lack)


def handed_over(before: list[Touch], parts: list[NDArray[np.bool_]], lows: Array) -> Touch:
    """
    Return what the touches before were at the contacts that are of one place now.

    A touch whose contacts all are is the same; of others it has the mean, by forces: places come
    and go by a hair's breadth where surfaces are nearly parallel, and forces must not jump.

    Parameters
    ----------
    before : list of Touch
    parts : list of (k,) bool
        Which contacts of each are of that place.
    lows : (n, 3) float
        Where the link may touch the object, that place first [m].
    """
    some = [(touch, part) for touch, part in zip(before, parts) if part.any()]
    if not some:
        return Touch(lows)
    touch, part = max(some, key=lambda one: one[0].force * one[0].shares[one[1]].sum())
    if len(some) > 1 or not part.all():
        touch = _joined(some, touch)
    touch.is_elsewhere = bool(np.linalg.norm(touch.lows[0] - lows[0]) > SAME)
    touch.lows = lows
    return touch


def _joined(some: list[tuple[Touch, NDArray[np.bool_]]], main: Touch) -> Touch:
    """Return the touch of parts of touches (k,), that is like the one that bears the most."""
    forces = np.concatenate([touch.force * touch.shares[part] for touch, part in some])
    weights = forces if forces.sum() > 0.0 else np.ones(len(forces))
    weights = weights / weights.sum()
    owners = np.repeat(np.arange(len(some)), [int(part.sum()) for _, part in some])
    by_owner = np.bincount(owners, weights)

    def mean(name: str):
        return sum(share * getattr(touch, name) for share, (touch, _) in zip(by_owner, some))

    def all_of(name: str) -> Array:
        return np.concatenate([getattr(touch, name)[part] for touch, part in some])
    positions, points = all_of('positions'), all_of('points')
    depths = np.concatenate([touch.depth_at(touch.positions[part]) for touch, part in some])
    return replace(
        main, contacts=[], rows=[], force=float(forces.sum()), depth=float(weights @ depths),
        compliance=mean('compliance'), softness=mean('softness'), lack=mean('lack'),
        tilt=mean('tilt'), points=points, positions=positions, distances=all_of('distances'),
        shares=weights, yielding=np.zeros((0, 0)),
        presses=[press for touch, part in some for press, is_in in zip(touch.presses, part)
                 if is_in],
        place=replace(main.place, on_link=weights @ positions, on_object=weights @ points))
