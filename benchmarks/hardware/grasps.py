"""Planned grasps carried out in MuJoCo in this process: the executor's logic without nodes."""

from dataclasses import replace

import numpy as np

from gripsim_ros.core.transforms import inverse, transform
from gripsim_ros.hardware.execution.actions import (
    LiftOff, MovePalm, PlacePalm, SendRows, SetDown, StopHand)
from gripsim_ros.hardware.execution.feeling.motors import planned_torques
from gripsim_ros.hardware.execution.hold_plan import HeldContact, make_hold_plan
from gripsim_ros.hardware.execution.machine import GraspExecution
from gripsim_ros.hardware.execution.measurement import Measurement
from gripsim_ros.hardware.execution.plan import (
    ExecutionOptions, make_plan, PlannedContact, press_as_planned, Wishes)
from gripsim_ros.hardware.sim.options import default_options
from gripsim_ros.hardware.sim.setpoints import SetpointFollower
from gripsim_ros.hardware.sim.touch import Touch, wrist_load
from gripsim_ros.hardware.sim.world import World
from gripsim_ros.ros.nodes.base.parameters import default_values

#: Steps of the simulation between two measurements: 100 Hz.
MEASURE_EVERY = 5
#: Time that closing takes [s], as in the planner's messages.
CLOSING_TIME = 2.0
#: Longest execution simulated [s].
LONGEST = 60.0
PALM_TOLERANCE = 5e-4


def execution_options(**changes) -> ExecutionOptions:
    """Return the executor's options with some changed."""
    return ExecutionOptions.from_mapping(
        {**default_values('grasp_executor'), 'step_delay': 0.0, **changes})


def hold_plan(hand, grasp, friction: float):
    """Return what holding by feel starts from, of a ranked grasp."""
    contacts = [HeldContact(c.link, c.point, c.normal, float(np.dot(c.closing_force, c.normal)),
                            c.friction_radius) for c in grasp.contacts]
    load = np.zeros(6) if grasp.limiting_load is None else grasp.limiting_load.copy()
    load[3:] += np.cross(grasp.centre_of_mass, load[:3])
    return make_hold_plan(hand, grasp.trajectory[-1], grasp.T_object_palm, contacts, friction,
                          load, grasp.damage_margin)


class SimulatedGrasp:
    """
    A ranked grasp (frame object), carried out step by step; the world's frame is the object's.

    ``way`` is a ``WayPlan`` to carry it along; ``T_world_object`` is where the object really is;
    ``soft`` are tetrahedra; ``friction`` is what the grasp was planned with, for holding by feel;
    ``simulation`` are changed options of the simulation.
    """

    def __init__(self, hand, grasp_object, grasp, wishes=None, options=None, way=None,
                 T_world_object=None, soft=None, friction=None, **simulation):
        self.hand, self.grasp, self.options = hand, grasp, options or execution_options()
        self.world = World(hand, default_options(**simulation), grasp.T_object_pregrasp,
                           grasp.trajectory[0], grasp_object, T_world_object, soft=soft)
        self._follower = SetpointFollower(hand, grasp.trajectory[0])
        self._goal = grasp.T_object_palm
        rows = grasp.trajectory
        contacts = [PlannedContact.of_patch(c.link, c.normal, c.closing_force, c.force)
                    for c in grasp.contacts]
        plan = make_plan(hand, (rows, np.linspace(0.0, CLOSING_TIME, len(rows))),
                         grasp.grip_positions, contacts, wishes or Wishes(), self.options, way,
                         grasp.damage_margin)
        if plan.wishes.hold_by_feel:
            plan = replace(plan, hold=hold_plan(hand, grasp, friction))
        torques = planned_torques(hand, plan.closed, grasp.T_object_palm, [
            (c.link, c.point, c.closing_force) for c in grasp.contacts])
        plan = (press_as_planned(plan, hand, torques) if plan.touch is None
                else replace(plan, torques=torques))
        self._touch = Touch(hand, self.world.options)
        self.execution = GraspExecution(plan, self.options, True)

    def run(self, on_measured=lambda phase, world: None,
            on_stepped=lambda phase, world: None) -> GraspExecution:
        """Carry the grasp out and return how it went; ``on_stepped`` at every time step."""
        world, execution = self.world, self.execution
        while not execution.done and world.time < LONGEST:
            for action in execution.update(self._measure()):
                self._obey(action)
            on_measured(execution.phase, world)
            for _ in range(MEASURE_EVERY):
                world.follow(self._follower)
                world.step()
                on_stepped(execution.phase, world)
        return execution

    def _measure(self) -> Measurement:
        world = self.world
        forces = {link.name: 0.0 for link in self.hand.links if link.pad is not None}
        forces.update((link, force) for link, force in world.link_forces().items()
                      if link in forces)
        away = np.linalg.norm(world.T_world_palm[:3, 3] - self._goal[:3, 3])
        measured = Measurement(world.time, world.joints, forces, world.T_palm_object,
                               bool(away < PALM_TOLERANCE), torques=world.joint_efforts)
        if self.execution.plan.hold is None:
            return measured
        return replace(measured, centres={
            pad.link: pad.centre_link for pad in self._touch.read(world)
            if np.isfinite(pad.centre_link).all()}, load=wrist_load(world))

    def _obey(self, action) -> None:
        world = self.world
        if isinstance(action, SendRows):
            self._follower.follow(self.hand.joint_names, action.rows, action.times, world.time)
        elif isinstance(action, StopHand):
            self._follower.stop()
            world.stop_palm()
        elif isinstance(action, LiftOff):
            world.lift_off()
        elif isinstance(action, SetDown):
            world.set_down()
        elif isinstance(action, PlacePalm):
            self._goal = self.grasp.T_object_pregrasp
            world.place_palm(self._goal)
        elif isinstance(action, MovePalm):
            up = transform(np.eye(3), np.array([0.0, 0.0, action.height]))
            back = inverse(self.grasp.T_object_palm) @ self.grasp.T_object_pregrasp
            self._goal = up @ (self.grasp.T_object_palm if action.T_object_palm is None else
                               action.T_object_palm) @ (back if action.back else np.eye(4))
            world.move_palm(self._goal)
