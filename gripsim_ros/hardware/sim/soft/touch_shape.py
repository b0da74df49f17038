"""Surfaces of a link and a soft object where they touch: the law of the contact, and their gap."""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ....core.bodies import TriangleMesh
from ....core.contact.geometry.contact_mesh import ContactMesh
from ..world_model import SoftMesh
from .contact_law import contact_law, ContactLaw, lattice, surface_heights
from .place import Place
from .terrain import parted_lows, separate_lows, Terrain

Array = NDArray[np.float64]

#: Least and largest reach of a contact for which its law is solved [m].
REACHES = (1e-3, 0.012)
#: A contact that moved, or whose reach changed, by more than this share of it has another law.
CHANGED = 0.2
#: One whose surfaces turned by an angle of a smaller cosine has, too: 3 degrees.
LAW_COSINE = 0.9986
#: How far a link may slide [m], and the least cosine of the angle by which it may turn, until the
#: surfaces are looked at anew: the facet that it meets first is up to 6 mm from where it meets the
#: true surface, and inclined by a seventh. So 0.02 mm and 0.5 mrad are 3 micrometres.
SLID, TURNED_COSINE = 2e-5, 1.0 - 1.25e-7
#: Half of the lattice's width over the reach wanted.
WIDTH = 1.6
#: Reaches for which a law is good, over that for which it was solved.
GOOD = (0.4, 1.4)
#: Round a contact, tetrahedra are searched so far for where they were touched first [m], on a
#: lattice and at so many points of each edge: a link first meets what is sharp, and beside an edge
#: facets fall by a quarter of the way.
AROUND, ALONG_EDGE = 0.0125, 25
#: Steps of the lattice within which the place that the link meets first is sought once more.
CLOSER = 1.5
#: Where surfaces are parallel, a law is solved round the middle of all places that are nearly as
#: near as the nearest [m], if they are more than so many.
ALIKE, FEW = 2e-5, 9
#: Half width [m] and nodes along a side of the lattice on which places are sought where a link
#: touches, and how much the gap rises between two of them at least [m].
FAR, FAR_SIDE, BARRIER = 0.065, 87, 5e-5


@dataclass(frozen=True)
class TouchShape:
    """
    Surfaces round a place as long as a link neither slides nor turns.

    The surfaces meet first at ``middle`` (2,), along the axes of ``place`` [m]; ``first`` is the
    least distance of the link's surface from that of the tetrahedra, along the normal, with
    ``place`` on both [m]. The link meets the true surface when it is still ``early`` away from
    that of the tetrahedra, which are chords inside it [m]. ``law`` was solved for contacts that
    reach ``reach`` [m] round the middle, at a place ``solved_at``.
    """

    place: Place
    middle: Array
    first: float
    early: float
    law: ContactLaw
    reach: float
    solved_at: Place

    def has_law_of(self, place: Place, reach: float) -> bool:
        """Return whether the contact's law is still that of a place, and of a reach [m]."""
        return GOOD[0] * self.reach < reach < GOOD[1] * self.reach and self.solved_at.is_near(
            place, CHANGED * max(reach, REACHES[0]), LAW_COSINE)

    def is_at(self, place: Place) -> bool:
        """Return whether the surfaces still face each other as at a place."""
        return self.place.is_near(place, SLID, TURNED_COSINE)

    def aside(self, positions: Array, force: float, tilt: Array) -> Array:
        """
        Return how far from where the true contact bears a force [N] positions are (k, 2) [m].

        Parameters
        ----------
        positions : (k, 3) float
            Frame of the link [m].
        force : float
            [N].
        tilt : (2,) float
            By which depths grow along the axes, beside what the surfaces do [-].
        """
        acts = self.middle + self.law.moment(force, tilt) / force
        return np.asarray(self.place.flat(positions) - acts)


class _Others:
    """Places (n, 3) on a link where it touches, and which points beside are the first one's."""

    def __init__(self, place: Place, lows: Array | None) -> None:
        self._lows = None if lows is None or len(lows) < 2 else place.flat(lows)

    def without(self, flat: Array, gaps: Array) -> Array:
        """Return gaps at points (k, 2), inf where another place is nearer (k,)."""
        if self._lows is None:
            return gaps
        away = np.linalg.norm(flat[:, None] - self._lows, axis=2)
        return np.where(away[:, 0] <= away.min(axis=1), gaps, np.inf)


class TouchSurfaces:
    """
    What touches: the links and the object with their curved surfaces, and its flat tetrahedra.

    Parameters
    ----------
    links : dict of str to TriangleMesh
        In their own frames.
    surface : TriangleMesh
        Of the object, in the frame of ``soft``.
    soft : SoftMesh
    plane_modulus : float
        E / (1 - nu^2) [Pa].
    """

    def __init__(self, links: dict[str, TriangleMesh], surface: TriangleMesh, soft: SoftMesh,
                 plane_modulus: float) -> None:
        self._links = {name: ContactMesh(mesh) for name, mesh in links.items()}
        self._object, self._plane_modulus = ContactMesh(surface), plane_modulus
        used, faces = np.unique(soft.faces, return_inverse=True)
        flat = TriangleMesh(soft.nodes[used], faces.reshape(-1, 3))
        self._tetrahedra, self._ridges = ContactMesh(flat), points_on_edges(flat, ALONG_EDGE)

    def terrain(self, link: str, place: Place) -> Terrain:
        """
        Return where the gap of a link and the object is least, far round a place.

        Facets must part two places, too: those of convex bodies are convex, and the curved
        surface between them bulges here and there.
        """
        flat, _ = lattice(FAR, FAR_SIDE)
        gaps = self._true_gaps(link, place, flat).reshape(FAR_SIDE, FAR_SIDE)
        lows = parted_lows(flat[separate_lows(gaps, BARRIER)],
                           partial(self._true_gaps, link, place, curved=False), BARRIER)
        return Terrain(place, place.on_link + lows @ place.link_frame[:2])

    def shape(self, link: str, place: Place, reach: float, lows: Array | None = None
              ) -> TouchShape:
        """
        Return the surfaces of a link and the object round a place, for contacts of a reach.

        Parameters
        ----------
        link : str
        place : Place
        reach : float
            [m].
        lows : (n, 3) float, optional
            Places on the link where it touches the object [m]; what is nearer to another than the
            first is not looked at.
        """
        reach = float(np.clip(reach, *REACHES))
        others = _Others(place, lows)
        middle, first, early = self._meeting(link, place, others)
        flat, area = lattice(WIDTH * reach)
        gaps = others.without(middle + flat, self._true_gaps(link, place, middle + flat))
        law = contact_law(gaps, flat, area, self._plane_modulus)
        return TouchShape(place, middle, first, early, law, reach, place)

    def moved(self, link: str, shape: TouchShape, place: Place, lows: Array | None = None
              ) -> TouchShape:
        """Return the surfaces at a place that has the same law; arguments as of ``shape``."""
        middle, first, early = self._meeting(link, place, _Others(place, lows))
        return replace(shape, place=place, middle=middle, first=first, early=early)

    def _meeting(self, link: str, place: Place, others: '_Others') -> tuple[Array, float, float]:
        """Return ``middle``, ``first`` and ``early`` of surfaces that meet at a place."""
        middle, true = self._first_of_true(link, place, others)
        away = (self._ridges - place.on_object) @ place.object_frame.T
        near = away[(abs(away[:, :2]) < AROUND).all(axis=1) & (abs(away[:, 2]) < AROUND), :2]
        wide = np.concatenate([lattice(AROUND)[0], near])
        first = float(others.without(wide, self._tetrahedra_gaps(link, place, wide)).min())
        known = np.isfinite(first) and np.isfinite(true)
        return middle, first if np.isfinite(first) else 0.0, first - true if known else 0.0

    def gaps(self, link: str, shape: TouchShape, points: Array) -> Array:
        """
        Return how far link and tetrahedra are apart at points when they touch first (k,) [m].

        Nodes far from the first touch are reached late: that way is not what nodes yield. Where
        there is but one of the surfaces: what the mean of the others is, or 0.

        Parameters
        ----------
        points : (k, 3) float
            On the tetrahedra, frame of the object [m].
        """
        flat = (points - shape.place.on_object) @ shape.place.object_frame[:2].T
        gaps = self._tetrahedra_gaps(link, shape.place, flat) - shape.first
        found = np.isfinite(gaps)
        return np.where(found, gaps, gaps[found].mean() if found.any() else 0.0)

    def _true_gaps(self, link: str, place: Place, flat: Array, curved: bool = True) -> Array:
        return self._link_heights(link, place, flat, curved) - surface_heights(
            self._object, place.on_object, place.object_frame, flat, 1.0, curved)

    def _first_of_true(self, link: str, place: Place, others: '_Others') -> tuple[Array, float]:
        """Return where the link meets the object's surface first (2,), and its distance [m]."""
        flat, area = lattice(AROUND)
        gaps = others.without(flat, self._true_gaps(link, place, flat))
        nearest, first = flat[int(np.argmin(gaps))], float(gaps.min())
        if not np.isfinite(first):
            return np.zeros(2), first
        close = nearest + lattice(CLOSER * float(np.sqrt(area)))[0]
        nearer = others.without(close, self._true_gaps(link, place, close))
        alike = gaps < first + ALIKE
        middle = flat[alike].mean(axis=0) if alike.sum() > FEW else close[int(np.argmin(nearer))]
        return middle, min(first, float(nearer.min()))

    def _link_heights(self, link: str, place: Place, flat: Array, curved: bool = True) -> Array:
        return surface_heights(self._links[link], place.on_link, place.link_frame, flat, -1.0,
                               curved)

    def _tetrahedra_gaps(self, link: str, place: Place, flat: Array) -> Array:
        return self._link_heights(link, place, flat) - surface_heights(
            self._tetrahedra, place.on_object, place.object_frame, flat, 1.0, curved=False)


def points_on_edges(mesh: TriangleMesh, count: int) -> Array:
    """Return points (n, 3) of all edges, evenly spaced, so many on each with both its ends [m]."""
    first, last = mesh.vertices[mesh.edges].transpose(1, 0, 2)
    shares = np.linspace(0.0, 1.0, count)[:, None, None]
    return np.asarray(first + shares * (last - first)).reshape(-1, 3)
