"""Tetrahedra by fTetWild: they fill the body, and failures are told by their cause."""

from types import SimpleNamespace

import numpy as np
from numpy.testing import assert_allclose
import pytest

from gripsim_ros.core.bodies import shapes, tetrahedra
from gripsim_ros.core.errors import MeshError


@pytest.mark.nightly     # by day hardware/sim/test_world fills an object
@pytest.mark.slow
def test_tetrahedra_fill_a_box():
    pytest.importorskip('pytetwild', reason='the mesher is of the extra `sim`')
    box = shapes.box([0.04, 0.05, 0.06])
    nodes, corners = tetrahedra.fill_with_tetrahedra(box, 0.03, 1e-3)
    volumes = tetrahedra.tetrahedron_volumes(nodes, corners)
    assert (volumes > 0.0).all() and len(np.unique(corners)) == len(nodes)
    assert_allclose(volumes.sum(), box.volume, rtol=0.02)


@pytest.mark.parametrize('code, stderr, words', [
    (-2, '', 'ended by SIGINT'), (-9, 'half a line', 'ended by SIGKILL'),
    (1, 'a trace\nValueError: open', 'failed: ValueError: open'),
    (1, 'ModuleNotFoundError: pytetwild', 'pip install')])
def test_a_mesher_that_ends_early_is_told_by_its_cause(monkeypatch, code, stderr, words):
    monkeypatch.setattr(tetrahedra.subprocess, 'run', lambda *_, **__: SimpleNamespace(
        returncode=code, stderr=stderr))
    with pytest.raises(MeshError, match=words):
        tetrahedra.fill_with_tetrahedra(shapes.box([0.04, 0.05, 0.06]), 0.03, 1e-3)


def test_a_mesher_that_nobody_waits_for_ends_by_itself(monkeypatch):
    run = tetrahedra.subprocess.run

    def slow(command, timeout, **options):
        assert timeout == 0.5
        script = command[2].replace('from pyt', 'import time; time.sleep(60)\nfrom pyt')
        return run([*command[:2], script, *command[3:]], timeout=30.0, **options)
    monkeypatch.setattr(tetrahedra.subprocess, 'run', slow)
    monkeypatch.setattr(tetrahedra, 'MESHING_TIME', 0.5)
    with pytest.raises(MeshError, match='meshing was ended by SIGALRM'):
        tetrahedra.fill_with_tetrahedra(shapes.box([0.04, 0.05, 0.06]), 0.03, 1e-3)
