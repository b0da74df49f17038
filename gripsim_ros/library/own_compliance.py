"""
An object's own compliance, prepared beside the search for grasps and awaited after it.

A process of its own fills the disk cache: it is forked before the workers, computes, and writes
nothing else. Without processes, or without a folder to fill, preparation follows the search.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from dataclasses import replace
from pathlib import Path
from types import TracebackType

from ..core.bodies import GraspObject
from ..core.mechanics import ElasticBody, MechanicsOptions
from ..core.pipeline import Pipeline

#: Seconds between two looks at whether planning is to end.
PATIENCE = 0.1


class OwnCompliance:
    """
    A context in which an object's own compliance is prepared; ``is_there()`` waits for it.

    Parameters
    ----------
    grasp_object : GraspObject
    mechanics : MechanicsOptions
        Of the search; ``body`` instead of their elasticity counts here.
    beside : bool
        Whether a process of its own may be forked.
    """

    def __init__(self, grasp_object: GraspObject, mechanics: MechanicsOptions,
                 beside: bool) -> None:
        self._object, self._mechanics = grasp_object, replace(mechanics, elasticity='body')
        self._beside = beside and _is_writable(self._mechanics.compliance.folder)
        self._process: multiprocessing.process.BaseProcess | None = None

    def __enter__(self) -> OwnCompliance:
        """Fork the process."""
        if self._beside:
            self._process = multiprocessing.get_context('fork').Process(
                target=_prepare, args=(self._object, self._mechanics), daemon=True)
            self._process.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        """End the process where nobody waits for it any more."""
        if self._process is not None:
            self._process.kill()
            self._process.join()

    def is_there(self, stages: Pipeline, go_on: Callable[[], bool]) -> bool | None:
        """
        Return whether stages have the object's own compliance, once it is prepared.

        Parameters
        ----------
        stages : Pipeline
        go_on : callable
            Called again and again meanwhile; False ends it.

        Returns
        -------
        bool or None
            None where it was ended. Where the compliance cannot be prepared half-spaces answer,
            and the stages' ``warnings`` say why.
        """
        if self._process is not None:
            while self._process.is_alive():
                if not go_on():
                    return None
                self._process.join(PATIENCE)
        made: Future[bool] = Future()
        threading.Thread(target=_make, args=(stages, made), name='compliance',
                         daemon=True).start()
        while not made.done():
            wait([made], PATIENCE)
            if not (made.done() or go_on()):
                return None
        return made.result()


def _make(stages: Pipeline, made: Future[bool]) -> None:
    try:
        made.set_result(stages.prepare_own_compliance())
    except BaseException as error:      # raised where it is waited for
        made.set_exception(error)


def _prepare(grasp_object: GraspObject, mechanics: MechanicsOptions) -> None:
    """Fill the disk cache."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ElasticBody(grasp_object, mechanics)


def _is_writable(folder: str) -> bool:
    """Return whether a folder, there or not, can be filled."""
    if not folder:
        return False
    place = Path(folder)
    while not place.exists() and place != place.parent:
        place = place.parent
    return os.access(place, os.W_OK | os.X_OK)
