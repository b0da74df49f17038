"""What is shown when: the live hand, a grasp, a moment of a closing, ranked grasps."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from visualization_msgs.msg import MarkerArray

from ...core.batches import ContactBatch, GraspStateBatch
from ...core.bodies import GraspObject, TriangleMesh
from ...core.hand import HandModel, forward_kinematics
from ...core.planning.ranked_grasp import RankedGrasp
from ...core.transforms import apply
from ...library.boxes import hand_boxes
from ...library.display import (
    BOX_COLOUR, REGION_COLOUR, ghost_links, link_poses_at, moving_links)
from ...library.whole_motion import Moment
from .layers import (
    ARM_COLOUR, BOX_LAYERS, CYAN, GREEN, GREY, LINE_WIDTH, OLIVE, ORANGE, OTHER_ARM_COLOUR,
    UNTOUCHED, Layers, MarkerFrame)
from .legend import PRESSURE_LEGEND, SCALE, Legend
from .way import WAY_LAYERS, add_way

Array = NDArray[np.float64]
#: Meshes with their poses (4, 4).
Parts = Sequence[tuple[TriangleMesh, Array]]

#: Length of the arrow of an approach [m].
PALM_LENGTH = 0.06
#: Ranked grasps shown as ghosts at most, and how much is seen of them.
MOST_GHOSTS, GHOST_ALPHA = 5, 0.12
#: Layers of one grasp; a plan and a moment of its closing are never shown at once.
GRASP_LAYERS = ('object', 'deformation', PRESSURE_LEGEND, SCALE, 'hand', 'forces', 'contacts',
                'centre_of_mass', *WAY_LAYERS, *BOX_LAYERS)
#: Layers of a moment beside these.
MOMENT_LAYERS = ('moment', 'arm')


def live_markers(contacts: ContactBatch, states: GraspStateBatch, grasp_object: GraspObject,
                 hand: HandModel, frame: MarkerFrame) -> MarkerArray:
    """
    Return the first configuration's contacts, depths, forces and deformed surface.

    Parameters
    ----------
    contacts : ContactBatch
    states : GraspStateBatch
        Answer to ``contacts``.
    grasp_object : GraspObject
    hand : HandModel
        Not shown; legends keep away from it as it is measured.
    frame : MarkerFrame

    Returns
    -------
    MarkerArray
    """
    layers, mesh = Layers(frame), grasp_object.mesh
    layers.clear('object', 'deformation', PRESSURE_LEGEND)
    asked = contacts.configurations
    legend = Legend(layers, mesh.vertices, _points_of(hand, asked.T_object_palm[0] @ (
        forward_kinematics(hand, asked.joint_positions[:1])[0])),
                    next(iter(asked.load_cases[:, :3]), None))
    legend.marks(depths=True)
    nodes = slice(0, int(contacts.node_offsets[contacts.patch_offsets[1]]))
    layers.depths(contacts.node_points_object[nodes], contacts.node_normals_object[nodes],
                  contacts.node_depths[nodes])
    patches = slice(0, int(states.patch_offsets[1]))
    layers.contacts('contacts', states.patch_points_object[patches])
    layers.forces(states.patch_points_object[patches], states.patch_forces_object[patches])
    if len(states.vertices_object):
        layers.pressure_mesh('deformation', states.vertices_object[0], mesh.faces,
                             states.vertex_pressures[0])
        legend.pressures(states.vertex_pressures[0])
    else:
        layers.mesh('object', mesh.vertices, mesh.faces, UNTOUCHED)
    layers.centres_of_mass(mesh.vertices, grasp_object.mass_properties.centre_of_mass,
                           states.centre_of_mass_object[0])
    return layers.array


def grasp_markers(grasp: RankedGrasp | None, grasp_object: GraspObject, hand: HandModel,
                  frame: MarkerFrame, obstacles: Array | None = None) -> MarkerArray:
    """
    Return one grasp with its hand, forces, deformed object and obstacles, and the object's way.

    Parameters
    ----------
    grasp : RankedGrasp or None
        None: the object and the obstacles alone.
    grasp_object : GraspObject
    hand : HandModel
    frame : MarkerFrame
    obstacles : (k, 16) float, optional
        As in ``ConfigurationBatch``.

    Returns
    -------
    MarkerArray
    """
    layers = Layers(frame)
    layers.clear(*GRASP_LAYERS)
    _add_obstacles(layers, np.zeros((0, 16)) if obstacles is None else obstacles)
    legend = _add_object(layers, grasp_object, grasp, grasp, hand)
    if grasp is not None:
        _add_hand(layers, grasp, hand, 1.0, GREY)
        _add_boxes(layers, grasp_object.mesh, hand, link_poses_at(grasp, hand, 1.0))
        _add_forces(layers, grasp)
        if grasp.reach is not None and grasp.reach.steps:
            add_way(layers, grasp.reach.steps, grasp_object.mesh)
            legend.way()
    return layers.array


def closing_markers(grasp: RankedGrasp, fraction: float, state: RankedGrasp | None,
                    grasp_object: GraspObject, hand: HandModel,
                    frame: MarkerFrame) -> MarkerArray:
    """
    Return a moment of a grasp's closing, with the hand in a colour of its own.

    Parameters
    ----------
    grasp : RankedGrasp
    fraction : float
        Of its closing: 0 the open hand, 1 the grasp.
    state : RankedGrasp or None
        What the stages say of the object at that moment; None: the object as it is untouched.
    grasp_object : GraspObject
    hand : HandModel
    frame : MarkerFrame

    Raises
    ------
    TaskError
        ``fraction`` is outside 0 to 1.
    """
    layers = Layers(frame)
    layers.clear(*GRASP_LAYERS, *MOMENT_LAYERS)
    legend = _add_object(layers, grasp_object, state, grasp, hand)
    legend.title('moment', f'grasp {grasp.rank}: {100.0 * fraction:.0f} % closed')
    _add_hand(layers, grasp, hand, fraction, OLIVE)
    _add_boxes(layers, grasp_object.mesh, hand, link_poses_at(grasp, hand, fraction))
    if state is not None:
        _add_forces(layers, state)
    return layers.array


def moment_markers(grasp: RankedGrasp, moment: Moment, grasp_object: GraspObject, hand: HandModel,
                   frame: MarkerFrame, arm: Parts = (), other_arms: Parts = (),
                   obstacles: Array | None = None) -> MarkerArray:
    """
    Return a moment of a whole motion: arm, hand and object where they are, forces on the way.

    Parameters
    ----------
    grasp : RankedGrasp
    moment : Moment
        Of ``whole_motion``.
    grasp_object : GraspObject
        Shown as it is untouched.
    hand : HandModel
    frame : MarkerFrame
        In which the object begins.
    arm, other_arms : sequence of (TriangleMesh, (4, 4) float)
        Parts of the arm, as ``PlannedArm.parts_at`` has them, and of those beside it.
    obstacles : (k, 16) float, optional
        About the object; None: whatever is shown of them stays.
    """
    layers, mesh, step = Layers(frame), grasp_object.mesh, moment.step
    layers.clear(*GRASP_LAYERS, *MOMENT_LAYERS)
    legend = Legend(layers, mesh.vertices, _reach(grasp, hand))
    legend.marks()
    held = '' if step is None else f', margin {step.margin:.2f}'
    legend.title('moment', f'grasp {grasp.rank}: {moment.phase}{held}')
    layers.mesh('object', mesh.vertices, mesh.faces, UNTOUCHED, moment.T_object_moved)
    poses = moment.T_object_palm @ forward_kinematics(hand, moment.joints[None])[0]
    for link, T_object_link in zip(moving_links(hand), poses):
        layers.mesh('hand', link.vertices, link.faces, OLIVE, T_object_link)
    _add_boxes(layers, mesh, hand, poses, moment.T_object_moved)
    _add_arms(layers, arm, other_arms)
    if obstacles is not None:
        _add_obstacles(layers, obstacles)
    if step is not None:
        layers.forces(step.points, step.forces)
        layers.contacts('contacts', step.points)
        layers.centres_of_mass(apply(moment.T_object_moved, mesh.vertices), apply(
            moment.T_object_moved, grasp_object.mass_properties.centre_of_mass[None])[0],
            step.centre_of_mass)
    return layers.array


def arm_markers(arm: Parts, frame: MarkerFrame, other_arms: Parts = ()) -> MarkerArray:
    """
    Return an arm and those beside it alone, or what takes them away.

    Parameters
    ----------
    arm, other_arms : sequence of (TriangleMesh, (4, 4) float)
        Their parts and poses in the base of the first; empty: none is to be seen.
    frame : MarkerFrame
        With the base in the place of the object.
    """
    layers = Layers(frame)
    layers.clear('arm')
    _add_arms(layers, arm, other_arms)
    return layers.array


def arm_way_markers(T_object_palm: Sequence[Array], frame: MarkerFrame) -> MarkerArray:
    """Return the line along which an arm brings the palm, (4, 4) each, frame object."""
    layers = Layers(frame)
    layers.clear('arm_way')
    points = np.array([T[:3, 3] for T in T_object_palm]).reshape(-1, 3)
    if len(points) > 1:
        layers.lines('arm_way', points[:-1], points[1:], CYAN, 2.0 * LINE_WIDTH)
    return layers.array


def obstacle_markers(obstacles: Array, frame: MarkerFrame) -> MarkerArray:
    """Return obstacles (k, 16) about an object alone."""
    layers = Layers(frame)
    _add_obstacles(layers, obstacles)
    return layers.array


def no_grasp(frame: MarkerFrame) -> MarkerArray:
    """Return what takes a grasp or a moment of a closing away; obstacles stay."""
    layers = Layers(frame)
    layers.clear(*GRASP_LAYERS, *MOMENT_LAYERS)
    return layers.array


def _add_object(layers: Layers, grasp_object: GraspObject, state: RankedGrasp | None,
                grasp: RankedGrasp | None, hand: HandModel) -> Legend:
    """Show the object as a state has it, untouched without one; return its legend."""
    mesh = grasp_object.mesh
    legend = Legend(layers, mesh.vertices, None if grasp is None else _reach(grasp, hand))
    legend.marks()
    layers.centres_of_mass(mesh.vertices, grasp_object.mass_properties.centre_of_mass,
                           None if state is None else state.centre_of_mass)
    if state is None or state.vertices is None:
        layers.mesh('object', mesh.vertices, mesh.faces, UNTOUCHED)
        return legend
    layers.pressure_mesh('deformation', state.vertices, mesh.faces, state.vertex_pressures)
    legend.pressures(state.vertex_pressures)
    return legend


def _add_obstacles(layers: Layers, obstacles: Array) -> None:
    layers.clear('obstacles')
    for obstacle in obstacles:
        layers.obstacle('obstacles', obstacle)


def _add_arms(layers: Layers, arm: Parts, other_arms: Parts) -> None:
    for parts, colour in ((arm, ARM_COLOUR), (other_arms, OTHER_ARM_COLOUR)):
        for part, T_object_part in parts:
            layers.mesh('arm', part.vertices, part.faces, colour, T_object_part)


def _add_boxes(layers: Layers, mesh: TriangleMesh, hand: HandModel, T_object_link: Array,
               T_object_moved: Array = np.eye(4)) -> None:
    """Show the edges of the oriented boxes, and thicker ones of the parts within reach."""
    found = hand_boxes(mesh, hand, T_object_link, T_object_moved)
    for layer, boxes, colour, width in zip(
            BOX_LAYERS, (found.whole, found.parts), (BOX_COLOUR, REGION_COLOUR),
            (LINE_WIDTH, 2.0 * LINE_WIDTH)):
        edges = np.concatenate([np.zeros((0, 2, 3)), *(box.edges() for box in boxes)])
        layers.lines(layer, edges[:, 0], edges[:, 1], (*colour, 1.0), width)


def _reach(grasp: RankedGrasp, hand: HandModel) -> Array:
    """Return points ``(n, 3)`` of the hand while it closes, frame object."""
    return np.concatenate([_points_of(hand, link_poses_at(grasp, hand, fraction))
                           for fraction in (0.0, 1.0)])


def _points_of(hand: HandModel, T_object_link: Array) -> Array:
    """Return corners ``(n, 3)`` of the links' hulls at poses ``(L, 4, 4)``, frame object."""
    return np.concatenate([apply(pose, mesh.vertices)
                           for mesh, pose in zip(ghost_links(hand), T_object_link)])


def _add_hand(layers: Layers, grasp: RankedGrasp, hand: HandModel, fraction: float,
              colour: Sequence[float]) -> None:
    """Show the hand at a moment of a closing, its links simplified: messages stay small."""
    for mesh, T_object_link in zip(moving_links(hand), link_poses_at(grasp, hand, fraction)):
        layers.mesh('hand', mesh.vertices, mesh.faces, colour, T_object_link)


def _add_forces(layers: Layers, grasp: RankedGrasp) -> None:
    points = np.array([c.point for c in grasp.contacts]).reshape(-1, 3)
    forces = np.array([c.force for c in grasp.contacts]).reshape(-1, 3)
    layers.forces(points, forces)
    layers.contacts('contacts', points)


def ranked_markers(grasps: Sequence[RankedGrasp], frame: MarkerFrame,
                   hand: HandModel | None = None) -> MarkerArray:
    """
    Return an arrow along the approach and the rank of each grasp, from green (best) to orange.

    With a ``hand`` the first ``MOST_GHOSTS`` grasps are shown as ghosts: the hulls of its
    links, in the colour of the rank.
    """
    layers = Layers(frame)
    layers.clear('ranked_grasps', 'ranks', 'ghosts')
    for i, grasp in enumerate(grasps):
        share = i / max(1, len(grasps) - 1)
        colour = tuple((1.0 - share) * np.array(GREEN) + share * np.array(ORANGE))
        forward = grasp.T_object_palm[:3, 2] if hand is None else (
            grasp.T_object_palm[:3, :3] @ hand.approach)
        axis = forward * PALM_LENGTH
        start = grasp.T_object_palm[:3, 3] - axis
        layers.arrows('ranked_grasps', start[None], axis[None], colour)
        layers.text('ranks', start, f'{grasp.rank}: {grasp.score:.2f}')
        if hand is not None and i < MOST_GHOSTS:
            for mesh, T_object_link in zip(ghost_links(hand), link_poses_at(grasp, hand, 1.0)):
                layers.mesh('ghosts', mesh.vertices, mesh.faces, (*colour[:3], GHOST_ALPHA),
                            T_object_link)
    return layers.array
