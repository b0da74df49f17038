"""A hand without physics for the tests of palpation: its pads feel what a grip's model says."""

from functools import lru_cache

from execution_cases import HAND, OPTIONS, SpringHand
import numpy as np

from gripsim_ros.core.bodies import GraspObject, Material, shapes
from gripsim_ros.core.hand import forward_kinematics
from gripsim_ros.hardware.execution.plan import make_plan, PlannedContact, Wishes
from gripsim_ros.hardware.palpation.options import PalpationOptions
from gripsim_ros.hardware.sim.hand_model import hand_as_simulated
from gripsim_ros.hardware.sim.setpoints import SetpointFollower
from gripsim_ros.library.in_process import plan_grasps
from gripsim_ros.library.squeezing.grip_model import prepare_grip_model
from gripsim_ros.library.squeezing.palpated import FeltSqueeze

BALL = GraspObject(shapes.sphere(0.03, 0.006), Material(3e5, 0.4, 500.0, 0.8, 4e4), 'ball')
PALPATION = PalpationOptions(
    squeezes=3, levels=5, first_force=0.4, most_force=5.0, most_strain=0.05, damage_room=0.5,
    force_growth=5.0, rest_time=0.1, palpation_time=60.0, joint_resolution=1e-5,
    surface_error=0.0)
LONGEST = 5e-3


@lru_cache(maxsize=1)
def grasp():
    """Return a planned grasp of the ball."""
    return plan_grasps(BALL, hypotheses=6, count=1, elasticity='half_space').grasps[0]


@lru_cache(maxsize=3)
def grip_model(rigid=True, elasticity='half_space'):
    """Return the model of the grasp, for rigid links or for pads that give way."""
    return prepare_grip_model(BALL, grasp().T_object_palm, grasp().trajectory[-1], LONGEST,
                              hand=hand_as_simulated(HAND) if rigid else HAND,
                              elasticity=elasticity)


def felt(modulus, rigid=True, shares=(0.2, 0.4, 0.6, 0.8, 1.0), top=1.0, noise=0.0, seed=0,
         model=None):
    """Return what exact or noisy pads would feel of the ball with a modulus [Pa], by a model."""
    model = model or grip_model(rigid)
    rates = np.where(np.arange(7) == 0, 0.0, grasp().trajectory[-1] - grasp().trajectory[0])
    closings = np.linspace(-0.2, 0.6, 4000)     # shares of the planned way, which may be short
    ways = model.way(model.touching + closings[:, None] * rates)
    forces = top * np.array(shares)
    wanted = model.way_at(modulus, forces)
    found = np.interp(wanted, ways, closings)
    factors = 1.0 + noise * np.random.default_rng(seed).normal(size=len(forces))
    return FeltSqueeze(model.touching + found[:, None] * rates, forces * factors)


def palpation_plan(options=OPTIONS):
    """Return the plan of closing by touch with the grasp."""
    rows = grasp().trajectory
    contacts = [PlannedContact.of_patch(c.link, c.normal, c.closing_force, c.force)
                for c in grasp().contacts]
    return make_plan(HAND, (rows, np.linspace(0.0, 1.0, len(rows))), grasp().grip_positions,
                     contacts, Wishes(by_touch=True, release=True), options)


class FeelingHand(SpringHand):
    """
    Fingers go where they are sent and feel an object of a modulus [Pa] between them.

    It is ``wider`` [m] than planned on each side, pads have a ``noise`` over their force, joints
    one of ``jitter`` [rad]; the object's ``elasticity`` is that of a grip's model. With ``uneven``
    factors on the fingers' shares the object floats, and its rest tells who bears how much.
    """

    def __init__(self, modulus, wider=0.0, noise=0.0, jitter=0.0, elasticity='half_space', **more):
        super().__init__(**more)
        self.model = grip_model(elasticity=elasticity)
        self.modulus, self.wider, self.noise = modulus, wider, noise
        self.jitter, self.random, self.peak = jitter, np.random.default_rng(1), 0.0
        self.uneven: tuple[float, ...] = ()
        self.pads, plan = lambda link, force: force, palpation_plan()
        self.follower = SetpointFollower(HAND, grasp().trajectory[0])
        total = 0.5 * sum(finger.force for finger in plan.fingers)
        names = [HAND.link_names[link] for link in self.model.links]
        self.shares = {name: next(f.force for f in plan.fingers if name in f.links) / total
                       for name in names}
        self._touching = self._points(self.model.touching)

    def depths(self, joints):
        """Return how far each pad has gone beyond the touch of the model [m], and its weight."""
        lengths = np.linalg.norm(self.model.directions, axis=1)
        pushes = self.model.directions / lengths[:, None]
        return np.einsum('ki,ki->k', pushes, self._points(joints) - self._touching), lengths

    def _points(self, joints):
        poses = forward_kinematics(HAND, joints[None])[0]
        return np.array([poses[link, :3, :3] @ point + poses[link, :3, 3]
                         for link, point in zip(self.model.links, self.model.points_link)])

    def measure(self):
        measured = super().measure()
        joints = measured.joints
        depths, lengths = self.depths(joints)
        depths, true = depths + self.wider, {}
        if self.uneven:
            depths = np.full(len(depths), np.average(depths, weights=lengths))
        uneven = self.uneven or np.ones(len(depths))
        for (name, share), depth, more in zip(self.shares.items(), depths, uneven):
            at = self.model.force_at(self.modulus, np.array([lengths.sum() * max(depth, 1e-9)]))[0]
            true[name] = 0.0 if name in self.absent or depth <= 0.0 else float(share * more * at)
        self.peak = max(self.peak, 0.5 * sum(true.values()))
        felt = {name: self.pads(name, force * (1.0 + self.noise * self.random.normal()))
                for name, force in true.items() if name not in self.dumb}
        others = {link.name: 0.0 for link in HAND.links if link.pad is not None
                  and link.name not in self.shares and link.name not in self.dumb}
        return type(measured)(measured.time, joints + self.jitter * self.random.normal(
            size=len(joints)), {**others, **felt}, measured.T_palm_object, True)
