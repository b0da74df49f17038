"""
Planned contacts against a simulation with tetrahedra, and how fast the simulated hand is.

The hand, with rigid links (no pads), closes about a floating object in the simulation; the model
is then asked for the joints and the object's pose at which it came to rest. With
``--referee`` finite elements are asked too. With ``--speed`` the real-time factor over the number
of nodes instead; with ``--pads`` a ball between two rigid pads, without the hand. ``--figure``
draws either.
"""

import argparse
from dataclasses import replace
from pathlib import Path
import time

import numpy as np

from benchmarks.hardware.bodies import bodies, closing_rows, rigid_hand
from benchmarks.hardware.flex_indentation import FlexPress, nodal_forces, soft_ball
from benchmarks.hardware.grip_referee import hulls, press
from gripsim_ros.core.bodies import GraspObject, Material, shapes
from gripsim_ros.core.pipeline import Pipeline
from gripsim_ros.core.planning import GraspEvaluator, Task
from gripsim_ros.core.transforms import inverse, transform
from gripsim_ros.hardware.sim.options import default_options
from gripsim_ros.hardware.sim.world import World
from gripsim_ros.hardware.sim.world_model import nearest_motion
from gripsim_ros.library.in_process import link_shapes, mechanics_options, planner_options
from gripsim_ros.library.resources import load_default_hand
from gripsim_ros.library.workers import run

#: Half the thickness of the object's skin while contacts are compared [m]: the model has none.
THIN_SKIN = 1e-5
MODULI = (2e4, 1e5, 5e5, 5e6)
#: For which the referee is asked; forces are in proportion to it [Pa].
JUDGED = 1e5
POISSON_RATIO, DENSITY, FRICTION = 0.3, 300.0, 0.8
#: Density over modulus while contacts are compared [kg/m^3/Pa]: at rest and without gravity mass
#: does not matter, MuJoCo's contacts are stiffer and its solve converges.
DENSITY_SHARE = 3e-3
#: Edges of the tetrahedra [m] of the table, and of the one that tells their error.
SPACING = 0.012
#: Nodes farther than this from every contact tell where the object is [m].
CORE_DISTANCE = 0.02
#: Time for closing and for coming to rest [s].
CLOSING_TIME, REST_TIME = 0.5, 0.4
SPACINGS = (0.03, 0.02, 0.014, 0.01, 0.006)
#: Without the hand: radius [m], modulus [Pa], depths [m], cells from the middle to a pole, and
#: up to how many of them MuJoCo is asked too.
PRESSED_RADIUS, PRESSED_MODULUS, PRESSED_DEPTHS = 0.04, 1e6, (1e-3, 3e-3)
CELLS, SIMULATED_CELLS = (3, 4, 6, 8), 3
#: Quadratic finite elements at these depths [N]: docs/validation/finite_elements.md.
REFEREE = {'ball': (4.22, 22.04), 'plate': (9.835, 53.89)}
IMAGES = Path(__file__).resolve().parents[2] / 'docs' / 'images'


def planned(hand, grasp_object, T_object_palm, rows, elasticity) -> dict:
    """Return what the model says of a closed hand."""
    options = replace(planner_options(), settling_steps=0)      # the simulation has settled
    evaluator = GraspEvaluator(grasp_object, hand, Task(), options, [(T_object_palm, rows)])
    mechanics = replace(mechanics_options(), elasticity=elasticity)
    run(evaluator, Pipeline(hand, grasp_object, mechanics, link_shapes(hand)))
    grasp = evaluator.ranked()[0]
    forces = {}
    for contact in grasp.contacts:
        forces[contact.link] = forces.get(contact.link, 0.0) + float(
            contact.closing_force @ contact.normal)
    shift = grasp.centre_of_mass - grasp_object.mass_properties.centre_of_mass
    return {'forces': forces, 'area': sum(c.area for c in grasp.contacts),
            'depth': grasp.max_displacement, 'shift': float(np.linalg.norm(shift)),
            'quantitative': grasp.quantitative}


def simulated(hand, grasp_object, T_object_palm, rows, spacing) -> dict:
    """Return the same of the simulation, and where hand and object came to rest in it."""
    world = World(hand, default_options(body='soft', node_spacing=spacing, joint_damping=5.0),
                  T_object_palm, rows[0], grasp_object)
    world.model.jnt_actfrclimited[:] = False        # of the URDF, where joints are to be stiff
    world.model.flex_radius[:] = THIN_SKIN
    steps = round(CLOSING_TIME / world.options.time_step)
    for k in range(steps):
        world.setpoints = rows[0] + (k + 1) / steps * (rows[-1] - rows[0])
        world.step()
    for _ in range(round(REST_TIME / world.options.time_step)):
        world.step()
    nodes, masses, now = world.soft.nodes, world.soft.masses, world.nodes_world
    motion = core_motion(world)
    rigid = nodes @ motion[:3, :3].T + motion[:3, 3]
    shift = np.average(now - rigid, axis=0, weights=masses)
    return {'forces': world.link_forces(), 'area': touched_area(world),
            'depth': float(np.linalg.norm(now - rigid, axis=1).max()),
            'shift': float(np.linalg.norm(shift)), 'nodes': len(nodes),
            'warned': int(sum(one.number for one in world.data.warning)),
            'T_object_palm': inverse(motion) @ world.T_world_palm, 'joints': world.joints}


def core_motion(world):
    """Return the rigid motion of what lies far from all contacts; there nothing deforms."""
    weights = world.soft.masses.copy()
    points = [touch.point for touch in world.touch_points()]
    if points:
        away = np.linalg.norm(world.nodes_world[:, None] - np.array(points), axis=2).min(axis=1)
        weights = weights * (away > CORE_DISTANCE)
    return nearest_motion(world.soft.nodes, world.nodes_world, weights)


def touched_area(world) -> float:
    """Return the sum over links of the convex hull of their points of contact [m^2]."""
    from scipy.spatial import ConvexHull, QhullError
    total = 0.0
    touches = world.touch_points()
    for link in {touch.link for touch in touches}:
        points = np.array([touch.point for touch in touches if touch.link == link])
        flat = points - points.mean(axis=0)
        _, _, axes = np.linalg.svd(flat, full_matrices=False)
        try:
            total += float(ConvexHull(flat @ axes[:2].T).volume)
        except (QhullError, ValueError, IndexError):
            continue        # a point or a line has no area
    return total


def compare(arguments) -> list[dict]:
    """Print planned and simulated contacts for soft bodies of several moduli; return them."""
    hand, table = rigid_hand(), []
    print('body        E [Pa]   nodes  force [N]           area [mm^2]      depth [mm]     '
          'shift [mm]    quantitative, steps warned')
    for name, body in bodies().items():
        if arguments.bodies and name not in arguments.bodies:
            continue
        closing = closing_rows(hand, body)
        for modulus in arguments.moduli:
            thing = GraspObject(body.mesh, Material(
                modulus, POISSON_RATIO, DENSITY_SHARE * modulus, FRICTION), name)
            found = simulated(hand, thing, body.T_object_palm, closing[[0, -1]],
                              min(arguments.spacing, body.coarsest))
            joints = np.clip(found['joints'], hand.joint_lower, hand.joint_upper)
            plan = planned(hand, thing, found['T_object_palm'], np.vstack([closing[:-1], joints]),
                           arguments.elasticity)
            table.append({'body': name, 'modulus': modulus, 'plan': plan, 'simulated': found})
            print(line(table[-1]), flush=True)
            if arguments.referee and modulus == JUDGED:
                judge(hand, body.mesh, modulus, found, arguments.referee)
    return table


def line(row: dict) -> str:
    """Return a line of the table: the plan, then the simulation."""
    plan, found = row['plan'], row['simulated']
    return (f'{row["body"]:11s} {row["modulus"]:7.0e}  {found["nodes"]:5d}  '
            f'{sum(plan["forces"].values()):8.2f} {sum(found["forces"].values()):8.2f}   '
            f'{1e6 * plan["area"]:6.0f} {1e6 * found["area"]:6.0f}   '
            f'{1e3 * plan["depth"]:6.2f} {1e3 * found["depth"]:6.2f}  '
            f'{1e3 * plan["shift"]:6.3f} {1e3 * found["shift"]:6.3f}  '
            f'{plan["quantitative"]} {found["warned"]}')


def judge(hand, mesh, modulus, found: dict, edges) -> None:
    """Print what finite elements say where the simulation came to rest, by edge [m]."""
    links = hulls(hand, found['joints'], found['T_object_palm'])
    for edge in edges:
        right = press(mesh, modulus, links, edge)
        print(f'  finite elements of {1e3 * edge:g} mm, {right["nodes"]} nodes: '
              f'{sum(right["forces"].values()):.2f} N, {1e6 * right["area"]:.0f} mm^2, '
              f'{1e3 * right["depth"]:.2f} mm, shift {1e3 * right["shift"]:.3f} mm', flush=True)


def planned_between_pads(pad: str) -> list[float]:
    """Return the model's forces of a pad [N] at ``PRESSED_DEPTHS``."""
    from benchmarks.finite_elements.cases import grips, MODULUS, Product
    name = {'ball': 'ball, 2 fingers', 'plate': 'ball, 2 plates'}[pad]
    product = Product(next(grip for grip in grips() if grip.name == name), POISSON_RATIO)
    return [product.forces([depth, depth])[0][0] * PRESSED_MODULUS / MODULUS
            for depth in PRESSED_DEPTHS]


def pads() -> list[dict]:
    """Print and return forces between two rigid pads by mesh: no hand, no friction, E 1 MPa."""
    mesh, table = shapes.sphere(PRESSED_RADIUS, 0.005), []
    print('pad    nodes  linear tetrahedra [N]  MuJoCo [N]  penetration [um]  (1 mm, 3 mm)')
    for pad in REFEREE:
        for count in CELLS:
            soft = soft_ball(PRESSED_RADIUS, count)
            row = {'pad': pad, 'nodes': len(soft.nodes), 'warned': 0,
                   'tetrahedra': nodal_forces(soft, PRESSED_MODULUS, pad, PRESSED_DEPTHS),
                   'simulated': [np.nan] * 2, 'penetration': [np.nan] * 2}
            if count <= SIMULATED_CELLS:
                press = FlexPress(mesh, soft, PRESSED_MODULUS, pad)
                found = press.press(PRESSED_DEPTHS)
                row.update(simulated=[one.force for one in found], warned=press.warned,
                           penetration=[one.penetration for one in found])
            table.append(row)
            print(f'{pad:6s} {row["nodes"]:5d}  ' + '  '.join(
                ' '.join(f'{value:6.2f}' for value in values) for values in
                (row['tetrahedra'], row['simulated'], 1e6 * np.array(row['penetration'])))
                + f'  {row["warned"]}', flush=True)
        print(pad, 'model', *(f'{force:.2f}' for force in planned_between_pads(pad)),
              'quadratic elements', *REFEREE[pad], flush=True)
    return table


def draw_pads(table: list[dict], path: Path) -> None:
    """Draw force over the referee's, by nodes."""
    import matplotlib
    matplotlib.use('Agg')
    from matplotlib import pyplot
    figure, panels = pyplot.subplots(1, 2, figsize=(10, 3.8), sharey=True)
    for panel, (pad, right) in zip(panels, REFEREE.items()):
        rows = [row for row in table if row['pad'] == pad]
        for k, depth in enumerate(PRESSED_DEPTHS):
            nodes, colour = [row['nodes'] for row in rows], f'C{k}'
            panel.semilogx(nodes, [row['tetrahedra'][k] / right[k] for row in rows], 'o-',
                           color=colour, label=f'linear tetrahedra, {1e3 * depth:g} mm')
            panel.semilogx(nodes, [row['simulated'][k] / right[k] for row in rows], 'x',
                           color=colour, markersize=10, label=f'MuJoCo, {1e3 * depth:g} mm')
            panel.axhline(planned_between_pads(pad)[k] / right[k], color=colour, ls=':',
                          label=f'model, {1e3 * depth:g} mm')
        panel.axhline(1.0, color='black', linewidth=0.8)
        panel.set_title(f'ball between two {pad}s')
        panel.set_xlabel('nodes')
    panels[0].set_ylabel('force over quadratic elements')
    panels[1].legend(fontsize=8)
    save(figure, path)


def draw_hand(table: list[dict], path: Path) -> None:
    """Draw planned and simulated forces, areas, depths and shifts over the modulus."""
    import matplotlib
    matplotlib.use('Agg')
    from matplotlib import pyplot
    figure, panels = pyplot.subplots(2, 2, figsize=(10, 7.2))
    values = (lambda side: sum(side['forces'].values()), lambda side: 1e6 * side['area'],
              lambda side: 1e3 * side['depth'], lambda side: 1e3 * side['shift'])
    labels = ('sum of normal forces [N]', 'sum of contact areas [mm²]',
              'largest displacement [mm]', 'shift of the centre of mass [mm]')
    for k, body in enumerate(dict.fromkeys(row['body'] for row in table)):
        rows = sorted((row for row in table if row['body'] == body),
                      key=lambda row: row['modulus'])
        for panel, value in zip(panels.flat, values):
            for side, style in (('plan', 'o-'), ('simulated', 'x--')):
                panel.semilogx([row['modulus'] for row in rows],
                               [value(row[side]) for row in rows], f'C{k}{style}',
                               label=f'{body}, {side}')
    for panel, label in zip(panels.flat, labels):
        panel.set_xlabel('E [Pa]')
        panel.set_ylabel(label)
    panels[0, 0].set_yscale('log')
    panels[0, 0].legend(fontsize=8)
    save(figure, path)


def save(figure, path: Path) -> None:
    """Write a figure."""
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def speed() -> None:
    """Print the real-time factor over the number of nodes, free and gripped; s of one core."""
    hand = load_default_hand()
    preshape = next(p for p in hand.preshapes if p.name == 'cylindrical')
    palm = transform(np.eye(3), np.array([0.0, 0.0, -0.17]))
    mesh = shapes.box([0.05, 0.05, 0.05])
    print('body    nodes  free  gripped  [simulated s / s of one core]')
    for spacing in (None, *SPACINGS):
        body = GraspObject(mesh, Material(1e5, POISSON_RATIO, DENSITY, FRICTION), 'cube')
        options = default_options(body='soft' if spacing else 'rigid',
                                  node_spacing=spacing or 0.01)
        world = World(hand, options, palm, preshape.open, body)
        factors = []
        for _ in range(2):
            begin, start = time.process_time(), world.time
            for _ in range(100):
                world.step()
            factors.append((world.time - start) / (time.process_time() - begin))
            way = preshape.closed - preshape.open
            for k in range(300):        # towards closed until the fingers press
                if sum(world.link_forces().values()) > 6.0:
                    break
                world.setpoints = preshape.open + (k + 1) / 600 * way
                world.step()
        nodes = 0 if world.soft is None else len(world.soft.nodes)
        print(f'{"soft" if spacing else "rigid":6s} {nodes:6d}  {factors[0]:5.2f}  '
              f'{factors[1]:5.2f}', flush=True)


def main() -> int:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--speed', action='store_true')
    parser.add_argument('--moduli', type=float, nargs='+', default=MODULI, help='[Pa]')
    parser.add_argument('--bodies', nargs='+', help='names; all without')
    parser.add_argument('--referee', type=float, nargs='+', default=(), metavar='EDGE',
                        help='finite elements too, at 1e5 Pa, of these edges [m]')
    parser.add_argument('--elasticity', default='half_space', help='of the model; or body')
    parser.add_argument('--pads', action='store_true')
    parser.add_argument('--figure', action='store_true', help='draw into docs/images')
    parser.add_argument('--spacing', type=float, default=SPACING,
                        help='edge of the tetrahedra [m]')
    arguments = parser.parse_args()
    if arguments.speed:
        speed()
    elif arguments.pads:
        table = pads()
        if arguments.figure:
            draw_pads(table, IMAGES / 'simulated_pads.png')
    else:
        table = compare(arguments)
        if arguments.figure:
            draw_hand(table, IMAGES / 'simulated.png')
    return 0
