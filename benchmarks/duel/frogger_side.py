"""
FRoGGeR's side of the duel, in its own environment: its grasps and their times, by its interface.

``PYTHONPATH=DIR python benchmarks/duel/frogger_side.py DIR GRASPS [NAME ...]``, DIR being a
clone of alberthli/frogger; needs drake, jax, nlopt, open3d and the rest of its pyproject.toml. All
settings are those of its own scripts/timing.py. One file an object is written; those that are
there are left out. A grasp that takes more than a minute ends its object.
"""

import argparse
from concurrent.futures import TimeoutError
import json
from pathlib import Path
import time
import warnings

from frogger.metrics import ferrari_canny_L1, min_weight_metric
from frogger.objects import MeshObjectConfig
from frogger.robots.robots import BH280ModelConfig
from frogger.sampling import HeuristicBH280ICSampler
from frogger.solvers import FroggerConfig
from frogger.utils import timeout
import numpy as np
from pydrake.math import RigidTransform, RotationMatrix
import trimesh

#: Time for one grasp, and for those of an object [s].
ONE, ALL = 60.0, 120.0
MODEL = {'ns': 4, 'mu': 0.7, 'd_min': 0.001, 'd_pen': 0.005, 'l_bar_cutoff': 0.3,
         'ignore_mass_inertia': True, 'viz': False, 'custom_coll_callback': None}
SOLVER = {'tol_surf': 1e-3, 'tol_joint': 1e-2, 'tol_col': 1e-3, 'tol_fclosure': 1e-5,
          'xtol_rel': 1e-6, 'xtol_abs': 1e-6, 'maxeval': 1000}
PALM = 'bh_palm'


def prepared(name, mesh, T_world_object):
    """Return FRoGGeR's model of hand and object, and its solver."""
    body = MeshObjectConfig(X_WO=T_world_object, mesh=mesh, name=name, enforce_watertight=True,
                            clean=False).create()
    model = BH280ModelConfig(obj=body, **MODEL).create()
    return model, FroggerConfig(model=model, sampler=HeuristicBH280ICSampler(
        model, z_axis_fwd=False), **SOLVER).create()


def found(model, T_world_object, joints) -> dict:
    """Return a grasp as it is written: the palm's pose, joints by name, contacts (3, k)."""
    numbers = {'min_weight': float(min_weight_metric(model, joints)),
               'epsilon': float(ferrari_canny_L1(model, joints))}
    model.set_q(joints)
    plant, context = model.plant, model.plant_context
    palm = plant.EvalBodyPoseInWorld(context, plant.GetBodyByName(PALM))
    named = dict(zip(plant.GetPositionNames(), plant.GetPositions(context)))
    return numbers | {
        'T_object_palm': (T_world_object.inverse() @ palm).GetAsMatrix4().tolist(),
        'q': {key: float(value) for key, value in named.items() if 'bh_j' in key},
        'contacts': np.asarray(model.P_OF).tolist()}


def grasps(name: str, file: Path, count: int) -> dict:
    """Return the record of one object."""
    np.random.seed(0)
    begin = time.time()
    mesh = trimesh.load(file)
    T_world_object = RigidTransform(RotationMatrix(), np.array([0.0, 0.0, -mesh.bounds[0, 2]]))
    model, solver = prepared(name, mesh, T_world_object)
    record = {'name': name, 'faces': len(mesh.faces), 'setup': time.time() - begin, 'grasps': []}
    spent = 0.0
    while len(record['grasps']) < count and spent < ALL:
        begin = time.time()
        try:
            joints = timeout(ONE)(solver.generate_grasp)()
        except TimeoutError:        # its thread cannot be ended: no second beside it
            record['grasps'].append({'seconds': time.time() - begin, 'q': None})
            break
        seconds = time.time() - begin
        record['grasps'].append({'seconds': seconds, **found(model, T_world_object, joints)})
        spent += seconds
    return record


def main() -> None:
    """Write a file for each object."""
    warnings.filterwarnings('ignore')
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('folder', type=Path)
    parser.add_argument('out', type=Path)
    parser.add_argument('names', nargs='*')
    parser.add_argument('--count', type=int, default=10, help='grasps an object')
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    names = options.names or sorted(path.name for path in (options.folder / 'data').iterdir())
    for name in names:
        kept = options.out / f'{name}.json'
        if not kept.exists():
            record = grasps(name, options.folder / 'data' / name / f'{name}_clean.obj',
                            options.count)
            kept.write_text(json.dumps(record), encoding='utf-8')
            print(name, [round(grasp['seconds'], 2) for grasp in record['grasps']], flush=True)


if __name__ == '__main__':
    main()
