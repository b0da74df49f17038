"""The order of candidates: promising ones first, from many sides, none twice."""

import numpy as np
from hypothesis import given, strategies as st
from numpy.testing import assert_array_equal

from gripsim_ros.core.planning.hypotheses.prescreen import (
    DUPLICATE_RESOLUTION, SAME_FACE_LOSS, diverse_order, without_duplicates)

seeds = st.integers(0, 2 ** 32 - 1)


@given(seeds)
def test_candidates_come_by_score_less_a_loss_for_each_better_one_of_their_face(seed):
    rng = np.random.default_rng(seed)
    scores = np.where(rng.random(30) < 0.2, -np.inf, np.round(rng.uniform(-0.2, 1.0, 30), 3))
    faces = rng.integers(0, 6, 30)
    order = diverse_order(scores, faces)
    assert sorted(order) == list(np.flatnonzero(scores > 0.0))
    better = [sum((faces[j] == faces[i]) and ((-scores[j], j) < (-scores[i], i)) for j in order)
              for i in order]
    adjusted = scores[order] - SAME_FACE_LOSS * np.array(better)
    assert (np.diff(adjusted) <= 1e-12).all()


@given(seeds)
def test_of_candidates_at_one_pose_the_first_is_kept(seed):
    rng = np.random.default_rng(seed)
    distinct = rng.uniform(-1.0, 1.0, (5, 4, 4))
    which, preshapes = rng.integers(0, 5, 20), rng.integers(0, 2, 20)
    poses = distinct[which] + rng.uniform(-0.01, 0.01) * DUPLICATE_RESOLUTION
    order, seen = rng.permutation(20), []
    for row in order:
        if (which[row], preshapes[row]) not in [(which[k], preshapes[k]) for k in seen]:
            seen.append(row)
    assert_array_equal(without_duplicates(order, poses, preshapes, 20), seen)
    assert_array_equal(without_duplicates(order, poses, preshapes, 2), seen[:2])
