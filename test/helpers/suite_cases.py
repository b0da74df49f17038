"""What the tests of the running suite share: a ball, requests, a client, a running suite."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

import numpy as np
import yaml
from gripsim_interfaces.action import PlanGrasps

from gripsim_ros.core.bodies import GraspObject, Material, shapes
from gripsim_ros.library.resources import share_directory
from gripsim_ros.ros import conversions

MATERIAL = Material(4e5, 0.4, 600.0, 0.8, name='test rubber')
RADIUS, EDGE_LENGTH = 0.035, 0.008
HYPOTHESES = 8
#: Silence after which the suite under test asks again, and after all attempts gives up [s];
#: shorter where stages are missing on purpose.
ANSWER_TIMEOUT, ATTEMPTS, SHORT_TIMEOUT = 10.0, 5, 1.0
#: What makes planning quick: few hypotheses are looked at before the best are evaluated.
#: Half-spaces: what a suite does by default the tests of two stages ask for.
QUICK = {'face_count': 16, 'roll_count': 4, 'palm_gaps': [0.006, 0.05],
         'elasticity': 'half_space'}
#: Steps of the object's motion while closing, in suites where nobody looks at it [s].
COARSE = 0.05
#: Limit of a request, on a busy machine [s].
PLANNING_TIME = 600.0
#: Time that a request may take beyond its limits, on a busy machine [s].
SLACK = 60.0
STAGES = ('forward_kinematics', 'contact_detection', 'deformation')


@lru_cache(maxsize=None)
def ball(radius=RADIUS):
    """Return a small ball."""
    return GraspObject(shapes.sphere(radius, EDGE_LENGTH), MATERIAL, 'ball')


def goal(grasp_object=None, hypotheses=HYPOTHESES, **fields):
    """Return a request that is answered within seconds, if nothing else runs."""
    fields.setdefault('max_planning_time', PLANNING_TIME)
    asked = grasp_object or ball()
    return PlanGrasps.Goal(
        mesh=conversions.mesh_to_msg(asked.mesh.vertices, asked.mesh.faces),
        material=conversions.material_to_msg(asked.material), max_hypotheses=hypotheses, **fields)


def quick_options():
    """Return planner options that propose quickly, as a mapping."""
    text = (share_directory() / 'config' / 'planner.yaml').read_text(encoding='utf-8')
    options = yaml.safe_load(text)
    return {**options, **QUICK, 'closing': {**options['closing'], 'time_step': COARSE}}


def parameters(folder, answer_timeout=ANSWER_TIMEOUT):
    """Return the parameters of the suite under test; their file is written to ``folder``."""
    file = Path(folder, 'planner.yaml')
    file.write_text(yaml.safe_dump(quick_options()), encoding='utf-8')
    return {'grasp_planner': {'answer_timeout': answer_timeout, 'max_attempts': ATTEMPTS,
                              'planner_config': file}}


def as_request(message, request_type):
    """Return a goal as the request of a service with the same fields."""
    request = request_type()
    for name in request.get_fields_and_field_types():
        if hasattr(message, name):
            setattr(request, name, getattr(message, name))
    return request


def ranking(result):
    """Return what makes up the order of grasps, to the last bit."""
    return [(g.hypothesis, g.score, g.margin, tuple(g.joint_trajectory.points[-1].positions),
             tuple(g.grip_joint_efforts)) for g in result.grasps]


@contextmanager
def paused(process):
    """Hold a process that stays in the graph but answers nothing."""
    process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        process.send_signal(signal.SIGCONT)


@contextmanager
def doubled_stages():
    """Run ``doubled_stage.py``."""
    process = subprocess.Popen([sys.executable, str(Path(__file__).with_name('doubled_stage.py'))],
                               env=os.environ)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(10.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_for(condition, timeout=60.0, period=0.02):
    """Return whether a condition came true within ``timeout`` [s]."""
    end = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(period)
    return True


def plain(value):
    """Return a message of ROS or of mcap_ros2 as nested plain values."""
    names = (value.get_fields_and_field_types() if hasattr(value, 'get_fields_and_field_types')
             else getattr(value, '__slots__', None))
    if names is not None:
        return {name.lstrip('_'): plain(getattr(value, name)) for name in names}
    if isinstance(value, float) and np.isnan(value):
        return 'nan'
    if isinstance(value, (list, tuple, bytes, np.ndarray)) or hasattr(value, 'tolist'):
        return [plain(item) for item in list(value)]
    return value
