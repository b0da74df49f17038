"""
Shake planned grasps in MuJoCo: rigid bodies, none of this project's contact code.

Protocol (after DexGraspBench): the palm is fixed, gravity is off, the object floats free.
The fingers follow the joint trajectory, then squeeze; then six forces of ten times the
mass, along the object's axes, each for a while. A grasp holds if the object never moves
by more than 5 cm or 15 degrees from where the closed hand held it.
"""

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gripsim_ros.resources import share_directory

#: Names of the URDF that the simulation keeps apart although they touch.
NEIGHBOURS = (('sdh_palm_link', 'sdh_finger_11_link'), ('sdh_palm_link', 'sdh_finger_21_link'),
              ('sdh_palm_link', 'sdh_thumb_1_link'), ('sdh_palm_link', 'sdh_finger_12_link'),
              ('sdh_palm_link', 'sdh_finger_22_link'), ('sdh_palm_link', 'sdh_thumb_2_link'),
              ('sdh_thumb_1_link', 'sdh_thumb_2_link'))
CLOSING_TIME = 1.5
SQUEEZE_TIME = 0.5
SHAKE_TIME = 1.0
ACCELERATION = 10.0
MAX_SHIFT = 0.05
MAX_TURN = np.deg2rad(15.0)
MAX_PUSH = 0.02
SQUEEZE = 0.03
POSITION_GAIN = 20.0
TIME_STEP = 0.002


@dataclass(frozen=True)
class Verdict:
    """What became of a grasp: held or not, push while closing [m], worst motion [m, rad]."""

    held: bool
    push: float
    shift: float
    turn: float
    contacts: int


def hand_spec(mesh_folder: Path):
    """Return a MuJoCo model specification of the hand with meshes of a folder."""
    import mujoco
    urdf = (share_directory() / 'urdf' / 'sdh.urdf').read_text()
    urdf = urdf.replace('package://gripsim_ros/urdf/meshes/', f'{mesh_folder}/')
    compiler = ('<mujoco><compiler fusestatic="false" discardvisual="true" strippath="false" '
                'balanceinertia="true"/></mujoco>')
    head, tail = urdf.split('<robot name="sdh">', 1)
    return mujoco.MjSpec.from_string(f'{head}<robot name="sdh">{compiler}{tail}')


def build_model(pieces, mass: float, friction: float, pose, joint_names, efforts,
                mesh_folder: Path):
    """Return a compiled model of hand and object; ``pose`` is of the palm in the object."""
    import mujoco
    spec = hand_spec(mesh_folder)
    spec.option.gravity = [0.0, 0.0, 0.0]
    spec.option.timestep = TIME_STEP
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.impratio = 10.0
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    for geom in spec.geoms:
        geom.friction = [friction, 0.02, 0.0001]
        geom.condim = 4
    for joint in spec.joints:
        joint.damping = [0.3, 0.0, 0.0]
        joint.armature = 0.002
    for first, second in NEIGHBOURS:
        spec.add_exclude(bodyname1=first, bodyname2=second)
    rotation = pose[:3, :3].T
    body = spec.worldbody.add_body(name='object', pos=list(-rotation @ pose[:3, 3]),
                                   quat=list(_quaternion(rotation)))
    body.add_freejoint()
    volume = sum(abs(piece.volume) for piece in pieces)
    for i, piece in enumerate(pieces):
        spec.add_mesh(name=f'piece_{i}', uservert=piece.vertices.ravel().tolist(),
                      userface=piece.faces.ravel().tolist())
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname=f'piece_{i}',
                      density=mass / volume, friction=[friction, 0.02, 0.0001], condim=4)
    for name, effort in zip(joint_names, efforts):
        actuator = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        actuator.set_to_position(kp=POSITION_GAIN, kv=0.5)
        actuator.forcelimited = True
        actuator.forcerange = [-effort, effort]
    return spec.compile()


def _quaternion(rotation):
    from scipy.spatial.transform import Rotation
    x, y, z, w = Rotation.from_matrix(rotation).as_quat()
    return np.array([w, x, y, z])


def _pose(entry):
    from gripsim_ros.core.transforms import from_pose
    return from_pose(entry['position'], entry['orientation'])


def hold(grasp: dict, pieces, mass: float, friction: float, efforts, mesh_folder: Path,
         squeeze: float = SQUEEZE) -> Verdict:
    """Close one grasp, shake it, and return the verdict."""
    import mujoco
    rows = np.array(grasp['joint_trajectory']['points'])
    names = grasp['joint_trajectory']['joint_names']
    model = build_model(pieces, mass, friction, _pose(grasp['hand_pose']), names, efforts,
                        mesh_folder)
    data = mujoco.MjData(model)
    for name, value in zip(names, rows[0]):
        data.joint(name).qpos = value
    data.joint('sdh_finger_21_joint').qpos = rows[0][0]
    mujoco.mj_forward(model, data)
    begin = _object_pose(data)
    target = np.array(grasp['grip']['joint_positions'])
    moved = np.abs(rows[-1] - rows[0]) > 1e-4
    moved[0] = False
    target = target + squeeze * np.sign(rows[-1] - rows[0]) * moved
    for k in range(int(CLOSING_TIME / TIME_STEP)):
        data.ctrl[:] = _along(rows, k * TIME_STEP / CLOSING_TIME)
        mujoco.mj_step(model, data)
    for k in range(int(SQUEEZE_TIME / TIME_STEP)):
        share = min(1.0, 2.0 * k * TIME_STEP / SQUEEZE_TIME)
        data.ctrl[:] = rows[-1] + share * (target - rows[-1])
        mujoco.mj_step(model, data)
    closed = _object_pose(data)
    push = float(np.linalg.norm(closed[0] - begin[0]))
    shift = turn = 0.0
    for axis in (*np.eye(3), *-np.eye(3)):
        data.body('object').xfrc_applied[:3] = (
            data.body('object').xmat.reshape(3, 3) @ axis * mass * ACCELERATION)
        for _ in range(int(SHAKE_TIME / TIME_STEP)):
            mujoco.mj_step(model, data)
        now = _object_pose(data)
        shift = max(shift, float(np.linalg.norm(now[0] - closed[0])))
        turn = max(turn, _angle(closed[1], now[1]))
        if shift > MAX_SHIFT or turn > MAX_TURN:
            break
    held = push <= MAX_PUSH and shift <= MAX_SHIFT and turn <= MAX_TURN
    return Verdict(held, push, shift, turn, int(data.ncon))


def _along(rows, share):
    position = min(share, 1.0) * (len(rows) - 1)
    low = min(int(position), len(rows) - 2)
    return rows[low] + (position - low) * (rows[low + 1] - rows[low])


def _object_pose(data):
    body = data.body('object')
    return body.xpos.copy(), body.xmat.reshape(3, 3).copy()


def _angle(first, second):
    cosine = 0.5 * (np.trace(first.T @ second) - 1.0)
    return float(np.arccos(np.clip(cosine, -1.0, 1.0)))


def convex_pieces(mesh_file: str, scale: float):
    """Return the convex pieces of a mesh file."""
    from gripsim_ros.core.bodies import load_mesh
    return convex_pieces_of(load_mesh(mesh_file, scale).mesh)


def convex_pieces_of(body):
    """Return the convex pieces of an object: its hull, or a decomposition by coacd."""
    import trimesh
    mesh = trimesh.Trimesh(body.vertices, body.faces, process=False)
    hull = mesh.convex_hull
    if mesh.volume > 0.97 * hull.volume:
        return [hull]
    import coacd
    coacd.set_log_level('error')
    parts = coacd.run_coacd(coacd.Mesh(mesh.vertices, mesh.faces), threshold=0.05)
    return [trimesh.Trimesh(v, f).convex_hull for v, f in parts]


def main() -> int:
    """Shake the grasps of a file written by ``gripsim plan --out`` and print a table."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument('grasps')
    parser.add_argument('--friction', type=float, required=True)
    parser.add_argument('--meshes', default=str(share_directory() / 'urdf' / 'meshes'))
    parser.add_argument('--squeeze', type=float, default=SQUEEZE)
    arguments = parser.parse_args()
    plan = json.loads(Path(arguments.grasps).read_text())
    pieces = convex_pieces(plan['object']['mesh'], plan['object']['scale'])
    efforts = [2.1, 2.1, 1.4, 2.1, 1.4, 2.1, 1.4]
    held = 0
    for grasp in plan['grasps']:
        verdict = hold(grasp, pieces, plan['object']['mass'], arguments.friction, efforts,
                       Path(arguments.meshes), arguments.squeeze)
        held += verdict.held
        print(f"rank {grasp['rank']:2d}  held {verdict.held!s:5}  pushed "
              f'{1e3 * verdict.push:5.1f} mm  moved {1e3 * verdict.shift:6.1f} mm  turned '
              f'{np.rad2deg(verdict.turn):6.1f} deg')
    print(f"{held} of {len(plan['grasps'])} held")
    return 0


if __name__ == '__main__':
    sys.exit(main())
