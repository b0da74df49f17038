"""
How many objects a minute a sweep plans for, over the number of worker processes.

Generated objects x materials, each plan of the same number of hypotheses; every number of
workers fills a new SQLite database. Workers are started before the clock, as in a long sweep.
``--figure`` draws the measured pace beside one that grows with the workers (matplotlib).
"""

import argparse
from dataclasses import dataclass
import os
from pathlib import Path
import tempfile

import numpy as np
import trimesh

from gripsim_ros.apps.sweep.jobs import list_jobs, Settings
from gripsim_ros.apps.sweep.local import LocalEngine
from gripsim_ros.apps.sweep.runner import Sweep
from gripsim_ros.core.bodies import shapes
from gripsim_ros.core.planning.task import Task
from gripsim_ros.library.database.schema import open_database
from gripsim_ros.library.database.store import SweepStore
from gripsim_ros.library.in_process import find_material
from gripsim_ros.library.workers import available_cores

OBJECTS, HYPOTHESES = 8, 20
MATERIALS = ('soft_fruit', 'rubber')
#: Radii of the objects [m]: their least, and how much each is larger than the one before.
LEAST_RADIUS, STEP = 0.030, 0.0008
#: Dots an inch of the figure.
DPI = 110


@dataclass(frozen=True)
class Pace:
    """What a number of workers did: jobs, seconds, grasps."""

    workers: int
    jobs: int
    seconds: float
    grasps: int

    @property
    def objects_a_minute(self) -> float:
        """Return jobs a minute."""
        return 60.0 * self.jobs / self.seconds


def write_objects(folder: Path, count: int) -> None:
    """Write ``count`` ellipsoids of different sizes."""
    for number in range(count):
        ball = shapes.sphere(LEAST_RADIUS + STEP * number, 0.007)
        vertices = ball.vertices * np.array([1.0, 1.0, 1.3])
        trimesh.Trimesh(vertices, ball.faces, process=False).export(
            folder / f'body_{number:02}.ply')


def measure(folder: Path, workers: int, hypotheses: int) -> Pace:
    """Return the pace of a number of workers on the meshes of a folder."""
    settings = Settings(Task(), hypotheses=hypotheses)
    jobs = list_jobs([folder], [find_material(name) for name in MATERIALS], [1.0])
    warm = list_jobs([sorted(folder.iterdir())[0]], [find_material('rubber')], [1.0])
    with tempfile.TemporaryDirectory() as place, LocalEngine(workers) as engine:
        warm_up(Path(place), warm, workers, engine)
        store = SweepStore(open_database(str(Path(place, 'grasps.db')), create=True))
        state = Sweep(store, jobs, settings).run(engine)
    return Pace(workers, state.planned, state.seconds, state.grasps)


def warm_up(place: Path, jobs: list, workers: int, engine: LocalEngine) -> None:
    """Let every worker plan once, for one hypothesis each under a seed of its own."""
    store = SweepStore(open_database(str(place / 'warm.db'), create=True))
    for seed in range(workers):
        Sweep(store, jobs, Settings(Task(), hypotheses=1, seed=seed)).run(engine)


def draw(paces: list[Pace], path: Path) -> None:
    """Draw objects a minute over workers."""
    import matplotlib
    matplotlib.use('Agg')
    from matplotlib import pyplot as plt
    workers = np.array([pace.workers for pace in paces])
    measured = np.array([pace.objects_a_minute for pace in paces])
    figure, panel = plt.subplots(figsize=(6.0, 4.0))
    panel.plot(workers, measured, 'o-', label='measured')
    panel.plot(workers, measured[0] * workers / workers[0], '--', color='grey',
               label='one process, times workers')
    panel.axvline(available_cores(), color='grey', linewidth=0.8)
    panel.annotate(f' {available_cores()} cores', (available_cores(), 0.02),
                   xycoords=('data', 'axes fraction'), color='grey')
    panel.set_xticks(workers)
    panel.set_xlabel('worker processes')
    panel.set_ylabel('objects a minute')
    panel.set_ylim(bottom=0.0)
    panel.grid(True, alpha=0.25)
    panel.legend()
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=DPI)
    plt.close(figure)


def main() -> None:
    """Print one row a number of workers."""
    parser = argparse.ArgumentParser(prog='benchmarks sweep', description=__doc__)
    parser.add_argument('--workers', type=int, nargs='+', default=[1, 2, 3, 4])
    parser.add_argument('--objects', type=int, default=OBJECTS)
    parser.add_argument('--hypotheses', type=int, default=HYPOTHESES)
    parser.add_argument('--figure', type=Path, help='write a PNG')
    arguments = parser.parse_args()
    print(f'{available_cores()} cores, load {os.getloadavg()[0]:.1f} at the start')
    print(f"{'workers':>7} {'jobs':>5} {'seconds':>8} {'objects/min':>12} {'grasps/min':>11} "
          f"{'speed-up':>9}")
    paces: list[Pace] = []
    with tempfile.TemporaryDirectory() as place:
        write_objects(Path(place), arguments.objects)
        for workers in arguments.workers:
            paces.append(measure(Path(place), workers, arguments.hypotheses))
            pace = paces[-1]
            ratio = pace.objects_a_minute / paces[0].objects_a_minute
            print(f'{pace.workers:7d} {pace.jobs:5d} {pace.seconds:8.1f} '
                  f'{pace.objects_a_minute:12.1f} {60.0 * pace.grasps / pace.seconds:11.1f} '
                  f'{ratio:9.2f}', flush=True)
    if arguments.figure is not None:
        draw(paces, arguments.figure)


if __name__ == '__main__':
    main()
