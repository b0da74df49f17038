"""A foam ball for the planner's laws, in a world that answers by formulas."""

import pytest
from fake_stages import RADIUS, SphereWorld

from gripsim_ros.core.bodies import GraspObject, shapes
from gripsim_ros.library.in_process import find_material
from gripsim_ros.library.resources import load_default_hand


@pytest.fixture(scope='module')
def hand():
    return load_default_hand()


@pytest.fixture(scope='module')
def ball():
    return GraspObject(shapes.sphere(RADIUS), find_material('foam'))


@pytest.fixture(scope='module')
def world(hand, ball):
    load = 9.81 * ball.mass_properties.mass
    return SphereWorld(hand, RADIUS, load, ball.material.friction)
