"""
Grasps of the database as arrays that networks are trained on.

``dexgraspnet/OBJECT.npy`` has the layout of DexGraspNet (R. Wang et al., ICRA 2023,
arXiv 2210.02697): an array of dicts with ``scale``, ``qpos`` and ``qpos_st``. The hand is
another one, so joint names are the hand's own; our numbers stand beside. ``arrays/OBJECT.npz``
holds the same as plain arrays that are read without pickle. Fields: docs/sweep.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.bodies.material import NUMBERS
from ...core.errors import HandError
from ...core.planning.ranked_grasp import GraspContact, RankedGrasp
from ...core.transforms import euler_angles
from ...library.database.records import JobRecord, StoredPlan
from .export import (
    ExportSummary, close_summary, describe, make_folder, planned, safe_name, write_index,
    write_mesh)

#: Names of the wrist's translation [m] and rotation [rad] in DexGraspNet.
TRANSLATION_NAMES = ('WRJTx', 'WRJTy', 'WRJTz')
ROTATION_NAMES = ('WRJRx', 'WRJRy', 'WRJRz')
#: Rotations about the fixed axes x, y, z in this order; ``sxyz`` in transforms3d.
EULER_AXES = 'xyz'
#: Numbers of a contact, and whether each is one number; vectors have three.
CONTACT_FIELDS = {field.name: field.type in (float, 'float', int, 'int')
                  for field in fields(GraspContact) if field.name != 'link'}
#: Numbers of a grasp that are one number each.
GRASP_FIELDS = tuple(field.name for field in fields(RankedGrasp)
                     if field.type in (float, 'float'))

Array = NDArray[np.float64]
Row = tuple[JobRecord, StoredPlan, RankedGrasp]


def export_arrays(jobs: Iterable[JobRecord], folder: Path) -> ExportSummary:
    """
    Write both kinds of arrays for each object, the meshes and an index.

    Parameters
    ----------
    jobs : iterable of JobRecord
        Those of an object follow each other.
    folder : Path
        New or empty.

    Raises
    ------
    ExportError
        The folder is not empty or cannot be made.
    HandError
        An object was planned for with hands of different joints.
    """
    make_folder(folder, ('dexgraspnet', 'arrays', 'meshes'))
    summary, entries, names = ExportSummary(), [], set()
    rows: list[Row] = []
    label = None
    for job, plan in planned(jobs, summary):
        if job.label != label and rows:
            _write_object(rows, folder)
            rows = []
        label = job.label
        code = safe_name(job.label)
        rows += [(job, plan, grasp) for grasp in plan.grasps]
        names.add(plan.hand.joint_names)
        entries.append({**describe(job, plan), 'file': f'arrays/{code}.npz',
                        'mesh': write_mesh(plan.grasp_object.mesh, folder)})
    if rows:
        _write_object(rows, folder)
    write_index(folder, 'dexgraspnet', entries,
                joint_names=[list(joints) for joints in sorted(names)])
    return close_summary(summary, entries)


def _write_object(rows: Sequence[Row], folder: Path) -> None:
    code = safe_name(rows[0][0].label)
    dicts = np.empty(len(rows), object)
    dicts[:] = [grasp_dict(*row) for row in rows]
    np.save(folder / 'dexgraspnet' / f'{code}.npy', dicts, allow_pickle=True)
    np.savez_compressed(folder / 'arrays' / f'{code}.npz', **object_arrays(rows))


def grasp_dict(job: JobRecord, plan: StoredPlan, grasp: RankedGrasp) -> dict[str, Any]:
    """
    Return a grasp in the layout of DexGraspNet, plain numbers alone.

    ``qpos`` is the hand where the grasp holds, ``qpos_st`` the open hand before the
    approach; translation and rotation are those of the hand's base link in the object's
    frame, the mesh's own with ``scale`` applied.
    """
    joints = plan.hand.joint_names
    terms = {f'term_{term.name}': float(term.normalised) for term in grasp.terms}
    return {
        'scale': float(job.scale),
        'qpos': _qpos(grasp.T_object_palm, grasp.trajectory[-1], joints),
        'qpos_st': _qpos(grasp.T_object_pregrasp, grasp.trajectory[0], joints),
        **{name: float(getattr(grasp, name)) for name in GRASP_FIELDS}, **terms,
        'rank': int(grasp.rank),
        'preshape': grasp.preshape, 'quantitative': bool(grasp.quantitative),
        'grip_positions': dict(zip(joints, grasp.grip_positions.tolist())),
        'grip_efforts': dict(zip(joints, grasp.grip_efforts.tolist())),
        'contacts': [_contact_dict(contact) for contact in grasp.contacts],
        'centre_of_mass': grasp.centre_of_mass.tolist(),
        'T_object_settled': grasp.T_object_settled.tolist(),
        'limiting_load': _limiting_load(grasp).tolist(),
        'material': {name: getattr(plan.grasp_object.material, name) for name in NUMBERS},
        'material_name': job.material_name, 'mesh_hash': plan.grasp_object.mesh.content_hash,
        'key': plan.key}


def _qpos(T_object_palm: Array, angles: Array, joints: Sequence[str]) -> dict[str, float]:
    euler = euler_angles(T_object_palm[:3, :3], EULER_AXES)
    values = [*T_object_palm[:3, 3].tolist(), *euler.tolist(), *angles.tolist()]
    return dict(zip((*TRANSLATION_NAMES, *ROTATION_NAMES, *joints), values))


def _limiting_load(grasp: RankedGrasp) -> Array:
    """Return the load (6,) that fails first, NaN where none was examined."""
    return np.full(6, np.nan) if grasp.limiting_load is None else grasp.limiting_load


def _contact_dict(contact: GraspContact) -> dict[str, Any]:
    return {'link': contact.link, **{
        name: np.asarray(getattr(contact, name), float).tolist() for name in CONTACT_FIELDS}}


def object_arrays(rows: Sequence[Row]) -> dict[str, NDArray[Any]]:
    """
    Return the n grasps of an object as arrays, J joints each.

    Raises
    ------
    HandError
        The grasps are of hands with different joints.
    """
    plans, grasps = [row[1] for row in rows], [row[2] for row in rows]
    joints = plans[0].hand.joint_names
    if any(plan.hand.joint_names != joints for plan in plans):
        raise HandError(f'{rows[0][0].label}: planned for with hands of different joints; '
                        'export them from databases of their own')
    palm = np.array([grasp.T_object_palm for grasp in grasps])
    pregrasp = np.array([grasp.T_object_pregrasp for grasp in grasps])
    term_names = [term.name for term in grasps[0].terms]
    return {
        'joint_names': np.array(joints), 'translation': palm[:, :3, 3],
        'rotation': palm[:, :3, :3], 'qpos': np.array([g.trajectory[-1] for g in grasps]),
        'translation_st': pregrasp[:, :3, 3], 'rotation_st': pregrasp[:, :3, :3],
        'qpos_st': np.array([g.trajectory[0] for g in grasps]),
        **_trajectories(grasps),
        'grip_positions': np.array([g.grip_positions for g in grasps]),
        'grip_efforts': np.array([g.grip_efforts for g in grasps]),
        'scale': np.array([job.scale for job, _, _ in rows]),
        **{name: np.array([getattr(g, name) for g in grasps], float) for name in GRASP_FIELDS},
        'term_names': np.array(term_names),
        'terms': np.array([[t.normalised for t in g.terms] for g in grasps]),
        'weights': np.array([[t.weight for t in g.terms] for g in grasps]),
        'centre_of_mass': np.array([g.centre_of_mass for g in grasps]),
        'T_object_settled': np.array([g.T_object_settled for g in grasps]),
        'limiting_load': np.array([_limiting_load(g) for g in grasps]),
        'quantitative': np.array([g.quantitative for g in grasps]),
        'rank': np.array([g.rank for g in grasps]),
        'preshape': np.array([g.preshape for g in grasps]),
        'material': np.array([[getattr(plan.grasp_object.material, name) for name in NUMBERS]
                              for plan in plans]),
        'material_fields': np.array(NUMBERS),
        'material_name': np.array([job.material_name for job, _, _ in rows]),
        'mesh_hash': np.array([plan.grasp_object.mesh.content_hash for plan in plans]),
        'key': np.array([plan.key for plan in plans]), **_contacts(grasps)}


def _trajectories(grasps: Sequence[RankedGrasp]) -> dict[str, NDArray[Any]]:
    """Return all rows of the trajectories, and where each begins and ends."""
    counts = [len(grasp.trajectory) for grasp in grasps]
    return {'trajectory': np.concatenate([grasp.trajectory for grasp in grasps]),
            'trajectory_offsets': np.concatenate([[0], np.cumsum(counts)])}


def _contacts(grasps: Sequence[RankedGrasp]) -> dict[str, NDArray[Any]]:
    """Return all contacts as rows, and where those of each grasp begin and end."""
    contacts = [contact for grasp in grasps for contact in grasp.contacts]
    counts = [len(grasp.contacts) for grasp in grasps]
    arrays = {f'contact_{name}': np.array(
        [getattr(contact, name) for contact in contacts], float).reshape(
            len(contacts) if single else (len(contacts), 3))
        for name, single in CONTACT_FIELDS.items()}
    return {'contact_offsets': np.concatenate([[0], np.cumsum(counts)]),
            'contact_link': np.array([contact.link for contact in contacts], str), **arrays}
