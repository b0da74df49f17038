"""What tests of sweeps share: plans made up by hand, an engine without workers, real plans."""

from dataclasses import fields, replace
from functools import lru_cache
import os
from pathlib import Path
import signal
import tempfile

import numpy as np
from numpy.testing import assert_array_equal
from plan_cases import made_up_grasp
import trimesh

from gripsim_ros.apps.sweep.jobs import JobSpec, list_jobs, readable, Settings
from gripsim_ros.apps.sweep.outcomes import Died
from gripsim_ros.apps.sweep.runner import Sweep
from gripsim_ros.core.bodies import GraspObject, Material, shapes, TriangleMesh
from gripsim_ros.core.planning.ranked_grasp import NearestMiss
from gripsim_ros.core.planning.task import Task
from gripsim_ros.library.database import codec
from gripsim_ros.library.database.key import plan_key
from gripsim_ros.library.database.records import Failure, HandNames, StoredPlan, Summary
from gripsim_ros.library.database.schema import open_database
from gripsim_ros.library.database.store import SweepStore
from gripsim_ros.library.resources import load_default_hand

SOFT = Material(1.0e6, 0.45, 800.0, 0.6, name='soft')
HARD = Material(5.0e6, 0.4, 900.0, 0.7, 2.0e6, name='hard')
#: What makes a real plan quick.
HYPOTHESES = 3
EDGE_LENGTH = 0.008
SETTINGS = Settings(Task(), hypotheses=HYPOTHESES)
BAD = 'bad.stl'


def write_ball(path, radius):
    """Write a ball in metres; return the path."""
    mesh = shapes.sphere(radius, EDGE_LENGTH)
    path.parent.mkdir(parents=True, exist_ok=True)
    trimesh.Trimesh(mesh.vertices, mesh.faces, process=False).export(path)
    return path


def write_bad(folder):
    """Write a file that is no mesh."""
    (folder / BAD).write_text('this is no mesh')


def write_tokens(folder, count):
    """Write ``count`` files that pass for meshes as long as nobody reads them."""
    folder.mkdir(exist_ok=True)
    for number in range(count):
        (folder / f'{number:02}.stl').write_text(f'token {number}')
    return folder


def database(path):
    """Return the store of a new or old database."""
    return SweepStore(open_database(str(path), create=True))


def begin(store, folder, materials=(SOFT,), **options):
    """Return a sweep over a folder."""
    return Sweep(store, list_jobs([Path(folder)], list(materials), [1.0]), SETTINGS, **options)


@lru_cache(maxsize=None)
def token_object(label, material):
    """Return the object that stands for a token: a tetrahedron of a size of its own."""
    size = 0.02 + 1e-3 * (sum(map(ord, label)) % 97)
    corners = size * np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    faces = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    return GraspObject(TriangleMesh(corners, faces), material, label)


def made_up_plan(label, material=SOFT, grasps=None, settings=SETTINGS, grasp_object=None):
    """Return a plan nobody has computed, of a token unless the object is given."""
    hand, grasp_object = load_default_hand(), grasp_object or token_object(label, material)
    if grasps is None:
        grasps = [made_up_grasp(rank) for rank in (1, 2)]
    grasps = tuple(replace(grasp, vertices=None, vertex_pressures=None) for grasp in grasps)
    miss = None if grasps else NearestMiss(
        'slips', 3, 'pinch', np.eye(4), np.zeros(7), ('tip',), False, 0.0, 0.05, 0.23, np.inf,
        5.0, np.nan, 2e4, 1e6)
    summary = Summary({'slips': 2}, 2 + len(grasps), 9, 40, 3, 1.5, None, ('merged 2',),
                      '' if grasps else 'too slippery', miss)
    for_key = settings.for_key()
    return StoredPlan(
        plan_key(grasp_object, hand.id, for_key), grasp_object,
        HandNames(hand.id, hand.name, hand.base_link, tuple(hand.joint_names)), '0.0.0+test',
        codec.dump(readable(for_key)), grasps, summary)


def store_made_up(path, grasp_object, grasps, hypotheses):
    """Write a database that holds made-up grasps of an object; return its path."""
    label, material = grasp_object.label, grasp_object.material
    store, settings = database(path), Settings(Task(), hypotheses=hypotheses)
    row = {'key': label, 'request': '0', 'label': label, 'scale': 1.0,
           'material_name': material.name}
    ((number, _),) = store.enroll([row]).values()
    assert store.claim(number)
    assert store.finish(number, made_up_plan(label, material, grasps, settings, grasp_object))
    return path


class FakeEngine:
    """
    Workers that have made up their plans already.

    ``choose(jobs)`` says which of the jobs that are out ends next, and how: a pair of its
    place among them and ``'done'``, ``'bad'`` or ``'dies'``.
    """

    def __init__(self, choose=lambda jobs: (0, 'done'), room=2):
        self.choose, self.room, self.out, self.asked = choose, room, [], []

    @property
    def has_room(self):
        """Return whether another job may be submitted."""
        return len(self.out) < self.room

    @property
    def is_busy(self):
        """Return whether an answer is still to come."""
        return bool(self.out)

    def submit(self, number, job):
        """Take a job."""
        self.out.append((number, job))
        self.asked.append((job.label, job.material.name))

    def collect(self, patience):
        """Return one outcome."""
        place, how = self.choose(self.out)
        number, job = self.out.pop(place % len(self.out))
        return [(number, {'dies': Died('signal 9'), 'bad': Failure(f'{job.label} is bad'),
                          'done': made_up_plan(job.label, job.material)}[how])]


@lru_cache(maxsize=1)
def real_sweep():
    """
    Return a folder of two balls and a bad file, and the database of them; computed once.

    The plans are computed in this process.
    """
    from gripsim_ros.apps.sweep.jobs import plan_job
    folder = Path(tempfile.mkdtemp(prefix='gripsim_sweep_'))
    write_ball(folder / 'meshes' / 'a.ply', 0.033)
    write_ball(folder / 'meshes' / 'sub' / 'b.ply', 0.036)
    write_bad(folder / 'meshes')
    store = database(folder / 'grasps.db')

    class HereEngine(FakeEngine):
        def collect(self, patience):
            number, job = self.out.pop()
            return [(number, plan_job(job))]

    sweep = begin(store, folder / 'meshes')
    sweep.run(HereEngine())
    return folder, sweep.finish()


def spec(folder, label, material=SOFT, scale=1.0):
    """Return the job of a file."""
    (found,) = [job for job in list_jobs([Path(folder)], [material], [scale])
                if job.label == label]
    assert isinstance(found, JobSpec)
    return found


def same(one, other):
    """Assert that two values are equal in every bit, whatever their fields."""
    assert type(one) is type(other)
    if isinstance(one, np.ndarray):
        assert one.shape == other.shape and one.dtype == other.dtype
        assert_array_equal(one, other)
    elif hasattr(one, '__dataclass_fields__'):
        for field in fields(one):
            same(getattr(one, field.name), getattr(other, field.name))
    elif isinstance(one, (tuple, list)):
        assert len(one) == len(other)
        for a, b in zip(one, other):
            same(a, b)
    else:
        assert one == other or (one != one and other != other)


# What workers in other processes are given: they find it by the name of this module.

def dies(job):
    """Kill the worker that has the job."""
    os.kill(os.getpid(), signal.SIGKILL)


def answers(job):
    """Stand for planning."""
    return Failure(f'{job.label} {len(job.content)}')
