"""Several plans beside each other, to be compared: one slider closes all hands."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from visualization_msgs.msg import Marker, MarkerArray

from ...ros.conversions.plan_told import ToldGrasp
from .marker_shapes import shapes_of
from .picture import DRAWN_FLAT, MOMENT
from .sources import PlanSource, Show

Array = NDArray[np.float64]

#: Namespace of the texts above the plans, and how large their letters are [m].
NAMES, LETTERS = 'names', 0.012
#: From where a picture of the row is seen, how wide it is for each plan, and high [pixels], and
#: how near, for each plan: 1 shows a ball about the whole row.
FRONT, PICTURE = np.array([0.0, -0.94, 0.342]), (480, 560)
ZOOM = 0.75
#: Room between two plans, over the width of the widest, and of a text above its plan [m].
GAP, ABOVE = 0.15, 0.02
#: How far left of the middle of its plan a text begins, over the step from plan to plan.
ASIDE = 0.4


class PlansBeside:
    """
    Plans in a row along x, each at a grasp of its own.

    Grasps are listed plan by plan: who selects one selects it for its plan, and all plans show
    the same moment. Colours of pressure are each plan's own, as the text above it says.

    Parameters
    ----------
    plans : sequence of PlanSource
        At least two.
    names : sequence of str
        Of the plans.
    rank : int
        Grasp that each shows first; its last where it has fewer.
    """

    moments, felt = True, ()

    def __init__(self, plans: Sequence[PlanSource], names: Sequence[str], rank: int = 1) -> None:
        """Find the places."""
        self._plans, self._names = list(plans), list(names)
        self._ranks = [min(rank, len(plan.grasps)) for plan in plans]
        self.motions = any(plan.motions for plan in plans)
        self.grasps = [f'{name} {line}' for plan, name in zip(plans, names)
                       for line in plan.grasps]
        boxes = np.array([_bounds(plan.markers(chosen, 1.0))
                          for plan, chosen in zip(plans, self._ranks)])
        self._step = (1.0 + GAP) * float(np.ptp(boxes[:, :, 0], axis=1).max())
        self._shifts = [(k * self._step - middle[0], -middle[1])
                        for k, middle in enumerate(boxes.mean(axis=1))]
        self._tops = boxes[:, 1, 2] + ABOVE
        #: Lower and upper corner of a box about all plans [m].
        self.bounds = np.stack([boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0)])
        half = 0.5 * float(np.ptp(self.bounds[:, 1]))
        self.bounds[:, 0] = -0.5 * self._step, (len(self._plans) - 0.5) * self._step
        self.bounds[:, 1] = -half, half

    @property
    def first(self) -> int:
        """Return the number, among all grasps, of the one that the first plan shows."""
        return self._ranks[0]

    @property
    def size(self) -> tuple[int, int]:
        """Return width and height of a picture [pixels]."""
        return PICTURE[0] * len(self._plans), PICTURE[1]

    @property
    def zoom(self) -> float:
        """Return how near a picture is seen from."""
        return ZOOM * len(self._plans)

    def open(self, show: Show) -> None:
        """Show all plans."""
        for number, plan in enumerate(self._plans):
            plan.open(lambda topic, array, number=number: show(
                f'{number + 1}/{topic}', self._placed(number, array)))

    def close(self) -> None:
        """End all."""
        for plan in self._plans:
            plan.close()

    def select(self, rank: int, fraction: float) -> None:
        """Let a plan show another of its grasps, and all the same moment of the closing."""
        self._choose(rank)
        for plan, chosen in zip(self._plans, self._ranks):
            plan.select(chosen, fraction)

    def move(self, rank: int, fraction: float) -> None:
        """Likewise a moment of the whole motion, of those grasps that have one."""
        self._choose(rank)
        for plan, chosen in zip(self._plans, self._ranks):
            plan.move(chosen, fraction)

    def about(self, rank: int) -> tuple[Mapping[str, str], ToldGrasp]:
        """Return what was asked of the plan that a grasp is of, and the grasp's numbers."""
        number, chosen = self._plan_of(rank)
        request, grasp = self._plans[number].about(chosen)
        return {'plan': self._names[number], **request}, grasp

    def arrays(self, rank: int, fraction: float) -> list[MarkerArray]:
        """Return what a picture of a moment shows, of each plan the grasp that it shows."""
        return [self._placed(number, plan.markers(self._ranks[number], fraction))
                for number, plan in enumerate(self._plans)]

    def _choose(self, rank: int) -> None:
        number, chosen = self._plan_of(rank)
        self._ranks[number] = chosen

    def _plan_of(self, rank: int) -> tuple[int, int]:
        """Return the plan of a grasp among all, and its rank there."""
        for number, plan in enumerate(self._plans):
            if rank <= len(plan.grasps):
                return number, rank
            rank -= len(plan.grasps)
        raise IndexError(f'there is no grasp {rank} beyond the last')

    def _placed(self, number: int, array: MarkerArray) -> MarkerArray:
        """Return markers of a plan at its place, with its name instead of title and legend."""
        placed = MarkerArray()
        x, y = self._shifts[number]
        for marker in array.markers:
            if marker.ns in DRAWN_FLAT:
                continue
            marker.pose.position.x += x
            marker.pose.position.y += y
            if marker.ns == MOMENT:
                marker.ns = NAMES
                self._name(number, marker)
            placed.markers.append(marker)
        return placed

    def _name(self, number: int, marker: Marker) -> None:
        """Let a text say which plan and grasp it stands above."""
        line = self._plans[number].grasps[self._ranks[number] - 1]
        marker.text = f'{self._names[number]} {line}'
        marker.scale.z = LETTERS
        place = marker.pose.position
        place.x, place.y, place.z = (number - ASIDE) * self._step, 0.0, float(self._tops[number])


def _bounds(array: MarkerArray) -> Array:
    """Return the lower and upper corner of what is no text (2, 3) [m]."""
    points = np.concatenate([shape.vertices for shape in shapes_of(array)[0]])
    return np.stack([points.min(axis=0), points.max(axis=0)])
