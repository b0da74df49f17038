"""Planar closing of a hand: its fingers' planes, phalanges from its meshes, first contacts."""

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from scipy.spatial import ConvexHull

from ...arrays import Array, IntArray
from ...bodies import TriangleMesh
from ...errors import HandError
from ...hand import HandModel, forward_kinematics, link_jacobians
from ...transforms import apply
from ..hypotheses.hand_geometry import Finger, find_mechanisms, moving_fingers
from .contact_centres import pressed_contact
from .contour import cut_faces, pieces_near
from .finger_chain import ClosedFinger, PlanarChain, close_sequentially, close_simultaneously
from .first_touch import place_bars


#: Smallest cosine between the axes of a finger that is a planar chain [-].
PARALLEL = 0.999
#: Radius of rounding of phalanges, which is the largest interference [m].
ROUNDING_RADIUS = 0.0025
#: Height of a corner of a phalanx's outline below which it is left out [m].
OUTLINE_TOLERANCE = 0.0002
#: Smallest palmar component of the normals of an outline's sides that are kept [-].
BACK_SIDE = -0.5
#: Bearing part of a phalanx's half width, and the places of the planes in it [-].
BEARING_WIDTH, PLANES = 0.75, (-1.0, 0.0, 1.0)
#: Distance from a contact within which the surface's normal is averaged along the contour [m].
NORMAL_LENGTH = 0.004
#: Smallest cosine between that normal and the way in which a phalanx touches, else that counts.
LEAST_COSINE = 0.1


@dataclass(frozen=True, eq=False)
class FingerPlane:
    """
    A finger of a hand as a planar chain, its knuckle as in a preshape.

    Attributes
    ----------
    chain : PlanarChain
        Its base is the plane's origin; ``start`` is the open preshape.
    closed : (L,) float
        Angles of the closed preshape [rad].
    origin, axes : (3,) and (2, 3) float
        The plane: first pivot in the middle of the pads, direction of the straight finger,
        and direction of flexion; frame palm [m].
    joints : (L,) int
        The hand's joints.
    offsets, signs : (L,) float
        Joint j of the hand is ``signs (angle - offsets)`` [rad].
    half_width : float
        Of the bearing part of the phalanges [m].
    links : (L,) int
        The hand's link of each phalanx.
    """

    chain: PlanarChain
    closed: Array
    origin: Array
    axes: Array
    joints: IntArray
    offsets: Array
    signs: Array
    half_width: float
    links: IntArray

    @cached_property
    def across(self) -> Array:
        """Return the plane's unit normal (3,), frame palm."""
        return np.cross(*self.axes)

    def to_joints(self, angles: Array) -> Array:
        """Return values of the hand's ``joints`` at angles of the chain [rad]."""
        return self.signs * (angles - self.offsets)


@dataclass(frozen=True, eq=False)
class PredictedContact:
    """
    A predicted contact: link, point [m] and unit normal into the object, frame object.

    ``area`` is what is pressed [m^2]; 0 at first touch.
    """

    link: int
    point: Array
    normal: Array
    area: float = 0.0


@dataclass(frozen=True, eq=False)
class ClosedHand:
    """
    A hand closed about an object, each finger in its planes.

    ``joint_positions (J,)`` [rad]; ``contacts`` of all fingers; ``fingers`` is the number of
    them that touch; ``overlap`` [m] that of the open fingers with the object.
    """

    joint_positions: Array
    contacts: tuple[PredictedContact, ...]
    fingers: int
    overlap: float


@lru_cache(maxsize=32)
def finger_planes(hand: HandModel, preshape: int) -> tuple[FingerPlane, ...]:
    """
    Return the planes of the fingers that close in a preshape.

    Parameters
    ----------
    hand : HandModel
    preshape : int
        Index in ``hand.preshapes``.

    Returns
    -------
    tuple of FingerPlane

    Raises
    ------
    HandError
        A finger's closing axes are not parallel, it closes one joint against another, or a
        joint moves several phalanges or fingers.
    """
    shape = hand.preshapes[preshape]
    if any(mechanism.is_coupled or len(mechanism.links) != len(mechanism.joints)
           for mechanism in find_mechanisms(hand)):
        raise HandError(f'hand {hand.name!r}: joints that move several phalanges or fingers make '
                        'no planar chains')
    return tuple(_finger_plane(hand, finger, shape.open, shape.closed)
                 for finger in moving_fingers(hand, shape))


def _finger_plane(hand: HandModel, finger: Finger, open_: Array, closed: Array) -> FingerPlane:
    joints, links = np.array(finger.joints), np.array(finger.links)
    straight = open_.copy()
    straight[joints] = 0.0
    T_palm_link = forward_kinematics(hand, straight[None])[0]
    jacobians = link_jacobians(hand, straight[None])[0]
    axes = jacobians[links, 3:, joints]
    moves = closed[joints] - open_[joints]
    leading = axes[0] * (np.sign(moves[0]) or 1.0)
    cosines = axes @ leading
    if (np.abs(cosines) < PARALLEL).any():
        raise HandError(f'hand {hand.name!r}: the axes of a finger\'s joints '
                        f'{[hand.joint_names[j] for j in joints]} are not parallel')
    signs = np.sign(cosines)
    T_last = T_palm_link[links[-1]]
    middle = apply(T_last, hand.links[links[-1]].pad_point[None])[0]
    pivots = np.array([_on_axis(T_palm_link[link], jacobians[link, :3, joint], axis, middle)
                       for link, joint, axis in zip(links, joints, axes)])
    hulls = [apply(T_palm_link[link], hand.links[link].mesh.vertices) for link in links]
    along = pivots[1] - pivots[0] if len(pivots) > 1 else hulls[0].mean(axis=0) - pivots[0]
    along = along - leading * (along @ leading)
    along /= np.linalg.norm(along)
    plane = np.stack([along, np.cross(leading, along)])
    flat = [(hull - pivots[0]) @ plane.T for hull in hulls]
    widths = [np.abs((hull - pivots[0]) @ leading).max() for hull in hulls]
    half_width = BEARING_WIDTH * float(min(widths))
    inner = [f[np.abs((h - pivots[0]) @ leading) <= half_width + 1e-9]
             for f, h in zip(flat, hulls)]
    lengths, offsets, outlines = _phalanges((pivots - pivots[0]) @ plane.T, inner)
    limits = np.where(signs > 0.0, hand.joint_upper[joints], -hand.joint_lower[joints])
    chain = PlanarChain(
        base=np.zeros(2), direction=0.0, lengths=lengths,
        half_thickness=np.full(len(joints), ROUNDING_RADIUS),
        start=offsets + signs * open_[joints],
        limits=np.maximum(offsets + limits, offsets + signs * open_[joints]), outlines=outlines)
    return FingerPlane(chain, offsets + signs * closed[joints], pivots[0], plane, joints, offsets,
                       signs, half_width, links)


def _phalanges(pivots: Array, inner: list[Array]) -> tuple[Array, Array, tuple[Array, ...]]:
    """Return lengths, chain angles at joint angle 0, and outlines of a straight finger."""
    steps = np.diff(pivots, axis=0)
    directions = np.arctan2(steps[:, 1], steps[:, 0])
    directions = np.append(directions, directions[-1] if len(steps) else 0.0)
    outlines, tip = [], 0.0
    for pivot, direction, points in zip(pivots, directions, inner):
        c, s = np.cos(direction), np.sin(direction)
        local = (points - pivot) @ np.array([[c, -s], [s, c]])
        outlines.append(palmar_outline(local, ROUNDING_RADIUS))
        tip = float(local[:, 0].max()) - ROUNDING_RADIUS
    lengths = np.append(np.linalg.norm(steps, axis=1), max(tip, 1e-3))
    return lengths, np.diff(directions, prepend=0.0), tuple(outlines)


def _on_axis(T_palm_link: Array, speed: Array, axis: Array, middle: Array) -> Array:
    """Return the axis' point abreast of ``middle``; ``speed`` is that of the link's origin."""
    point = T_palm_link[:3, 3] - np.cross(speed, axis)
    return point + axis * ((middle - point) @ axis)


def palmar_outline(points: Array, rounding: float) -> Array:
    """
    Return the palmar side and the tip of the convex hull, drawn in by ``rounding``.

    Parameters
    ----------
    points : (n, 2) float
        x along the phalanx, y towards the palmar side [m].
    rounding : float
        [m]; a disc of this radius along the outline covers the hull but for its corners.

    Returns
    -------
    (k, 2) float
        A polyline from the tip's back to the pivot [m].
    """
    loop = points[ConvexHull(points).vertices]      # anticlockwise
    loop = _inset(_simplified(loop), rounding)
    edges = np.roll(loop, -1, axis=0) - loop
    normals = np.stack([edges[:, 1], -edges[:, 0]], axis=1)
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
    kept = (normals[:, 1] > BACK_SIDE) & ~((normals[:, 0] < -0.7) & (normals[:, 1] < 0.7))
    first = np.argmax(kept & ~np.roll(kept, 1))     # 0 where all are kept
    loop, kept = np.roll(loop, -first, axis=0), np.roll(kept, -first)
    return np.concatenate([loop, loop[:1]])[:np.argmin([*kept, False]) + 1]


def _simplified(loop: Array) -> Array:
    """Return a convex loop without corners lower than the tolerance."""
    while len(loop) > 3:
        before, after = np.roll(loop, 1, axis=0), np.roll(loop, -1, axis=0)
        base = after - before
        height = np.abs(base[:, 0] * (loop - before)[:, 1] - base[:, 1] * (loop - before)[:, 0])
        height /= np.maximum(np.linalg.norm(base, axis=1), 1e-12)
        least = int(np.argmin(height))
        if height[least] > OUTLINE_TOLERANCE:
            break
        loop = np.delete(loop, least, axis=0)
    return loop


def _inset(loop: Array, depth: float) -> Array:
    """Return a convex anticlockwise loop with every side moved inwards (clipping)."""
    kept = loop
    for a, b in zip(loop, np.roll(loop, -1, axis=0)):
        inward = np.array([-(b - a)[1], (b - a)[0]]) / np.linalg.norm(b - a)
        heights = (kept - a) @ inward - depth
        inside, after = heights >= 0.0, np.roll(heights, -1)
        crosses = inside != (after >= 0.0)
        shares = np.divide(heights, heights - after, out=np.zeros(len(kept)), where=crosses)
        crossings = kept + shares[:, None] * (np.roll(kept, -1, axis=0) - kept)
        kept = np.stack([kept, crossings], axis=1)[np.stack([inside, crosses], axis=1)]
        if len(kept) < 3:
            raise HandError(f'a phalanx is thinner than {2e3 * depth:.3g} mm')
    return kept


def close_hand(hand: HandModel, preshape: int, T_object_palm: Array, mesh: TriangleMesh,
               clearance: float = 0.0, together: bool = True, depth: float = 0.0) -> ClosedHand:
    """
    Return the hand at a pose closed about an object, each finger in its own planes.

    Parameters
    ----------
    hand : HandModel
    preshape : int
    T_object_palm : (4, 4) float
    mesh : TriangleMesh
        Closed, frame object.
    clearance : float
        As in ``close_sequentially`` [m].
    together : bool
        Joints of a finger move together as in the preshape; else one after the other, as
        published.
    depth : float
        How deep phalanges press [m]: contacts are their centres of pressure, see
        ``pressed_contact``. 0: contacts are where they touch first.

    Returns
    -------
    ClosedHand

    Raises
    ------
    HandError
        The fingers are no planar chains, or the clearance is out of range.

    Notes
    -----
    Source: seed 003, conclusion 2 (plane after plane). Each finger closes on the cuts of
    three planes across its width at once, so the first touch in any of them stops it.
    """
    joints = hand.preshapes[preshape].open.copy()
    contacts: list[PredictedContact] = []
    fingers, overlap = 0, 0.0
    for plane in finger_planes(hand, preshape):
        pieces, faces, shifts = finger_section(plane, T_object_palm, mesh)
        if together:
            closed_finger = close_simultaneously(plane.chain, pieces, plane.closed, clearance)
        else:
            closed_finger = close_sequentially(plane.chain, pieces, clearance)
        joints[plane.joints] = plane.to_joints(closed_finger.angles)
        if depth > 0.0:
            contacts += _pressed_contacts(plane, closed_finger, (
                pieces, shifts / plane.half_width, mesh.face_normals[faces]), T_object_palm,
                depth)
        else:
            contacts += _predicted_contacts(
                plane, closed_finger, pieces, faces, shifts, T_object_palm, mesh)
        fingers += bool(closed_finger.contacts)
        overlap = max(overlap, closed_finger.overlap)
    return ClosedHand(joints, tuple(contacts), fingers, overlap)


def finger_section(plane: FingerPlane, T_object_palm: Array, mesh: TriangleMesh
                   ) -> tuple[Array, IntArray, Array]:
    """
    Return the section of a mesh before a finger: pieces (n, 2, 2), faces (n,), offsets (n,).

    Offsets are those of the pieces' planes from the finger's middle plane [m].
    """
    rotation = T_object_palm[:3, :3]
    origin = rotation @ plane.origin + T_object_palm[:3, 3]
    e1, e2 = plane.axes @ rotation.T
    across = rotation @ plane.across
    max_distance = float(plane.chain.lengths.sum()) + 0.02
    offsets = plane.half_width * np.array(PLANES)
    pieces, faces, planes = cut_faces(
        mesh.vertices, mesh.faces, origin + offsets[:, None] * across, e1, e2, max_distance)
    return pieces, faces, offsets[planes]


def _predicted_contacts(plane: FingerPlane, closed_finger: ClosedFinger, pieces: Array,
                        faces: IntArray, shifts: Array, T_object_palm: Array,
                        mesh: TriangleMesh) -> list[PredictedContact]:
    rotation = T_object_palm[:3, :3]
    predicted = []
    for contact in closed_finger.contacts:
        shift = shifts[contact.segment]
        near, weights = pieces_near(pieces, shifts, contact.segment, contact.point, NORMAL_LENGTH)
        inward = _facing(-(weights @ mesh.face_normals[faces[near]]),
                         rotation @ (contact.normal @ plane.axes))
        point = plane.origin + contact.point @ plane.axes + shift * plane.across
        predicted.append(PredictedContact(
            int(plane.links[contact.phalanx]), rotation @ point + T_object_palm[:3, 3], inward))
    return predicted


def _pressed_contacts(plane: FingerPlane, closed_finger: ClosedFinger,
                      section: tuple[Array, Array, Array], T_object_palm: Array, depth: float
                      ) -> list[PredictedContact]:
    rotation, chain = T_object_palm[:3, :3], plane.chain
    bars, owners = chain.bars
    placed = place_bars(closed_finger.points, bars, owners)
    pressed = []
    for contact in closed_finger.contacts:
        phalanx = contact.phalanx
        found = pressed_contact(placed[owners == phalanx], float(chain.half_thickness[phalanx]),
                                section, plane.half_width, depth)
        if found is None:
            continue
        inward = _facing(-found.normal, rotation @ (contact.normal @ plane.axes))
        point = plane.origin + found.point @ plane.axes + found.shift * plane.across
        pressed.append(PredictedContact(
            int(plane.links[phalanx]), rotation @ point + T_object_palm[:3, 3], inward,
            found.area))
    return pressed


def _facing(normal: Array, inward: Array) -> Array:
    """Return a normal of any length as a unit vector, or the way of a phalanx that it opposes."""
    size = math.sqrt(normal.dot(normal))
    return normal / size if normal @ inward > LEAST_COSINE * size > 0.0 else inward
