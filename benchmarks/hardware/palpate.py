"""
The modulus that the simulated hand feels against the true one: soft bodies from 20 kPa to 2 MPa.

The first-ranked grasp of a body that is believed to have ``BELIEVED`` is palpated; the body's
modulus in the simulation is another. Coarse tetrahedra are stiffer than their modulus says, so
the simulated body's true modulus is measured first: the same tetrahedra are squeezed between
plates in the simulation, in several directions, and finite elements of the body tell with which
modulus it would bear the same.
"""

import argparse
from dataclasses import replace
import time

import mujoco
import numpy as np
from scipy.interpolate import PchipInterpolator
from scipy.optimize import minimize_scalar

from benchmarks.hardware import grasps
from benchmarks.hardware.bodies import bodies
from benchmarks.hardware.flex_indentation import FlexPress
from benchmarks.hardware.grip_referee import nearest_on
from gripsim_ros.core.bodies import GraspObject, Material
from gripsim_ros.core.bodies.tetrahedra import tetrahedron_volumes
from gripsim_ros.core.hand import forward_kinematics
from gripsim_ros.core.mechanics.finite_strain.bisection import refine
from gripsim_ros.core.transforms import apply
from gripsim_ros.hardware.execution.plan import Wishes
from gripsim_ros.hardware.palpation.machine import Palpation
from gripsim_ros.hardware.palpation.options import PalpationOptions
from gripsim_ros.hardware.sim.hand_model import hand_as_simulated
from gripsim_ros.hardware.sim.solids import outer_faces
from gripsim_ros.hardware.sim.world_model import soft_mesh_of, SoftMesh
from gripsim_ros.library.in_process import plan_grasps
from gripsim_ros.library.resources import load_default_hand
from gripsim_ros.library.squeezing.grip_model import prepare_grip_model
from gripsim_ros.library.squeezing.plates import squeeze_object
from gripsim_ros.ros.nodes.base.parameters import default_values

MODULI = (2e4, 6e4, 2e5, 6e5, 2e6)
NAMES = ('sphere', 'apple')
#: Of the planner's belief [Pa]: what it plans with, wrong by up to ten times.
BELIEVED, DAMAGE = 2e5, 5e5
POISSON_RATIO, FRICTION = 0.3, 0.8
#: Density over modulus [kg/m^3/Pa], and the least: MuJoCo's solve of stiff, light bodies does not
#: converge, and its contacts are as stiff as nodes are heavy. While a body floats mass is nothing.
DENSITY_SHARE, LEAST_DENSITY = 3e-3, 300.0
#: Edges of the simulated tetrahedra far from the contacts and at them [m], from where they grow
#: [m] and by how much a distance [-]: uniform ones of 12 mm stand out by half a millimetre.
FAR, NEAR, CORE, GRADING = 0.018, 0.0025, 0.002, 3.0
MOST_TETRAHEDRA = 20000
#: Plates: ways of each over the body's thickness, and the modulus meanwhile [Pa].
PLATE_WAYS, PLATE_MODULUS = np.linspace(0.006, 0.03, 5), 1e5
#: Longest palpation that is simulated [s].
LONGEST = 150.0


def palpation_options() -> PalpationOptions:
    """Return the executor's options of palpation."""
    return PalpationOptions.from_mapping(default_values('grasp_executor'))


def graded(body: GraspObject, touched) -> SoftMesh:
    """Return tetrahedra that are fine at points (k, 3) [m], their nodes on the surface there."""
    def wanted(middles):
        away = np.linalg.norm(middles[:, None] - touched, axis=2).min(axis=1)
        return np.maximum(NEAR, NEAR + GRADING * (away - CORE))
    coarse = soft_mesh_of(body, FAR)
    nodes, corners = refine(coarse.nodes, coarse.corners, wanted, MOST_TETRAHEDRA)
    rows = np.unique(outer_faces(corners))
    moved = nodes.copy()
    moved[rows] = nearest_on(body.mesh, nodes[rows])[0]
    for _ in range(20):         # where a tetrahedron would be turned its nodes stay
        flat = tetrahedron_volumes(moved, corners) < 0.2 * tetrahedron_volumes(nodes, corners)
        if not flat.any():
            break
        bad = np.unique(corners[flat])
        moved[bad] = 0.5 * (moved[bad] + nodes[bad])
    # Floating, masses tell nothing of forces at rest: equal ones keep MuJoCo's solve good.
    masses = np.full(len(moved), body.mass_properties.mass / len(moved))
    return SoftMesh(moved, corners, outer_faces(corners), masses)


def true_modulus(body: GraspObject) -> float:
    """Return what such tetrahedra have for a modulus of 1 Pa, between plates."""
    poles = np.array([[0.0, 0.0, body.mesh.vertices[:, 2].max()],
                      [0.0, 0.0, body.mesh.vertices[:, 2].min()]])
    soft = graded(body, poles)
    thickness = float(np.ptp(body.mesh.vertices[:, 2]))
    ways = 2.0 * thickness * PLATE_WAYS
    curve = squeeze_object(body, float(1.2 * ways[-1]), steps=8).curve
    way_of = PchipInterpolator([0.0, *(point.force for point in curve)],
                               [0.0, *(point.way for point in curve)], extrapolate=True)
    middle = 0.5 * (soft.nodes[:, 2].max() + soft.nodes[:, 2].min())
    mesh = SoftMesh(soft.nodes - [0.0, 0.0, middle], soft.corners, soft.faces,
                    soft.masses / soft.masses.sum() * body.mesh.volume)
    press = FlexPress(body.mesh, mesh, PLATE_MODULUS, 'plate')
    forces = np.array([one.force for one in press.press(0.5 * ways)])
    scale = body.material.youngs_modulus / PLATE_MODULUS

    def misfit(factor):
        rest = ways - way_of(forces * scale / np.exp(factor))
        return float(((rest - rest.mean()) ** 2).sum())
    return float(np.exp(minimize_scalar(misfit, bounds=(-1.0, 2.0), method='bounded').x))


def palpate(hand, body, grasp, model, modulus: float, soft: SoftMesh, squeezes: int):
    """Return palpation and world of a simulated body of a modulus [Pa]."""
    palpation = replace(palpation_options(), squeezes=squeezes)
    options = grasps.execution_options(loading_time=palpation.palpation_time)
    thing = GraspObject(body.mesh, Material(
        modulus, POISSON_RATIO, max(LEAST_DENSITY, DENSITY_SHARE * modulus), FRICTION),
        body.label)
    masses = soft.masses * thing.mass_properties.mass / soft.masses.sum()
    soft = SoftMesh(soft.nodes, soft.corners, soft.faces, masses)
    done = grasps.SimulatedGrasp(hand, thing, grasp, Wishes(by_touch=True), options,
                                 soft=soft, body='soft')
    done.execution = Palpation(done.execution.plan, options, True, palpation, model,
                               body.material.youngs_modulus, body.material.max_pressure)
    grasps.LONGEST = LONGEST
    return done.run(), done.world


def main() -> int:
    """Print a row for each body and modulus."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('names', nargs='*', default=None, help='bodies')
    parser.add_argument('--moduli', type=float, nargs='+', default=MODULI, help='[Pa]')
    parser.add_argument('--squeezes', type=int, default=3)
    arguments = parser.parse_args()
    hand = load_default_hand()
    mujoco.set_mju_user_warning(lambda text: None)      # it would write a file
    print('body      E set    true E     felt E    error   of itself  peak     damage  way   '
          'time in the simulation')
    worst = 0.0
    for name in arguments.names or NAMES:
        body = GraspObject(bodies()[name].mesh, Material(
            BELIEVED, POISSON_RATIO, 500.0, FRICTION, max_pressure=DAMAGE), name)
        grasp = plan_grasps(body, hypotheses=40, count=1, elasticity='half_space').grasps[0]
        longest = 1.5 * palpation_options().most_strain * float(np.ptp(
            body.mesh.vertices, axis=0).max())
        model = prepare_grip_model(body, grasp.T_object_palm, grasp.trajectory[-1], longest,
                                   hand=hand_as_simulated(hand))
        poses = forward_kinematics(hand, model.touching[None])[0]
        touched = np.array([apply(grasp.T_object_palm @ poses[link], point[None])[0]
                            for link, point in zip(model.links, model.points_link)])
        soft, share = graded(body, touched), true_modulus(body)
        print(f'{name:8} between plates {share:.3f} times as stiff as its modulus says, '
              f'{len(soft.nodes)} nodes', flush=True)
        for modulus in arguments.moduli:
            begin = time.monotonic()
            done, world = palpate(hand, body, grasp, model, modulus, soft,
                                  arguments.squeezes)
            felt = done.modulus
            if felt is None:
                worst = np.inf
                print(f'{name:8} {modulus:7.2g}  {done.status.name} {done.message}', flush=True)
                continue
            true = share * modulus
            error = felt.youngs_modulus / true - 1.0
            worst = max(worst, abs(error))
            print(f'{name:8} {modulus:7.2g}  {true:8.3g}  '
                  f'{felt.youngs_modulus:8.3g}  {100.0 * error:+5.1f} %  '
                  f'± {100.0 * felt.standard_error / felt.youngs_modulus:4.1f} %  '
                  f'{done.peak_force:5.2f} N  {100.0 * done.damage_share:3.0f} %  '
                  f'{1e3 * max(way.max() for way in felt.ways):4.2f} mm  {world.time:4.1f} s, '
                  f'{time.monotonic() - begin:.0f} s, {len(world.soft.nodes)} nodes, moduli '
                  f'{np.round(felt.moduli / true, 2)}', flush=True)
    print(f'largest error {100.0 * worst:.1f} %')
    return 0
