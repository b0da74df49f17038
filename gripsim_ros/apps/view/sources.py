"""Where the markers of a view come from: a plan in a file, a recording, a running suite."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from gripsim_interfaces.srv import ShowClosing
from rclpy.serialization import deserialize_message
from std_msgs.msg import String
from visualization_msgs.msg import Marker, MarkerArray

from ...core.errors import GripsimError
from ...core.hand import HandModel
from ...core.planning.ranked_grasp import RankedGrasp, ScoreTerm
from ...library.grasp_file import (
    elasticity_of, given_arm, given_pregrasp, given_reach, load_grasps, read_grasps)
from ...library.in_process import evaluate_grasps
from ...library.planned_arm import PlannedArm, arm_of_grasps, motion_of
from ...library.planned_object import object_of_grasps
from ...library.resources import load_default_hand
from ...library.task_file import task_of_grasps
from ...library.whole_motion import moment_at
from ...ros.clients.connection import Connection
from ...ros.conversions.plan_told import (
    ToldGrasp, ToldPlan, plan_from_yaml, tell_grasp, tell_request)
from ...ros.markers import (
    MarkerFrame, arm_way_markers, closing_markers, moment_markers, obstacle_markers,
    ranked_markers)
from ...ros.nodes.base.node_base import latched, latest
from ...ros.nodes.planner.closing_shown import trajectory_until
from ...ros.record.mcap_file import read_messages

#: Topics of markers, without a namespace, and whether late joiners get the last one.
MARKER_TOPICS = {'ranked_grasps': True, 'plan/markers': True, 'closing/markers': True,
                 'closing/arm_markers': True, 'live/markers': False,
                 'execution/markers': False}
CLOSING, RANKED, EXECUTION = 'closing/markers', 'ranked_grasps', 'execution/markers'
#: Topic of the arm's way of a plan in a file.
ARM_WAY = 'arm_way'
#: Topic of the last plan in words.
TOLD = 'plan/told'
#: How often a planner that does not serve yet is looked for [s].
ASKING_PERIOD = 0.25
#: Moments whose state is kept.
MOST_STATES = 256

#: Takes a topic and what is to be shown of it.
Show = Callable[[str, MarkerArray], None]


class ViewError(GripsimError):
    """What is to be seen cannot be read."""


class Source(Protocol):
    """What a view shows."""

    grasps: Sequence[str]       # one line for each grasp, best first; may grow
    moments: bool               # whether moments of any grasp can be shown
    motions: bool               # whether whole motions can be shown
    felt: Sequence[MarkerArray]     # forces of fingers, from first to last, that were recorded

    def open(self, show: Show) -> None:
        """Begin to show."""

    def select(self, rank: int, fraction: float) -> None:
        """Show a moment of a grasp's closing."""

    def move(self, rank: int, fraction: float) -> None:
        """Show a moment of a grasp's whole motion, where it has one."""

    def about(self, rank: int) -> tuple[Mapping[str, str], ToldGrasp]:
        """Return what was asked, and the numbers of a grasp, as far as they are known."""

    def close(self) -> None:
        """End."""


class PlanSource:
    """
    A plan that ``gripsim plan --out`` wrote.

    Contacts, surfaces and pressures are worked out again, at any moment of a closing.

    Parameters
    ----------
    path : Path
    mesh : str
        Of the object, if it is not where the file says.
    hand : HandModel, optional
        The one that comes along unless another is given.
    arm : PlannedArm, optional
        The one that the file names unless another is given.

    Raises
    ------
    GripsimError
        File, object or material cannot be read, or there is no grasp in it.
    """

    moments, felt = True, ()

    def __init__(self, path: Path, mesh: str = '', hand: HandModel | None = None,
                 arm: PlannedArm | None = None) -> None:
        """Read the file and judge its grasps."""
        self.hand = hand or load_default_hand()
        content, told = read_grasps(path)
        given = load_grasps(path, self.hand.joint_names)
        if not given:
            raise ViewError(f'{path} holds no grasps to show')
        self.grasp_object = object_of_grasps(content, path, mesh)
        self._given = [(grasp.T_object_palm, grasp.trajectory) for grasp in given]
        self._elasticity = elasticity_of(told)
        ranked = evaluate_grasps(self.grasp_object, self._given, hand=self.hand,
                                 elasticity=self._elasticity)
        self.ranked = _as_told(ranked, path, self.hand.joint_names)
        self.grasps = [_line(rank, grasp) for rank, grasp in enumerate(ranked, 1)]
        self._arm = arm or arm_of_grasps(content, path)
        task = task_of_grasps(content, path)
        self._obstacles = task.obstacles
        body = content.get('object') or {}
        self._told = ToldPlan(
            tell_request(self.grasp_object, Path(body.get('mesh') or 'object').name, task,
                         {**(content.get('statistics') or {}), 'hint': content.get('hint')}),
            [tell_grasp(grasp) for grasp in self.ranked])
        self._motions = [motion_of(grasp, self._arm) for grasp in self.ranked]
        self.motions = any(self._motions)
        self._frame = MarkerFrame('object') if self._arm is None else MarkerFrame(
            'arm', self._arm.T_base_object)
        self._states: OrderedDict[tuple[int, float], RankedGrasp | None] = OrderedDict()
        self._way_shown = 0
        self._wanted: tuple[int, float] | None = (1, 1.0)
        self._changed, self._closed = threading.Event(), False

    def open(self, show: Show) -> None:
        """Show the ghosts of all grasps; then what is selected, from a thread."""
        self._show = show
        show(RANKED, ranked_markers(self.ranked, self._frame, self.hand))
        show(CLOSING, self.markers(1, 1.0))
        if len(self._obstacles):
            show(CLOSING, obstacle_markers(self._obstacles, self._frame))
        self._show_way(1)
        threading.Thread(target=self._run, daemon=True).start()

    def select(self, rank: int, fraction: float) -> None:
        """Show a moment: the hand at once, the object's state as soon as it is worked out."""
        self._wanted = rank, fraction
        self._show_way(rank)
        self._changed.set()

    def _show_way(self, rank: int) -> None:
        """Show where the arm brings the palm."""
        if self._arm is not None and rank != self._way_shown:
            self._way_shown = rank
            self._show(ARM_WAY, arm_way_markers(
                [moment.T_object_palm for moment in self._motions[rank - 1]], self._frame))

    def about(self, rank: int) -> tuple[Mapping[str, str], ToldGrasp]:
        """Return what was asked, and the numbers of a grasp, as its file tells them."""
        return self._told.request, self._told.grasp(rank)

    def move(self, rank: int, fraction: float) -> None:
        """Show a moment of the whole motion at once, where the grasp has one."""
        if self._motions[rank - 1]:
            self._wanted = None
            self._changed.set()     # ends what is worked out for a moment of the closing
            self._show_way(rank)
            self._show(CLOSING, self.moved(rank, fraction))

    def close(self) -> None:
        """End the thread."""
        self._closed = True
        self._changed.set()

    def arrays(self, rank: int, fraction: float) -> list[MarkerArray]:
        """Return what a picture of a moment shows."""
        return [self.markers(rank, fraction)]

    def moved(self, rank: int, fraction: float) -> MarkerArray:
        """Return the markers of a moment of the whole motion; TaskError where there is none."""
        moment = moment_at(self._motions[rank - 1], fraction)
        parts, others = (self._arm.parts_at(moment), self._arm.other_parts) if self._arm else (
            (), ())
        return moment_markers(self.ranked[rank - 1], moment, self.grasp_object, self.hand,
                              self._frame, parts, others, self._obstacles)

    def markers(self, rank: int, fraction: float) -> MarkerArray:
        """Return the markers of a moment with the object's state there."""
        grasp = self.ranked[rank - 1]
        return closing_markers(grasp, fraction, self._state(rank, fraction), self.grasp_object,
                               self.hand, self._frame)

    def _run(self) -> None:
        while self._changed.wait() and not self._closed:
            self._changed.clear()
            wanted = self._wanted
            if wanted is None:
                continue
            rank, fraction = wanted
            if (rank, fraction) not in self._states:
                self._show(CLOSING, closing_markers(self.ranked[rank - 1], fraction, None,
                                                    self.grasp_object, self.hand, self._frame))
            markers = self.markers(rank, fraction)
            if not self._changed.is_set():
                self._show(CLOSING, markers)

    def _state(self, rank: int, fraction: float) -> RankedGrasp | None:
        if fraction >= 1.0 or fraction <= 0.0:
            return self.ranked[rank - 1] if fraction >= 1.0 else None
        if (rank, fraction) not in self._states:
            T_object_palm, trajectory = self._given[rank - 1]
            self._states[rank, fraction] = evaluate_grasps(
                self.grasp_object, [(T_object_palm, trajectory_until(trajectory, fraction))],
                hand=self.hand, elasticity=self._elasticity)[0]
            while len(self._states) > MOST_STATES:
                self._states.popitem(last=False)
        return self._states[rank, fraction]


class RecordingSource:
    """
    The markers of a recording: the last of each topic.

    Parameters
    ----------
    path : Path

    Raises
    ------
    GripsimError
        It is no recording, or holds no markers.
    """

    moments = motions = False

    def __init__(self, path: Path) -> None:
        """Read the last markers of each topic."""
        self.last: dict[str, MarkerArray] = {}
        self.felt: list[MarkerArray] = []
        self._told = ToldPlan()
        for message in read_messages(path, (*MARKER_TOPICS, TOLD)):
            name = next(n for n in (*MARKER_TOPICS, TOLD)
                        if f'/{message.topic}'.endswith(f'/{n}'))
            if name == TOLD:
                self._told = plan_from_yaml(deserialize_message(message.data, String).data)
                continue
            self.last[name] = deserialize_message(message.data, MarkerArray)
            if name == EXECUTION:
                self.felt.append(self.last[name])
        if not self.last:
            raise ViewError(f'{path} holds no markers')
        self.grasps = ranks_of(self.last.get(RANKED, MarkerArray()))

    def open(self, show: Show) -> None:
        """Show them."""
        for topic, array in self.last.items():
            show(topic, array)

    def select(self, rank: int, fraction: float) -> None:
        """Do nothing: what was not recorded cannot be shown."""

    def move(self, rank: int, fraction: float) -> None:
        """Do nothing, as ``select``."""

    def about(self, rank: int) -> tuple[Mapping[str, str], ToldGrasp]:
        """Return what the planner told last."""
        return self._told.request, self._told.grasp(rank)

    def arrays(self, rank: int, fraction: float) -> list[MarkerArray]:
        """Return the last markers of all topics, whatever the moment."""
        return list(self.last.values())

    def close(self) -> None:
        """Do nothing."""


class SuiteSource(Connection):
    """
    The markers of a running suite as they come; moments are asked of `show_closing`.

    Parameters
    ----------
    namespace : str
        Of the suite.
    """

    moments = motions = True
    felt = ()

    def __init__(self, namespace: str = '') -> None:
        """Connect; nothing is waited for."""
        self.grasps: list[str] = []
        self._told = ToldPlan()
        super().__init__(namespace, 'gripsim_view')
        self._closing = self.node.create_client(ShowClosing, 'show_closing')
        self._wanted: ShowClosing.Request | None = None

    def open(self, show: Show) -> None:
        """Listen."""
        def listen(topic: str, late: bool) -> None:
            self.node.create_subscription(
                MarkerArray, topic, lambda msg: self._take(show, topic, msg),
                latched(1) if late else latest())
        for topic, late in MARKER_TOPICS.items():
            listen(topic, late)
        self.node.create_subscription(String, TOLD, self._take_words, latched(1))
        self.node.create_timer(ASKING_PERIOD, self._ask)
        self._listen()

    def _take(self, show: Show, topic: str, msg: MarkerArray) -> None:
        if topic == RANKED:
            self.grasps = ranks_of(msg)
        show(topic, msg)

    def _take_words(self, msg: String) -> None:
        self._told = plan_from_yaml(msg.data)

    def about(self, rank: int) -> tuple[Mapping[str, str], ToldGrasp]:
        """Return what the planner told last."""
        return self._told.request, self._told.grasp(rank)

    def select(self, rank: int, fraction: float) -> None:
        """Ask the planner to show a moment, as soon as it serves; it comes as markers."""
        self._want(rank, fraction, False)

    def _want(self, rank: int, fraction: float, whole: bool) -> None:
        self._wanted = ShowClosing.Request(rank=rank, fraction=fraction, whole=whole)
        self._ask()

    def _ask(self) -> None:
        if self._closing.service_is_ready():
            wanted, self._wanted = self._wanted, None
            if wanted is not None:
                self._closing.call_async(wanted)

    def move(self, rank: int, fraction: float) -> None:
        """Ask likewise for a moment of the whole motion, where the grasp has one."""
        self._want(rank, fraction, True)


def ranks_of(array: MarkerArray) -> list[str]:
    """Return the lines at the ranked grasps: rank and score."""
    return [marker.text for marker in array.markers
            if marker.ns == 'ranks' and marker.action == Marker.ADD]


def _as_told(grasps: Sequence[RankedGrasp], path: Path, joint_names: Sequence[str]
             ) -> list[RankedGrasp]:
    """Return grasps with worth, pre-grasp, way and the arm's motion as their file tells them."""
    told = []
    for number, (grasp, given) in enumerate(zip(grasps, read_grasps(path)[1]), 1):
        what = f'grasps {path}: grasp {number}'
        names = list(given['joint_trajectory'].get('joint_names', joint_names))
        order = [names.index(name) for name in joint_names]
        told.append(replace(grasp, T_object_pregrasp=given_pregrasp(given, what),
                            reach=given_reach(given, order, what),
                            arm_motion=given_arm(given, what), **_worth(given)))
    return told


def _worth(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the numbers by which a grasp was ranked, as far as its file tells them."""
    quality = given.get('quality') or {}
    worth = {name: quality[name] for name in ('score', 'margin', 'quantitative', 'damage_margin')
             if quality.get(name) is not None}
    terms = quality.get('terms') or {}
    return {**worth, 'terms': tuple(ScoreTerm(name, **term) for name, term in terms.items())}


def _line(rank: int, grasp: RankedGrasp) -> str:
    peak = max((contact.peak_pressure for contact in grasp.contacts), default=0.0)
    return f'{rank}: {len(grasp.contacts)} contacts, peak {1e-3 * peak:.1f} kPa'
