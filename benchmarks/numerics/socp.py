"""
The conic solver beside QOCO and Clarabel: agreement, failures and time, on the same programmes.

Recorded programmes are those of minimal forces that plans for generated objects ask for, several
load cases to a programme. Random ones have 1 to 8 cones and a right-hand side each; every tenth
has no solution. All solvers have the same tolerances; the peers are set up once a programme and
updated for its cases. Wrong is what breaks constraints, costs something else than gripsim's
solution, or contradicts its verdict. The solvers take turns programme by programme, so that all
meet the same load of the machine. Time is that of the process, one thread.
"""

import argparse

import numpy as np

from benchmarks.numerics import socp_peers as peers
from gripsim_ros.core.bodies import GraspObject, shapes
from gripsim_ros.core.grasp_theory import grasp_force_socp
from gripsim_ros.core.numerics.socp.cone import CONE_SIZE
from gripsim_ros.core.numerics.socp.lanes import INFEASIBLE, SOLVED
from gripsim_ros.core.numerics.socp.solver import ConeProgramme
from gripsim_ros.library.in_process import find_material, plan_grasps

SOLVERS = {'gripsim': peers.ours, 'gripsim, case by case': peers.ours_alone,
           'QOCO': peers.by_qoco, 'Clarabel': peers.by_clarabel}
#: Cases that are solved before time is taken.
WARM_UP = 3
#: Largest violation of a constraint, over 1 and the largest entry, and largest difference from
#: the cost that gripsim finds, of an answer that is not wrong [-].
TOLERATED = 1e-6
HYPOTHESES = 60


def record(count):
    """Return the families of so many cases, from plans for generated objects."""
    families, solve = [], grasp_force_socp.solve_cone_programme

    def spy(*family):
        families.append(peers.Family(*family))
        return solve(*family)

    grasp_force_socp.solve_cone_programme = spy
    bodies = [(shapes.apple(), 'firm_fruit'), (shapes.sphere(0.03, 0.006), 'foam'),
              (shapes.solids.box((0.06, 0.06, 0.06)), 'default')]
    try:
        each = []
        for mesh, material in bodies:
            families.clear()
            plan_grasps(GraspObject(mesh, find_material(material)), hypotheses=HYPOTHESES)
            each.append(list(families))
    finally:
        grasp_force_socp.solve_cone_programme = solve
    return _first_cases(each, count)


def _first_cases(lists, count):
    """Return families taken from each list in turns, until there are so many cases."""
    taken, total = [], 0
    for position in range(max(map(len, lists))):
        for families in lists:
            if position < len(families) and total < count:
                taken.append(families[position])
                total += len(taken[-1].equality_rhs)
    return taken


def draw(rng):
    """Return a random bounded programme with one right-hand side; one in ten has no solution."""
    cones, equalities = int(rng.integers(1, 9)), int(rng.integers(1, 7))
    bounds, size = int(rng.integers(0, 9)), CONE_SIZE * cones + 1
    used = np.arange(size) < size - 1
    heads = np.zeros((cones, size))
    heads[np.arange(cones), CONE_SIZE * np.arange(cones)] = 1.0
    below = heads.copy()
    below[:, -1] = -1.0
    inequality = np.vstack([below, rng.normal(size=(bounds, size)) * used])
    equality = rng.normal(size=(min(equalities, 3 * cones), size)) * used
    inside = rng.normal(size=(cones, CONE_SIZE))
    inside[:, 0] = np.linalg.norm(inside[:, 1:], axis=1) * (1.0 + rng.uniform(0.0, 1.0, cones))
    x = np.append(inside.ravel(), inside[:, 0].max())
    if rng.random() < 0.1:      # heads, none below zero, cannot add up to less
        equality[0] = rng.uniform(0.5, 1.0, cones) @ heads
        right = equality @ x
        right[0] = -right[0]
    else:
        right = equality @ x
    scale = np.linalg.norm(right)
    slack = rng.uniform(0.0, 0.5, bounds)
    limits = np.append(np.zeros(cones), inequality[cones:] @ x + slack) / scale
    objective = np.append(1e-3 * heads.sum(axis=0)[:-1], 1.0)
    programme = ConeProgramme(objective, equality, inequality, cones, cones)
    return peers.Family(programme, right[None] / scale, limits[None])


def compare(title, families):
    """Solve families by all solvers in turns; print one row a solver."""
    for family in families[:WARM_UP]:
        for solve in SOLVERS.values():
            solve(family)
    results = {name: [] for name in SOLVERS}
    for position, family in enumerate(families):
        names = list(SOLVERS)
        for name in names[position % len(names):] + names[:position % len(names)]:
            results[name].append(SOLVERS[name](family))
    cases = sum(len(family.equality_rhs) for family in families)
    # What lies behind the first infeasible case of a family is not asked of gripsim.
    asked = [_asked(alone.verdicts) for alone in results['gripsim']]
    print(f'\n{title}: {len(families)} programmes, {cases} cases, {sum(map(len, asked))} asked, '
          f'of which {_count(results["gripsim"], asked, INFEASIBLE)} infeasible\n')
    print(f'| {"solver":22} | solved | infeasible | no answer | wrong | cost differs by | '
          'violation | µs a case, with setting up | update and solve |')
    print('|---|---|---|---|---|---|---|---|---|')
    for name, found in results.items():
        print(_row(name, families, found, results['gripsim'], asked))


def _asked(verdicts):
    infeasible = np.flatnonzero(verdicts == INFEASIBLE)
    return np.arange(infeasible[0] + 1 if len(infeasible) else len(verdicts))


def _count(results, asked, verdict):
    return sum(int((result.verdicts[some] == verdict).sum())
               for result, some in zip(results, asked))


def _row(name, families, results, ours, asked):
    wrong, costs, worst = 0, [0.0], [0.0]
    for family, result, own, some in zip(families, results, ours, asked):
        verdicts, theirs = result.verdicts[some], own.verdicts[some]
        solved = verdicts == SOLVED
        values = [r.solutions[some] @ family.programme.objective for r in (result, own)]
        cost = np.abs(values[0] - values[1]) / (1.0 + np.abs(values[1]))
        violation = peers.violations(family, result.solutions)[some]
        bad = solved & ((violation > TOLERATED) | (theirs == INFEASIBLE)
                        | (theirs == SOLVED) & (cost > TOLERATED))
        wrong += int((bad | (verdicts == INFEASIBLE) & (theirs == SOLVED)).sum())
        costs.extend(cost[solved & ~bad & (theirs == SOLVED)])
        worst.extend(violation[solved & ~bad])
    solved, infeasible = (_count(results, asked, verdict) for verdict in (SOLVED, INFEASIBLE))
    failed = sum(map(len, asked)) - solved - infeasible
    whole = np.median(np.concatenate(
        [np.full(len(r.seconds), ((r.setup or 0.0) + r.seconds.sum()) / len(r.seconds))
         for r in results]))
    single = np.median(np.concatenate([r.seconds for r in results]))
    updated = f'{1e6 * single:.0f}' if results[0].setup is not None else 'not told apart'
    return (f'| {name:22} | {solved} | {infeasible} | {failed} | {wrong} | {np.max(costs):.0e} | '
            f'{np.max(worst):.0e} | {1e6 * whole:.0f} | {updated} |')


def main():
    """Print one table for recorded programmes and one for random ones."""
    parser = argparse.ArgumentParser(prog='benchmarks socp', description=__doc__)
    parser.add_argument('--cases', type=int, default=5000, help='of each kind')
    parser.add_argument('--seed', type=int, default=0)
    arguments = parser.parse_args()
    rng = np.random.default_rng(arguments.seed)
    compare('Recorded', record(arguments.cases))
    compare('Random', [draw(rng) for _ in range(arguments.cases)])
