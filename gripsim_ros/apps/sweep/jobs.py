"""What a sweep is made of: mesh files x materials x scales, and planning for one of them."""

import hashlib
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...core.bodies import GraspObject, Material, load_mesh, mesh_formats
from ...core.errors import GripsimError, MeshError
from ...core.hand import HandModel
from ...core.memory import manage_memory, return_memory
from ...core.planning.task import Task
from ...library.database import codec
from ...library.database.key import (
    PlanSettings, context_key, default_mechanics, hash_of, plan_key, program_version)
from ...library.database.records import Failure, HandNames, StoredPlan, Summary
from ...library.in_process import PlanResult, plan_grasps, planner_options
from ...library.resources import load_hand

#: Seconds after which planning for one object is given up, unless said otherwise.
DEFAULT_TIME = 600.0

#: Kernels and what is prepared of the hand serve one plan at a time.
_planning = threading.Lock()


@dataclass(frozen=True, eq=False)
class Settings:
    """
    What every object of a sweep has in common; counts 0: as in ``config/planner.yaml``.

    ``hand`` is the file of the hand, '' for the one that comes along; workers read it themselves.
    """

    task: Task
    hypotheses: int = 0
    count: int = 0
    seed: int = 0
    time: float = DEFAULT_TIME
    hand: str = ''

    def for_key(self) -> PlanSettings:
        """Return what of it enters a key: all but the limit of time."""
        return PlanSettings(self.task, planner_options(), default_mechanics(), self.hypotheses,
                            self.count, self.seed)


@dataclass(frozen=True, eq=False)
class JobSpec:
    """An object of a sweep: a file, by a label that does not depend on where its folder is."""

    label: str
    path: Path
    file_hash: str
    scale: float
    material: Material

    def row(self, context: str) -> dict[str, Any]:
        """Return the row of the database; ``context`` is the settings' ``context_key``."""
        request = hash_of({'file': self.file_hash, 'ending': self.path.suffix.lower(),
                           'scale': self.scale, 'material': self.material.identity,
                           'context': context})
        key = hash_of({'request': request, 'label': self.label, 'name': self.material.name})
        return {'key': key, 'request': request, 'label': self.label, 'scale': self.scale,
                'material_name': self.material.name}


@dataclass(frozen=True, eq=False)
class Job:
    """What a worker is given: the bytes of a mesh file and the rest; no file is shared."""

    label: str
    ending: str
    content: bytes
    scale: float
    material: Material
    settings: Settings
    context: str


def list_jobs(folders: Iterable[Path], materials: Sequence[Material],
              scales: Sequence[float]) -> list[JobSpec]:
    """
    Return files x materials x scales, files by their path below the folder given.

    Raises
    ------
    MeshError
        There is no such folder, no mesh below it, or a file cannot be read.
    """
    specs = []
    for label, path in _mesh_files(folders):
        file_hash = hashlib.sha256(_read(path)).hexdigest()
        specs += [JobSpec(label, path, file_hash, scale, material)
                  for material in materials for scale in scales]
    return specs


def _mesh_files(folders: Iterable[Path]) -> Iterator[tuple[str, Path]]:
    endings = {f'.{ending}' for ending in mesh_formats()}
    seen: set[Path] = set()
    for folder in folders:
        if not folder.exists():
            raise MeshError(f'{folder}: there is no such folder')
        files = [folder] if folder.is_file() else sorted(
            path for path in folder.rglob('*') if path.is_file())
        files = [path for path in files if path.suffix.lower() in endings]
        if not files:
            raise MeshError(f'{folder}: holds no mesh; read are {", ".join(sorted(endings))}')
        root = folder.parent if folder.is_file() else folder
        for path in files:
            if path.resolve() not in seen:
                seen.add(path.resolve())
                yield path.relative_to(root).as_posix(), path


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise MeshError(f'{path}: cannot be read ({error.strerror})') from None


def make_job(spec: JobSpec, settings: Settings, context: str) -> Job:
    """
    Return the job of a file with its content.

    Raises
    ------
    MeshError
        The file is gone, or another than it was when the sweep began.
    """
    content = _read(spec.path)
    if hashlib.sha256(content).hexdigest() != spec.file_hash:
        raise MeshError(f'{spec.label}: the file has changed since the sweep began')
    return Job(spec.label, spec.path.suffix.lower(), content, spec.scale, spec.material,
               settings, context)


def context_of(settings: Settings) -> str:
    """Return the name of hand, settings and program as they are in this process."""
    return context_key(load_hand(settings.hand).id, settings.for_key())


def plan_job(job: Job) -> StoredPlan | Failure:
    """
    Plan for one object, in a worker; whatever goes wrong is told as a failure.

    A worker whose program, hand or options differ from those of the sweep refuses. It gives memory
    back after each object: what lay between small blocks of C's heaps grew with their number.
    """
    manage_memory()
    try:
        if context_of(job.settings) != job.context:
            return Failure('a worker runs another version, hand or configuration than the '
                           f'sweep: {program_version()}')
        with _planning:
            return _plan(job)
    except GripsimError as error:
        return Failure(' '.join(str(error).split()))
    except Exception as error:  # told in the database; the sweep goes on
        return Failure(f'fault: {type(error).__name__}: {" ".join(str(error).split())}'[:500])
    finally:
        return_memory()


def _plan(job: Job) -> StoredPlan | Failure:
    grasp_object, repairs = _load(job)
    hand, settings = load_hand(job.settings.hand), job.settings
    result = plan_grasps(grasp_object, settings.task, hand=hand, count=settings.count,
                         hypotheses=settings.hypotheses, budget=settings.time,
                         seed=settings.seed, workers=1, robustness=0)
    if result.timed_out or result.planning_time >= settings.time:
        return Failure(f'time is up after {settings.time:g} s: {result.evaluated} of '
                       f'{result.total} hypotheses were judged')
    return stored_plan(grasp_object, hand, settings.for_key(), result, repairs)


def stored_plan(grasp_object: GraspObject, hand: HandModel, settings: PlanSettings,
                result: PlanResult, repairs: Sequence[str]) -> StoredPlan:
    """Return a complete plan as the database keeps it; surfaces are left out."""
    summary = Summary(
        result.rejections, result.evaluated, result.total, result.proposed, result.in_contact,
        result.planning_time, result.first_stable_time, tuple(repairs), result.hint,
        result.nearest_miss)
    grasps = tuple(replace(grasp, vertices=None, vertex_pressures=None)
                   for grasp in result.grasps)
    names = HandNames(hand.id, hand.name, hand.base_link, tuple(hand.joint_names))
    return StoredPlan(plan_key(grasp_object, hand.id, settings), grasp_object, names,
                      program_version(), codec.dump(readable(settings)), grasps, summary)


def readable(settings: PlanSettings) -> Mapping[str, Any]:
    """Return the part of the settings that people ask for."""
    numbers = settings.numbers()
    return {name: numbers[name] for name in ('task', 'hypotheses', 'count', 'seed')}


def _load(job: Job) -> tuple[GraspObject, tuple[str, ...]]:
    with tempfile.TemporaryDirectory(prefix='gripsim_') as folder:
        path = Path(folder, f'mesh{job.ending}')
        path.write_bytes(job.content)
        try:
            loaded = load_mesh(path, job.scale)
        except GripsimError as error:
            raise type(error)(str(error).replace(str(path), job.label)) from None
    return GraspObject(loaded.mesh, job.material, Path(job.label).stem), loaded.repairs
