"""A small tree of frames: the newest pose of each, as TF or pose topics told them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....core.errors import GripsimError
from ....core.transforms import inverse

Array = NDArray[np.float64]

#: A chain longer than this is a loop.
MAX_DEPTH = 100


class FrameError(GripsimError):
    """A pose between two frames is not known, or too old."""


@dataclass(frozen=True, eq=False)
class _Frame:
    parent: str
    T_parent_frame: Array
    received: float | None     # None: static, never too old


class FrameTree:
    """
    Frames by name, each with the newest pose in its parent.

    Times are of the steady clock [s]; ``timeout`` is how old a pose may be that is
    not static.
    """

    def __init__(self, timeout: float) -> None:
        """Start without frames."""
        self._frames: dict[str, _Frame] = {}
        self._timeout = timeout

    def update(self, parent: str, child: str, T_parent_child: Array,
               received: float | None) -> None:
        """Keep the pose of a frame; ``received`` None says that it is static."""
        self._frames[child.lstrip('/')] = _Frame(parent.lstrip('/'), T_parent_child, received)

    def root(self, name: str, now: float) -> str:
        """Return the frame at the top of the chain above ``name``."""
        return self._chain(name.lstrip('/'), now)[-1][0]

    def pose(self, frame_a: str, frame_b: str, now: float) -> Array:
        """
        Return ``T_a_b (4, 4)``.

        Raises
        ------
        FrameError
            The frames are not connected, or a pose between them is too old.
        """
        frame_a, frame_b = frame_a.lstrip('/'), frame_b.lstrip('/')
        above_a = dict(self._chain(frame_a, now))
        for common, T_common_b in self._chain(frame_b, now):
            if common in above_a:
                return inverse(above_a[common]) @ T_common_b
        raise FrameError(f'no pose between frames {frame_a!r} and {frame_b!r}')

    def _chain(self, name: str, now: float) -> list[tuple[str, Array]]:
        """Return ``(ancestor, T_ancestor_name)`` from the frame itself to its root."""
        chain = [(name, np.eye(4))]
        while chain[-1][0] in self._frames:
            frame = self._frames[chain[-1][0]]
            if frame.received is not None and now - frame.received > self._timeout:
                raise FrameError(f'pose of frame {chain[-1][0]!r} is '
                                 f'{now - frame.received:.1f} s old, allowed {self._timeout} s')
            chain.append((frame.parent, frame.T_parent_frame @ chain[-1][1]))
            if len(chain) > MAX_DEPTH:
                raise FrameError(f'frames above {name!r} form a loop')
        return chain
