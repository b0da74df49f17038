"""What the planner says while it works: questions, how far it is, and which score counts."""

from dataclasses import dataclass

from ..batches import ConfigurationBatch
from .ranked_grasp import RankedGrasp


@dataclass(frozen=True, eq=False)
class Ask:
    """A numbered question; numbers count up from 0 without a gap."""

    batch_id: int
    configurations: ConfigurationBatch


@dataclass(frozen=True, eq=False)
class Progress:
    """How far planning is: hypotheses judged, in all, stable ones, and the best so far."""

    evaluated: int
    total: int
    stable: int
    best: RankedGrasp | None
