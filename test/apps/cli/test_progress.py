"""What is said while kernels are compiled."""

import time

from numba.core.event import trigger_event

from gripsim_ros.apps.cli import progress
from gripsim_ros.apps.cli.progress import CompilationNews

#: For a line to come [s].
PATIENCE = 20.0


def said(capsys, words):
    """Return what was said, once it has these words."""
    lines, end = '', time.monotonic() + PATIENCE
    while words not in lines and time.monotonic() < end:
        time.sleep(0.01)
        lines += capsys.readouterr().err
    return lines


def test_kernels_that_are_compiled_are_told_now_and_then(monkeypatch, capsys):
    monkeypatch.setattr(progress, 'COMPILING_INTERVAL', 0.02)
    with CompilationNews('planning'):
        for _ in range(2):
            with trigger_event('numba:compile'):
                pass
        assert 'planning: compiling numerical kernels' in said(capsys, '2 so far')
        time.sleep(0.2)
        assert not capsys.readouterr().err      # nothing new, nothing said
    with trigger_event('numba:compile'):
        time.sleep(0.2)
    assert not capsys.readouterr().err
