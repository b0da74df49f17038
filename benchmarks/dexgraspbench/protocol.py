"""
DexGraspBench's protocol (fc) for the SDH, written anew from its facts: rigid, in MuJoCo.

The object floats without gravity; the fingers move from before to at to beyond the grasp, 0.4 s
each; then a force of ten times the mass pulls for 2 s, along six axes, each from the start. A
grasp fails where the object is ever 5 cm or 15 degrees from where it began, or where the open
hand overlaps it by more than 1 cm.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.dexgraspbench.scenes import ACCELERATION, FRICTION, MASS, Scene, TORSION
from benchmarks.hold.shake import MAX_SHIFT, MAX_TURN, NEIGHBOURS, SIX_AXES
from gripsim_ros.hardware.sim.hand_model import add_position_control, hand_spec

#: Of the simulation [s], and of a finger's way [s] in so many parts, and of each pull [s].
TIME_STEP, MOVE_TIME, PARTS, PULL_TIME = 0.004, 0.4, 10, 2.0
#: Looks in a pull.
LOOKS = 10
#: Stiffness of its hands' joints [N m/rad]; of ours damping [N m s/rad] and armature [kg m^2].
GAIN, DAMPING, ARMATURE = 5.0, 0.2, 0.002
#: Contacts of its hands: impedances and width [m], time constant [s] and damping ratio.
IMPEDANCE, CONTACT_TIME = [0.5, 0.99, 0.0001], [0.005, 1.0]
#: Overlap of the open hand that rejects a grasp, reach of distances, near enough to touch [m].
MAX_OVERLAP, REACH, TOUCH = 0.01, 0.01, 0.002
FINGERS = ('sdh_finger_1', 'sdh_finger_2', 'sdh_thumb')
#: What counts as touching: palm and the links of fingers that bear pads.
BEARING = ('sdh_palm_link', *(f'{finger}{end}_link' for finger in (*FINGERS[:2], 'sdh_thumb_')
                              for end in '23'))


@dataclass(frozen=True)
class Outcome:
    """What the protocol says of a grasp: held or not, motion [m, rad], and contacts at it [m]."""

    held: bool
    shift: float
    turn: float
    overlap: float
    links: int
    distance: float
    spread: float


def sdh(hand, meshes: Path):
    """Return the SDH as a ``mujoco.MjSpec`` with the protocol's joints and contacts."""
    spec = hand_spec(meshes)
    for geom in spec.geoms:
        geom.solref[:2] = CONTACT_TIME
        geom.solimp[:3] = IMPEDANCE
    for joint in spec.joints:
        joint.damping = [DAMPING, 0.0, 0.0]
        joint.armature = ARMATURE
    for first, second in NEIGHBOURS:
        spec.add_exclude(bodyname1=first, bodyname2=second)
    count = len(hand.joint_names)
    add_position_control(spec, hand, np.full(count, GAIN), np.zeros(count))
    return spec


class Trial:
    """
    The SDH at an object; the world's frame is the palm's.

    Parameters
    ----------
    scene : Scene
    T_object_palm : (4, 4) float
    hand : HandModel
    meshes : Path
        Meshes of the links with the names of the URDF.
    """

    def __init__(self, scene: Scene, T_object_palm, hand, meshes: Path) -> None:
        import mujoco
        from scipy.spatial.transform import Rotation
        self._step, self._forward = mujoco.mj_step, mujoco.mj_forward
        spec = sdh(hand, meshes)
        option = spec.option
        option.timestep, option.integrator = TIME_STEP, mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        option.gravity, option.cone = [0.0, 0.0, 0.0], mujoco.mjtCone.mjCONE_ELLIPTIC
        option.impratio, option.noslip_iterations = 10.0, 2
        T = np.linalg.inv(T_object_palm)
        x, y, z, w = Rotation.from_matrix(T[:3, :3]).as_quat()
        body = spec.worldbody.add_body(name='object', pos=T[:3, 3], quat=[w, x, y, z])
        body.add_freejoint()
        for i, piece in enumerate(scene.pieces):
            spec.add_mesh(name=f'piece_{i}', uservert=piece.vertices.ravel().tolist(),
                          userface=piece.faces.ravel().tolist())
            body.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname=f'piece_{i}',
                          density=scene.density)
        for geom in spec.geoms:
            geom.friction[:2] = [FRICTION, TORSION]
            geom.condim = 4
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)
        self._joints = [int(self.model.joint(name).qposadr[0]) for name in hand.joint_names]
        self._object = self.model.body('object').id
        self._start = self.data.qpos.copy()
        self._T_object_world = T_object_palm

    def all_joints(self, joints) -> np.ndarray:
        """Return every joint of the hand (8,) [rad] for those with motors (7,)."""
        found = self._start.copy()
        found[self._joints] = joints
        found[self.model.joint('sdh_finger_21_joint').qposadr[0]] = joints[0]
        return found[:-7]

    def place(self, joints) -> None:
        """Begin anew with the hand's joints (7,) [rad] there and the object where it began."""
        import mujoco
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:-7] = self.all_joints(joints)
        self.data.ctrl[:] = joints
        self._forward(self.model, self.data)

    def distances(self, joints, reach: float = REACH) -> dict[str, float]:
        """Return the signed distance to the object of each link that is nearer than so [m]."""
        own = self.model.geom_bodyid == self._object
        self.model.geom_margin[own] = self.model.geom_gap[own] = reach
        self.place(joints)
        found: dict[str, float] = {}
        for contact in self.data.contact:
            bodies = self.model.geom_bodyid[contact.geom]
            if self._object in bodies:
                link = self.model.body(int(bodies[bodies != self._object][0])).name
                found[link] = min(found.get(link, np.inf), float(contact.dist))
        self.model.geom_margin[own] = self.model.geom_gap[own] = 0.0
        return found

    def pull(self, before, at, beyond, axis) -> tuple[float, float]:
        """Close, squeeze and pull along an axis of the object; return its motion [m, rad]."""
        self.place(before)
        for start, end in ((before, at), (at, beyond)):
            for share in np.arange(1, PARTS + 1) / PARTS:
                self.data.ctrl[:] = start + share * (end - start)
                self._steps(MOVE_TIME / PARTS)
        rotation = self._T_object_world[:3, :3].T
        self.data.xfrc_applied[self._object, :3] = rotation @ axis * MASS * ACCELERATION
        for _ in range(LOOKS):
            self._steps(PULL_TIME / LOOKS)
            shift, turn = self._motion()
            if not _stays(shift, turn):
                break
        return shift, turn

    def _steps(self, seconds: float) -> None:
        for _ in range(round(seconds / TIME_STEP)):
            self._step(self.model, self.data)

    def _motion(self) -> tuple[float, float]:
        now, begin = self.data.qpos[-7:], self._start[-7:]
        cosine = min(abs(float(now[3:] @ begin[3:])), 1.0)
        return float(np.linalg.norm(now[:3] - begin[:3])), 2.0 * float(np.arccos(cosine))


def run(trial: Trial, before, at, beyond) -> Outcome:
    """Return what the protocol says of a grasp: joints (7,) before, at and beyond it [rad]."""
    contacts = at_the_grasp(trial.distances(at))
    shift = turn = np.inf
    if min(trial.distances(before, 0.0).values(), default=0.0) >= -MAX_OVERLAP:
        shift = turn = 0.0
        for axis in SIX_AXES:
            moved = trial.pull(before, at, beyond, axis)
            shift, turn = max(shift, moved[0]), max(turn, moved[1])
            if not _stays(*moved):
                break
    return Outcome(_stays(shift, turn), shift, turn, *contacts)


def at_the_grasp(distances: dict[str, float]) -> tuple[float, int, float, float]:
    """
    Return overlap [m], links in touch, mean distance of fingers and their spread [m].

    Parameters
    ----------
    distances : mapping
        Of links that are near the object, to it [m].
    """
    overlap = max(0.0, -min(distances.values(), default=0.0))
    links = sum(abs(found) < TOUCH for link, found in distances.items() if link in BEARING)
    nearest = [min((found for link, found in distances.items() if link.startswith(finger)),
                   default=REACH) for finger in FINGERS]
    return (overlap, links, float(np.mean(np.maximum(nearest, 0.0))),
            float(max(nearest) - min(nearest)))


def _stays(shift: float, turn: float) -> bool:
    return bool(shift < MAX_SHIFT and turn < MAX_TURN)
