"""Least squares without negative unknowns beside scipy's: agreement, and time in turns."""

import statistics
import time

import numpy as np
import scipy
from scipy.optimize import nnls

from gripsim_ros.core.numerics.nnls import solve_nnls

CASES, TURNS = 400, 9
#: Weight of the row that makes shares add up to 1.
SUM_WEIGHT = 1e3


def systems():
    """Return systems as the planner asks them: unit vectors of 3 or 6 numbers, a row of sums."""
    rng, found = np.random.default_rng(0), []
    for _ in range(CASES):
        vectors = rng.normal(size=(rng.choice([3, 6]), rng.integers(3, 41)))
        vectors /= np.linalg.norm(vectors, axis=0)
        if rng.random() < 0.5:
            vectors[0] = np.abs(vectors[0])     # they cannot balance
        right = np.zeros(len(vectors) + 1)
        right[-1] = SUM_WEIGHT
        found.append((np.vstack([vectors, np.full(vectors.shape[1], SUM_WEIGHT)]), right))
    return found


def seconds(solve, cases):
    """Return the time of a call on average [s], or None where it refuses a system."""
    begin = time.perf_counter()
    try:
        for matrix, right in cases:
            solve(matrix, right)
    except RuntimeError:
        return None
    return (time.perf_counter() - begin) / len(cases)


def main():
    """Print how the two agree and how long each takes."""
    cases = systems()
    solve_nnls(*cases[0])
    own, theirs = [], []
    for _ in range(TURNS):
        own.append(seconds(solve_nnls, cases))
        theirs.append(seconds(nnls, cases))
    print(f'{CASES} systems of 4 or 7 rows and up to 40 unknowns; medians of {TURNS} turns')
    print(f'gripsim       {1e6 * statistics.median(own):6.1f} us')
    if None in theirs:
        print(f'scipy {scipy.__version__}  ends with an error')
        return
    worst = max(abs(np.linalg.norm(matrix[:-1] @ solve_nnls(matrix, right)[0])
                    - np.linalg.norm(matrix[:-1] @ nnls(matrix, right)[0]))
                for matrix, right in cases)
    print(f'scipy {scipy.__version__}  {1e6 * statistics.median(theirs):6.1f} us')
    print(f'largest difference of the least length: {worst:.1e}')
