"""Time of one query, both ways, Python call included: ours over that of each peer."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.contact import bodies
from benchmarks.contact.peers import COLLISION, EXACT

#: Link, object and depth [m].
CASES = (
    ('cap500', 'apple1k', 5e-3), ('cap500', 'apple5k', 5e-3), ('cap500', 'apple20k', 5e-3),
    ('cap5k', 'apple1k', 5e-3), ('cap5k', 'apple5k', 5e-3), ('cap5k', 'apple20k', 5e-3),
    ('cap5k', 'apple80k', 5e-3), ('cap50k', 'apple5k', 5e-3), ('cap50k', 'apple20k', 5e-3),
    ('cap50k', 'apple80k', 5e-3), ('rbox500', 'blob', 2e-3), ('rbox5k', 'torus', 5e-3),
    ('rbox50k', 'sphere20k', -1e-3), ('rbox50k', 'sphere20k', 5e-3),
    ('rbox50k', 'sphere20k', 2e-2), ('cap5k', 'mug', 2e-3), ('cap5k', 'mug_fine', 2e-3),
    ('sdh_tip', 'apple5k', 5e-3), ('sdh_tip', 'apple20k', 5e-3), ('sdh_tip', 'mug', 2e-3),
    ('sdh_tip', 'blob', -1e-3), ('sdh_finger', 'apple20k', 5e-3),
    ('sdh_finger', 'mug_fine', 2e-3), ('sdh_knuckle', 'apple20k', 5e-3),
    ('sdh_palm', 'apple5k', 5e-3), ('sdh_palm', 'apple20k', 5e-3), ('sdh_palm', 'torus', 2e-3))
#: Shortest time of one sample [s]: fast methods are called many times in it, caches warm.
SHORTEST_SAMPLE = 4e-3


def _once(method: Callable[[Any], Any], argument: Any, repeats: int) -> float:
    begin = time.process_time()
    for _ in range(repeats):
        method(argument)
    return (time.process_time() - begin) / repeats


def interleaved(methods: dict[str, Callable[[Any], Any]], argument: Any, budget: float,
                least: int = 9) -> dict[str, float]:
    """
    Return the median process time [s] of each method, called in turns.

    ``budget`` is the time for all [s]; each is called at least ``least`` times, unless one
    call takes longer than its share.
    """
    repeats, share = {}, budget / len(methods)
    for name, method in methods.items():
        method(argument)
        single = max(_once(method, argument, 1), 1e-7)
        repeats[name] = max(1, int(np.ceil(SHORTEST_SAMPLE / single)))
        methods[name] = method
    samples: dict[str, list[float]] = {name: [] for name in methods}
    begin = time.process_time()
    while len(samples[next(iter(samples))]) < least or time.process_time() - begin < budget:
        for name, method in methods.items():
            slow = samples[name] and sum(samples[name]) > 2.0 * share
            if not (slow and len(samples[name]) >= 3):
                samples[name].append(_once(method, argument, repeats[name]))
    return {name: float(np.median(values)) for name, values in samples.items()}


def measure(names: list[str], budget: float,
            cases: tuple[tuple[str, str, float], ...] = CASES) -> list[dict[str, Any]]:
    """Return per case its name, contacts both ways and seconds per method."""
    makers = {**EXACT, **COLLISION}
    rows = []
    for link, body, depth in cases:
        own, other = bodies.mesh(link), bodies.mesh(body)
        pose = bodies.poses(link, body, (depth,))[0]
        methods = {name: makers[name](own, other) for name in names}
        found = methods['gripsim'](pose)
        rows.append({'case': f'{link} | {body}', 'depth': depth,
                     'contacts': tuple(len(side[0]) for side in found),
                     'seconds': interleaved(methods, pose, budget)})
    return rows


def print_speed(rows: list[dict[str, Any]]) -> None:
    """Print milliseconds of ours and the ratios of the others to it."""
    names = [name for name in rows[0]['seconds'] if name != 'gripsim']
    print(f"{'case':22} {'depth':>8} {'contacts':>12} {'gripsim':>9} "
          + ' '.join(f'{name[:17]:>17}' for name in names))
    for row in rows:
        own = row['seconds']['gripsim']
        print(f"{row['case']:22} {1e3 * row['depth']:5.1f} mm {row['contacts']!s:>12} "
              f'{1e3 * own:6.3f} ms '
              + ' '.join(f"{row['seconds'][name] / own:15.2f} x" for name in names), flush=True)
    ratios = {name: np.array([row['seconds'][name] / row['seconds']['gripsim'] for row in rows])
              for name in names}
    for label, value in (('geometric mean', lambda r: np.exp(np.log(r).mean())),
                         ('least', np.min), ('greatest', np.max)):
        print(f'{label:22} {"":31}' + ' '.join(f'{value(ratios[name]):15.2f} x'
                                               for name in names), flush=True)
