"""
Load exported grasps for training: ``python examples/load_grasps.py DIR [OBJECT]``.

DIR is what ``gripsim export DATABASE --format dexgraspnet --out DIR`` wrote. It prints a line for
each object: grasps, mean score, mean force of the contacts, and how far they leave the
object's bounding box. Needs numpy alone, so copy from here what you need.
"""

import argparse
from dataclasses import dataclass
import json
from pathlib import Path
import sys

import numpy as np


@dataclass(frozen=True)
class Grasps:
    """
    The n grasps of an object; ``arrays`` holds all fields of the file by name.

    Poses are those of the hand's base link in the object's frame [m]; ``qpos (n, J)`` are the
    angles of ``joint_names`` [rad]; ``contacts[i]`` are rows of point (3), force on the
    object (3) [N] and peak pressure [Pa] of grasp i.
    """

    label: str
    T_object_palm: np.ndarray
    qpos: np.ndarray
    joint_names: list
    contacts: list
    arrays: dict


def load_index(folder):
    """Return what ``index.json`` says of the plans, by object."""
    index = json.loads((folder / 'index.json').read_text(encoding='utf-8'))
    if index['format'] != 'gripsim-dexgraspnet' or index['format_version'] != 1:
        raise SystemExit(f'{folder}: holds {index["format"]} {index["format_version"]}, '
                         'gripsim-dexgraspnet 1 is read')
    objects = {}
    for plan in index['plans']:
        objects.setdefault(plan['object'], []).append(plan)
    return objects


def load_object(folder, plans):
    """Return the grasps of an object from the entries of the index about it."""
    file = folder / plans[0]['file']
    with np.load(file) as content:
        arrays = {name: content[name] for name in content.files}
    T_object_palm = np.tile(np.eye(4), (len(arrays['score']), 1, 1))
    T_object_palm[:, :3, :3] = arrays['rotation']
    T_object_palm[:, :3, 3] = arrays['translation']
    rows = np.hstack([arrays['contact_point'], arrays['contact_force'],
                      arrays['contact_peak_pressure'][:, None]])
    ends = arrays['contact_offsets']
    contacts = [rows[begin:end] for begin, end in zip(ends[:-1], ends[1:])]
    return Grasps(plans[0]['object'], T_object_palm, arrays['qpos'],
                  arrays['joint_names'].tolist(), contacts, arrays)


def load_qpos(folder, name):
    """Return ``(n, 6 + J)`` of the file in the layout of DexGraspNet, and its columns."""
    dicts = np.load(folder / 'dexgraspnet' / f'{name}.npy', allow_pickle=True)
    columns = list(dicts[0]['qpos'])
    return np.array([[item['qpos'][column] for column in columns] for item in dicts]), columns


def load_mesh(path):
    """Return vertices (V, 3) [m] and faces (F, 3) of an exported mesh."""
    rows = [line.split() for line in path.read_text(encoding='utf-8').splitlines()]
    vertices = np.array([row[1:] for row in rows if row[0] == 'v'], float)
    faces = np.array([row[1:] for row in rows if row[0] == 'f'], int) - 1
    return vertices, faces


def main(arguments):
    """Print a line for each object; return the exit code."""
    parser = argparse.ArgumentParser(prog='load_grasps', description=__doc__)
    parser.add_argument('folder', type=Path)
    parser.add_argument('object', nargs='?', help='only this one')
    options = parser.parse_args(arguments)
    for label, plans in load_index(options.folder).items():
        if options.object in (None, label) and any(plan['grasps'] for plan in plans):
            grasps = load_object(options.folder, plans)
            vertices, _ = load_mesh(options.folder / plans[0]['mesh'])
            low, high = vertices.min(axis=0), vertices.max(axis=0)
            points = np.vstack(grasps.contacts)[:, :3]
            outside = np.maximum(np.maximum(low - points, points - high), 0.0).max()
            forces = np.linalg.norm(np.vstack(grasps.contacts)[:, 3:6], axis=1)
            print(f'{label}: {len(grasps.qpos)} grasps, mean score '
                  f'{grasps.arrays["score"].mean():.3f}, mean force {forces.mean():.2f} N, '
                  f'contacts leave the bounding box by {1e3 * outside:.1f} mm at most')
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
