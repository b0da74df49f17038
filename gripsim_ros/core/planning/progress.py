"""What the planner reports while it works: numbered questions and its progress."""

from dataclasses import dataclass

from ..batches import ConfigurationBatch
from .ranked_grasp import RankedGrasp


@dataclass(frozen=True, eq=False)
class Ask:
    """A numbered question; numbers count up from 0 without a gap."""

    batch_id: int
    configurations: ConfigurationBatch


#: What goes on after the search.
PREPARING = "preparing the object's own compliance"
CLOSING_AGAIN = 'closing the best again'
SEATED = 'closing again where the object comes to rest'


@dataclass(frozen=True, eq=False)
class Progress:
    """
    Progress of planning: hypotheses judged, in all, stable ones, and the best so far.

    ``step`` says what goes on where it is not the search.
    """

    evaluated: int
    total: int
    stable: int
    best: RankedGrasp | None
    step: str = ''
