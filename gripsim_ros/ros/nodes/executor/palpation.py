"""The action `palpate` of `grasp_executor`: the object and the model of its grip, the result."""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from gripsim_interfaces.action import ExecuteGrasp, Palpate
from gripsim_interfaces.msg import GraspObject as GraspObjectMsg
from numpy.typing import NDArray

from ....core.bodies import GraspObject
from ....core.errors import TaskError
from ....core.hand import HandModel
from ....core.transforms import inverse
from ....hardware.execution.feeling.policies import STOP
from ....hardware.execution.plan import ExecutionOptions, ExecutionPlan
from ....hardware.palpation.machine import Palpation
from ....hardware.palpation.options import PalpationOptions
from ....hardware.sim.hand_model import hand_as_simulated
from ....library.squeezing.grip_model import prepare_grip_model
from ...conversions import grasp_object_from_msg, pose_from_msg
from ...conversions.objects import material_to_msg
from ..base.node_base import LATCHED_OBJECTS
from .hands import GoalEnded
from .simulated_hand import OBJECT_PERIOD

Array = NDArray[np.float64]

#: Longest wait for an object of which nothing is heard [s]; see the simulated hand's.
OBJECT_TIMEOUT = 10.0


class KnownObjects:
    """The objects that were published last, as messages; read when one is asked for."""

    def __init__(self) -> None:
        """Know none."""
        self._messages: OrderedDict[str, GraspObjectMsg] = OrderedDict()

    def put(self, msg: GraspObjectMsg) -> None:
        """Keep an object as the newest."""
        self._messages[msg.object_id] = msg
        self._messages.move_to_end(msg.object_id)
        while len(self._messages) > LATCHED_OBJECTS:
            self._messages.popitem(last=False)

    def find(self, name: str, go_on: Callable[[], bool] = lambda: True) -> GraspObject:
        """
        Return the newest object of a hash or label, or of any for ''; one may yet be on its way.

        Raises
        ------
        TaskError
            There is none.
        GoalEnded
            ``go_on`` returned False meanwhile.
        GripsimError
            It cannot be used.
        """
        begin = time.monotonic()
        while True:
            for msg in reversed(list(self._messages.values())):
                if name in ('', msg.object_id, msg.label):
                    return grasp_object_from_msg(msg)
            if not go_on():
                raise GoalEnded('cancelled before anything moved')
            if time.monotonic() - begin > OBJECT_TIMEOUT:
                break
            time.sleep(OBJECT_PERIOD)
        raise TaskError(f'feeling needs the object on grasp_object: {name or "none"!r} was not '
                        'published')


@dataclass(frozen=True, eq=False)
class Palpated:
    """An object, and the options with which a goal wants it palpated."""

    grasp_object: GraspObject
    options: PalpationOptions


def as_execution(goal: Palpate.Goal) -> ExecuteGrasp.Goal:
    """Return the goal of an execution that closes as a palpation does."""
    return ExecuteGrasp.Goal(grasp=goal.grasp, object_id=goal.object_id, by_touch=True,
                             release=not goal.stay, missed_contact=STOP)


def read_palpation(goal: Palpate.Goal, options: PalpationOptions, known: KnownObjects,
                   go_on: Callable[[], bool]) -> Palpated:
    """Return what is to be palpated; errors as of ``KnownObjects.find`` and the options."""
    chosen = options.wished(squeezes=goal.squeezes, most_force=goal.most_force,
                            most_modulus=goal.most_modulus)
    found = known.find(goal.object_id or goal.grasp.object_id, go_on)
    chosen.check_believed(found.material.youngs_modulus)
    return Palpated(found, chosen)


def make_palpation(goal: Palpate.Goal, palpated: Palpated, plan: ExecutionPlan, hand: HandModel,
                   options: ExecutionOptions, simulated: bool, elasticity: str,
                   go_on: Callable[[int, int], bool]) -> Palpation:
    """
    Return the palpation of a goal, the model of its grip made ready.

    Parameters
    ----------
    goal, palpated
    plan : ExecutionPlan
        Of closing by touch.
    hand : HandModel
    options : ExecutionOptions
    simulated : bool
        The links are rigid then, as MuJoCo has them.
    elasticity : str
        Of the model.
    go_on : callable
        Told points done and all points; returns False where the goal has ended.

    Raises
    ------
    TaskError
        The fingers of the grasp do not squeeze the object.
    GoalEnded
        It is no longer wanted.
    """
    felt = hand_as_simulated(hand) if simulated else hand
    ended = False

    def watch(done: int, total: int) -> bool:
        nonlocal ended
        ended = not go_on(done, total)
        return not ended
    try:
        model = prepare_grip_model(
            palpated.grasp_object, _object_palm(goal), plan.closed,
            palpated.options.longest_way(palpated.grasp_object.mesh.vertices),
            most_strain=palpated.options.longest_strain, hand=felt, elasticity=elasticity,
            on_point=watch)
    except TaskError:
        if ended:
            raise GoalEnded('cancelled before anything moved') from None
        raise
    material = palpated.grasp_object.material
    timed = replace(options, loading_time=palpated.options.palpation_time)
    return Palpation(plan, timed, simulated, palpated.options, model, material.youngs_modulus,
                     material.max_pressure, material.force_limit)


def _object_palm(goal: Palpate.Goal) -> Array:
    """Return the palm's pose in the object's frame."""
    T_frame_palm, told = pose_from_msg(goal.grasp.hand_pose), goal.object_pose
    numbers = (told.position.x, told.position.y, told.position.z,
               told.orientation.x, told.orientation.y, told.orientation.z)
    if not any(numbers):        # a quaternion's w alone, which is 1 by default, turns nothing
        return T_frame_palm
    return inverse(pose_from_msg(told)) @ T_frame_palm


def fill_palpation(result: Palpate.Result, palpation: Palpation, palpated: Palpated) -> None:
    """Put what came of a palpation into the result of the action."""
    felt, model = palpation.modulus, palpation.model
    result.status, result.message = int(palpation.status), palpation.message
    result.peak_force, result.damage_share = palpation.peak_force, palpation.damage_share
    result.material = material_to_msg(palpated.grasp_object.material)
    if felt is None:
        return
    result.material.youngs_modulus = felt.youngs_modulus
    result.standard_error, result.is_bound = felt.standard_error, felt.is_bound
    result.moduli, result.misfit = felt.moduli.tolist(), felt.misfit
    forces = np.concatenate(felt.forces)
    result.quantitative = model.is_quantitative(felt.youngs_modulus, forces)
    result.offsets = np.cumsum([0, *(len(ways) for ways in felt.ways)]).tolist()
    result.ways = np.concatenate(felt.ways).tolist()
    result.forces = forces.tolist()


def palpation_feedback(palpation: Palpation) -> Palpate.Feedback:
    """Return what is told while a palpation goes on."""
    _, felt = palpation.finger_forces()
    return Palpate.Feedback(
        phase=int(palpation.last_phase), progress=palpation.progress,
        joint_positions=palpation.last.joints.tolist(),
        finger_names=[f.name for f in palpation.plan.fingers if f.force > 0.0],
        finger_felt_forces=felt.tolist())


def preparing_feedback(done: int, total: int) -> Palpate.Feedback:
    """Return what is told while the model of the grip is made ready."""
    return Palpate.Feedback(phase=Palpate.Feedback.PREPARING, progress=done / total)
