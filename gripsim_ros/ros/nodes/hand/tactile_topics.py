"""The tactile sensors of a real hand: topics, and how they are."""

import time
from collections.abc import Callable

import yaml
from gripsim_interfaces.msg import TactileCounts, TactileFrame
from std_msgs.msg import Header

from ....hardware.driver.link.errors import DriverError
from ....hardware.driver.tactile.pads import Matrix, read_layout, Touch
from ....hardware.driver.tactile.session import TactileSession
from ....library.resources import resolve_uri, share_directory
from ..base.node_base import one_line, reliable, SuiteNode
from ..base.parameters import ParameterError
from .driver_parameters import tactile_options

#: Messages that a slow subscriber may lag behind.
DEPTH = 10


class TactileTopics:
    """
    Publishes `tactile`, and what the controller reads, `~/tactile_counts`, where asked for.

    Parameters
    ----------
    node : SuiteNode
        With the driver's parameters.
    while_it_lives : callable
        Returns a callback that does nothing once the node has ended.

    Raises
    ------
    ParameterError
        The layout of the texels cannot be read.
    """

    def __init__(self, node: SuiteNode,
                 while_it_lives: Callable[[Callable[..., None]], Callable[..., None]]) -> None:
        """Read where the texels are; nothing is connected before ``start``."""
        self._node, self._heard = node, None
        options, layout = tactile_options(node.values), _read_layout(node)
        self._frame = _empty_frame(layout, node.values['tactile_calibrated'])
        self._counts = TactileCounts(
            links=[matrix.link for matrix in layout],
            columns=[matrix.columns for matrix in layout],
            rows=[matrix.rows for matrix in layout])
        self._frames_topic = node.create_publisher(TactileFrame, 'tactile', reliable(DEPTH))
        self._counts_topic = node.create_publisher(TactileCounts, '~/tactile_counts',
                                                   reliable(DEPTH))
        self._session = TactileSession(options, layout, node.counted(
            'the tactile sensors', while_it_lives(self._on_touch))) if options.link else None

    @property
    def age(self) -> float:
        """Return for how long no frame has come [s]; 0 before the first."""
        return 0.0 if self._heard is None else time.monotonic() - self._heard

    @property
    def problem(self) -> str:
        """Return what is wrong; '' where frames come, or none are wanted."""
        return '' if self._session is None else self._session.problem

    def start(self) -> None:
        """Begin to connect."""
        if self._session is not None:
            self._session.start()

    def close(self) -> None:
        """Stop the frames and close the link."""
        if self._session is not None:
            self._session.close()

    def diagnose(self) -> dict[str, object]:
        """Return values for the diagnostics."""
        if self._session is None:
            return {'tactile': 'off'}
        counts = {**self._session.counts, 'bad_packets': self._session.bad_packets()}
        return {f'tactile {key}': count for key, count in counts.items()}

    def _on_touch(self, touch: Touch) -> None:
        """Publish a frame, in the session's thread."""
        self._heard = time.monotonic()
        header = Header(stamp=self._node.get_clock().now().to_msg(),
                        frame_id=self._node.hand.base_link)
        self._frame.header = self._counts.header = header
        self._frame.pressures = touch.pressures.tolist()
        self._frame.forces_link = touch.forces_link.ravel().tolist()
        self._frames_topic.publish(self._frame)
        if self._counts_topic.get_subscription_count():
            self._counts.counts = touch.readings
            self._counts_topic.publish(self._counts)


def _read_layout(node: SuiteNode) -> tuple[Matrix, ...]:
    given = node.values['tactile_layout']
    file = (resolve_uri(given) if given
            else share_directory() / 'config' / 'hands' / 'sdh_tactile.yaml')
    try:
        layout = read_layout(yaml.safe_load(file.read_text(encoding='utf-8')))
    except (OSError, yaml.YAMLError, DriverError) as error:
        raise ParameterError(f'tactile layout {file}: {one_line(error)}') from error
    for matrix in layout:
        node.hand.link_index(matrix.link)
    return layout


def _empty_frame(layout: tuple[Matrix, ...], calibrated: bool) -> TactileFrame:
    """Return a message with all that does not change from frame to frame."""
    msg = TactileFrame(links=[matrix.link for matrix in layout], calibrated=calibrated)
    offsets = [0]
    for matrix in layout:
        offsets.append(offsets[-1] + len(matrix.texels))
        msg.points_link.extend(matrix.points_link.ravel().tolist())
        msg.areas.extend(len(matrix.texels) * [matrix.area])
    msg.offsets = offsets
    return msg
