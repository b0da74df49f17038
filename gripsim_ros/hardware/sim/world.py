"""A hand and an object in MuJoCo, step by step: set-points in, joints, poses and forces out."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from ...core.batches import OBSTACLE_WIDTH
from ...core.bodies import GraspObject
from ...core.hand import HandModel
from ...core.transforms import inverse, transform
from .arm import ArmMount, SimulatedArm
from .hand_model import damping_times, mimic_rows
from .options import SimulationError, SimulationOptions
from .palm import PalmGuide
from .setpoints import SetpointFollower
from .soft.body import soft_body_of, SoftBody
from .world_model import (
    OBJECT, PALM_TARGET, SoftMesh, add_object, add_obstacles, hand_world, nearest_motion,
    node_name)

Array = NDArray[np.float64]

#: Standard gravity [m/s^2], along the world's -z.
GRAVITY = 9.81
#: Deepest that a link overlaps with what it touches [m]: wrong planes were seen to cut off 29 mm.
MOST_OVERLAP = 3e-3
#: What MuJoCo warned of; by itself it would write a file into the working directory.
_WARNINGS: deque[str] = deque(maxlen=16)


@dataclass(frozen=True, eq=False)
class TouchPoint:
    """
    A point where a link touches the object: force on the link [N], all in the world.

    Where faces just touch, MuJoCo's normal is wrong now and then: then ``normal_force`` is what
    the contact adds to those of its link's others, negative as a rule.
    """

    link: str
    point: Array
    normal_force: float
    force: Array


class World:
    """
    A hand that can be carried about, and an object or none.

    The joints go to ``setpoints`` (J,) [rad], as fast as ``setpoint_velocities`` (J,) [rad/s] say.
    The hand's own weight is borne by its motors. The object floats and comes to rest within
    ``support_time``, until ``lift_off`` lets gravity pull, and again from ``set_down`` on.

    Parameters
    ----------
    hand : HandModel
    options : SimulationOptions
    T_world_palm : (4, 4) float
    joints : (J,) float
        Where the hand begins [rad].
    grasp_object : GraspObject, optional
    T_world_object : (4, 4) float, optional
        Where it begins; default: identity.
    obstacles : (k, 16) float, optional
        Primitives that stand still, as of ``ConfigurationBatch.obstacles``, in the world.
    arm : ArmMount, optional
        That carries the palm: where this begins follows from the arm's start then.
    soft : SoftMesh, optional
        Tetrahedra of a soft object, in its own frame; default: those that fTetWild makes.

    Raises
    ------
    SimulationError
        MuJoCo or what makes the object's solid is not installed, or refuses the model.
    """

    def __init__(self, hand: HandModel, options: SimulationOptions, T_world_palm: Array,
                 joints: Array, grasp_object: GraspObject | None = None,
                 T_world_object: Array | None = None, obstacles: Array | None = None,
                 arm: ArmMount | None = None, soft: SoftMesh | None = None) -> None:
        try:
            import mujoco
            mujoco.set_mju_user_warning(_WARNINGS.append)
        except ModuleNotFoundError as error:
            raise SimulationError('the simulated hand needs MuJoCo: pip install '
                                  '"gripsim_ros[sim]"') from error
        self._mujoco = mujoco
        self.hand, self.options, self.grasp_object = hand, options, grasp_object
        self._begin = np.eye(4) if T_world_object is None else T_world_object
        spec = hand_world(hand, options, arm)
        add_obstacles(spec, np.zeros((0, OBSTACLE_WIDTH)) if obstacles is None else obstacles)
        self.soft = None if grasp_object is None else add_object(
            spec, grasp_object, self._begin, options, soft)
        try:
            self.model = spec.compile()
        except ValueError as error:
            raise SimulationError(f'MuJoCo refuses the model: {error}') from error
        self.data = mujoco.MjData(self.model)
        self._index(hand)
        self._yielding = self._soft_body()
        self.arm = None if arm is None else SimulatedArm(arm, self.model, self.data)
        self.lifted, self._lifted_at = False, 0.0
        self.setpoints = np.array(joints, float)
        self._lead = damping_times(self.model, hand, self._velocities, options.joint_damping)
        self._guide = PalmGuide(options, T_world_palm)
        self._place_hand(T_world_palm)

    def _index(self, hand: HandModel) -> None:
        model = self.model
        rows = [model.joint(name) for name in hand.joint_names]
        self._positions = np.array([int(row.qposadr[0]) for row in rows])
        self._velocities = np.array([int(row.dofadr[0]) for row in rows])
        palm = model.body(hand.base_link)
        self._palm, self._palm_joint = palm.id, int(palm.jntadr[0])
        self._target = int(model.body(PALM_TARGET).mocapid[0])      # -1 at the end of an arm
        self._link_of = {model.body(name).id: name for name in hand.link_names}
        self._dofs = np.zeros(0, int)
        self._object = -1
        if self.soft is not None:
            nodes = [model.body(node_name(i)) for i in range(len(self.soft.nodes))]
            self._nodes = np.array([node.id for node in nodes])
            self._dofs = np.concatenate([int(n.dofadr[0]) + np.arange(3) for n in nodes])
        elif self.grasp_object is not None:
            self._object = model.body(OBJECT).id
            self._dofs = int(model.body(OBJECT).dofadr[0]) + np.arange(6)

    def _place_hand(self, T_world_palm: Array) -> None:
        """Set joints and palm where they belong, at rest."""
        model, data = self.model, self.data
        if self.arm is not None:
            T_world_palm = self.arm.place()
        self.setpoint_velocities = np.zeros(len(self.setpoints))
        data.qpos[self._positions] = self.setpoints
        for mimic, source, coefficients in self._mimics():
            data.qpos[mimic] = np.polyval(coefficients[::-1], data.qpos[source])
        address = int(model.jnt_qposadr[self._palm_joint])
        position, quaternion = T_world_palm[:3, 3], _wxyz(T_world_palm[:3, :3])
        data.qpos[address:address + 7] = [*position, *quaternion]
        if self.arm is None:
            data.mocap_pos[self._target], data.mocap_quat[self._target] = position, quaternion
        data.qvel[:] = 0.0
        data.ctrl[:len(self.setpoints)] = self.setpoints
        self._guide.place(T_world_palm)
        self._mujoco.mj_forward(model, data)
        self._touches: list[TouchPoint] | None = None

    def _mimics(self):
        """Yield addresses of mimic joint and its source, and the polynomial between them."""
        model = self.model
        for i in mimic_rows(model):
            yield (model.jnt_qposadr[model.eq_obj1id[i]],
                   model.jnt_qposadr[model.eq_obj2id[i]], model.eq_data[i, :5])

    # -- moving ----------------------------------------------------------------------

    def follow(self, follower: SetpointFollower) -> None:
        """Take set-points and their velocities from a trajectory, as they are now."""
        self.setpoints = follower.at(self.time)
        self.setpoint_velocities = follower.velocities

    def step(self) -> None:
        """Go on by one time step towards the set-points and the palm's goal."""
        data, options = self.data, self.options
        data.ctrl[:len(self.setpoints)] = self._lead * self.setpoint_velocities + np.clip(
            self.setpoints, self.hand.joint_lower, self.hand.joint_upper)
        self._carry()
        if len(self._dofs) and not self.lifted:
            keep = np.exp(-options.time_step / options.support_time)
            data.qvel[self._dofs] *= keep
        self._load_hand()
        self._advance()
        self._touches = None

    def _soft_body(self) -> SoftBody | None:
        if self.soft is None or self.grasp_object is None:
            return None
        return soft_body_of(self.model, self.soft, self.grasp_object, self.hand, self.options)

    def _advance(self) -> None:
        """Go on by one time step; a soft object yields where links touch it."""
        if self._yielding is None:
            self._mujoco.mj_step(self.model, self.data)
            return
        self._yielding.step(self.data, self._touching_links, lambda: self.T_world_object)

    def _touching_links(self) -> Iterator[tuple[str, int, float, int]]:
        """Yield link, geom, sign of the force on the link and number of contacts that count."""
        for i, contact in enumerate(self.data.contact):
            link, geom, sign = self._touching_link(contact)
            if link and contact.efc_address >= 0:
                yield link, geom, sign, i

    def _load_hand(self) -> None:
        """Let the support of a lifted object bear less and less."""
        if self.lifted and self.options.unloading_time > 0.0:
            share = (self.time - self._lifted_at) / self.options.unloading_time
            self.model.opt.gravity[2] = -GRAVITY * min(1.0, share)

    def _carry(self) -> None:
        """Lead the palm's target on towards its goal, by the arm where there is one."""
        if self.arm is not None:
            self.arm.control()
            return
        self._guide.step()
        self.data.mocap_pos[self._target] = self._guide.position
        self.data.mocap_quat[self._target] = np.roll(self._guide.rotation.as_quat(), 1)

    def place_palm(self, T_world_palm: Array) -> None:
        """Put the palm somewhere at once; the joints stay. SimulationError: an arm has it."""
        self._check_free()
        self.setpoints = self.joints.copy()
        self._place_hand(T_world_palm)

    def move_palm(self, T_world_palm: Array) -> None:
        """
        Let the palm go somewhere within its limits of speed and acceleration.

        Raises
        ------
        SimulationError
            An arm carries it: its joints are moved instead.
        """
        self._check_free()
        self._guide.go(T_world_palm)

    def _check_free(self) -> None:
        if self.arm is not None:
            raise SimulationError(f'the palm is carried by the arm {self.arm.model.name!r}: send '
                                  'its joints on arm_trajectory')

    def stop_palm(self) -> None:
        """Let the palm come to rest within its limits of acceleration; an arm stops."""
        self._guide.stop()
        if self.arm is not None:
            self.arm.follower.stop()

    @property
    def palm_moves(self) -> bool:
        """Return whether the free palm is on its way."""
        return self._guide.moves

    def reset(self, T_world_palm: Array, joints: Array) -> None:
        """Put hand and object where they are to begin, at rest; the time begins anew."""
        self._mujoco.mj_resetData(self.model, self.data)
        self.model.opt.gravity[:] = 0.0
        self.lifted = False
        self.setpoints = np.array(joints, float)
        self._place_hand(T_world_palm)

    def lift_off(self) -> None:
        """Let gravity pull at the object; nothing supports it after ``unloading_time``."""
        self.lifted, self._lifted_at = True, self.time
        self.model.opt.gravity[:] = [0.0, 0.0, -GRAVITY]

    def set_down(self) -> None:
        """Support the object where it is: it floats and comes to rest."""
        self.lifted = False
        self.model.opt.gravity[:] = 0.0

    # -- measuring -------------------------------------------------------------------

    @property
    def time(self) -> float:
        """Return the simulated time [s]."""
        return float(self.data.time)

    @property
    def joints(self) -> Array:
        """Return the joints (J,) [rad]."""
        return self.data.qpos[self._positions].copy()

    @property
    def joint_velocities(self) -> Array:
        """Return (J,) [rad/s]."""
        return self.data.qvel[self._velocities].copy()

    @property
    def joint_efforts(self) -> Array:
        """Return the motors' torques (J,) [N m]."""
        return self.data.actuator_force[:len(self._positions)].copy()

    @property
    def T_world_palm(self) -> Array:
        """Return the pose of the hand's base link."""
        return self._body_pose(self._palm)

    def link_pose(self, link: str) -> Array:
        """Return the pose of a link in the world."""
        return self._body_pose(self.model.body(link).id)

    def _body_pose(self, body: int) -> Array:
        return transform(self.data.xmat[body].reshape(3, 3), self.data.xpos[body])

    @property
    def T_world_object(self) -> Array | None:
        """Return the object's pose; of a soft one, that of its nearest rigid motion."""
        if self.soft is not None:
            return nearest_motion(self.soft.nodes, self.nodes_world, self.soft.masses)
        return None if self._object < 0 else self._body_pose(self._object)

    @property
    def nodes_world(self) -> Array:
        """Return where the nodes of a soft object are (N, 3) [m]."""
        return self.data.xpos[self._nodes].copy()

    @property
    def centre_of_mass(self) -> Array:
        """Return the object's centre of mass in the world (3,) [m]."""
        if self.soft is not None:
            return np.average(self.nodes_world, axis=0, weights=self.soft.masses)
        return self.data.xipos[self._object].copy()

    def touch_points(self) -> list[TouchPoint]:
        """Return where links touch the object, with their forces; asked again, the same list."""
        if self._touches is None:
            self._touches = self._find_touches()
        return self._touches

    def _find_touches(self) -> list[TouchPoint]:
        found, wrench, wrong, pressed = [], np.zeros(6), [], dict[str, Array]()
        for link, geom, sign, i in self._touching_links():
            contact = self.data.contact[i]
            self._mujoco.mj_contactForce(self.model, self.data, i, wrench)
            if not wrench.any():        # within the margin of a soft object
                continue
            frame = sign * contact.frame.reshape(3, 3)
            deeper = 0.0 if self._yielding is None else self._yielding.depth(link)
            if self._cuts(contact, geom, frame[0], MOST_OVERLAP + deeper):
                wrong.append(len(found))
            else:
                pressed[link] = pressed.get(link, np.zeros(3)) + wrench[0] * frame[0]
            found.append(TouchPoint(link, contact.pos.copy(), float(wrench[0]),
                                    wrench[:3] @ frame))
        for i in (i for i in wrong if found[i].link in pressed):
            along = pressed[found[i].link]
            found[i] = replace(found[i], normal_force=float(
                found[i].force @ along / max(np.linalg.norm(along), 1e-300)))
        return found

    def _cuts(self, contact, geom: int, inward: Array, overlap: float) -> bool:
        """Return whether the plane of a contact cuts a convex geom, as no true one can."""
        mesh, corners = self.model.geom_dataid[geom], np.zeros((1, 3))
        if mesh >= 0:
            first = self.model.mesh_vertadr[mesh]
            corners = self.model.mesh_vert[first:first + self.model.mesh_vertnum[mesh]]
        reach = (corners @ (self.data.geom_xmat[geom].reshape(3, 3).T @ inward)).min()
        return bool(reach + inward @ (self.data.geom_xpos[geom] - contact.pos) < -overlap)

    def _touching_link(self, contact) -> tuple[str, int, float]:
        """Return link and geom of a contact with the object, and its force's sign on the link."""
        sides = [self.model.geom_bodyid[geom] if geom >= 0 else -1 for geom in contact.geom]
        for side, sign in ((0, -1.0), (1, 1.0)):
            other = sides[1 - side]
            if sides[side] in self._link_of and other == self._object:
                return self._link_of[sides[side]], int(contact.geom[side]), sign
        return '', -1, 0.0

    def link_forces(self) -> dict[str, float]:
        """Return the sum of normal forces of each link that touches the object, >= 0 [N]."""
        forces: dict[str, float] = {}
        for touch in self.touch_points():
            forces[touch.link] = forces.get(touch.link, 0.0) + touch.normal_force
        return {link: max(0.0, force) for link, force in forces.items()}

    def links_at_obstacles(self) -> set[str]:
        """Return the links that press on something that stands in the world."""
        found = set()
        for contact in self.data.contact:
            bodies = [int(self.model.geom_bodyid[geom]) for geom in contact.geom if geom >= 0]
            if 0 in bodies and contact.efc_address >= 0:
                found |= {self._link_of[body] for body in bodies if body in self._link_of}
        return found

    @property
    def warning(self) -> str:
        """Return the last warning of MuJoCo, '' where there was none."""
        return ' '.join(_WARNINGS[-1].split()) if _WARNINGS else ''

    @property
    def exploded(self) -> bool:
        """Return whether the simulation lost its footing."""
        return not bool(np.isfinite(self.data.qpos).all())

    @property
    def T_palm_object(self) -> Array | None:
        """Return the object's pose in the hand."""
        pose = self.T_world_object
        return None if pose is None else inverse(self.T_world_palm) @ pose


def _wxyz(rotation: Array) -> Array:
    return np.roll(Rotation.from_matrix(rotation).as_quat(), 1)
