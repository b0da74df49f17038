"""
How fast the planner is, warm, on two cores: first stable grasp, hypotheses a second.

Hypotheses in contact are those that two fingers or more touched and that got a verdict of their
own; those set aside, put off or rejected before are told apart, by reason. Processor time is that
of all workers, and hardly depends on what else the machine does.

With ``--nodes`` the same request also goes over the four nodes, in turns with the plan here, so
that both meet the same load of the machine; the ratio of their times is what counts. With
``--stages``: what two stages cost against half-spaces alone, in turns, with the object's own
compliance prepared and with it kept. With ``--growth``: processor time by stage, against
triangles, hypotheses and nodes of a patch.
"""

import argparse
import contextlib
from dataclasses import dataclass
import os
from pathlib import Path
import resource
import statistics
import tempfile
import time

import numpy as np

from gripsim_ros.core.bodies import GraspObject, Material, load_mesh, shapes
from gripsim_ros.library.in_process import find_material, mechanics_options, plan_grasps

#: A full tin: stiff, 349 g in 319 cm^3.
FULL_TIN = Material(youngs_modulus=2.0e9, poisson_ratio=0.3, density=1090.0, friction=0.5)
#: Scans by file name below the data folder, and the material each is planned with.
SCANS = {'YcbBanana.ply': 'soft_fruit', 'YcbMustardBottle.ply': 'pet_bottle',
         'YcbTomatoSoupCan.ply': FULL_TIN}
HYPOTHESES, WARM_UP_HYPOTHESES = 200, 8
#: Object of which the growth of costs is told, where it is there.
GROWING = 'can'
#: Time limit that ends no plan here [s].
BUDGET = 600.0


@dataclass(frozen=True)
class Subject:
    """An object to plan for; ``file`` is empty where it is generated."""

    name: str
    grasp_object: GraspObject
    file: str = ''


def objects() -> list[Subject]:
    """Return the objects to plan for: scans where there are any, and a generated apple."""
    found = [Subject('apple', GraspObject(shapes.apple(), find_material('firm_fruit')))]
    folder = Path(os.environ.get('GRIPSIM_DATA', '')) / 'ycb'
    for name, material in SCANS.items():
        if (folder / name).is_file():
            mesh = load_mesh(folder / name).mesh
            if isinstance(material, str):
                material = find_material(material)
            found.append(Subject(Path(name).stem, GraspObject(mesh, material),
                                 str(folder / name)))
    return found


def request(subject: Subject, hypotheses: int):
    """Return what the nodes are asked for an object."""
    from gripsim_ros.ros import conversions
    from gripsim_ros.ros.clients.plan import plan_request
    goal = plan_request(subject.file, subject.grasp_object.material, max_hypotheses=hypotheses,
                        max_planning_time=BUDGET)
    if not subject.file:
        mesh = subject.grasp_object.mesh
        goal.mesh = conversions.mesh_to_msg(mesh.vertices, mesh.faces)
    return goal


@contextlib.contextmanager
def running_suite(wanted: bool):
    """Yield a client of a suite of four processes, or None where none is wanted."""
    if not wanted:
        yield None
        return
    from gripsim_ros.ros.environment import enter_isolation
    enter_isolation()
    from gripsim_ros.ros.clients.plan import PlanGraspClient
    from gripsim_ros.ros.clients.suite import Suite
    with Suite(os.environ), PlanGraspClient() as client:
        yield client


def over_nodes(client, subject: Subject, result) -> tuple[float, float]:
    """Return seconds to the first stable grasp and to the end; check that both agree."""
    first = []
    begin = time.perf_counter()

    def watch(feedback) -> None:
        if feedback.stable and not first:
            first.append(time.perf_counter() - begin)

    answer = client.plan(request(subject, result.total), watch)
    total = time.perf_counter() - begin
    order = [(grasp.hypothesis, grasp.score) for grasp in answer.grasps]
    if order != [(grasp.hypothesis, grasp.score) for grasp in result.grasps]:
        raise RuntimeError(f'{subject.name}: the nodes rank otherwise than one process')
    return (first or [np.nan])[0], total


def processor_time() -> float:
    """Return the processor time of this process and of its ended workers [s]."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def fresh(grasp_object: GraspObject) -> GraspObject:
    """Return the same object as one that nothing was prepared of."""
    mesh = grasp_object.mesh
    return GraspObject(mesh.with_vertices(mesh.vertices), grasp_object.material)


def measure(subject: Subject, client, arguments) -> str:
    """Return the rows of an object; times are medians over the rounds."""
    here, there = [], []
    for _ in range(max(1, arguments.rounds)):
        begin = processor_time()
        result = plan_grasps(fresh(subject.grasp_object), hypotheses=arguments.hypotheses,
                             budget=BUDGET, workers=arguments.workers)
        first = np.nan if result.first_stable_time is None else result.first_stable_time
        here.append((first, result.planning_time, processor_time() - begin))
        if client is not None:
            there.append(over_nodes(client, subject, result))
    first, total, processor = np.median(here, axis=0)
    stable = result.evaluated - sum(result.rejections.values())
    row = (f'{subject.name:18} {len(subject.grasp_object.mesh.faces):9d} {result.evaluated:7d} '
           f'{result.in_contact:8d} {stable:7d} {first:11.2f} s {total:6.1f} s {processor:6.1f} s '
           f'{result.in_contact / total:8.1f} /s {result.evaluated / total:8.1f} /s')
    if there:
        first_there, total_there = np.median(there, axis=0)
        ratio = statistics.median(b[1] / a[1] for a, b in zip(here, there))
        row += f' {first_there:11.2f} s {total_there:6.1f} s {ratio:8.2f}'
    reasons = [f'    {count:4d} {reason}' for reason, count in result.rejections.items()]
    return '\n'.join([row, f'    {result.proposed} candidates looked at quickly', *reasons])


@contextlib.contextmanager
def empty_cache():
    """Keep what is prepared in a folder that goes away."""
    before = os.environ.get('XDG_CACHE_HOME')
    with tempfile.TemporaryDirectory() as folder:
        os.environ['XDG_CACHE_HOME'] = folder
        mechanics_options.cache_clear()
        try:
            yield
        finally:
            mechanics_options.cache_clear()
            os.environ.pop('XDG_CACHE_HOME')
            if before is not None:
                os.environ['XDG_CACHE_HOME'] = before


def compare_stages(subject: Subject, arguments) -> str:
    """Return the row of an object: times of half-spaces, and the medians of ratios to them."""
    rounds, models = [], set()
    for _ in range(max(1, arguments.rounds)):
        times = []
        with empty_cache():
            for model in ('half_space', None, None):
                begin = processor_time()
                result = plan_grasps(fresh(subject.grasp_object), elasticity=model,
                                     hypotheses=arguments.hypotheses, budget=BUDGET,
                                     workers=arguments.workers)
                times.append((result.planning_time, processor_time() - begin))
        rounds.append(times)
        models |= {grasp.elasticity for grasp in result.grasps}
    costs = np.array(rounds)
    wall, processor = np.median(costs[:, 0], axis=0)
    made, kept = (np.median(costs[:, row] / costs[:, 0], axis=0) for row in (1, 2))
    return (f'| {subject.name} | {wall:.1f} s, {processor:.1f} s | {made[0]:.2f}, {made[1]:.2f} | '
            f'{kept[0]:.2f}, {kept[1]:.2f} | {", ".join(sorted(models))} |')


def tell_growth(chosen: list[Subject]) -> None:
    """Print and draw what the costs grow with."""
    from benchmarks.planning.growth import draw_growth, growth, print_growth
    subject = next((s for s in chosen if GROWING in s.name.lower()), chosen[0])
    print(f'{subject.name}: processor time of one process, planned for the first time')
    costs = growth(subject.grasp_object)
    print_growth(costs)
    draw_growth(costs)


def main() -> None:
    """Print one row an object."""
    parser = argparse.ArgumentParser(prog='benchmarks plan', description=__doc__)
    parser.add_argument('--nodes', action='store_true', help='also over the four nodes')
    parser.add_argument('--rounds', type=int, default=1, help='medians of so many rounds')
    parser.add_argument('--object', default='', help='only objects whose name holds this')
    parser.add_argument('--hypotheses', type=int, default=HYPOTHESES, help='judged at most')
    parser.add_argument('--workers', type=int, default=0,
                        help='processes that share the work; 0: one a core')
    parser.add_argument('--stages', action='store_true', help='what two stages cost')
    parser.add_argument('--growth', action='store_true', help='what the costs grow with')
    arguments = parser.parse_args()
    chosen = [s for s in objects() if arguments.object.lower() in s.name.lower()]
    plan_grasps(chosen[0].grasp_object, hypotheses=WARM_UP_HYPOTHESES)
    if arguments.growth:
        tell_growth(chosen)
        return
    if arguments.stages:
        print('| object | half-spaces: wall, processor | two stages, prepared: ratios | kept | '
              'model |\n|' + '---|' * 5)
        for subject in chosen:
            print(compare_stages(subject, arguments), flush=True)
        return
    print(f"{'object':18} {'triangles':>9} {'judged':>7} {'contact':>8} {'stable':>7} "
          f"{'first stable':>13} {'total':>8} {'processor':>8} {'in contact':>11} {'judged':>10}"
          + (f" {'first, nodes':>15} {'total':>8} {'ratio':>8}" if arguments.nodes else ''))
    with running_suite(arguments.nodes) as client:
        if client is not None:
            client.plan(request(chosen[0], WARM_UP_HYPOTHESES))
        for subject in chosen:
            print(measure(subject, client, arguments), flush=True)


if __name__ == '__main__':
    main()
