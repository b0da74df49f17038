"""Requests of the fault harness, and what the stages in one process answer to them."""

import json
from dataclasses import dataclass
from pathlib import Path

from geometry_msgs.msg import Point, Pose, Quaternion, Vector3, Wrench
from gripsim_interfaces.action import PlanGrasps
from gripsim_interfaces.srv import EvaluateGrasp, PlanGrasp
from shape_msgs.msg import SolidPrimitive
from suite_cases import MATERIAL, as_request, quick_options, ranking

from gripsim_ros.core.bodies import GraspObject, load_materials, shapes
from gripsim_ros.core.planning import PlannerOptions
from gripsim_ros.library.in_process import plan_grasps
from gripsim_ros.library.resources import resolve_uri, share_directory
from gripsim_ros.ros import conversions
from gripsim_ros.ros.conversions import RequestReader
from gripsim_ros.ros.conversions.clouds import cloud_to_msg

#: Edge of the triangles of small objects [m], and hypotheses of a request.
EDGE, HYPOTHESES = 0.008, 6
#: Time limit of a request that shall be answered, and of one that is spoilt [s].
TIME, SPOILT_TIME = 120.0, 0.5
#: Largest length of a line that says what is wrong.
LINE = 1000
#: Names under which objects are published and changed while plans run.
LABEL = 'changing'


@dataclass(frozen=True)
class Case:
    """A request by its name, and the bodies that it is about."""

    name: str
    goal: PlanGrasps.Goal


def body(kind: str) -> GraspObject:
    """Return a small object by its name."""
    made = {'ball': lambda: shapes.sphere(0.033, EDGE), 'large ball': lambda: shapes.sphere(
                0.04, EDGE),
            'box': lambda: shapes.box([0.05, 0.05, 0.08], EDGE),
            'cylinder': lambda: shapes.cylinder(0.03, 0.1, edge_length=EDGE)}
    return GraspObject(made[kind](), MATERIAL, LABEL)


def request(kind: str, **fields) -> PlanGrasps.Goal:
    """Return a request that brings a small object's mesh."""
    mesh = body(kind).mesh
    return PlanGrasps.Goal(**{
        'mesh': conversions.mesh_to_msg(mesh.vertices, mesh.faces),
        'material': conversions.material_to_msg(MATERIAL), 'max_hypotheses': HYPOTHESES,
        'max_planning_time': TIME, **fields})


def cases() -> list[Case]:
    """Return the requests whose answers are known."""
    found = [Case(f'{kind} {seed}', request(kind, seed=seed))
             for kind, seed in (('ball', 0), ('ball', 1), ('large ball', 2), ('box', 3),
                                ('cylinder', 4))]
    weight = request('box', seed=5)
    weight.task.gravity_directions = [Vector3(z=-1.0)]
    weight.task.external_wrenches = [Wrench(force=Vector3(x=0.5))]
    weight.obstacles = [SolidPrimitive(type=SolidPrimitive.BOX, dimensions=[0.5, 0.5, 0.02])]
    weight.obstacle_poses = [Pose(position=Point(z=-0.06), orientation=Quaternion(w=1.0))]
    slippery = request('ball', seed=6)
    slippery.material.friction = 0.03
    return [*found, Case('box on a table', weight), Case('slippery ball', slippery)]


def rich_requests() -> dict[str, PlanGrasp.Request]:
    """Return small requests in which every field has something to be spoilt, by how."""
    # Each of thousands of spoilt requests is read: few triangles.
    mesh, seen = shapes.sphere(0.033, 0.06), shapes.sphere(0.033, 0.014).vertices
    region = SolidPrimitive(type=SolidPrimitive.BOX, dimensions=[0.2, 0.2, 0.2])
    far = SolidPrimitive(type=SolidPrimitive.SPHERE, dimensions=[0.01])
    here, away = Pose(orientation=Quaternion(w=1.0)), Pose(
        position=Point(x=2.0), orientation=Quaternion(w=1.0))
    common = {'object_id': 'spoilt', 'object_pose': here, 'max_hypotheses': 1, 'max_grasps': 1,
              'material': conversions.material_to_msg(MATERIAL),
              'max_planning_time': SPOILT_TIME, 'obstacles': [far], 'obstacle_poses': [away]}
    plain = PlanGrasp.Request(
        mesh=conversions.mesh_to_msg(mesh.vertices, mesh.faces), scale=1.0, **common)
    plain.header.frame_id = 'world'
    task = plain.task
    task.gravity_directions, task.gravity = [Vector3(z=-1.0), Vector3(x=-1.0)], 9.81
    task.external_wrenches = [Wrench(force=Vector3(x=0.1), torque=Vector3(z=0.001))]
    task.has_displacement, task.displacement.translation.z = True, 0.002
    task.approach_direction, task.approach_half_angle = Vector3(z=1.0), 3.0
    task.keep_out, task.keep_out_poses = [far], [away]
    task.contact_region, task.contact_region_poses = [region], [here]
    plain.arm_start.name, plain.arm_start.position = ['joint'], [0.0]
    cloud = PlanGrasp.Request(cloud=cloud_to_msg(
        seen[seen[:, 2] > 0.0], [0.0, 0.0, 1.0]), completion='mirror',
        task=task, **common)
    named = PlanGrasp.Request(object_id='published', max_hypotheses=1,
                              max_planning_time=SPOILT_TIME)
    package = PlanGrasp.Request(mesh_resource='package://gripsim_ros/urdf/meshes/palm.stl',
                                **common)
    return {'mesh': plain, 'cloud': cloud, 'published': named, 'file': package}


def evaluation(grasps) -> EvaluateGrasp.Request:
    """Return the question for given grasps, in which every field can be spoilt."""
    question = as_request(rich_requests()['mesh'], EvaluateGrasp.Request)
    question.grasps = grasps
    return question


def reader() -> RequestReader:
    """Return what understands requests as the planner does."""
    return RequestReader(load_materials(share_directory() / 'config' / 'materials.yaml'),
                         resolve_uri, lambda label: None)


def answer(goal, here: RequestReader | None = None) -> dict:
    """Return what one process answers: the grasps' order to the last bit, reasons and counts."""
    understood = (here or reader()).read(goal)
    plan = plan_grasps(understood.grasp_object, understood.task, hypotheses=goal.max_hypotheses,
                       count=goal.max_grasps, seed=int(goal.seed),
                       options=PlannerOptions.from_mapping(quick_options()))
    return {'ranking': [[g.hypothesis, g.score, g.margin, list(g.trajectory[-1]),
                         list(g.grip_efforts)] for g in plan.grasps],
            'rejections': {str(k): int(v) for k, v in plan.rejections.items()}}


def answer_of(result) -> dict:
    """Return the same of an answer that came over ROS."""
    return {'ranking': [[h, s, m, list(p), list(e)] for h, s, m, p, e in ranking(result)],
            'rejections': dict(zip(result.rejection_reasons,
                                   (int(n) for n in result.rejection_counts)))}


def write_answers(path: Path, count: int = 0) -> None:
    """Work out and store right answers: of ``count`` cases or all, and of objects by label."""
    found = {case.name: answer(case.goal) for case in cases()[:count or None]}
    for kind in ('ball', 'box'):
        found[f'{LABEL} {kind}'] = answer(request(kind))
    path.write_text(json.dumps(found), encoding='utf-8')


def is_line(text: str) -> bool:
    """Tell whether a message is one clear line of bearable length."""
    return bool(text.strip()) and '\n' not in text and len(text) <= LINE and text.isprintable()
