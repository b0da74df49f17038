"""Conic solvers beside each other: ours, QOCO and Clarabel, set up once and then updated."""

from typing import NamedTuple
import time

import clarabel
import numpy as np
import qoco
from scipy import sparse

from gripsim_ros.core.numerics.socp.cone import CONE_SIZE
from gripsim_ros.core.numerics.socp.lanes import INFEASIBLE, SOLVED, UNDECIDED
from gripsim_ros.core.numerics.socp.solver import (
    ConeProgramme, REDUCED_TOLERANCE, solve_cone_programme, TOLERANCE)


class Family(NamedTuple):
    """A programme and the right-hand sides it is solved for."""

    programme: ConeProgramme
    equality_rhs: np.ndarray
    inequality_rhs: np.ndarray


class Result(NamedTuple):
    """
    Solutions (c, n), verdicts (c,), seconds of setting up, and seconds (c,) of each case.

    ``setup`` is None where it is part of the cases' seconds.
    """

    solutions: np.ndarray
    verdicts: np.ndarray
    setup: float | None
    seconds: np.ndarray


def ours(family):
    """Solve all cases in one call, which sets up too; its time is spread over the cases."""
    count = len(family.equality_rhs)
    begin = time.process_time()
    solutions, verdicts = solve_cone_programme(*family)
    seconds = time.process_time() - begin
    return Result(solutions, verdicts, None, np.full(count, seconds / count))


def ours_alone(family):
    """Solve each case by a call of its own, in one of eight lanes."""
    def solve(case):
        solutions, verdicts = solve_cone_programme(
            family.programme, family.equality_rhs[case:case + 1],
            family.inequality_rhs[case:case + 1])
        return solutions[0], verdicts[0]
    return _each(family, None, solve)


def by_clarabel(family):
    """Solve by Clarabel, set up for the first case and updated for the others."""
    begin = time.process_time()
    programme = family.programme
    n, cones = len(programme.objective), programme.cones
    matrix = np.vstack([programme.equality, programme.inequality,
                        -np.eye(CONE_SIZE * cones, n)])
    settings = clarabel.DefaultSettings()
    settings.verbose = settings.presolve_enable = False     # no updates after presolving
    settings.tol_feas = settings.tol_gap_abs = settings.tol_gap_rel = TOLERANCE
    settings.reduced_tol_feas = settings.reduced_tol_gap_abs = REDUCED_TOLERANCE
    settings.reduced_tol_gap_rel = REDUCED_TOLERANCE
    kinds = [clarabel.ZeroConeT(len(programme.equality)),
             clarabel.NonnegativeConeT(len(programme.inequality))]
    kinds += [clarabel.SecondOrderConeT(CONE_SIZE)] * cones
    zeros = np.zeros(CONE_SIZE * cones)
    right = [np.concatenate([b, h, zeros])
             for b, h in zip(family.equality_rhs, family.inequality_rhs)]
    solver = clarabel.DefaultSolver(sparse.csc_matrix((n, n)), programme.objective,
                                    sparse.csc_matrix(matrix), right[0], kinds, settings)
    status = clarabel.SolverStatus
    verdict_of = {str(status.Solved): SOLVED, str(status.AlmostSolved): SOLVED,
                  str(status.PrimalInfeasible): INFEASIBLE,
                  str(status.AlmostPrimalInfeasible): INFEASIBLE}

    def solve(case):
        solver.update(b=right[case])
        answer = solver.solve()
        return np.array(answer.x), verdict_of.get(str(answer.status), UNDECIDED)
    return _each(family, time.process_time() - begin, solve)


def by_qoco(family):
    """Solve by QOCO, set up for the first case and updated; it knows no infeasibility."""
    begin = time.process_time()
    programme = family.programme
    n, cones = len(programme.objective), programme.cones
    matrix = sparse.csc_matrix(np.vstack([programme.inequality, -np.eye(CONE_SIZE * cones, n)]))
    zeros = np.zeros(CONE_SIZE * cones)
    right = [np.concatenate([h, zeros]) for h in family.inequality_rhs]
    solver = qoco.QOCO()
    solver.setup(n, matrix.shape[0], len(programme.equality), None, programme.objective,
                 sparse.csc_matrix(programme.equality), family.equality_rhs[0], matrix, right[0],
                 len(programme.inequality), cones, np.full(cones, CONE_SIZE),
                 abstol=TOLERANCE, reltol=TOLERANCE, abstol_inacc=REDUCED_TOLERANCE,
                 reltol_inacc=REDUCED_TOLERANCE)

    def solve(case):
        solver.update_vector_data(b=family.equality_rhs[case], h=right[case])
        answer = solver.solve()
        solved = answer.status in ('QOCO_SOLVED', 'QOCO_SOLVED_INACCURATE')
        return np.array(answer.x), SOLVED if solved else UNDECIDED
    return _each(family, time.process_time() - begin, solve)


def _each(family, setup, solve):
    count = len(family.equality_rhs)
    solutions, verdicts = np.zeros((count, len(family.programme.objective))), np.zeros(count, int)
    seconds = np.empty(count)
    for case in range(count):
        begin = time.process_time()
        solutions[case], verdicts[case] = solve(case)
        seconds[case] = time.process_time() - begin
    return Result(solutions, verdicts, setup, seconds)


def violations(family, solutions):
    """Return by how much solutions miss the constraints, over 1 and their largest entry (c,)."""
    programme = family.programme
    blocks = solutions[:, :CONE_SIZE * programme.cones].reshape(len(solutions), -1, CONE_SIZE)
    outside = np.linalg.norm(blocks[:, :, 1:], axis=2) - blocks[:, :, 0]
    missing = np.abs(solutions @ programme.equality.T - family.equality_rhs)
    beyond = solutions @ programme.inequality.T - family.inequality_rhs
    worst = np.maximum.reduce([part.max(axis=1, initial=0.0)
                               for part in (outside, missing, beyond)])
    return worst / (1.0 + np.abs(solutions).max(axis=1))
