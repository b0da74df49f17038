"""What happened in a run of the suite under faults, and what of it is wrong."""

import json
import time
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

#: How long a killed or paused planner may still seem to be there: the lease of its discovery [s].
LEASE = 25.0
#: Faults after which a process has new memory.
ENDINGS = ('kill', 'interrupt', 'fell')
#: Results that nobody fetched are kept for ten minutes; then memory must have settled [s].
SETTLE = 600.0
#: Growth that counts as a leak [MB], and of segments: a late process has some of its own.
MEMORY_GROWTH, SHARED_GROWTH, SEGMENTS_GROWTH = 60.0, 40.0, 12
#: Growth is looked for below the median, and below the lowest tenth [%].
SHARES = (50.0, 10.0)
#: Of so many calls a planner that lives may seem lost, silent for 8 s on a busy machine.
LOSSES_SHARE = 0.01


@dataclass
class Run:
    """What happened: faults, calls, samples of resources, and what was wrong."""

    seed: int
    begin: float = field(default_factory=time.monotonic)
    faults: list = field(default_factory=list)
    calls: list = field(default_factory=list)
    samples: list = field(default_factory=list)
    wrong: list = field(default_factory=list)
    growth_judged: bool = False

    def note(self, kind: str, name: str, length: float = 0.0) -> None:
        """Take note of a fault that was made now."""
        self.faults.append((time.monotonic(), kind, name, length))

    def judge(self, line: str) -> None:
        """Take a call that a client tells about."""
        call = json.loads(line)
        self.calls.append(call)
        if call['wrong']:
            self.wrong.append(f'{call["begin"] - self.begin:.1f} s, {call["what"]}: '
                              f'{call["wrong"]}')

    def losses(self) -> int:
        """Return how many calls lost a planner which lived and was let alone, only too slow."""
        return sum(call['status'] == 'LOST' and not any(
            name == 'grasp_planner' and kind != 'object'
            and call['begin'] - LEASE - length < moment < call['begin'] + call['took']
            for moment, kind, name, length in self.faults) for call in self.calls)

    def record(self) -> dict:
        """Return everything, as JSON takes it."""
        return {'begin': self.begin, 'faults': self.faults, 'calls': self.calls,
                'samples': self.samples, 'wrong': self.wrong, 'summary': self.summary()}

    def judge_growth(self) -> None:
        """
        Find fault with memory that grew in the second half of the calm part of a long run.

        Compared are the medians of ten minutes, and the lowest tenth: what a node holds
        between large meshes.
        """
        last = max((moment for moment, kind, *_ in self.faults if kind in ENDINGS),
                   default=self.begin) - self.begin
        end = self.samples[-1]['time']
        early = [s for s in self.samples if last + SETTLE < s['time'] < last + 2 * SETTLE]
        late = [s for s in self.samples if s['time'] > end - SETTLE]
        self.growth_judged = bool(early) and end - SETTLE >= last + 2 * SETTLE
        if not self.growth_judged:
            return

        def grown(what: str, value, allowed: float, unit: str) -> None:
            growth = max(share_below(map(value, late), share)
                         - share_below(map(value, early), share) for share in SHARES)
            if growth > allowed:
                self.wrong.append(f'{what} grew by {growth:.0f} {unit}')
        for name in self.samples[-1]['memory']:
            grown(f'the memory of {name}', lambda s: s['memory'].get(name), MEMORY_GROWTH, 'MB')
        grown('the shared memory', lambda s: s['shared'], SHARED_GROWTH, 'MB')
        grown('the number of shared segments', lambda s: s['segments'], SEGMENTS_GROWTH, '')

    def judge_losses(self) -> None:
        """Find fault with callers that often lost a planner which lived, on a busy machine."""
        if self.losses() > max(1.0, LOSSES_SHARE * len(self.calls)):
            self.wrong.append(f'{self.losses()} of {len(self.calls)} calls lost a planner that '
                              'lived')

    def summary(self) -> dict:
        """Return counts."""
        calls = Counter()
        for call in self.calls:
            calls[call['what'].split()[0], call['status']] += 1
        faults = Counter((kind, name) for _, kind, name, _ in self.faults)
        return {'seed': self.seed, 'minutes': round((time.monotonic() - self.begin) / 60.0, 1),
                'faults': {' '.join(key): n for key, n in sorted(faults.items())},
                'kills': sum(n for (kind, _), n in faults.items() if kind == 'kill'),
                'calls': {' '.join(key): n for key, n in sorted(calls.items())},
                'lost though it lived': self.losses(),
                'growth judged': self.growth_judged,
                'longest call [s]': max((call['took'] for call in self.calls), default=0.0),
                'wrong': len(self.wrong)}


def share_below(values, share: float) -> float:
    """Return below what a share [%] of the known values lie."""
    return float(np.percentile([value for value in values if value is not None], share))
