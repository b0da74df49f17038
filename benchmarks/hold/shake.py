"""
Shake planned grasps in MuJoCo: rigid bodies, none of this project's contact code.

Hand and convex pieces are those of the simulated hand; MuJoCo alone finds what touches.

Protocol (after DexGraspBench): the palm is fixed, gravity is off, the object floats free.
The fingers follow the joint trajectory, then squeeze; then six forces of ten times the
mass, along the object's axes, two seconds each. A grasp holds if closing pushes the object
by no more than 2 cm, and the shaking moves it by no more than 5 cm or 15 degrees from where
the closed hand held it.
"""

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gripsim_ros.hardware.sim.hand_model import (
    add_position_control, hand_spec, mimic_rows, whole_hand)
from gripsim_ros.hardware.sim.options import default_options
from gripsim_ros.hardware.sim.solids import convex_pieces_of
from gripsim_ros.library.resources import load_default_hand, share_directory

#: Names of the URDF that the simulation keeps apart although they touch.
NEIGHBOURS = (('sdh_palm_link', 'sdh_finger_11_link'), ('sdh_palm_link', 'sdh_finger_21_link'),
              ('sdh_palm_link', 'sdh_thumb_1_link'), ('sdh_palm_link', 'sdh_finger_12_link'),
              ('sdh_palm_link', 'sdh_finger_22_link'), ('sdh_palm_link', 'sdh_thumb_2_link'),
              ('sdh_thumb_1_link', 'sdh_thumb_2_link'))
SIX_AXES = (*np.eye(3), *-np.eye(3))
CLOSING_TIME = 1.5
SQUEEZE_TIME = 0.5
SHAKE_TIME = 2.0
ACCELERATION = 10.0
MAX_SHIFT = 0.05
MAX_TURN = np.deg2rad(15.0)
MAX_PUSH = 0.02
SQUEEZE = 0.03
POSITION_GAIN, DAMPING = 20.0, 0.5
TIME_STEP = 0.002
#: Time constant [s] and damping ratio of contacts. With MuJoCo's 0.02 s a light object sinks
#: millimetres into the fingertips: contacts are as stiff as the lighter body is heavy.
CONTACT_TIME = [0.004, 1.0]
#: Without these, MuJoCo's friction creeps under any load: millimetres in twelve seconds.
NOSLIP_ITERATIONS = 10
#: Torque of torsion a contact bears over its normal force [m]: the protocol's.
TORSION = 0.02
#: Corrections of the targets until the joints exert what is wanted.
PRESS_STEPS = 4
#: Slow growth of the pull, from none to the largest [m/s^3, m/s^2].
RAMP_RATE, RAMP_END = 20.0, 30.0
#: Speed below which an object under a growing pull still counts as held [m/s, rad/s].
STILL_SPEED, STILL_SPIN = 0.03, 0.5


@dataclass(frozen=True)
class HeldObject:
    """
    A rigid object: convex pieces [m], mass [kg], friction [-] and torsion [m].

    ``drag`` is the resistance to its translation [N s/m].
    """

    pieces: list
    mass: float
    friction: float
    torsion: float = TORSION
    drag: float = 0.0


@dataclass(frozen=True)
class Verdict:
    """What became of a grasp: held or not, push while closing [m], worst motion [m, rad]."""

    held: bool
    push: float
    shift: float
    turn: float
    contacts: int


def build_model(held: HeldObject, pose, hand, mesh_folder: Path | None):
    """Return a compiled model of hand and object; ``pose`` is of the palm in the object."""
    import mujoco
    spec = _hand_spec(hand, mesh_folder)
    spec.option.gravity = [0.0, 0.0, 0.0]
    spec.option.timestep = TIME_STEP
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.impratio = 10.0
    spec.option.noslip_iterations = NOSLIP_ITERATIONS
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    friction = [held.friction, held.torsion, 0.0001]
    for geom in spec.geoms:
        geom.friction = friction
        geom.condim = 4
        geom.solref = CONTACT_TIME
    rotation = pose[:3, :3].T
    body = spec.worldbody.add_body(name='object', pos=list(-rotation @ pose[:3, 3]),
                                   quat=list(_quaternion(rotation)))
    body.add_freejoint()
    volume = sum(abs(piece.volume) for piece in held.pieces)
    for i, piece in enumerate(held.pieces):
        spec.add_mesh(name=f'piece_{i}', uservert=piece.vertices.ravel().tolist(),
                      userface=piece.faces.ravel().tolist())
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname=f'piece_{i}',
                      density=held.mass / volume, friction=friction, condim=4,
                      solref=CONTACT_TIME)
    return spec.compile()


def _hand_spec(hand, mesh_folder: Path | None):
    """Return the SDH with meshes of a folder, or any other hand as the simulated one has it."""
    if mesh_folder is None:
        options = default_options()
        return whole_hand(hand, options.joint_damping, options.contact_time)
    spec = hand_spec(mesh_folder)
    for joint in spec.joints:
        joint.damping = [0.3, 0.0, 0.0]
        joint.armature = 0.002
    for first, second in NEIGHBOURS:
        spec.add_exclude(bodyname1=first, bodyname2=second)
    count = len(hand.joint_names)
    add_position_control(spec, hand, np.full(count, POSITION_GAIN), np.full(count, DAMPING))
    return spec


def _quaternion(rotation):
    from scipy.spatial.transform import Rotation
    x, y, z, w = Rotation.from_matrix(rotation).as_quat()
    return np.array([w, x, y, z])


def _pose(entry):
    from gripsim_ros.core.transforms import from_pose
    return from_pose(entry['position'], entry['orientation'])


class Shaker:
    """
    One hand at one object in MuJoCo; the world's frame is the palm's.

    Parameters
    ----------
    held : HeldObject
    T_object_palm : (4, 4) float
    hand : HandModel
        Names, torque limits and preshapes of the joints.
    mesh_folder : Path or None
        Meshes of the SDH's links, named as in the URDF; None: any hand, as it is simulated.
    joints : (J,) float
        The open hand [rad].
    """

    def __init__(self, held, T_object_palm, hand, mesh_folder, joints) -> None:
        import mujoco
        self._step, self._forward = mujoco.mj_step, mujoco.mj_forward
        self.held = held
        self.model = build_model(held, T_object_palm, hand, mesh_folder)
        self.data = mujoco.MjData(self.model)
        self._lower, self._upper = self.limits = hand.joint_lower, hand.joint_upper
        self._joints = [int(self.model.joint(name).qposadr[0]) for name in hand.joint_names]
        first = int(self.model.body('object').dofadr[0])
        self._way = slice(first, first + 3)
        self.place(joints)
        self.begin = self.closed = self._object_pose()
        self._T_palm_object = self._object_frame()

    def place(self, joints) -> None:
        """Set the joints (J,) [rad] at once, and send them there."""
        self.data.qpos[self._joints] = joints
        for row in mimic_rows(self.model):
            follower, leader = (self.model.jnt_qposadr[ids[row]] for ids in (
                self.model.eq_obj1id, self.model.eq_obj2id))
            offset, multiplier = self.model.eq_data[row, :2]
            self.data.qpos[follower] = offset + multiplier * self.data.qpos[leader]
        self.data.ctrl[:] = joints
        self._forward(self.model, self.data)

    def links_gap(self, names, joints, farthest: float = 0.05) -> float:
        """Return the distance of links by name to the object with the joints there [m]."""
        import mujoco
        self.place(joints)
        body, links = self.model.body('object').id, {self.model.body(n).id for n in names}
        pairs = ((link, piece) for link in range(self.model.ngeom)
                 if self.model.geom_bodyid[link] in links
                 for piece in range(self.model.ngeom) if self.model.geom_bodyid[piece] == body)
        return min((mujoco.mj_geomDistance(self.model, self.data, link, piece, farthest, None)
                    for link, piece in pairs), default=farthest)

    @property
    def joints(self):
        """Return where the actuated joints are (J,) [rad]."""
        return self.data.qpos[self._joints].copy()

    @property
    def penetration(self) -> float:
        """Return the deepest overlap of hand and object at present [m]."""
        body = self.model.body('object').id
        return -min((float(c.dist) for c in self.data.contact
                     if body in self.model.geom_bodyid[c.geom]), default=0.0)

    def link_forces(self) -> dict[str, float]:
        """Return the normal force of each link that touches the object [N]."""
        import mujoco
        forces, wrench = {}, np.zeros(6)
        body = self.model.body('object').id
        for i, contact in enumerate(self.data.contact):
            bodies = self.model.geom_bodyid[contact.geom]
            if body in bodies:
                link = self.model.body(int(bodies[bodies != body][0])).name
                mujoco.mj_contactForce(self.model, self.data, i, wrench)
                forces[link] = forces.get(link, 0.0) + float(wrench[0])
        return forces

    @property
    def push(self) -> float:
        """Return how far closing moved the object's centre of mass [m]."""
        return float(np.linalg.norm(self.closed[0] - self.begin[0]))

    def move(self, rows, seconds: float) -> None:
        """Send the joints along rows (m, J) [rad] in so many seconds, then stay."""
        steps = int(seconds / TIME_STEP)
        body = self.data.body('object')
        for k in range(steps):
            self.data.ctrl[:] = _along(np.asarray(rows), (k + 1) / steps)
            body.xfrc_applied[:3] = -self.held.drag * self.data.qvel[self._way]
            self._step(self.model, self.data)
        body.xfrc_applied[:] = 0.0
        self.closed = self._object_pose()

    def squeeze(self, target) -> None:
        """Send the joints to a target (J,) [rad], then wait as long."""
        now = self.data.ctrl.copy()
        self.move([now, target], 0.5 * SQUEEZE_TIME)
        self.move([target, target], 0.5 * SQUEEZE_TIME)

    def press(self, efforts) -> None:
        """Send the joints to where they exert efforts (J,) [N m], then hold them there."""
        self.squeeze(self.data.ctrl.copy())
        for _ in range(PRESS_STEPS):
            lacking = efforts - self.data.actuator_force
            self.squeeze(np.clip(self.data.ctrl + lacking / POSITION_GAIN, self._lower,
                                 self._upper))

    def shake(self, acceleration: float = ACCELERATION, seconds: float = SHAKE_TIME):
        """Pull along six axes in turn; return the worst shift and turn [m, rad]."""
        shift = turn = 0.0
        for axis in SIX_AXES:
            self._pull(axis, acceleration)
            for k in range(int(seconds / TIME_STEP)):
                self._step(self.model, self.data)
                if k % 50 == 49:
                    moved = self._moved()
                    shift, turn = max(shift, moved[0]), max(turn, moved[1])
                    if shift > MAX_SHIFT or turn > MAX_TURN:
                        return shift, turn
        return shift, turn

    def failing_acceleration(self, end: float = RAMP_END) -> float:
        """
        Return the least pull over the mass at which the object breaks loose [m/s^2].

        Along each axis anew from the closed hand, growing by ``RAMP_RATE`` until the object
        has moved too far; it broke loose when it was last still. At most ``end``; 0 where
        closing pushed it too far.
        """
        if self.push > MAX_PUSH:
            return 0.0
        start = [a.copy() for a in (self.data.qpos, self.data.qvel, self.data.ctrl)]
        least = end
        for axis in SIX_AXES:
            self.data.qpos[:], self.data.qvel[:], self.data.ctrl[:] = start
            self._forward(self.model, self.data)
            least = min(least, self.ramp(axis, least))
        self.data.qpos[:], self.data.qvel[:], self.data.ctrl[:] = start
        self._forward(self.model, self.data)
        return least

    def ramp(self, axis, end: float) -> float:
        """Pull along an axis of the object, ever harder; return where it broke loose."""
        still = 0.0
        for k in range(int(end / RAMP_RATE / TIME_STEP)):
            pull = RAMP_RATE * (k + 1) * TIME_STEP
            self._pull(axis, pull)
            self._step(self.model, self.data)
            if k % 10 == 9:
                speeds = self.data.body('object').cvel
                if np.linalg.norm(speeds[3:]) < STILL_SPEED and (
                        np.linalg.norm(speeds[:3]) < STILL_SPIN):
                    still = pull
                shift, turn = self._moved()
                if shift > MAX_SHIFT or turn > MAX_TURN:
                    return still
        return end

    def object_motion(self):
        """Return the object's pose (4, 4) in its own frame as it was at the beginning."""
        return np.linalg.inv(self._T_palm_object) @ self._object_frame()

    def _object_frame(self):
        body, T_palm_object = self.data.body('object'), np.eye(4)
        T_palm_object[:3, :3], T_palm_object[:3, 3] = body.xmat.reshape(3, 3), body.xpos
        return T_palm_object

    def _pull(self, axis, acceleration: float) -> None:
        rotation = self.data.body('object').xmat.reshape(3, 3)
        self.data.body('object').xfrc_applied[:3] = (
            rotation @ axis * self.held.mass * acceleration)

    def _moved(self):
        now = self._object_pose()
        return float(np.linalg.norm(now[0] - self.closed[0])), _angle(self.closed[1], now[1])

    def _object_pose(self):
        body = self.data.body('object')
        return body.xipos.copy(), body.xmat.reshape(3, 3).copy()


def hold(grasp: dict, held: HeldObject, hand, mesh_folder: Path, squeeze: float = SQUEEZE
         ) -> Verdict:
    """Close one grasp as ``gripsim plan`` wrote it, shake it, and return the verdict."""
    rows = np.array(grasp['joint_trajectory']['points'])
    shaker = Shaker(held, _pose(grasp['hand_pose']), hand, mesh_folder, rows[0])
    moved = np.abs(rows[-1] - rows[0]) > 1e-4
    moved[0] = False
    shaker.move(rows, CLOSING_TIME)
    shaker.squeeze(np.array(grasp['grip']['joint_positions'])
                   + squeeze * np.sign(rows[-1] - rows[0]) * moved)
    return judge(shaker)


def judge(shaker: Shaker, seconds: float = SHAKE_TIME) -> Verdict:
    """Shake a closed hand and return the verdict."""
    contacts = len(shaker.data.contact)
    if shaker.push > MAX_PUSH:
        return Verdict(False, shaker.push, 0.0, 0.0, contacts)
    shift, turn = shaker.shake(seconds=seconds)
    held = bool(shift <= MAX_SHIFT and turn <= MAX_TURN)
    return Verdict(held, shaker.push, shift, turn, contacts)


def _along(rows, share):
    position = min(share, 1.0) * (len(rows) - 1)
    low = min(int(position), len(rows) - 2)
    return rows[low] + (position - low) * (rows[low + 1] - rows[low])


def _angle(first, second):
    cosine = 0.5 * (np.trace(first.T @ second) - 1.0)
    return float(np.arccos(np.clip(cosine, -1.0, 1.0)))


def convex_pieces(mesh_file: str, scale: float):
    """Return the convex pieces of a mesh file."""
    from gripsim_ros.core.bodies import load_mesh
    return convex_pieces_of(load_mesh(mesh_file, scale).mesh)


def main() -> int:
    """Shake the grasps of a file written by ``gripsim plan --out`` and print a table."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument('grasps')
    parser.add_argument('--friction', type=float, help="default: the object's in the file")
    add_options(parser)
    arguments = parser.parse_args()
    plan = json.loads(Path(arguments.grasps).read_text())
    body, hand, count = plan['object'], load_default_hand(), 0
    friction = arguments.friction or body['material']['friction']
    held = HeldObject(convex_pieces(body['mesh'], body['scale']), body['mass'], friction,
                      arguments.torsion)
    for grasp in plan['grasps']:
        verdict = hold(grasp, held, hand, arguments.meshes, arguments.squeeze)
        count += verdict.held
        print(f"rank {grasp['rank']:2d}  held {verdict.held!s:5}  pushed "
              f'{1e3 * verdict.push:5.1f} mm  moved {1e3 * verdict.shift:6.1f} mm  turned '
              f'{np.rad2deg(verdict.turn):6.1f} deg', flush=True)
    print(f"{count} of {len(plan['grasps'])} held")
    return 0


def add_options(parser) -> None:
    """Add what all benchmarks of this kind can be told."""
    parser.add_argument('--meshes', type=Path, default=share_directory() / 'urdf' / 'meshes',
                        help='folder with palm, knuckle, finger and finger_tip.stl')
    parser.add_argument('--squeeze', type=float, default=SQUEEZE,
                        help='added to the joints that moved [rad]')
    parser.add_argument('--torsion', type=float, default=TORSION,
                        help='torque about the normal over normal force of a contact [m]')
    parser.add_argument('--drag', type=float, default=0.0,
                        help='resistance to translation of the object while closing [N s/m]')


if __name__ == '__main__':
    sys.exit(main())
