"""The MuJoCo model of a hand that can be carried about and of the object it grasps."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from ...core.batches import OBSTACLE_BOX, OBSTACLE_CYLINDER, OBSTACLE_SPHERE
from ...core.bodies import GraspObject
from ...core.bodies.oriented_box import fit_oriented_box
from ...core.hand import HandModel
from ...core.transforms import transform
from .arm import add_arm, ArmMount
from .described_hand import IMPEDANCE
from .elements import stiffening
from .hand_model import whole_hand
from .options import SimulationOptions
from .solids import convex_pieces_of, node_masses, outer_faces, tetrahedra_of

Array = NDArray[np.float64]

#: Bodies of the model.
OBJECT, PALM_TARGET = 'object', 'palm_target'
#: MuJoCo's friction against rolling [m], its default.
ROLLING = 0.0001
#: Without these, friction creeps under any load. Soft bodies stand it without them.
NOSLIP_ITERATIONS = 10
#: Friction is this much stiffer than the normal direction of rigid contacts.
FRICTION_RATIO = 10.0
#: Tetrahedra across a soft object of which two or three would bend too little, and the least edge
#: that this may ask for over the one that is wanted [-].
ACROSS, FINEST = 4, 0.5
#: Half the thickness of a soft object's skin in contact [m].
SKIN = 0.0002


@dataclass(frozen=True, eq=False)
class SoftMesh:
    """
    Tetrahedra of a soft object in its own frame: nodes (N, 3) [m], masses (N,) [kg].

    They are ``stiffening`` times as stiff as the body, and have so much less of its modulus.
    """

    nodes: Array
    corners: NDArray[np.int64]
    faces: NDArray[np.int64]
    masses: Array
    stiffening: float = 1.0


def is_soft(grasp_object: GraspObject, options: SimulationOptions) -> bool:
    """Return whether an object is built of tetrahedra."""
    if options.body == 'auto':
        return true_modulus(grasp_object, options) <= options.soft_below
    return options.body == 'soft'


def true_modulus(grasp_object: GraspObject, options: SimulationOptions) -> float:
    """Return the modulus that an object has in the simulation [Pa]."""
    return options.object_modulus or grasp_object.material.youngs_modulus


def soft_mesh_of(grasp_object: GraspObject, node_spacing: float) -> SoftMesh:
    """
    Return the tetrahedra of an object; the masses add up to its mass.

    Edges are ``node_spacing`` long [m], of thin objects down to half of it, and shorter where too
    much of the volume would be lost (``tetrahedra_of``).
    """
    thickness = 2.0 * float(fit_oriented_box(
        grasp_object.mesh.vertices, grasp_object.mesh.faces).half_lengths.min())
    edge = float(np.clip(thickness / ACROSS, FINEST * node_spacing, node_spacing))
    nodes, corners = tetrahedra_of(grasp_object.mesh, edge)
    masses = node_masses(nodes, corners, 1.0)
    return SoftMesh(nodes, corners, outer_faces(corners),
                    masses * grasp_object.mass_properties.mass / masses.sum(),
                    stiffening(nodes, corners, grasp_object.material.poisson_ratio))


def hand_world(hand: HandModel, options: SimulationOptions, arm: ArmMount | None = None):
    """
    Return the specification of a world with the hand alone; it hangs on ``PALM_TARGET``.

    That is moved about, or the end of an arm.
    """
    import mujoco
    spec = whole_hand(hand, options.joint_damping, options.contact_time)
    spec.option.timestep = options.time_step
    spec.option.gravity = [0.0, 0.0, 0.0]
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.impratio = FRICTION_RATIO
    spec.option.noslip_iterations = NOSLIP_ITERATIONS
    spec.body(hand.base_link).add_freejoint()
    if arm is None:
        spec.worldbody.add_body(name=PALM_TARGET, mocap=True)
    else:
        add_arm(spec, arm, PALM_TARGET, hand.base_link)
    _weld_palm(spec, hand.base_link, options)
    return spec


def _weld_palm(spec, palm: str, options: SimulationOptions) -> None:
    """Weld the palm to what carries it."""
    import mujoco
    weld = spec.add_equality(type=mujoco.mjtEq.mjEQ_WELD, objtype=mujoco.mjtObj.mjOBJ_BODY,
                             name1=PALM_TARGET, name2=palm)
    data = np.zeros(len(weld.data))
    data[6], data[10] = 1.0, 1.0        # relative pose: the same; torque as stiff as force
    weld.data = data
    weld.solref = [options.contact_time, 1.0]
    weld.solimp = IMPEDANCE


def add_obstacles(spec, obstacles: Array) -> None:
    """Add primitives (k, 16), as of ``ConfigurationBatch.obstacles``, that stand in the world."""
    import mujoco
    kinds = {OBSTACLE_BOX: mujoco.mjtGeom.mjGEOM_BOX,
             OBSTACLE_SPHERE: mujoco.mjtGeom.mjGEOM_SPHERE,
             OBSTACLE_CYLINDER: mujoco.mjtGeom.mjGEOM_CYLINDER}
    for i, row in enumerate(obstacles):
        kind, pose = int(row[0]), row[4:].reshape(3, 4)
        if kind == OBSTACLE_BOX:
            size = 0.5 * row[1:4]
        else:
            size = np.array([row[1], 0.0, 0.0] if kind == OBSTACLE_SPHERE
                            else [row[2], 0.5 * row[1], 0.0])
        spec.worldbody.add_geom(name=f'obstacle_{i}', type=kinds[kind], size=size.tolist(),
                                pos=pose[:, 3].tolist(), quat=np.roll(
                                    Rotation.from_matrix(pose[:, :3]).as_quat(), 1).tolist())


def add_object(spec, grasp_object: GraspObject, T_world_object: Array,
               options: SimulationOptions, soft: SoftMesh | None = None) -> SoftMesh | None:
    """
    Add an object, rigid or soft, at a pose; return its tetrahedra if it is soft.

    They may be given; otherwise fTetWild makes them.
    """
    friction = [grasp_object.material.friction, options.torsion, ROLLING]
    for geom in spec.geoms:
        geom.friction = friction
        geom.condim = 4
        geom.solref = [options.contact_time, 1.0]
    if not is_soft(grasp_object, options):
        _add_rigid(spec, grasp_object, T_world_object, friction, options)
        return None
    soft = soft or soft_mesh_of(grasp_object, options.node_spacing)
    _add_soft(spec, grasp_object, soft, T_world_object, friction, options)
    return soft


def _add_rigid(spec, grasp_object, T_world_object, friction, options) -> None:
    import mujoco
    pieces = convex_pieces_of(grasp_object.mesh)
    volume = sum(abs(piece.volume) for piece in pieces)
    x, y, z, w = Rotation.from_matrix(T_world_object[:3, :3]).as_quat()
    body = spec.worldbody.add_body(name=OBJECT, pos=list(T_world_object[:3, 3]),
                                   quat=[w, x, y, z])
    body.add_freejoint()
    for i, piece in enumerate(pieces):
        spec.add_mesh(name=f'piece_{i}', uservert=piece.vertices.ravel().tolist(),
                      userface=piece.faces.ravel().tolist())
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname=f'piece_{i}',
                      density=grasp_object.mass_properties.mass / volume, friction=friction,
                      condim=4, solref=[options.contact_time, 1.0])


def _add_soft(spec, grasp_object, soft: SoftMesh, T_world_object, friction, options) -> None:
    """Add nodes that slide along the world's axes, and the elastic body between them."""
    import mujoco
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_DISCRETE     # elasticity is implicit
    spec.option.noslip_iterations = 0
    nodes = soft.nodes @ T_world_object[:3, :3].T + T_world_object[:3, 3]
    for i, (point, mass) in enumerate(zip(nodes, soft.masses)):
        body = spec.worldbody.add_body(name=node_name(i), pos=list(point), mass=float(mass),
                                       inertia=[1e-3 * float(mass) * options.node_spacing**2] * 3,
                                       explicitinertial=True)
        for axis in np.eye(3):
            body.add_joint(type=mujoco.mjtJoint.mjJNT_SLIDE, axis=list(axis))
    material = grasp_object.material
    flex = spec.add_flex(
        name=OBJECT, dim=3, radius=SKIN,
        young=true_modulus(grasp_object, options) / soft.stiffening,
        poisson=material.poisson_ratio, damping=options.soft_damping, selfcollide=0,
        friction=friction, condim=4, priority=1, solref=[options.contact_time, 1.0],
        solimp=IMPEDANCE)
    flex.vertbody = [node_name(i) for i in range(len(nodes))]
    flex.vert = np.zeros(3 * len(nodes)).tolist()
    flex.elem = soft.corners.ravel().tolist()


def nearest_motion(before: Array, after: Array, weights: Array) -> Array:
    """
    Return the rigid motion (4, 4) that brings points (N, 3) nearest to others.

    Kabsch, A solution for the best rotation to relate two sets of vectors, 1976.
    """
    first, second = (np.average(points, axis=0, weights=weights) for points in (before, after))
    rotation, _ = Rotation.align_vectors(after - second, before - first, weights=weights)
    matrix = rotation.as_matrix()
    return transform(matrix, second - matrix @ first)


def node_name(index: int) -> str:
    """Return the name of a soft object's node."""
    return f'node_{index}'
