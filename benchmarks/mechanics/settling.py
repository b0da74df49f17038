"""
What settling does to grasps: forces of one off the middle, and how soon the rest balance.

``python -m benchmarks settling [--hypotheses N]``
"""

import argparse
from dataclasses import replace

import numpy as np

from gripsim_ros.core.batches import DETAIL_FORCES, ConfigurationBatch
from gripsim_ros.core.bodies import GraspObject, shapes
from gripsim_ros.core.pipeline import Pipeline
from gripsim_ros.core.planning import Task, task_load_cases
from gripsim_ros.core.planning.closing.question import Question
from gripsim_ros.core.planning.closing.grasp_state import extract_state
from gripsim_ros.core.planning.settling import Settling
from gripsim_ros.library.in_process import (
    find_material, link_shapes, mechanics_options, plan_grasps, planner_options)
from gripsim_ros.library.resources import load_default_hand

#: The palm stands so far beside the middle of the apple [m].
ASIDE = 2e-4
#: Asked on and on, to see what is left.
ALWAYS = {'settling_steps': 8, 'settling_residual': 1e-12}


def bodies():
    """Return the objects looked at, by name."""
    return {
        'apple': GraspObject(shapes.apple(), find_material('firm_fruit')),
        'box of foam': GraspObject(shapes.box((0.06, 0.05, 0.09)), find_material('foam')),
        'cylinder of wood': GraspObject(shapes.cylinder(0.03, 0.1), find_material('wood'))}


class Asker:
    """Asks all stages about closed hands on one object."""

    def __init__(self, body, hand):
        self.loads = task_load_cases(Task(), body.canonical_frame[:3, :3])
        self._pipeline = Pipeline(hand, body, mechanics_options(), link_shapes(hand))

    def state(self, question):
        """Return the state of one question."""
        return extract_state(self._pipeline.evaluate(ConfigurationBatch(
            question.T_object_palm[None], question.joint_positions[None],
            question.joint_displacements[None], np.zeros((1, 3)), self.loads,
            detail=DETAIL_FORCES, settled_object=question.settled_object[None])), 0)

    def settle(self, grasp, aside=0.0):
        """Return the states of a grasp while its object settles, the palm put aside first."""
        T = grasp.T_object_palm.copy()
        T[:3, 3] += aside * T[:3, 0]
        way = grasp.trajectory[-1] - grasp.trajectory[0]
        question = Question(DETAIL_FORCES, T, grasp.trajectory[-1],
                            0.01 * way / np.abs(way).max(), np.zeros(3))
        states = [self.state(question)]
        settling = Settling(question, states[0], replace(planner_options(), **ALWAYS))
        while not settling.done:
            states.append(self.state(settling.question()))
            settling.answer(states[-1])
        return states


def plain_residual(state):
    """Return what the normal forces alone lack to balance, torques over 40 mm."""
    arms = state.points - state.centre_of_mass
    force, torque = state.forces.sum(axis=0), np.cross(arms, state.forces).sum(axis=0)
    size = np.sqrt(force @ force + torque @ torque / 0.04 ** 2)
    return size / np.linalg.norm(state.forces, axis=1).sum()


def print_forces(states):
    """Print one grasp as its object settles."""
    print('| asked again | normal forces [N] | unbalanced, friction counted | without friction '
          '| margin |\n|---|---|---|---|---|')
    for count, state in enumerate(states[:5]):
        forces = ', '.join(f'{force:.2f}' for force in state.normal_forces)
        print(f'| {count} | {forces} | {100 * state.residual:.2f} % | '
              f'{100 * plain_residual(state):.1f} % | {state.margin:.2f} |')


def print_survey(name, settled):
    """Print how soon the grasps of one object balance."""
    limit = planner_options().settling_residual
    asks = [next((k for k, s in enumerate(states) if s.residual <= limit), None)
            for states in settled]
    counts = [sum(ask == k for ask in asks) for k in range(4)]
    last = [states[min(4, len(states) - 1)] for states in settled]
    change = [abs(states[k].normal_forces / states[0].normal_forces - 1.0).max()
              for states, k in zip(settled, asks) if k
              and len(states[k].points) == len(states[0].points)]
    print(f'| {name} | {len(settled)} | {" | ".join(map(str, counts))} | '
          f'{sum(ask is None for ask in asks)} | {sum(not s.holds for s in last)} | '
          f'{100 * np.median([s[0].residual for s in settled]):.0f} % | '
          f'{100 * np.median(change or [0.0]):.0f} % | {100 * max(change, default=0.0):.0f} % |')


def main():
    """Print both tables."""
    parser = argparse.ArgumentParser(description='effect of settling')
    parser.add_argument('--hypotheses', type=int, default=60)
    arguments = parser.parse_args()
    hand, options = load_default_hand(), replace(planner_options(), settling_steps=0)
    survey = {}
    for name, body in bodies().items():
        grasps = plan_grasps(body, options=options, count=25,
                             hypotheses=arguments.hypotheses).grasps
        asker = Asker(body, hand)
        survey[name] = [asker.settle(grasp) for grasp in grasps]
        if name == 'apple':
            print_forces(asker.settle(grasps[0], ASIDE))
    print('\n| object | grasps | 0 asks | 1 | 2 | 3 | never | let go | residual before | force '
          'changes by | at most |\n|---|---|---|---|---|---|---|---|---|---|---|')
    for name, settled in survey.items():
        print_survey(name, settled)


if __name__ == '__main__':
    main()
