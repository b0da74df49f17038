"""The service `show_closing` of `grasp_planner`: closings and whole motions, seen as markers."""

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from gripsim_interfaces.srv import ShowClosing
from numpy.typing import NDArray
from sensor_msgs.msg import JointState
from visualization_msgs.msg import MarkerArray

from ....core.errors import GripsimError, TaskError
from ....core.planning import GraspEvaluator
from ....core.planning.ranked_grasp import RankedGrasp
from ....library.display import joints_at
from ....library.whole_motion import ArmWay, Moment, moment_at, whole_motion
from ...conversions import Request
from ...markers import MarkerFrame, closing_markers, moment_markers, no_grasp
from ..base.node_base import latched, one_line
from .sessions import DONE, Session

#: Pictures a second while a closing is played, and its longest time [s].
RATE, LONGEST = 15.0, 120.0
#: Time given to the stages for the state of a moment [s].
STATE_TIMEOUT = 5.0


@dataclass(frozen=True, eq=False)
class _Scene:
    """A grasp of an answer, the arm's way to it, and where its markers stand."""

    grasp: RankedGrasp
    way: ArmWay | None
    request: Request
    frame: MarkerFrame

    @cached_property
    def moments(self) -> tuple[Moment, ...]:
        """Return those of the whole motion."""
        return whole_motion(self.grasp, self.way)


class ClosingShow:
    """
    Shows moments of the last plan's grasps, and plays their closing or their whole motion.

    What the object does at a moment is asked of the stages, as everything; the node holds none.
    Nor does it know an arm: `arm_planner` draws it at the joints that a moment tells.

    Parameters
    ----------
    node : GraspPlannerNode
    """

    def __init__(self, node) -> None:
        """Have nothing to show yet."""
        self._node = node
        self._plan = None
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._shows = self._shows_arm = False
        self.publisher = self.arm_publisher = None

    def open(self) -> None:
        """Open the topics."""
        self.publisher = self._node.create_publisher(MarkerArray, 'closing/markers', latched(1))
        self.arm_publisher = self._node.create_publisher(
            JointState, 'closing/arm_joints', latched(1))

    def keep(self, answer: Sequence[tuple[RankedGrasp, ArmWay | None]], request: Request,
             frame: MarkerFrame) -> None:
        """Keep an answer, its request and the frame of its markers; what was shown goes."""
        with self._lock:
            self._stop.set()
            self._plan = [_Scene(grasp, way, request, frame) for grasp, way in answer]
            if self._shows:
                self._shows = False
                self.publisher.publish(no_grasp(frame))
                self._show_arm(frame)

    def close(self) -> None:
        """End what is being played."""
        self._stop.set()

    def serve(self, msg: ShowClosing.Request,
              response: ShowClosing.Response) -> ShowClosing.Response:
        """Serve `show_closing`; what cannot be shown is told in the answer."""
        try:
            response.message = self._serve(msg)
            response.success = True
        except GripsimError as error:
            response.message = one_line(error)
        except Exception as error:
            self._node.report_error(f'show_closing: {one_line(error)}')
            response.message = one_line(error)
        return response

    def _serve(self, msg: ShowClosing.Request) -> str:
        if self._plan is None:
            raise TaskError('there is no plan to show yet')
        if not (np.isfinite(msg.duration) and 0.0 <= msg.duration <= LONGEST):
            raise TaskError(f'duration must be from 0 to {LONGEST:g} s, got {msg.duration:g}')
        if not 1 <= msg.rank <= len(self._plan):
            raise TaskError(f'rank must be from 1 to {len(self._plan)}, got {msg.rank}')
        scene = self._plan[msg.rank - 1]
        grasp = scene.grasp
        if msg.whole:
            moment_at(scene.moments, msg.fraction)          # refuses what has none, or no moment
        else:
            joints_at(grasp.trajectory, msg.fraction)       # refuses a fraction outside 0 to 1
        with self._lock:
            self._stop.set()        # what is being played ends
            self._stop = stop = threading.Event()
        if msg.duration > 0.0:
            threading.Thread(target=self._play, daemon=True, args=(scene, msg, stop)).start()
            return f'playing grasp {grasp.rank} in {msg.duration:g} s'
        if msg.whole:
            return self._move(scene, msg.fraction, stop)
        state = self._state(scene, msg.fraction)
        self._publish(scene, msg.fraction, state, stop)
        return _told(grasp, msg.fraction, state)

    def _play(self, scene: _Scene, msg: ShowClosing.Request, stop: threading.Event) -> None:
        """Publish the hand at the moments as they come; at the end the object as grasped."""
        begin = time.monotonic()
        try:
            while not stop.is_set():
                share = min(1.0, (time.monotonic() - begin) / msg.duration)
                fraction = msg.fraction + share * (1.0 - msg.fraction)
                if msg.whole:
                    self._move(scene, min(1.0, fraction), stop)
                    if share >= 1.0:
                        return
                elif share >= 1.0:
                    self._publish(scene, 1.0, self._state(scene, 1.0), stop)
                    return
                else:
                    self._publish(scene, fraction, None, stop)
                stop.wait(1.0 / RATE)
        except Exception as error:      # the node may be ending
            if not stop.is_set():
                self._node.report_error(f'show_closing: {one_line(error)}')

    def _publish(self, scene: _Scene, fraction: float, state: RankedGrasp | None,
                 stop: threading.Event) -> None:
        """Publish a moment instead of the best grasp, unless another was asked for meanwhile."""
        self._show(scene, closing_markers(
            scene.grasp, fraction, state, scene.request.grasp_object, self._node.hand,
            scene.frame), stop)

    def _move(self, scene: _Scene, fraction: float, stop: threading.Event) -> str:
        """Publish a moment of the whole motion likewise; return what it is."""
        moment, grasp = moment_at(scene.moments, fraction), scene.grasp
        self._show(scene, moment_markers(grasp, moment, scene.request.grasp_object,
                                         self._node.hand, scene.frame), stop, moment)
        return f'grasp {grasp.rank} at {100.0 * fraction:.0f} % of its motion: {moment.phase}'

    def _show(self, scene: _Scene, array: MarkerArray, stop: threading.Event,
              moment: Moment | None = None) -> None:
        with self._lock:
            if not stop.is_set():
                self._shows = True
                self._node.shown.hide_grasp()
                self.publisher.publish(array)
                self._show_arm(scene.frame, scene.way, moment)

    def _show_arm(self, frame: MarkerFrame, way: ArmWay | None = None,
                  moment: Moment | None = None) -> None:
        """Tell the arm's joints at a moment; without any, once, that no arm is to be seen."""
        msg = JointState()
        msg.header.frame_id = frame.frame_id
        if way is not None and moment is not None and moment.arm_joints is not None:
            msg.name, msg.position = list(way.joint_names), moment.arm_joints.tolist()
        if msg.name or self._shows_arm:
            self._shows_arm = bool(msg.name)
            self.arm_publisher.publish(msg)

    def _state(self, scene: _Scene, fraction: float) -> RankedGrasp | None:
        """Return what the stages say of a moment; None where the hand is open or they do not."""
        grasp, request = scene.grasp, scene.request
        if fraction <= 0.0:
            return None
        if fraction >= 1.0 and grasp.vertices is not None:
            return grasp
        node, now = self._node, time.monotonic()
        evaluator = GraspEvaluator(
            request.grasp_object, node.hand, request.task, node.options,
            [(grasp.T_object_palm, trajectory_until(grasp.trajectory, fraction))])
        session = Session(node.next_request_id(), now, now + STATE_TIMEOUT)
        node.dispatcher.submit(session)
        node.dispatcher.prepared(session, evaluator, request.grasp_object)
        session.done.wait(2.0 * STATE_TIMEOUT)
        return evaluator.ranked()[0] if session.outcome == DONE and not session.failures else None


def trajectory_until(trajectory: NDArray[np.float64], fraction: float) -> NDArray[np.float64]:
    """Return the rows of a closing before a moment above 0, then that moment's."""
    times = np.linspace(0.0, 1.0, len(trajectory))
    return np.vstack([trajectory[times < fraction], joints_at(trajectory, fraction)])


def _told(grasp: RankedGrasp, fraction: float, state: RankedGrasp | None) -> str:
    text = f'grasp {grasp.rank} at {100.0 * fraction:.0f} % of its closing'
    if state is None:
        return f'{text}: the object as it is untouched'
    peak = max((contact.peak_pressure for contact in state.contacts), default=0.0)
    return f'{text}: {len(state.contacts)} contacts, peak pressure {1e-3 * peak:.1f} kPa'
