"""
What names a plan: everything that its grasps depend on, and nothing else.

A database answers a request only under the same key, so whatever changes grasps must enter
it: the object's vertices (scaled), faces and material, the hand, the task, the options of
planner and mechanics, seed, counts, and the program itself.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from ... import __version__
from ...core.bodies import GraspObject
from ...core.errors import TaskError
from ...core.planning.options import PlannerOptions
from ...core.planning.task import POSE_UNCERTAINTY, Task
from ..resources import share_directory

#: Options that change the time a plan takes and no bit of it, or that enter as a request's own.
WITHOUT_EFFECT = frozenset({
    'batch_size', 'clearance_batch_size', 'active_hypotheses', 'max_planning_time',
    'max_hypotheses', 'max_grasps', 'robustness_samples', 'uncertainty'})
#: Fields of an object that its id stands for, and its label.
OF_THE_ID = frozenset({'mesh', 'material', 'label'})
#: Parts of this package that grasps depend on.
PROGRAM = ('core', 'library/in_process.py')


@dataclass(frozen=True, eq=False)
class PlanSettings:
    """
    What a plan depends on besides object, hand and program.

    Attributes
    ----------
    task : Task
        In the object's frame.
    options : PlannerOptions
    mechanics : mapping
        Content of the mechanics' configuration file.
    hypotheses, count : int
        Hypotheses judged and grasps kept at most; 0: as in the options.
    seed : int
    """

    task: Task
    options: PlannerOptions
    mechanics: Mapping[str, Any]
    hypotheses: int = 0
    count: int = 0
    seed: int = 0

    def numbers(self) -> dict[str, Any]:
        """Return the settings as they enter a key, defaults filled in."""
        options = self.options
        return {
            'task': replace(self.task, pose_uncertainty=np.array(POSE_UNCERTAINTY)),
            'mechanics': self.mechanics, 'seed': int(self.seed),
            'options': {field.name: getattr(options, field.name) for field in fields(options)
                        if field.name not in WITHOUT_EFFECT},
            'hypotheses': int(self.hypotheses or options.max_hypotheses),
            'count': int(self.count or options.max_grasps)}


def default_mechanics() -> Mapping[str, Any]:
    """Return the content of ``config/mechanics.yaml``."""
    path = share_directory() / 'config' / 'mechanics.yaml'
    content: Mapping[str, Any] = yaml.safe_load(path.read_text(encoding='utf-8'))
    return content


@lru_cache(maxsize=1)
def program_version() -> str:
    """
    Return the version with a hash of the sources that grasps depend on.

    So a changed program never answers with grasps of the one before.
    """
    package = Path(__file__).resolve().parents[2]
    files = [file for name in PROGRAM for file in (
        sorted((package / name).rglob('*.py')) if (package / name).is_dir()
        else [package / name])]
    digest = hashlib.sha256()
    for file in files:
        digest.update(str(file.relative_to(package)).encode())
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return f'{__version__}+{digest.hexdigest()[:16]}'


def plan_key(grasp_object: GraspObject, hand_id: str, settings: PlanSettings) -> str:
    """
    Return 64 hexadecimal digits that name a plan.

    Parameters
    ----------
    grasp_object : GraspObject
        By its ``id`` (vertices with the scale applied, faces, material) and by whatever it
        carries beside; its label alone does not count.
    hand_id : str
        ``HandModel.id``: URDF, configuration and meshes.
    settings : PlanSettings

    Raises
    ------
    TaskError
        Something is of a kind that has no canonical form.
    """
    beside = {field.name: getattr(grasp_object, field.name) for field in fields(grasp_object)
              if field.name not in OF_THE_ID}
    return hash_of({'object': grasp_object.id, 'beside': beside,
                    'context': context_key(hand_id, settings)})


def context_key(hand_id: str, settings: PlanSettings) -> str:
    """Return the name of all that a plan depends on but the object; see ``plan_key``."""
    return hash_of({'hand': hand_id, 'program': program_version(), **settings.numbers()})


def hash_of(value: Any) -> str:
    """Return 64 hexadecimal digits over the canonical form of a value."""
    text = json.dumps(canonical(value), sort_keys=True, separators=(',', ':'))
    return hashlib.sha256(text.encode()).hexdigest()


def canonical(value: Any) -> Any:
    """
    Return a value as what JSON writes in one way alone; numbers keep every bit.

    Raises
    ------
    TaskError
        The value is of another kind than mappings, sequences, data classes, arrays,
        texts and numbers.
    """
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return {'float': (float(value) + 0.0).hex()}    # + 0.0: -0.0 is 0.0
    if isinstance(value, np.ndarray):
        numbers = (np.asarray(value, '<f8') + 0.0).tobytes()
        return {'array': list(value.shape), 'sha256': hashlib.sha256(numbers).hexdigest()}
    if isinstance(value, Mapping):
        return {'mapping': {str(name): canonical(item) for name, item in value.items()}}
    if isinstance(value, (list, tuple)):
        return [canonical(item) for item in value]
    if is_dataclass(value):
        return {'class': type(value).__name__, 'fields': {
            field.name: canonical(getattr(value, field.name)) for field in fields(value)}}
    raise TaskError(f'a plan cannot be named by a {type(value).__name__}: {value!r:.60}')
