"""Surfaces of a link and a soft object where they touch: the law of the contact, and their gap."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....core.bodies import TriangleMesh
from ....core.contact.geometry.contact_mesh import ContactMesh
from ..world_model import SoftMesh
from .contact_law import contact_law, ContactLaw, lattice, surface_heights

Array = NDArray[np.float64]

#: Least and largest reach of a contact for which its law is solved [m].
REACHES = (1e-3, 0.012)
#: A contact that moved, or whose reach changed, by more than this share of it has another law.
CHANGED = 0.2
#: Half of the lattice's width over the reach wanted.
WIDTH = 1.6
#: Reaches for which a law is good, over that for which it was solved.
GOOD = (0.4, 1.4)
#: Cosine of the angle by which a link may turn and its law be kept: 3 degrees.
LEAST_COSINE = 0.9986
#: Round a contact, tetrahedra are searched so far for where they were touched first [m].
AROUND = 0.0125


@dataclass(frozen=True)
class Place:
    """
    Where a link touches an object.

    ``on_link``, ``on_object`` (3,): the same place in either frame [m]; ``link_frame``,
    ``object_frame`` (3, 3): rows are the contact's axes in either frame, the last from the object
    to the link.
    """

    on_link: Array
    on_object: Array
    link_frame: Array
    object_frame: Array

    def flat(self, positions: Array) -> Array:
        """Return positions (k, 3) in the frame of the link along the contact's axes (k, 2)."""
        return np.asarray((positions - self.on_link) @ self.link_frame[:2].T)

    def is_near(self, other: 'Place', way: float) -> bool:
        """Return whether two places are one but for a way [m] and a slight turn."""
        return bool(
            np.linalg.norm(self.on_link - other.on_link) < way
            and np.linalg.norm(self.on_object - other.on_object) < way
            and self.link_frame[2] @ other.link_frame[2] > LEAST_COSINE
            and self.object_frame[2] @ other.object_frame[2] > LEAST_COSINE)


@dataclass(frozen=True)
class TouchShape:
    """
    Surfaces round a place as long as a link does not slide.

    ``law`` was solved for contacts that reach ``reach`` [m]; ``first`` is the least distance of
    the link's surface from that of the tetrahedra, along the normal, with ``place`` on both [m].
    """

    place: Place
    reach: float
    law: ContactLaw
    first: float

    def is_of(self, place: Place, reach: float) -> bool:
        """Return whether the contact is still at that place, and as large."""
        return GOOD[0] * self.reach < reach < GOOD[1] * self.reach and self.place.is_near(
            place, CHANGED * max(reach, REACHES[0]))


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
        self._nodes = soft.nodes[used]
        self._tetrahedra = ContactMesh(TriangleMesh(self._nodes, faces.reshape(-1, 3)))

    def shape(self, link: str, place: Place, reach: float) -> TouchShape:
        """Return the surfaces of a link and the object round a place, for contacts of a reach."""
        reach = float(np.clip(reach, *REACHES))
        flat, area = lattice(WIDTH * reach)
        gaps = self._link_heights(link, place, flat) - surface_heights(
            self._object, place.on_object, place.object_frame, flat, 1.0)
        law = contact_law(gaps, flat, area, self._plane_modulus)
        away = (self._nodes - place.on_object) @ place.object_frame.T
        near = away[(abs(away[:, :2]) < AROUND).all(axis=1) & (abs(away[:, 2]) < AROUND), :2]
        wide = np.concatenate([lattice(AROUND)[0], near])
        first = self._tetrahedra_gaps(link, place, wide).min()
        return TouchShape(place, reach, law, float(first) if np.isfinite(first) else 0.0)

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

    def _link_heights(self, link: str, place: Place, flat: Array) -> Array:
        return surface_heights(self._links[link], place.on_link, place.link_frame, flat, -1.0)

    def _tetrahedra_gaps(self, link: str, place: Place, flat: Array) -> Array:
        return self._link_heights(link, place, flat) - surface_heights(
            self._tetrahedra, place.on_object, place.object_frame, flat, 1.0, curved=False)
