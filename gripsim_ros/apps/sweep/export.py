"""
Grasps of the database as files: JSON as ``gripsim plan`` writes it, and the meshes.

The order is that of labels, materials, scales and keys, then ranks; it does not depend on
the order in which grasps were found. Layout and fields: docs/sweep.md.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...core.bodies import TriangleMesh
from ...core.errors import GripsimError
from ...library.database.records import JobRecord, StoredPlan
from ...library.grasp_file import PlanAnswer

#: Digits of hashes in names of files.
SHORT = 16


class ExportError(GripsimError):
    """The folder of an export cannot be used."""


@dataclass(eq=False)
class ExportSummary:
    """What an export wrote: counts, programs whose plans it holds, jobs that had failed."""

    plans: int = 0
    grasps: int = 0
    failed: int = 0
    versions: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)


def export_json(jobs: Iterable[JobRecord], folder: Path) -> ExportSummary:
    """
    Write a file for each plan, one line for each grasp, the meshes and an index.

    Parameters
    ----------
    jobs : iterable of JobRecord
        In the order wanted.
    folder : Path
        New or empty.

    Raises
    ------
    ExportError
        The folder is not empty or cannot be made.
    """
    make_folder(folder, ('plans', 'meshes'))
    summary, entries = ExportSummary(), []
    with (folder / 'grasps.jsonl').open('w', encoding='utf-8') as lines:
        for job, plan in planned(jobs, summary):
            content = plain(plan_answer(job, plan).to_mapping())
            entry = {**describe(job, plan), 'file': f'plans/{plan_name(job, plan)}.json',
                     'mesh': write_mesh(plan.grasp_object.mesh, folder)}
            write_text(folder / entry['file'], json.dumps(content, indent=1, allow_nan=False))
            entries.append(entry)
            about = {name: entry[name] for name in (
                'key', 'object', 'material', 'scale', 'mesh')}
            for grasp in content['grasps']:
                lines.write(json.dumps({**about, **grasp}, allow_nan=False) + '\n')
    write_index(folder, 'json', entries)
    return close_summary(summary, entries)


def planned(jobs: Iterable[JobRecord], summary: ExportSummary
            ) -> Iterator[tuple[JobRecord, StoredPlan]]:
    """Yield jobs with their plans; count the others."""
    for job in jobs:
        if job.plan is None:
            summary.failed += 1
        else:
            summary.plans += 1
            summary.grasps += len(job.plan.grasps)
            yield job, job.plan


def plan_answer(job: JobRecord, plan: StoredPlan) -> PlanAnswer:
    """Return a stored plan as the answer that ``gripsim plan`` writes."""
    hand: Any = plan.hand       # name, base link and joints are all that an answer tells
    settings = json.loads(plan.settings)
    return PlanAnswer(hand, plan.grasp_object, job.label, job.scale, plan.grasps,
                      plan.rejections, {**plan.statistics(), 'seed': settings['seed']},
                      plan.nearest_miss, plan.hint)


def describe(job: JobRecord, plan: StoredPlan) -> dict[str, Any]:
    """Return what an index says of a plan."""
    return {'key': plan.key, 'object': job.label, 'material': job.material_name,
            'scale': job.scale, 'object_id': plan.grasp_object.id, 'hand_id': plan.hand.id,
            'version': plan.version, 'settings': json.loads(plan.settings),
            'grasps': len(plan.grasps)}


def plan_name(job: JobRecord, plan: StoredPlan) -> str:
    """Return a name for the files of a plan that no other has."""
    return '-'.join([safe_name(job.label), safe_name(job.material_name), f'{job.scale:g}',
                     plan.key[:SHORT]])


def safe_name(label: str) -> str:
    """Return a label as the name of a file; another label has another name."""
    name = re.sub(r'[^\w.-]+', '_', label)
    return name if name == label else f'{name}-{hashlib.sha256(label.encode()).hexdigest()[:8]}'


def write_mesh(mesh: TriangleMesh, folder: Path) -> str:
    """
    Write a surface in metres as OBJ once; return its path below ``folder``.

    Loaded with scale 1 it is the object planned for, bit for bit.
    """
    name = f'meshes/{mesh.content_hash[:SHORT]}.obj'
    if not (folder / name).exists():
        lines = [f'v {x!r} {y!r} {z!r}' for x, y, z in mesh.vertices.tolist()]
        lines += [f'f {a + 1} {b + 1} {c + 1}' for a, b, c in mesh.faces.tolist()]
        write_text(folder / name, '\n'.join(lines))
    return name


def make_folder(folder: Path, parts: Iterable[str]) -> None:
    """Make a folder and those in it; refuse one that holds something."""
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise ExportError(f'{folder}: must be a new or an empty folder')
        for part in parts:
            (folder / part).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ExportError(f'{folder}: cannot be written ({error.strerror})') from None


def write_index(folder: Path, form: str, entries: list[dict[str, Any]],
                **more: Any) -> None:
    """Write ``index.json``: the form, its version, and an entry for each plan."""
    write_text(folder / 'index.json', json.dumps(
        {'format': f'gripsim-{form}', 'format_version': 1, **more, 'plans': entries}, indent=1))


def close_summary(summary: ExportSummary, entries: Iterable[Mapping[str, Any]]) -> ExportSummary:
    """Return the summary with versions and files."""
    rows = list(entries)
    summary.versions = sorted({row['version'] for row in rows})
    summary.files = [row['file'] for row in rows]
    return summary


def write_text(path: Path, text: str) -> None:
    """Write a file that ends in a new line."""
    path.write_text(text + '\n', encoding='utf-8')


def plain(value: Any) -> Any:
    """Return a value as strict JSON takes it: what is not a finite number is None."""
    if hasattr(value, 'tolist'):
        return plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
