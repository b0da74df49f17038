"""The package's front door: few names, nothing loaded before it is used, answers on one line."""

import re
import subprocess
import sys

import numpy as np
from plan_cases import made_up_grasp
import pytest

import gripsim_ros
from gripsim_ros.core.planning import GraspContact

LINE = r'Grasp \d+: stable, score \d\.\d\d, \d contacts, \d+\.\d N'


def in_a_new_process(code):
    run = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_the_root_loads_nothing_before_a_name_is_asked_for():
    told = in_a_new_process(
        'import sys, gripsim_ros; gripsim_ros.__version__; dir(gripsim_ros)\n'
        'own = [name for name in sys.modules if name.startswith("gripsim_ros")]\n'
        'print("numpy" in sys.modules, len(own))')
    assert told.split() == ['False', '1']


@pytest.mark.parametrize('name', gripsim_ros.__all__)
def test_every_public_name_is_there_and_documented(name):
    assert getattr(gripsim_ros, name).__doc__.strip()
    assert name in dir(gripsim_ros)


def test_an_unknown_name_is_refused_with_those_there_are():
    with pytest.raises(AttributeError,
                       match="no attribute 'plan_grasp'; public are .*plan_grasps"):
        gripsim_ros.plan_grasp


def pressing(link, force):
    """Return a contact that presses along its normal with a force [N]."""
    nothing = np.zeros(3)
    return GraspContact(
        link=link, point=nothing, normal=np.array([1.0, 0, 0]), force=np.array([force, 0.3, 0]),
        torque=nothing, closing_force=nothing, closing_torque=nothing)


def test_a_grasp_is_printed_as_one_line():
    contacts = tuple(pressing(f'finger_{k}', 1.5) for k in range(3))
    grasp = made_up_grasp(rank=1, score=0.917, contacts=contacts)
    assert str(grasp) == repr(grasp) == 'Grasp 1: stable, score 0.92, 3 contacts, 4.5 N'
    assert re.fullmatch(LINE, f'{grasp}')


def test_a_grasp_that_does_not_hold_says_why():
    grasp = made_up_grasp(rank=2, score=0.0, stable=False, contacts=(pressing('thumb', 1.0),),
                          reason='too few fingers')
    assert str(grasp) == 'Grasp 2: not stable (too few fingers), 1 contact, 1.0 N'
