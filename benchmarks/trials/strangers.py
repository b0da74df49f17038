"""Meshes that nobody here chose, made from a seed: vessels, things on tables, broken files."""

from pathlib import Path

import numpy as np
import trimesh

from gripsim_ros.core.batches import ConfigurationBatch, OBSTACLE_BOX, OBSTACLE_WIDTH
from gripsim_ros.core.bodies import Material, shapes
from gripsim_ros.core.hand import compute_link_states
from gripsim_ros.core.planning import Task
from gripsim_ros.library.resources import load_default_hand
from gripsim_ros.ros.clients.plan import STATUS_NAMES, PlanGraspClient, plan_request
from gripsim_ros.ros.conversions.geometry import pose_from_msg

from .tally import ANSWERED, REFUSED, Tally, WRONG

#: Hypotheses of a plan, of one for a thing on a table, and limit [s].
HYPOTHESES, ON_A_TABLE, TIME = 40, 200, 120.0
#: A hand may come so near to a table that single precision in messages takes it below [m].
ROUNDING = 1e-6
#: Heights of things on a table [m]: as hands have to do with them.
HEIGHTS = (0.02, 0.09)
#: Grasps that each of them has at least.
FEWEST = 3
RUBBER = Material(5e6, 0.45, 900.0, 0.8, name='rubber')


def offer(tally: Tally, client: PlanGraspClient, folder: Path, count: int, seed: int) -> None:
    """Offer ``count`` of each kind."""
    chance = np.random.default_rng(seed)
    for number in range(count):
        for kind in (vessel, on_a_table, several, opened, millimetres, broken):
            kind(tally, client, folder / f'{kind.__name__}_{number}', chance)


def ask(client: PlanGraspClient, path: Path, material=RUBBER, task=None, hypotheses=HYPOTHESES):
    """Return status and answer of a plan for a file."""
    answer = client.plan(plan_request(path, material, task, max_hypotheses=hypotheses,
                                      max_planning_time=TIME))
    return STATUS_NAMES[answer.status], answer


def judge(tally: Tally, what: str, status: str, answer, wanted: tuple, wrong: str = '') -> None:
    """Count an answer: one of the wanted statuses, every word in one line, every number finite."""
    from fault_cases import is_line
    said = answer.message or answer.hint
    if status not in wanted:
        wrong = f'{status}, wanted {" or ".join(wanted)}: {said}'
    elif status != 'SUCCEEDED' and not is_line(said):
        wrong = f'{status} says {said!r}'
    elif not np.isfinite([g.score for g in answer.grasps]).all():
        wrong = 'a score is no number'
    end = ANSWERED if status in ('SUCCEEDED', 'NO_GRASP') else REFUSED
    tally.add(WRONG if wrong else end, what, wrong)


def write(path: Path, *bodies: trimesh.Trimesh, ending: str = 'stl') -> Path:
    """Write bodies into one file."""
    file = path.with_suffix(f'.{ending}')
    trimesh.util.concatenate(bodies).export(file)
    return file


def as_trimesh(mesh) -> trimesh.Trimesh:
    """Return one of our meshes as the library that writes files has it."""
    return trimesh.Trimesh(mesh.vertices, mesh.faces, process=False)


def vessel(tally: Tally, client, path: Path, chance) -> None:
    """Offer a cup with a wall of 0.15 to 0.5 mm: what is told of forces on it is no promise."""
    radius, height = chance.uniform(0.02, 0.038), chance.uniform(0.06, 0.12)
    wall, modulus = chance.uniform(1.5e-4, 5e-4), 10.0 ** chance.uniform(6.0, 9.5)
    profile = [[0, 0], [radius, 0], [radius, height], [radius - wall, height],
               [radius - wall, wall], [0, wall]]
    file = write(path, trimesh.creation.revolve(profile, sections=64))
    status, answer = ask(client, file, Material(modulus, 0.35, 1200.0, 0.6, name='wall'))
    promised = sum(grasp.quantitative for grasp in answer.grasps)
    judge(tally, f'wall of {1e3 * wall:.2f} mm, {modulus:.1e} Pa', status, answer,
          ('SUCCEEDED', 'NO_GRASP'), f'{promised} grasps are quantitative' if promised else '')


def on_a_table(tally: Tally, client, path: Path, chance) -> None:
    """Offer a thing on a table: it has grasps, and no link is ever below the table's top."""
    height, width = chance.uniform(*HEIGHTS), chance.uniform(0.02, 0.06, 2)
    body = [lambda: shapes.box([*width, height], 0.006),
            lambda: shapes.ellipsoid([*(0.5 * width), 0.5 * height], 0.006),
            lambda: shapes.cylinder(0.5 * width[0], height, edge_length=0.006)][
                int(chance.integers(3))]()
    top = float(body.vertices[:, 2].min())
    row = np.zeros((1, OBSTACLE_WIDTH))
    row[0, :4] = OBSTACLE_BOX, 0.6, 0.6, 0.02
    row[0, [4, 9, 14]] = 1.0
    row[0, 15] = top - 0.01
    task = Task(gravity_directions=[[0.0, 0.0, -1.0]], obstacles=row)
    status, answer = ask(client, write(path, as_trimesh(body)), RUBBER, task, ON_A_TABLE)
    lowest = min((_lowest(grasp) for grasp in answer.grasps), default=np.inf)
    few = len(answer.grasps) < FEWEST
    judge(tally, f'{1e3 * height:.0f} mm high on a table', status, answer, ('SUCCEEDED',),
          f'a link is {1e3 * (top - lowest):.2f} mm below the top' if lowest < top - ROUNDING
          else f'only {len(answer.grasps)} grasps' if few else '')


def _lowest(grasp) -> float:
    """Return the height of the lowest corner of any link at pre-grasp, closing and grasp [m]."""
    hand = load_default_hand()
    joints = np.array([hand.joint_vector(dict(zip(grasp.joint_trajectory.joint_names,
                                                  point.positions)))
                       for point in grasp.joint_trajectory.points])
    palms = np.array([pose_from_msg(grasp.pregrasp_pose)]
                     + [pose_from_msg(grasp.hand_pose)] * len(joints))
    joints = np.concatenate([joints[:1], joints])
    states = compute_link_states(hand, ConfigurationBatch(
        palms, joints, np.zeros_like(joints), np.zeros((len(joints), 3))))
    return min(float((link.mesh.vertices @ T[:3, :3].T + T[:3, 3])[:, 2].min())
               for poses in states.T_object_link for link, T in zip(hand.links, poses))


def several(tally: Tally, client, path: Path, chance) -> None:
    """Offer a file of two bodies that lie apart: it is refused, and says so."""
    ball = as_trimesh(shapes.sphere(0.03, 0.01))
    other = ball.copy()
    other.apply_translation([0.0, 0.0, chance.uniform(0.07, 0.2)])
    status, answer = ask(client, write(path, ball, other))
    said = answer.message
    judge(tally, 'two bodies', status, answer, ('INVALID_REQUEST',),
          '' if 'bodies' in said else f'does not say what is wrong: {said}')


def opened(tally: Tally, client, path: Path, chance) -> None:
    """Offer one side of a body: it is refused, and the way out named."""
    ball = as_trimesh(shapes.ellipsoid(chance.uniform(0.02, 0.04, 3), 0.008))
    side = chance.normal(size=3)
    ball.update_faces(ball.triangles_center @ side > 0.0)
    ball.remove_unreferenced_vertices()
    status, answer = ask(client, write(path, ball))
    judge(tally, 'one side of a scan', status, answer, ('INVALID_REQUEST',),
          '' if 'completion' in answer.message else f'names no way out: {answer.message}')


def millimetres(tally: Tally, client, path: Path, chance) -> None:
    """Offer a file in millimetres: it is refused, and the unit named."""
    ball = as_trimesh(shapes.sphere(0.035, 0.01))
    ball.apply_scale(1000.0 * chance.uniform(0.8, 1.2))
    status, answer = ask(client, write(path, ball))
    said = answer.message + answer.hint
    judge(tally, 'millimetres', status, answer, ('INVALID_REQUEST', 'NO_GRASP'),
          '' if 'scale' in said or 'wide' in said else f'names neither scale nor size: {said}')


def broken(tally: Tally, client, path: Path, chance) -> None:
    """Offer a broken file: it is refused in one line, or mended and planned for."""
    from broken_meshes import break_mesh
    made = break_mesh(chance)
    file = path.with_suffix(f'.{made.ending}')
    file.write_bytes(made.data)
    status, answer = ask(client, file)
    judge(tally, f'{made.kind}.{made.ending}', status, answer,
          ('SUCCEEDED', 'NO_GRASP', 'INVALID_REQUEST'))
