"""Preshapes from a section: the strategy of the longest chord with a real hand."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial import ConvexHull

from ...arrays import Array
from ...bodies import TriangleMesh
from ...errors import MeshError
from ...hand import HandModel
from ...transforms import apply, transform
from ..hypotheses.hand_geometry import pad_paths
from .balance import least_unbalance
from .contour import Contour, cut_contours
from .finger_chain import ClosedFinger, PlanarChain, close_sequentially
from .first_touch import place_bars
from .hand_section import ClosedHand, close_hand, finger_planes


#: Relative difference of lengths up to which chords count as equal [-]: the first point decides.
SAME_CHORD = 1e-9


@dataclass(frozen=True, eq=False)
class ChordFrame:
    """
    The published frame of a contour: chord, outermost point, and the hand's corner.

    ``first``, ``second (2,)`` are the ends of the longest chord, ``outermost (2,)`` the point
    farthest from it on the chosen side [m]; ``origin (2,)`` is the corner of palm and thumb
    and ``x``, ``y (2,)`` its unit axes: x along the chord from first to second, y across it
    from the outermost point towards the chord.
    """

    first: Array
    second: Array
    outermost: Array
    origin: Array
    x: Array
    y: Array

    def to_frame(self, points: Array) -> Array:
        """Return points ``(..., 2)`` of the contour's plane in the frame."""
        return (points - self.origin) @ np.stack([self.x, self.y]).T


def longest_chord(points: Array) -> tuple[int, int]:
    """Return the numbers, lower first, of two points ``(n, 2)`` that lie farthest apart."""
    hull = np.sort(ConvexHull(points).vertices)
    corners = points[hull]
    gaps = np.linalg.norm(corners[:, None] - corners, axis=2)
    rows, columns = np.nonzero(gaps >= gaps.max() * (1.0 - SAME_CHORD))
    return int(hull[rows[0]]), int(hull[columns[0]])


def chord_frame(points: Array, side: int = 1, turned: bool = False) -> ChordFrame:
    """
    Return the frame of the longest chord.

    Parameters
    ----------
    points : (n, 2) float
        The contour [m].
    side : {1, -1}
        Side of the chord, seen from its first to its second end, on which the palm
        stands: 1 right, -1 left.
    turned : bool
        Exchange the ends: the thumb stands at the other one.

    Returns
    -------
    ChordFrame

    Notes
    -----
    Source: seed 003, strategy of the maximal chord. Its printed origin violates the right
    angle (signs); here it is the foot of the first end on the parallel through the
    outermost point. The frame is right-handed for side 1 and left-handed for -1: the finger
    closes anticlockwise in it.
    """
    i, j = longest_chord(points)
    first, second = (points[j], points[i]) if turned else (points[i], points[j])
    x = (second - first) / np.linalg.norm(second - first)
    y = side * np.array([-x[1], x[0]])
    outermost = points[int(np.argmin((points - first) @ y))]
    origin = outermost + ((first - outermost) @ x) * x
    return ChordFrame(first, second, outermost, origin, x, y)


#: Smallest angle between the contact normals of opposed fingers [rad].
OPPOSING = np.radians(120.0)
#: Half length of the prism over a contour [m].
PRISM_HALF_LENGTH = 0.1
#: Resolution of the unbalance [-]; of equal ones the smaller stand-off of the palm decides.
SAME_BALANCE = 1e-3


@dataclass(frozen=True, eq=False)
class PreshapeChoice:
    """
    A hand about a section.

    Attributes
    ----------
    preshape : int
        Of the hand.
    T_object_palm : (4, 4) float
    closed_hand : ClosedHand
    frame : ChordFrame
        Of the contour, with the thumb at its first end.
    gap : float
        Stand-off of the palm from the contour's outermost point [m].
    opposition : float
        Largest angle between two contact normals [rad], 0 with fewer than two contacts.
    unbalance : float
        As in ``least_unbalance`` [-].
    """

    preshape: int
    T_object_palm: Array
    closed_hand: ClosedHand
    frame: ChordFrame
    gap: float
    opposition: float
    unbalance: float

    @property
    def closes(self) -> bool:
        """Return True if the open hand is free and at least two of its fingers oppose."""
        return (self.closed_hand.overlap == 0.0 and self.closed_hand.fingers > 1
                and self.opposition >= OPPOSING)


def middle_section(mesh: TriangleMesh, T_object_canonical: Array,
                   normal: Array | None = None) -> Contour:
    """
    Return the longest contour of the cut through the centre of mass.

    Parameters
    ----------
    mesh : TriangleMesh
        Closed.
    T_object_canonical : (4, 4) float
        Centre of mass and principal axes, longest first.
    normal : (3,) float, optional
        Unit normal of the plane, frame object; None: the longest axis, so that the hand
        closes across it.

    Raises
    ------
    MeshError
        The plane misses the body there, as of a ring.
    """
    axes = T_object_canonical[:3, 1:3].T
    if normal is not None:
        x = np.cross(normal, np.eye(3)[int(np.argmin(np.abs(normal)))])
        x /= np.linalg.norm(x)
        axes = np.stack([x, np.cross(normal, x)])
    contours = cut_contours(mesh, T_object_canonical[:3, 3], axes)
    if not contours:
        raise MeshError('the plane through the centre of mass does not cut the surface')
    return contours[0]


def prism_of(contour: Contour) -> TriangleMesh:
    """Return the walls of a prism over a contour, without ends; frame of its source [m]."""
    ends = contour.to_source(contour.segments)
    lift = PRISM_HALF_LENGTH * np.cross(*contour.axes)
    corners = np.concatenate([ends - lift, ends[:, ::-1] + lift], axis=1)
    if contour.closed and np.linalg.det(contour.segments).sum() < 0.0:      # clockwise
        corners = corners[:, ::-1]
    first = 4 * np.arange(len(corners))[:, None]
    faces = np.concatenate([first + [0, 1, 2], first + [0, 2, 3]])
    return TriangleMesh(corners.reshape(-1, 3), faces)


def choose_preshape(hand: HandModel, contour: Contour, mesh: TriangleMesh, friction: float,
                    gaps: tuple[float, ...], clearance: float = 0.0,
                    together: bool = True) -> PreshapeChoice:
    """
    Return the preshape with the best balance of all that close by the chord's strategy.

    Parameters
    ----------
    hand : HandModel
    contour : Contour
        Its plane is that of the hand.
    mesh : TriangleMesh
        Surface in which fingers close, each in its own planes: the body, or
        ``prism_of(contour)``.
    friction : float
    gaps : tuple of float
        Stand-offs of the palm from the contour's outermost point to be tried [m].
    clearance : float
        As in ``close_sequentially`` [m].
    together : bool
        As in ``close_hand``.

    Returns
    -------
    PreshapeChoice
        The nearest to closing where none closes.

    Notes
    -----
    Source: seed 003, strategy of the maximal chord: the thumb stands at one of its ends, the
    palm before the point farthest from it. Departures: both sides and both ends, all
    preshapes and several gaps are tried; a hand without a thumb corner is centred on the
    chord.
    """
    frames = [chord_frame(contour.points, side, turned)
              for side in (1, -1) for turned in (False, True)]
    choices = [_choice(hand, number, contour, mesh, friction, frame, gap, clearance, together)
               for frame in frames for gap in gaps
               for number in range(len(hand.preshapes))]
    return min(choices, key=lambda c: (
        not c.closes, c.closed_hand.overlap > 0.0, -c.closed_hand.fingers,
        round(c.unbalance / SAME_BALANCE), c.gap))


def _choice(hand: HandModel, number: int, contour: Contour, mesh: TriangleMesh,
            friction: float, frame: ChordFrame, gap: float, clearance: float,
            together: bool) -> PreshapeChoice:
    T_object_palm = _palm_pose(hand, number, contour, frame, gap)
    closed_hand = close_hand(hand, number, T_object_palm, mesh, clearance, together)
    normals = np.array([contact.normal for contact in closed_hand.contacts]).reshape(-1, 3)
    cosines = normals @ normals.T
    opposition = float(np.arccos(np.clip(cosines.min(initial=1.0), -1.0, 1.0)))
    middle = contour.to_source(0.5 * (frame.first + frame.second))
    radius = 0.5 * float(np.linalg.norm(frame.second - frame.first))
    unbalance = 1.0
    if len(normals) > 1:
        unbalance = least_unbalance(closed_hand.contacts, middle, radius, friction)
    return PreshapeChoice(number, T_object_palm, closed_hand, frame, gap, opposition, unbalance)


def _palm_pose(hand: HandModel, number: int, contour: Contour, frame: ChordFrame,
               gap: float) -> Array:
    """Return the pose: x from thumb to fingers along the chord, z from the palm to it."""
    x, z = frame.x @ contour.axes, frame.y @ contour.axes
    pads, _ = pad_paths(hand, hand.preshapes[number])
    closing = 0.5 * (pads[..., 0].min() + pads[..., 0].max())
    palm = hand.links[hand.palm_index].mesh
    middle = 0.5 * float(frame.to_frame(frame.first)[0] + frame.to_frame(frame.second)[0])
    corner = contour.to_source(frame.origin)
    origin = corner + (middle - closing) * x - (gap + palm.bounds[1, 2]) * z
    return transform(np.stack([x, np.cross(z, x), z], axis=1), origin)


def close_in_corner(contour: Contour, lengths: Array, half_thickness: float, clearance: float,
                    pivot: Array | None = None) -> tuple[ClosedFinger, PlanarChain, ChordFrame]:
    """
    Return the published closing of corner and finger, for any chain of phalanges.

    Parameters
    ----------
    contour : Contour
    lengths : (L,) float
        [m]
    half_thickness, clearance : float
        [m]
    pivot : (2,) float, optional
        Of the first phalanx in the corner's frame [m]; None: on the palm, beside the
        contour.

    Returns
    -------
    ClosedFinger, PlanarChain
        In the corner's frame.
    ChordFrame

    Notes
    -----
    Source: seed 003. The thumb's line is x = 0 and touches the chord's first end, the palm is
    y = 0 and touches the outermost point; the straight finger lies along x.
    """
    frame = chord_frame(contour.points)
    placed = frame.to_frame(contour.points)
    if pivot is None:
        pivot = np.array([placed[:, 0].max() + half_thickness + max(clearance, 0.0), 0.0])
    chain = PlanarChain.straight(pivot, lengths, half_thickness, limit=np.pi)
    return close_sequentially(chain, frame.to_frame(contour.segments), clearance), chain, frame


def finger_shapes(choice: PreshapeChoice, hand: HandModel, contour: Contour
                  ) -> list[tuple[Array, Array]]:
    """Return each finger's bars (K, 2, 2), open and closed, seen in the contour's plane [m]."""
    shapes = []
    for plane in finger_planes(hand, choice.preshape):
        chain = plane.chain
        angles = plane.offsets + plane.signs * choice.closed_hand.joint_positions[plane.joints]
        bars, owners = chain.bars
        both = []
        for values in (chain.start, angles):
            flat = place_bars(chain.points(values), bars, owners)
            p_object = apply(choice.T_object_palm, plane.origin + flat @ plane.axes)
            both.append((p_object - contour.origin) @ contour.axes.T)
        shapes.append((both[0], both[1]))
    return shapes


def palm_line(choice: PreshapeChoice, hand: HandModel, contour: Contour) -> Array:
    """Return the ends (2, 2) of the palm's surface in the contour's plane [m]."""
    low, high = hand.links[hand.palm_index].mesh.bounds
    ends = np.array([[low[0], 0.0, high[2]], [high[0], 0.0, high[2]]])
    return (apply(choice.T_object_palm, ends) - contour.origin) @ contour.axes.T
