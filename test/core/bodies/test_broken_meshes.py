"""Broken mesh files: refused in one line, or answered as winding numbers say."""

from broken_meshes import KINDS, break_mesh, judge
import numpy as np
import pytest


def judge_seeds(seeds, folder):
    """Return what is wrong, by seed, and the kinds met."""
    wrong, kinds = {}, set()
    for seed in seeds:
        rng = np.random.default_rng(seed)
        broken = break_mesh(rng)
        kinds.add(broken.kind)
        said = judge(broken, folder, rng)
        if said:
            wrong[seed] = f'{broken.kind}.{broken.ending}: {said}'
    return wrong, kinds


def test_a_few_broken_meshes_are_refused_or_answered_right(tmp_path):
    wrong, _ = judge_seeds(range(1000, 1020), tmp_path)
    assert not wrong


@pytest.mark.nightly
def test_two_hundred_broken_meshes_are_refused_or_answered_right(tmp_path):
    wrong, kinds = judge_seeds(range(200), tmp_path)
    assert not wrong
    assert kinds == set(KINDS)
