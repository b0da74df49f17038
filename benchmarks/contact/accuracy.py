"""Missed and false vertices of every method, judged by brute force and winding numbers."""

from typing import NamedTuple

import numpy as np

from benchmarks.contact import bodies
from benchmarks.contact.peers import EXACT
from benchmarks.contact.referee import Truth, truths

#: Depths may differ from the referee's by this over |n . v| [m].
DEPTH_TOLERANCE = 1e-12


class Score(NamedTuple):
    """Counts of one method over scenarios; the error is over its scale (1: the tolerance)."""

    missed: int
    false: int
    reported: int
    error: float
    scaled_error: float
    wrong_scenarios: int

    def plus(self, other: 'Score') -> 'Score':
        """Return both together."""
        return Score(self.missed + other.missed, self.false + other.false,
                     self.reported + other.reported, max(self.error, other.error),
                     max(self.scaled_error, other.scaled_error),
                     self.wrong_scenarios + other.wrong_scenarios)


ZERO = Score(0, 0, 0, 0.0, 0.0, 0)


def judge(vertices: np.ndarray, depths: np.ndarray, truth: Truth) -> Score:
    """Hold one side of an answer against the truth."""
    found = np.zeros(len(truth.inside), bool)
    found[vertices] = True
    clear = ~truth.ambiguous
    missed = int((truth.inside & ~found & clear).sum())
    false = int((found & ~truth.inside & clear).sum())
    right = clear[vertices] & truth.inside[vertices]
    errors = np.abs(depths - truth.depths[vertices])[right]
    scaled = errors * truth.slopes[vertices][right] / DEPTH_TOLERANCE
    return Score(missed, false, len(vertices), float(errors.max(initial=0.0)),
                 float(scaled.max(initial=0.0)), 0)


def accuracy(names: list[str], links: tuple[str, ...] = bodies.LINKS,
             objects: tuple[str, ...] = bodies.OBJECTS) -> dict[str, object]:
    """
    Run the scenarios; return per method its scores over all and over the SDH's links.

    Further keys: ``true``, ``ambiguous`` vertices, ``scenarios``, ``touching`` ones.
    """
    totals = {name: [ZERO, ZERO] for name in names}
    counts = {'true': 0, 'ambiguous': 0, 'scenarios': 0, 'touching': 0, 'true sdh': 0,
              'false near misses': 0}
    for link in links:
        for body in objects:
            own, other = bodies.mesh(link), bodies.mesh(body)
            methods = {name: EXACT[name](own, other) for name in names}
            for depth, pose in zip(bodies.DEPTHS, bodies.poses(link, body)):
                sides = truths(own, other, pose)
                inside = sum(int((side.inside & ~side.ambiguous).sum()) for side in sides)
                counts['scenarios'] += 1
                counts['touching'] += inside > 0
                counts['true'] += inside
                counts['true sdh'] += inside * link.startswith('sdh')
                counts['ambiguous'] += sum(int(side.ambiguous.sum()) for side in sides)
                for name, method in methods.items():
                    score = ZERO
                    for answer, side in zip(method(pose), sides):
                        score = score.plus(judge(*answer[:2], side))
                    wrong = score.missed + score.false > 0 or score.scaled_error > 1e6
                    score = score._replace(wrong_scenarios=int(wrong))
                    totals[name][0] = totals[name][0].plus(score)
                    if link.startswith('sdh'):
                        totals[name][1] = totals[name][1].plus(score)
    return {**counts, 'methods': totals}


def print_accuracy(result: dict[str, object]) -> None:
    """Print the table."""
    print(f"{result['scenarios']} scenarios, {result['touching']} with contact, "
          f"{result['true']} true vertices ({result['true sdh']} with SDH links), "
          f"{result['ambiguous']} ambiguous and left out")
    print(f"{'method':20} {'missed':>16} {'with SDH links':>16} {'false':>7} "
          f"{'depth error':>12} {'x |n.v|/1e-12':>13} {'wrong scenarios':>15}")
    for name, (score, sdh) in result['methods'].items():
        missed = f"{score.missed} ({100.0 * score.missed / max(result['true'], 1):.2f} %)"
        among = f"{sdh.missed} ({100.0 * sdh.missed / max(result['true sdh'], 1):.2f} %)"
        print(f'{name:20} {missed:>16} {among:>16} {score.false:7d} {score.error:10.1e} m '
              f'{score.scaled_error:13.1e} {score.wrong_scenarios:15d}', flush=True)
