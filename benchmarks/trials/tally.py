"""What came of a trial: counts, what was wrong and lost, and the table of it."""

from collections import Counter
from dataclasses import asdict, dataclass, field

#: How a thing that was tried may end.
ANSWERED, REFUSED, WRONG, LOST = 'answered', 'refused', 'wrong', 'lost'


@dataclass
class Tally:
    """
    Counts of a trial.

    ``answered``: rightly; ``refused``: in one clear line; ``wrong``: anything else that came;
    ``lost``: nothing came in time. ``skipped`` says why nothing was tried, ``note`` what else is
    worth telling.
    """

    name: str
    ends: Counter = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    skipped: str = ''
    note: str = ''
    seconds: float = 0.0

    @property
    def tried(self) -> int:
        """Return how many things were tried."""
        return sum(self.ends.values())

    def add(self, end: str, what: str, said: str = '') -> None:
        """Count one thing that ended so; what was said is kept where it is a fault."""
        self.ends[end] += 1
        if end in (WRONG, LOST):
            self.faults.append(f'{what}: {end}: {said[:600]}')

    def check(self, right: bool, what: str, said: str = '') -> None:
        """Count something that must be right."""
        self.add(ANSWERED if right else WRONG, what, said)

    @property
    def failed(self) -> bool:
        """Tell whether anything was wrong or lost, or nothing tried without a reason."""
        return bool(self.faults) or not (self.tried or self.skipped)

    def record(self) -> dict:
        """Return everything, as JSON takes it."""
        return {**asdict(self), 'ends': dict(self.ends), 'tried': self.tried}


def table(tallies: list[Tally]) -> str:
    """Return the figures as a table of Markdown."""
    rows = ['| trial | tried | answered | refused | wrong | lost | seconds | |',
            '|---|---|---|---|---|---|---|---|']
    for tally in tallies:
        counts = ' | '.join(str(tally.ends[end]) for end in (ANSWERED, REFUSED, WRONG, LOST))
        rows.append(f'| {tally.name} | {tally.tried} | {counts} | {tally.seconds:.0f} | '
                    f'{tally.skipped or tally.note} |')
    return '\n'.join(rows)
