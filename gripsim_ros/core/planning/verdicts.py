"""The verdicts on hypotheses: grasps that hold, rejections by reason, and the nearest misses."""

from collections import Counter

from ..hand import HandModel
from .closing.closing import Closing
from .closing.knowledge import HeldGrasp
from .diagnosis.nearest_miss import NearestMisses
from .options import PlannerOptions
from .ranking.assemble import StableGrasps, make_grasp
from .ranking.score import ScoreReference


class Verdicts:
    """
    What is known of the hypotheses judged so far.

    Parameters
    ----------
    hand : HandModel
    reference : ScoreReference
    options : PlannerOptions

    Attributes
    ----------
    grasps : StableGrasps
        Those that hold, by number.
    closings : dict of int to Closing
        Those that came to hold, by number.
    rejections : Counter
        Number of rejected hypotheses by reason.
    misses : NearestMisses
    """

    def __init__(self, hand: HandModel, reference: ScoreReference, options: PlannerOptions
                 ) -> None:
        self.hand, self.reference, self.options = hand, reference, options
        self.grasps, self.misses = StableGrasps(), NearestMisses()
        self.closings: dict[int, Closing] = {}
        self.rejections: Counter[str] = Counter()

    def hold(self, closing: Closing, held: HeldGrasp) -> None:
        """Take a closing that holds, new or with another state."""
        number = closing.hypothesis.number
        self.closings[number] = closing
        self.grasps[number] = make_grasp(
            closing.held_hypothesis, held, self.hand, self.reference, self.options)

    def reject(self, closing: Closing) -> None:
        """Take a closing that has failed."""
        self.grasps.pop(closing.hypothesis.number, None)
        self.rejections[closing.reason] += 1
        self.misses.note(closing)

    def conclude(self, closing: Closing) -> None:
        """Take a closing that has ended: what it holds, or that it failed."""
        if closing.held is None:
            self.reject(closing)
        else:
            self.hold(closing, closing.held)

    def exclude(self, number: int, reason: str) -> None:
        """Reject a grasp that holds for a reason beside holding."""
        del self.grasps[number]
        self.rejections[reason] += 1

    def closed(self, number: int) -> tuple[Closing, HeldGrasp]:
        """Return a closing that came to hold, and how."""
        closing = self.closings[number]
        assert closing.held is not None
        return closing, closing.held
