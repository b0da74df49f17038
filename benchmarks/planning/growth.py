"""What planning costs, by stage, against triangles, hypotheses and nodes of a patch."""

from dataclasses import dataclass, field
from pathlib import Path
import time

import numpy as np
import trimesh

from gripsim_ros.core.bodies import decimate_mesh, GraspObject
from gripsim_ros.core.contact import ContactScene, detect_contacts, PatchOptions
from gripsim_ros.core.hand import compute_link_states
from gripsim_ros.core.mechanics import ElasticBody, evaluate_contacts
from gripsim_ros.core.pipeline import run
from gripsim_ros.core.planning import GraspPlanner, Task
from gripsim_ros.library.in_process import link_shapes, mechanics_options, planner_options
from gripsim_ros.library.resources import load_default_hand

FIGURE = Path(__file__).resolve().parents[2] / 'docs' / 'images' / 'plan_growth.png'
STAGES = ('proposal', 'preparation', 'kinematics', 'contact', 'mechanics', 'planner')
TRIANGLES = (1000, 2000, 4000, 8000, 16000, 64000)
HYPOTHESES = (25, 50, 100, 200, 400)
NODES = (20, 40, 70, 140, 280)
#: Hypotheses where another number changes.
FEW = 40


@dataclass
class Cost:
    """Seconds of process time by stage, configurations judged with and without forces."""

    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(STAGES, 0.0))
    asked: dict[str, int] = field(default_factory=lambda: {'clearance': 0, 'forces': 0})
    outcomes: dict[str, int] = field(default_factory=dict)

    def charge(self, stage, call, *arguments):
        """Return what a call returns, and charge its time to a stage."""
        begin = time.process_time()
        answer = call(*arguments)
        self.seconds[stage] += time.process_time() - begin
        return answer


class TimedStages:
    """The stages of one process, each charged for its time."""

    def __init__(self, hand, grasp_object, cost, nodes):
        self._hand, self._cost = hand, cost
        options = PatchOptions(node_count=nodes)
        self._scene = ContactScene(hand, grasp_object, link_shapes(hand), options)
        self._body = ElasticBody(grasp_object, mechanics_options())
        assert self._scene.body.surface is not None     # built on demand, here in advance
        assert self._scene.body.tree is not None

    def evaluate(self, configurations):
        """Return the grasp states of a batch."""
        charge = self._cost.charge
        kind = 'clearance' if configurations.detail == 0 else 'forces'
        self._cost.asked[kind] += configurations.count
        states = charge('kinematics', compute_link_states, self._hand, configurations)
        contacts = charge('contact', detect_contacts, self._scene, states)
        return charge('mechanics', evaluate_contacts, self._body, self._hand, contacts)


def planning_cost(grasp_object, hypotheses=FEW, nodes=PatchOptions.node_count):
    """Return what planning an object for the first time costs in one process."""
    hand, cost = load_default_hand(), Cost()
    mesh = grasp_object.mesh
    fresh = GraspObject(mesh.with_vertices(mesh.vertices), grasp_object.material)
    planner = cost.charge('proposal', GraspPlanner, fresh, hand, Task(), planner_options(), 0,
                          hypotheses)
    stages = cost.charge('preparation', TimedStages, hand, fresh, cost, nodes)
    inside = sum(cost.seconds[stage] for stage in ('kinematics', 'contact', 'mechanics'))
    begin = time.process_time()
    run(planner, stages)
    whole = time.process_time() - begin
    spent = sum(cost.seconds[stage] for stage in ('kinematics', 'contact', 'mechanics'))
    cost.seconds['planner'] = whole - (spent - inside)
    cost.outcomes = {'stable': planner.progress.stable, **planner.rejections}
    return cost


def triangles_of(grasp_object, count):
    """Return the object with about so many triangles."""
    mesh = grasp_object.mesh
    while len(mesh.faces) < 0.95 * count:
        mesh = type(mesh)(*trimesh.remesh.subdivide(mesh.vertices, mesh.faces))
    if len(mesh.faces) > 1.05 * count:
        mesh = decimate_mesh(mesh, count)
    return GraspObject(mesh, grasp_object.material)


def growth(grasp_object):
    """Return costs by what grows."""
    sizes = [triangles_of(grasp_object, count) for count in TRIANGLES]
    planning_cost(sizes[0], 2)
    return {
        'triangles': {len(o.mesh.faces): planning_cost(o) for o in sizes},
        'hypotheses': {n: planning_cost(grasp_object, n) for n in HYPOTHESES},
        'nodes of a patch': {n: planning_cost(grasp_object, FEW, n) for n in NODES}}


def print_growth(costs):
    """Print seconds of process time, one row a size."""
    for name, rows in costs.items():
        print(f'\n{name:>16} ' + ''.join(f'{stage:>13}' for stage in STAGES)
              + f'{"clearance":>11}{"forces":>8}')
        for size, cost in rows.items():
            print(f'{size:16d} ' + ''.join(f'{cost.seconds[s]:11.2f} s' for s in STAGES)
                  + f'{cost.asked["clearance"]:11d}{cost.asked["forces"]:8d}')


def draw_growth(costs):
    """Draw stacked process time against each size."""
    import matplotlib
    matplotlib.use('Agg')
    from matplotlib import pyplot as plt
    figure, panels = plt.subplots(1, len(costs), figsize=(12.0, 4.0), layout='constrained')
    for panel, (name, rows) in zip(panels, costs.items()):
        sizes = list(rows)
        layers = [[cost.seconds[stage] for cost in rows.values()] for stage in STAGES]
        panel.stackplot(sizes, np.array(layers), labels=STAGES, alpha=0.85)
        panel.set(xlabel=name, xscale='log')
        panel.set_xticks(sizes, [str(size) for size in sizes], rotation=45)
        panel.minorticks_off()
        panel.grid(alpha=0.3)
    panels[0].set_ylabel('process time, one core [s]')
    panels[-1].legend(fontsize=8, loc='upper left')
    FIGURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(FIGURE, dpi=110)
    print(f'wrote {FIGURE}')
