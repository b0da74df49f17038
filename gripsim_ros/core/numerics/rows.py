"""
Rows of a kernel: in turn on the processor, or side by side on a graphics card.

``GRIPSIM_DEVICE=cuda`` asks for the card, whose compiler rounds a product and a sum in one.
"""

import os
from collections.abc import Callable, Sequence
from typing import Any

from ..arrays import AnyArray
from ..errors import TaskError

#: Variable that names the device, and what it may be; without it the processor.
DEVICE = 'GRIPSIM_DEVICE'
PROCESSOR, CUDA = 'cpu', 'cuda'


def run_rows(kernel: Callable[..., None], count: int, inputs: Sequence[Any],
             outputs: tuple[AnyArray, ...]) -> None:
    """
    Have a kernel write its rows ``0`` to ``count`` to ``outputs``.

    Parameters
    ----------
    kernel : callable
        ``kernel(first, step, *inputs, outputs)`` writes rows ``first``, ``first + step`` and so
        on of what ``outputs`` hold. No row reads what another writes, and nothing is allocated.
    count : int
    inputs : sequence of arrays, numbers and tuples of such
    outputs : tuple of arrays

    Raises
    ------
    TaskError
        ``GRIPSIM_DEVICE`` names no device, or asks for a card that cannot be had.
    """
    if count == 0:
        return
    if chosen_device() == PROCESSOR:
        kernel(0, 1, *inputs, outputs)
        return
    try:
        from .card import run_rows_on_card
    except ImportError as error:
        raise TaskError(f'{DEVICE}={CUDA} needs the extra "cuda" (numba-cuda): {error}') from error
    run_rows_on_card(kernel, count, inputs, outputs)


def chosen_device() -> str:
    """Return the device that the environment names."""
    name = os.environ.get(DEVICE, '') or PROCESSOR
    if name not in (PROCESSOR, CUDA):
        raise TaskError(f'{DEVICE} must be {PROCESSOR} or {CUDA}, got {name!r:.60}')
    return name
