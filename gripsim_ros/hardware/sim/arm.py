"""An arm in MuJoCo that carries the simulated hand: its links, its servos, where it is sent."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from ...core.arm import ArmModel
from ...core.hand.tree import PRISMATIC
from .options import SimulationError
from .setpoints import SetpointFollower

Array = NDArray[np.float64]

#: Before the names of the arm's links, joints and motors, which the hand may have too.
PREFIX = 'arm/'
#: Reflected inertia of a joint's motor and gear [kg m^2]; of an arm of 5 kg payload about this.
ARMATURE = 0.1
#: Time constant of the servos, critically damped about the start [s].
SERVO_TIME = 0.01
#: Density of links, of which the URDF's shapes tell the volume alone [kg/m^3].
DENSITY = 1000.0
#: Mass and inertia of frames without a shape: MuJoCo wants some of what moves [kg], [kg m^2].
LITTLE = 1e-3, 1e-6


@dataclass(frozen=True, eq=False)
class ArmMount:
    """An arm and where its base stands: ``T_world_base (4, 4)``."""

    model: ArmModel
    T_world_base: Array

    @property
    def T_world_palm(self) -> Array:
        """Return where the palm is at the start."""
        return self.T_world_base @ self.model.palm_pose(self.model.start)


def add_arm(spec, mount: ArmMount, target: str, palm: str) -> None:
    """
    Add an arm whose links are its convex parts, with a servo for each joint.

    Parameters
    ----------
    spec : mujoco.MjSpec
        Of a world.
    mount : ArmMount
    target : str
        Name of a frame at the arm's end that stands where the palm is to be.
    palm : str
        Body that hangs there; it may touch what carries it.

    Notes
    -----
    Taken from the arm's model, not from its URDF: that is what was planned with, and MuJoCo reads
    no Collada. Links bear no weight in the motors (``gravcomp``), as arms compensate for theirs.
    """
    import mujoco
    arm, tree, bodies = mount.model, mount.model.tree, {}
    for frame, name in enumerate(tree.names):
        parent = int(tree.parent[frame])
        pose = tree.T_parent_joint[frame] if parent >= 0 else mount.T_world_base
        body = (spec.worldbody if parent < 0 else bodies[parent]).add_body(
            name=PREFIX + name, pos=pose[:3, 3].tolist(), quat=_wxyz(pose))
        body.gravcomp = 1.0
        bodies[frame] = body
        if tree.actuator[frame] >= 0:
            joint = int(tree.actuator[frame])
            if joint in tree.actuator[:frame]:
                raise SimulationError(f'two joints of the arm {arm.name!r} follow '
                                      f'{arm.joint_names[joint]}: mimic joints are not simulated')
            slides = tree.kind[frame] == PRISMATIC
            body.add_joint(
                name=PREFIX + arm.joint_names[joint],
                type=mujoco.mjtJoint.mjJNT_SLIDE if slides else mujoco.mjtJoint.mjJNT_HINGE,
                axis=tree.axis[frame].tolist(), armature=ARMATURE)
    _add_parts(spec, arm, bodies)
    _add_servos(spec, arm)
    bodies[arm.tip].add_body(name=target, pos=arm.T_tip_palm[:3, 3].tolist(),
                             quat=_wxyz(arm.T_tip_palm))
    _exclude(spec, arm, bodies, palm)


def _add_parts(spec, arm: ArmModel, bodies) -> None:
    """Add the convex parts of the links; frames without any get a little mass."""
    import mujoco
    for number, (frame, part) in enumerate(zip(arm.part_frames, arm.parts)):
        name = f'{PREFIX}part_{number}'
        spec.add_mesh(name=name, uservert=part.vertices.ravel().tolist())
        bodies[int(frame)].add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname=name,
                                    density=DENSITY)
    for frame, body in bodies.items():
        if frame not in arm.part_frames:
            body.mass, body.inertia = LITTLE[0], [LITTLE[1]] * 3
            body.explicitinertial = True


def _add_servos(spec, arm: ArmModel) -> None:
    """Add a motor for each joint; its gains follow once the masses are known."""
    import mujoco
    for name in arm.joint_names:
        motor = spec.add_actuator(name=PREFIX + name, target=PREFIX + name,
                                  trntype=mujoco.mjtTrn.mjTRN_JOINT)
        motor.set_to_position(kp=1.0, kv=1.0)


def _exclude(spec, arm: ArmModel, bodies, palm: str) -> None:
    """Let neighbouring links pass through each other, and the palm through what it hangs on."""
    near = {tuple(sorted((int(arm.part_frames[i]), int(arm.part_frames[j]))))
            for i, j in np.argwhere(~arm.apart) if arm.part_frames[i] != arm.part_frames[j]}
    for a, b in sorted(near):
        spec.add_exclude(bodyname1=bodies[a].name, bodyname2=bodies[b].name)
    for frame in arm.carrying_frames:
        spec.add_exclude(bodyname1=bodies[frame].name, bodyname2=palm)


class SimulatedArm:
    """
    The arm of a compiled world: it goes along its follower's set-points.

    Parameters
    ----------
    mount : ArmMount
    model, data : mujoco.MjModel, mujoco.MjData

    Attributes
    ----------
    follower : SetpointFollower
        Where the joints are sent, within their limits of speed.
    """

    def __init__(self, mount: ArmMount, model, data) -> None:
        """Tune the servos at the start."""
        self._mount, self._data = mount, data
        joints = [model.joint(PREFIX + name) for name in self.model.joint_names]
        self._positions = np.array([int(joint.qposadr[0]) for joint in joints])
        self._velocities = np.array([int(joint.dofadr[0]) for joint in joints])
        self._motors = np.array([model.actuator(PREFIX + name).id
                                 for name in self.model.joint_names])
        self.place()
        self._tune(model)

    @property
    def model(self) -> ArmModel:
        """Return the arm's model."""
        return self._mount.model

    def _tune(self, model) -> None:
        """Give the servos the gains of critical damping for the inertia at the start."""
        import mujoco
        mujoco.mj_forward(model, self._data)
        inertias = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, self._data, inertias)
        own = inertias.diagonal()[self._velocities]
        model.actuator_gainprm[self._motors, 0] = own / SERVO_TIME**2
        model.actuator_biasprm[self._motors, 1] = -own / SERVO_TIME**2
        model.actuator_biasprm[self._motors, 2] = -2.0 * own / SERVO_TIME

    def place(self) -> Array:
        """Be at the start, at rest; return where the palm is then (4, 4), in the world."""
        start = self.model.start
        self.follower = SetpointFollower(self.model, start)
        self._data.qpos[self._positions] = start
        self._data.ctrl[self._motors] = start
        return self._mount.T_world_palm

    def control(self) -> None:
        """Send the motors where the follower is now, ahead by what their damping takes."""
        wanted = self.follower.at(float(self._data.time))
        self._data.ctrl[self._motors] = wanted + 2.0 * SERVO_TIME * self.follower.velocities

    @property
    def joints(self) -> Array:
        """Return the joints (A,) [rad]."""
        return self._data.qpos[self._positions].copy()

    @property
    def joint_velocities(self) -> Array:
        """Return (A,) [rad/s]."""
        return self._data.qvel[self._velocities].copy()


def _wxyz(pose: Array) -> list[float]:
    quaternion: list[float] = np.roll(Rotation.from_matrix(pose[:3, :3]).as_quat(), 1).tolist()
    return quaternion
