"""``gripsim demo`` where ROS is not installed; with the nodes it runs in `make demo`."""

import json
import sys

from cli_cases import gripsim
from gripsim_ros.apps.cli import plan

HYPOTHESES = 3


def test_without_ros_one_process_plans_and_says_so(tmp_path, monkeypatch):
    for name in ('rclpy', 'gripsim_interfaces'):
        monkeypatch.setitem(sys.modules, name, None)
    # Report and pictures have tests of their own.
    monkeypatch.setattr('gripsim_ros.apps.report.write_report', lambda answer, path: None)
    monkeypatch.setattr('gripsim_ros.apps.report.write_pictures', lambda answer, folder: [])
    # The README's commands prepare an object.
    monkeypatch.setattr(plan, 'plan_here', lambda request, plan_here=plan.plan_here: plan_here(
        request, elasticity='half_space'))
    code, out, err = gripsim('demo', '--folder', tmp_path, '--hypotheses', HYPOTHESES)
    assert code == 0, err
    assert 'rclpy is not installed: this process plans' in out + err
    answer = json.loads((tmp_path / 'grasps.json').read_text())
    assert answer['grasps'] and answer['statistics']['evaluated'] == HYPOTHESES
