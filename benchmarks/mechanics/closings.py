"""Warm starts: the nodal systems of real closings, begun from the step before and without."""

import numpy as np

from benchmarks.mechanics.cases import interleaved
from benchmarks.planning.plan import objects
from gripsim_ros.core.mechanics.body import pad_layers
from gripsim_ros.core.mechanics.contact import contact_forces, half_space
from gripsim_ros.core.mechanics.contact.contact_forces import (
    FIRST_GUESS_DEPTH, solve_contact_forces)
from gripsim_ros.core.mechanics.contact.warm_start import WarmStarts
from gripsim_ros.core.numerics import complementarity
from gripsim_ros.core.pipeline import Pipeline, run
from gripsim_ros.core.planning import GraspPlanner, Task
from gripsim_ros.library.in_process import mechanics_options, planner_options
from gripsim_ros.library.resources import load_default_hand

HYPOTHESES = 40
#: Systems that are timed of each object, evenly chosen, each so often.
SYSTEMS, ROUNDS = 60, 5


class Watching(WarmStarts):
    """Keeps each step's nodes, the shares recalled for them, and what carried load."""

    def __init__(self):
        """Begin with nothing."""
        super().__init__()
        self.steps, self._shares = [], None

    def lookup(self, T_object_palm, links):
        """Recall, and keep what was."""
        self._shares = super().lookup(T_object_palm, links)
        return self._shares

    def store(self, T_object_palm, nodes, solution):
        """Remember, and keep the step where there was one before it."""
        if (self._shares != FIRST_GUESS_DEPTH).any():
            self.steps.append((nodes, self._shares, solution))
        super().store(T_object_palm, nodes, solution)


def closings():
    """Print what warm starts save, by object."""
    hand = load_default_hand()
    print('\nSteps of real closings, one thread, interleaved, median ms\n')
    for subject in objects():
        pipeline = Pipeline(hand, subject.grasp_object, mechanics_options())
        memory = pipeline._body.warm_starts = Watching()
        planner = GraspPlanner(subject.grasp_object, hand, Task(), planner_options(),
                               max_hypotheses=HYPOTHESES)
        run(planner, pipeline)
        chosen = memory.steps[::max(1, len(memory.steps) // SYSTEMS)][:SYSTEMS]
        rows = np.array([_compare(*step, pipeline._body.modulus, hand) for step in chosen])
        print(f'{subject.name:20} {len(memory.steps):5} steps, '
              f'{np.median(rows[:, 0]):4.0f} candidates: guess wrong at '
              f'{rows[:, 1].mean():.1f} nodes cold, {rows[:, 2].mean():.1f} warm; '
              f'active set {rows[:, 3].mean():.3f} cold, {rows[:, 4].mean():.3f} warm, '
              f'{rows[:, 5].mean():.3f} at the answer; whole {rows[:, 6].mean():.3f} cold, '
              f'{rows[:, 7].mean():.3f} warm')


def _compare(nodes, shares, solution, modulus, hand):
    """Return sizes, wrong guesses and times of one system."""
    rows = solution.rows
    depths, patches = np.ascontiguousarray(nodes.depths[rows]), nodes.patches[rows]
    surface = (nodes.points[rows], nodes.normals[rows], nodes.areas[rows], modulus,
               half_space.GRID_SOFTENING)
    whole = half_space.half_space_rows(np.arange(len(surface[0])), *surface)
    pads = pad_layers(hand.links, nodes.links)
    contact_forces._add_layers(whole, surface, nodes.links[patches], pads, False)
    (cold, order), (warm, _) = (
        contact_forces._first_guess(depths, patches, nodes.patch_count, guess)
        for guess in (None, shares))
    exact = solution.forces > 0.0
    starts = (cold, warm, exact)
    ways = [lambda start=start: complementarity.solve_complementarity(whole, depths, start, order)
            for start in starts]
    ways += [lambda guess=guess: solve_contact_forces(nodes, modulus, pads, loaded_shares=guess)
             for guess in (None, shares)]
    return (len(rows), *(int((start != exact).sum()) for start in starts[:2]),
            *interleaved(ways, ROUNDS))
