"""Plans made up by hand, for what only shows or writes plans, and plans that come quickly."""

from functools import lru_cache

import numpy as np
from scipy.spatial.transform import Rotation

from gripsim_ros.core.bodies import GraspObject, Material, shapes
from gripsim_ros.core.hand import forward_kinematics
from gripsim_ros.core.planning.options import SCORE_TERMS
from gripsim_ros.core.planning.ranked_grasp import GraspContact, RankedGrasp, ScoreTerm
from gripsim_ros.core.transforms import apply, transform
from gripsim_ros.library.grasp_file import PlanAnswer
from gripsim_ros.library.in_process import plan_grasps
from gripsim_ros.library.resources import load_default_hand

OPEN = np.array([1.047, -0.9, 0.2, -0.9, 0.2, -0.9, 0.2])
CLOSED = np.array([1.047, -0.33, 0.55, -0.33, 0.55, -0.33, 0.55])
TIPS = ('sdh_finger_13_link', 'sdh_finger_23_link', 'sdh_thumb_3_link')
PEAK, CONTACT_RADIUS, DENT = 6e4, 0.008, 0.0015
STATISTICS = {'evaluated': 14, 'total': 20, 'planning_time': 1.25, 'repairs': ['merged 2 <b>'],
              'first_stable_time': None}


def plan_by_half_spaces(*what, **how):
    """Plan where the search alone is of interest: nobody waits for an object's own compliance."""
    return plan_grasps(*what, elasticity='half_space', **how)


@lru_cache(maxsize=1)
def apple(edge_length=0.006):
    """Return a soft apple."""
    material = Material(5e5, 0.45, 900.0, 0.5, max_pressure=2e5, name='fruit')
    return GraspObject(shapes.apple(edge_length=edge_length), material, 'apple')


def made_up_answer(count=3, mesh_name='apple.stl', body=None, **changes):
    """Return an answer with ``count`` grasps about the apple."""
    body = body or apple()
    grasps = [made_up_grasp(rank, body, **changes) for rank in range(1, count + 1)]
    return PlanAnswer(load_default_hand(), body, mesh_name, 1.0, grasps,
                      {'open hand collides': 4, 'not held': 2}, STATISTICS)


def made_up_grasp(rank, body=None, **changes):
    """Return a grasp from above with three fingertips at the apple."""
    hand, body = load_default_hand(), body or apple()
    turned = Rotation.from_euler('z', 0.7 * rank).as_matrix() @ np.diag([1.0, -1.0, -1.0])
    centre = body.mass_properties.centre_of_mass
    T_object_palm = transform(turned, centre - 0.19 * turned[:, 2])
    shares = np.linspace(0.0, 1.0, 9)[:, None]
    contacts, vertices, pressures = _touched(hand, body, T_object_palm)
    terms = tuple(ScoreTerm(name, 0.5, '-', 0.2, 0.1 / rank) for name in SCORE_TERMS)
    values = {
        'rank': rank, 'hypothesis': 3 * rank, 'preshape': 'three_finger', 'stable': True,
        'T_object_palm': T_object_palm,
        'T_object_pregrasp': T_object_palm @ transform(np.eye(3), np.array([0.0, 0.0, -0.1])),
        'trajectory': OPEN + shares * (CLOSED - OPEN), 'grip_positions': CLOSED + 0.01,
        'grip_efforts': np.full(7, 0.2), 'contacts': contacts,
        'score': sum(term.contribution for term in terms), 'terms': terms, 'margin': 1.1,
        'quantitative': rank % 2 == 1, 'max_displacement': DENT,
        'centre_of_mass': centre + [1e-4, 0.0, 0.0], 'vertices': vertices,
        'vertex_pressures': pressures}
    return RankedGrasp(**{**values, **changes})


def _touched(hand, body, T_object_palm):
    mesh, T_palm_link = body.mesh, forward_kinematics(hand, CLOSED[None])[0]
    pressures, vertices, contacts = np.zeros(len(mesh.vertices)), mesh.vertices.copy(), []
    for name in TIPS:
        T_object_link = T_object_palm @ T_palm_link[list(hand.link_names).index(name)]
        tip = apply(T_object_link, np.array([[0.012, 0.0, 0.03]]))[0]
        nearest = np.linalg.norm(mesh.vertices - tip, axis=1).argmin()
        point, normal = mesh.vertices[nearest], -mesh.vertex_normals[nearest]
        distance = np.linalg.norm(mesh.vertices - point, axis=1)
        share = np.maximum(0.0, 1.0 - (distance / CONTACT_RADIUS) ** 2)
        pressures = np.maximum(pressures, PEAK * np.sqrt(share))
        vertices = vertices + DENT * np.exp(-(distance / 0.012) ** 2)[:, None] * normal
        contacts.append(GraspContact(
            link=name, point=point, normal=normal, force=1.5 * normal, torque=np.zeros(3),
            closing_force=2.0 * normal, closing_torque=np.zeros(3),
            area=np.pi * CONTACT_RADIUS**2, peak_pressure=PEAK, friction_radius=0.005))
    return tuple(contacts), vertices, pressures
