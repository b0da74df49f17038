"""The prescreen's kernels on an emulated graphics card answer as on the processor."""

import os
from pathlib import Path
import subprocess
import sys

from gripsim_ros.core.bodies import shapes
from gripsim_ros.core.numerics.rows import DEVICE
from gripsim_ros.core.planning.hypotheses.distance_field import build_distance_field
from gripsim_ros.core.planning.hypotheses.prescreen import (
    count_clearances, many_fingers_shares, NO_TOUCH, place_palms, score_closings)
from gripsim_ros.core.transforms import transform
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

PALMS = 70      # more than a block of threads
#: What both may differ by where a card rounds products and sums in one; the emulated one does not.
ATOL_FUSED = 1e-12


def answers():
    """Return what each kernel of the prescreen says of random palms about a ball."""
    rng = np.random.default_rng(3)
    ball = shapes.sphere(0.03, 6e-3)
    field = build_distance_field(ball, cells=12)
    turns = Rotation.random(PALMS, random_state=3).as_matrix()
    origins = place_palms(ball.vertices[::8], turns, 0.03 * turns[:, :, 2], np.array([
        [0.0, 0.0, 0.09], [0.01, 0.0, 0.08]]), np.full(3, -0.04), np.full(3, 0.04),
        np.array([0.01]))
    palms = transform(turns, origins[0, :, 0])
    ends = rng.uniform(-0.02, 0.02, (3, 2, 3)) + [0.0, 0.0, 0.09]
    ends[:, 0, :2] += 0.08 * np.array([[1.0, 0.0], [-0.5, 0.8], [-0.5, -0.8]])
    pads = np.linspace(ends[:, 0], ends[:, 1], 6, axis=1)
    closed = score_closings(field, palms, pads, many_fingers_shares(3),
                            np.array([0.7, 0.03, 0.08, np.inf, 0.3]))
    points = rng.uniform(-0.05, 0.05, (12, 3)) + [0.0, 0.0, 0.02]
    balls = np.column_stack([points[::4], np.full(3, 0.2)])
    kept = count_clearances(field, palms, points, np.array([0, 4, 8, 12]), balls,
                            np.array([-0.01, 0.01]))
    return (origins, *closed, kept)


@pytest.mark.nightly     # by day test_prescreen, whose kernels the card takes
def test_an_emulated_card_answers_as_the_processor(tmp_path, monkeypatch):
    monkeypatch.delenv(DEVICE, raising=False)
    expected = answers()
    _, _, steps, scores, _, kept = expected
    assert (steps > NO_TOUCH).any() and np.isfinite(scores).any() and np.ptp(kept) > 0
    file = tmp_path / 'found.npz'
    ended = subprocess.run(
        [sys.executable, '-c', 'import sys, numpy as np, test_prescreen_on_card as t; '
         'np.savez(sys.argv[1], *t.answers())', str(file)],
        env={**os.environ, DEVICE: 'cuda', 'NUMBA_ENABLE_CUDASIM': '1'},
        cwd=Path(__file__).parent, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    for mine, found in zip(expected, np.load(file).values(), strict=True):
        np.testing.assert_allclose(found, mine, rtol=0.0, atol=ATOL_FUSED)
