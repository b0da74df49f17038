"""What `grasp_planner` shows: the object at once, then the best grasp and the ranked ones."""

import threading
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from std_msgs.msg import String
from visualization_msgs.msg import MarkerArray

from ....core.bodies import GraspObject
from ...conversions.plan_told import ToldPlan, tell_grasp, tell_request
from ...conversions import Request
from ...markers import MarkerFrame, grasp_markers, no_grasp, ranked_markers
from ..base.broadcaster import FrameBroadcaster, TFMessage
from ..base.node_base import latched, one_line
from ..base.parameters import NodeParameter

Array = NDArray[np.float64]

#: Seconds between two looks at whether somebody wants to see what is new.
MARKER_PERIOD = 0.5

PARAMETERS = (
    NodeParameter('marker_frame', str, 'Frame of markers where a request names none.'),
    NodeParameter('object_frame', str, 'Frame of the object, if publish_tf.'),
    NodeParameter('publish_tf', bool, 'Tell by TF where requests say that the object is; where '
                  'nobody measures it.'))


class PlanShown:
    """
    Markers of the object and of the last plan, the plan in words, and the frame of the object.

    Markers are built when somebody looks: they take longer than a cancel may.

    Parameters
    ----------
    node : GraspPlannerNode
    """

    def __init__(self, node) -> None:
        """Say where the object is before anybody does: at the origin."""
        self._node = node
        self._lock = threading.Lock()
        self._news, self._words, self._shown, self._hidden = None, None, None, False
        values = node.values
        self._frame = MarkerFrame(values['marker_frame'])
        self._broadcaster = None
        if values['publish_tf']:
            self._broadcaster = FrameBroadcaster(node, TFMessage and node.create_publisher(
                TFMessage, '/tf_static', latched(1)))
        self._tell(self._frame)

    def open(self) -> None:
        """Open the topics."""
        node = self._node
        self._ranked = node.create_publisher(MarkerArray, 'ranked_grasps', latched(1))
        self._best = node.create_publisher(MarkerArray, 'plan/markers', latched(1))
        self._told = node.create_publisher(String, 'plan/told', latched(1))
        node.steady_timer(MARKER_PERIOD, self._publish, node.housekeeping)

    def show_object(self, grasp_object: GraspObject, request: Request | None = None) -> None:
        """Show an object where a request has it, unless it is shown there, planned or not."""
        frame = self._frame if request is None else self.frame_of(request)
        shown = (grasp_object.id, frame.frame_id, frame.T_frame_object.tobytes())
        with self._lock:
            if shown == self._shown:
                return
            obstacles = None if request is None else request.task.obstacles
            self._shown, self._hidden = shown, False
            self._news = ((), grasp_object, frame, obstacles)
        self._tell(frame)

    def show_any_object(self, grasp_object: GraspObject) -> None:
        """Show an object that others published, unless anything is shown."""
        if self._shown is None:
            self.show_object(grasp_object)

    def show_plan(self, grasps, request: Request, statistics: Mapping[str, Any]) -> None:
        """Show the answer to a request, and how it went: see ``tell_request``."""
        frame, grasp_object = self.frame_of(request), request.grasp_object
        with self._lock:
            self._shown = (grasp_object.id, frame.frame_id, frame.T_frame_object.tobytes())
            self._hidden = False
            self._news = (grasps, grasp_object, frame, request.task.obstacles)
            self._words = (grasps, request, statistics)
        self._tell(frame)

    def hide_grasp(self) -> None:
        """Take the best grasp away: a moment of a closing takes its place."""
        with self._lock:
            if not self._hidden:
                self._hidden = True
                self._best.publish(no_grasp(self._frame))

    def frame_of(self, request: Request) -> MarkerFrame:
        """Return the frame of a request's markers."""
        return MarkerFrame(request.frame_id or self._frame.frame_id, request.T_frame_object)

    def _tell(self, frame: MarkerFrame) -> None:
        if self._broadcaster is not None:
            self._broadcaster.send(
                frame.frame_id, [(self._node.values['object_frame'], frame.T_frame_object)])

    def _publish(self) -> None:
        """Publish what is new once somebody looks."""
        try:
            self._publish_words()
        except Exception as error:
            self._node.report_error(f'the plan in words: {one_line(error)}')
        if not (self._ranked.get_subscription_count() or self._best.get_subscription_count()):
            return
        with self._lock:
            news, self._news = self._news, None
        if news is None:
            return
        grasps, grasp_object, frame, obstacles = news
        try:
            self._ranked.publish(ranked_markers(grasps, frame, self._node.hand))
            best = grasp_markers(grasps[0] if grasps else None, grasp_object, self._node.hand,
                                 frame, obstacles)
            with self._lock:
                if not self._hidden:
                    self._best.publish(best)
        except Exception as error:
            self._node.report_error(f'markers: {one_line(error)}')

    def _publish_words(self) -> None:
        """Publish the last plan in words once somebody reads it."""
        if not self._told.get_subscription_count():
            return
        with self._lock:
            words, self._words = self._words, None
        if words is not None:
            grasps, request, statistics = words
            body = request.grasp_object
            told = ToldPlan(tell_request(body, body.label or 'object', request.task, statistics),
                            [tell_grasp(grasp) for grasp in grasps])
            self._told.publish(String(data=told.to_yaml()))
