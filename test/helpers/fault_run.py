"""What happened in a run of the suite under faults, and what of it is wrong."""

import json
import math
import time
from collections import Counter
from dataclasses import dataclass, field

#: How long a killed or paused planner may still seem to be there: the lease of its discovery [s].
LEASE = 25.0
#: Faults after which a process has new memory.
ENDINGS = ('kill', 'interrupt', 'fell')
#: What callers are told to let nodes rest, and what they say then.
REST, RESTING = 'rest', 'resting'
#: Rests from which growth is told: the least of the first and of the last of them are compared.
FIRST_RESTS, LEAST_RESTS = 2, 4
#: Growth that counts as a leak [MB], and of segments: a late process has some of its own.
MEMORY_GROWTH, SHARED_GROWTH, SEGMENTS_GROWTH = 60.0, 40.0, 12
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
    rests: list = field(default_factory=list)
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
                'samples': self.samples, 'rests': self.rests, 'wrong': self.wrong,
                'summary': self.summary()}

    def rested(self, since: float) -> None:
        """Keep the least that nodes held since a moment of a rest [s from the begin]."""
        found = [sample for sample in self.samples if sample['time'] >= since]
        self.rests.append({
            'time': since, 'shared': min(s['shared'] for s in found),
            'segments': min(s['segments'] for s in found),
            'memory': {name: min((s['memory'][name] for s in found if s['memory'][name]),
                                 default=math.inf) for name in found[0]['memory']}})

    def judge_growth(self) -> None:
        """
        Find fault with memory that grew from the first rests after the last kill to the last ones.

        What a node holds under load hangs on what is under way, so nothing is told from that.
        """
        last = max((moment for moment, kind, *_ in self.faults if kind in ENDINGS),
                   default=self.begin) - self.begin
        rests = [rest for rest in self.rests if rest['time'] > last]
        self.growth_judged = len(rests) >= LEAST_RESTS
        if not self.growth_judged:
            return

        def grown(what: str, value, allowed: float, unit: str) -> None:
            growth = (min(map(value, rests[-FIRST_RESTS:]))
                      - min(map(value, rests[:FIRST_RESTS])))
            if growth > allowed:
                self.wrong.append(f'{what} grew by {growth:.0f} {unit}')
        for name in rests[-1]['memory']:
            grown(f'the memory of {name}', lambda rest: rest['memory'][name], MEMORY_GROWTH, 'MB')
        grown('the shared memory', lambda rest: rest['shared'], SHARED_GROWTH, 'MB')
        grown('the number of shared segments', lambda rest: rest['segments'], SEGMENTS_GROWTH, '')

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
