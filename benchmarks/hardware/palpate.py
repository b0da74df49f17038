"""
The modulus that the simulated hand feels against the true one: soft bodies from 20 kPa to 2 MPa.

The first-ranked grasp of a body that is believed to have ``BELIEVED`` is palpated; the body's
modulus in the simulation is another. Coarse tetrahedra are stiffer than their modulus says, so
the simulated body's true modulus is measured first: tetrahedra as fine are squeezed between plates
in the simulation, across the body as fingers do, and finite elements of the body tell with which
modulus it would bear the same. Errors are told of both, that and the modulus MuJoCo is told.
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
from gripsim_ros.core.bodies import GraspObject, Material, TriangleMesh
from gripsim_ros.core.bodies.tetrahedra import tetrahedron_volumes
from gripsim_ros.core.hand import forward_kinematics
from gripsim_ros.core.mechanics.finite_strain.meshing import refine
from gripsim_ros.core.transforms import apply
from gripsim_ros.hardware.execution.actions import SendRows, Status
from gripsim_ros.hardware.execution.measurement import Measurement
from gripsim_ros.hardware.execution.plan import make_plan, PlannedContact, Wishes
from gripsim_ros.hardware.palpation.machine import Palpation
from gripsim_ros.hardware.palpation.options import PalpationOptions
from gripsim_ros.hardware.sim.hand_model import hand_as_simulated
from gripsim_ros.hardware.sim.setpoints import SetpointFollower
from gripsim_ros.hardware.sim.solids import outer_faces
from gripsim_ros.hardware.sim.world_model import soft_mesh_of, SoftMesh
from gripsim_ros.library.in_process import plan_grasps
from gripsim_ros.library.resources import load_default_hand
from gripsim_ros.library.squeezing.grip_model import prepare_grip_model
from gripsim_ros.library.squeezing.palpated import estimate_modulus
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
FAR, NEAR, CORE, GRADING = 0.016, 0.005, 0.004, 2.5
MOST_TETRAHEDRA = 20000
ELASTICITIES = ('half_space', 'body')
#: Turns x, across a body, to where plates press.
ACROSS = np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
#: Plates: ways of each over the body's thickness, and the modulus meanwhile [Pa].
PLATE_WAYS, PLATE_MODULUS = np.linspace(0.006, 0.03, 5), 1e5
#: Without dynamics: what the body is wider on each side [m], error of each joint for a whole
#: palpation [rad], noise of each pad over its force [-], time between measurements [s].
WIDER, JOINT_ERROR, PAD_NOISE, PERIOD = 2e-3, 2e-3, 0.02, 0.01
#: Longest palpation that is simulated [s].
LONGEST = 150.0


def palpation_options() -> PalpationOptions:
    """Return the executor's options of palpation."""
    return PalpationOptions.from_mapping(default_values('grasp_executor'))


def graded(body: GraspObject, touched, near: float) -> SoftMesh:
    """Return tetrahedra of edges ``near`` [m] at points (k, 3) [m], nodes on the surface there."""
    def wanted(middles):
        away = np.linalg.norm(middles[:, None] - touched, axis=2).min(axis=1)
        return np.maximum(near, near + GRADING * (away - CORE))
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


def true_modulus(body: GraspObject, near: float) -> float:
    """Return what such tetrahedra have for a modulus of 1 Pa, between plates across the body."""
    body = GraspObject(TriangleMesh(body.mesh.vertices @ ACROSS.T, body.mesh.faces),
                       body.material, body.label)
    heights = body.mesh.vertices[:, 2]      # an apple has no surface at the ends of its axis
    poles = body.mesh.vertices[[heights.argmax(), heights.argmin()]]
    soft = graded(body, poles, near)
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


class StillHand:
    """
    A hand without dynamics about a body that its own compliance describes.

    Its joints are where they are sent and are read with an error of their own; its pads feel with
    a noise. The body is ``wider`` than believed on each side [m].
    """

    def __init__(self, hand, grasp, truth, modulus: float, shares, seed: int) -> None:
        self.hand, self.truth, self.modulus, self.shares = hand, truth, modulus, shares
        self.random, self.time, self.peak = np.random.default_rng(seed), 0.0, 0.0
        self.wider = self.random.uniform(-WIDER, WIDER)
        self.error = JOINT_ERROR * self.random.normal(size=len(hand.joint_names))
        self.follower = SetpointFollower(hand, grasp.trajectory[0])
        self.lengths = np.linalg.norm(truth.directions, axis=1)
        self.touching = self._points(truth.touching)

    def _points(self, joints):
        poses = forward_kinematics(self.hand, joints[None])[0]
        return np.array([poses[link, :3, :3] @ point + poses[link, :3, 3] for link, point in zip(
            self.truth.links, self.truth.points_link)])

    def measure(self) -> Measurement:
        """Return what is measured now."""
        joints = self.follower.at(self.time)
        pushes = self.truth.directions / self.lengths[:, None]
        depths = self.wider + np.einsum('ki,ki->k', pushes, self._points(joints) - self.touching)
        true = [0.0 if depth <= 0.0 else share * float(self.truth.force_at(
            self.modulus, np.array([self.lengths.sum() * depth]))[0])
            for share, depth in zip(self.shares, depths)]
        self.peak = max(self.peak, 0.5 * sum(true))
        felt = {link.name: 0.0 for link in self.hand.links if link.pad is not None}
        felt.update((self.hand.link_names[link], force * (1.0 + PAD_NOISE * self.random.normal()))
                    for link, force in zip(self.truth.links, true))
        return Measurement(self.time, joints + self.error, felt, None, True)

    def carry_out(self, palpation: Palpation) -> None:
        """Obey a palpation until it is done."""
        while not palpation.done and self.time < LONGEST:
            for action in palpation.update(self.measure()):
                if isinstance(action, SendRows):
                    self.follower.follow(self.hand.joint_names, action.rows, action.times,
                                         self.time, action.begin)
            self.time += PERIOD


def still(hand, body, grasp, model, truth, moduli, repeats: int) -> float:
    """Print a row for each modulus; return the largest error. The hand feels ``truth``."""
    options, palpation = grasps.execution_options(), palpation_options()
    options = replace(options, loading_time=palpation.palpation_time)
    rows = grasp.trajectory
    contacts = [PlannedContact.of_patch(c.link, c.normal, c.closing_force, c.force)
                for c in grasp.contacts]
    plan = make_plan(hand, (rows, np.linspace(0.0, grasps.CLOSING_TIME, len(rows))),
                     grasp.grip_positions, contacts, Wishes(by_touch=True), options)
    planned = {finger.links: finger.force for finger in plan.fingers}
    shares = [next(force for links, force in planned.items() if hand.link_names[link] in links)
              / (0.5 * sum(planned.values())) for link in model.links]
    worst = 0.0
    for modulus in moduli:
        errors, told, peaks, damage = [], [], [], []
        for seed in range(repeats):
            done = Palpation(plan, options, False, palpation, model,
                             body.material.youngs_modulus, body.material.max_pressure)
            one = StillHand(hand, grasp, truth, modulus, shares, seed)
            one.carry_out(done)
            felt = done.modulus
            if felt is None or felt.is_bound:
                print(f'  {modulus:7.2g}  {done.status.name} {done.message} ' + (
                    '' if felt is None else f'at least {felt.youngs_modulus:.3g} Pa, best '
                    f'{100.0 * (felt.best / modulus - 1.0):+.1f} %'))
                worst = np.inf
                continue
            errors.append(done.modulus.best / modulus - 1.0)
            told.append(done.modulus.standard_error / done.modulus.best)
            peaks.append(one.peak)
            damage.append(float(truth.pressure_at(modulus, np.array([one.peak]))[0]) / DAMAGE)
        if errors:
            worst = max(worst, float(np.abs(errors).max()))
            print(f'  {modulus:7.2g}  error {100.0 * np.median(errors):+5.1f} % '
                  f'({100.0 * errors[int(np.abs(errors).argmax())]:+5.1f})  of itself ± '
                  f'{100.0 * np.median(told):4.1f} %  peak {max(peaks):4.2f} N  damage '
                  f'{100.0 * max(damage):3.0f} %', flush=True)
    return worst


def gripped(hand, name: str):
    """Return a body as it is believed to be, its first-ranked grasp, and the longest way [m]."""
    body = GraspObject(bodies()[name].mesh, Material(
        BELIEVED, POISSON_RATIO, 500.0, FRICTION, max_pressure=DAMAGE), name)
    grasp = plan_grasps(body, hypotheses=40, count=1, elasticity='half_space').grasps[0]
    return body, grasp, palpation_options().longest_way(body.mesh.vertices)


def main() -> int:
    """Print a row for each body and modulus."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('names', nargs='*', default=None, help='bodies')
    parser.add_argument('--moduli', type=float, nargs='+', default=MODULI, help='[Pa]')
    parser.add_argument('--squeezes', type=int, default=3)
    parser.add_argument('--elasticity', choices=ELASTICITIES,
                        default=default_values('grasp_executor')['palpation_elasticity'],
                        help='of the model of the grip')
    parser.add_argument('--near', type=float, default=NEAR,
                        help='edges of tetrahedra where fingers touch [m]')
    parser.add_argument('--nominal', action='store_true', help='errors of the modulus that MuJoCo '
                        'is told: tetrahedra are not squeezed between plates first')
    parser.add_argument('--still', action='store_true', help='a hand without dynamics, its pads '
                        'in the model, about a body of its own compliance')
    parser.add_argument('--repeats', type=int, default=5, help='with --still')
    arguments = parser.parse_args()
    hand = load_default_hand()
    mujoco.set_mju_user_warning(lambda text: None)      # it would write a file
    print('body      E set    true E     felt E    error   of set of itself  peak of aim  damage '
          'way  time in the simulation')
    worst = 0.0
    for name in arguments.names or NAMES:
        body, grasp, longest = gripped(hand, name)
        if arguments.still:
            model, truth = (prepare_grip_model(
                body, grasp.T_object_palm, grasp.trajectory[-1], longest,
                most_strain=palpation_options().longest_strain, hand=hand,
                elasticity=elasticity) for elasticity in (arguments.elasticity, 'body'))
            print(f'{name}: {arguments.elasticity} feels what the body\'s own compliance bears; '
                  f'{arguments.repeats} times each, median (largest)')
            worst = max(worst, still(hand, body, grasp, model, truth, arguments.moduli,
                                     arguments.repeats))
            continue
        models = {one: prepare_grip_model(body, grasp.T_object_palm, grasp.trajectory[-1], longest,
                                          most_strain=palpation_options().longest_strain,
                                          hand=hand_as_simulated(hand), elasticity=one)
                  for one in ELASTICITIES}
        model = models.pop(arguments.elasticity)
        poses = forward_kinematics(hand, model.touching[None])[0]
        touched = np.array([apply(grasp.T_object_palm @ poses[link], point[None])[0]
                            for link, point in zip(model.links, model.points_link)])
        soft = graded(body, touched, arguments.near)
        share = 1.0 if arguments.nominal else true_modulus(body, arguments.near)
        print(f'{name:8} ' + ('taken to be as stiff as its modulus says, ' if arguments.nominal
                              else f'between plates {share:.3f} times as stiff, ')
              + f'{len(soft.nodes)} nodes', flush=True)
        for modulus in arguments.moduli:
            begin = time.monotonic()
            done, world = palpate(hand, body, grasp, model, modulus, soft,
                                  arguments.squeezes)
            felt = done.modulus
            if felt is None or done.status != Status.SUCCEEDED:
                worst = np.inf
                print(f'{name:8} {modulus:7.2g}  {done.status.name} {done.message}', flush=True)
                continue
            true = share * modulus
            error = felt.youngs_modulus / true - 1.0
            worst = max(worst, abs(error))
            print(f'{name:8} {modulus:7.2g}  {true:8.3g}  '
                  f'{felt.youngs_modulus:8.3g}  {100.0 * error:+5.1f} %  '
                  f'{100.0 * (felt.youngs_modulus / modulus - 1.0):+5.1f} %  '
                  f'± {100.0 * felt.standard_error / felt.youngs_modulus:4.1f} %  '
                  f'{done.peak_force:5.2f} of {done._levels[-1]:.2f} N  '
                  f'{100.0 * done.damage_share:3.0f} %  '
                  f'{1e3 * max(way.max() for way in felt.ways):4.2f} mm  {world.time:4.1f} s, '
                  f'{time.monotonic() - begin:.0f} s, {len(world.soft.nodes)} nodes, moduli '
                  f'{np.round(felt.moduli / true, 2)}', flush=True)
            for elasticity, other in models.items():
                told = estimate_modulus(other, felt.squeezes,
                                        palpation_options().joint_resolution,
                                        palpation_options().surface_error)
                print(f'{"":8} {elasticity} from the same squeezes: {told.best:8.3g}  '
                      f'{100.0 * (told.best / true - 1.0):+5.1f} %  '
                      f'{100.0 * (told.best / modulus - 1.0):+5.1f} %  '
                      f'{"a bound, " if told.is_bound else ""}moduli '
                      f'{np.round(told.moduli / true, 2)}', flush=True)
    print(f'largest error {100.0 * worst:.1f} %')
    return 0
