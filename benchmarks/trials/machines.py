"""Other machines: busy ones, fresh ones, with other versions, with launch, with a second suite."""

import json
import os
import re
import subprocess
import sys
import time
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from .tally import ANSWERED, Tally, WRONG

ROOT = Path(__file__).resolve().parents[2]
#: Processes that do nothing but keep the machine busy.
LOAD = 20
#: What must hold on a busy machine: a grasp comes out the same, nodes end in time.
UNDER_LOAD = ('test/ros/nodes/executor/test_simulated_grasp.py',
              'test/ros/nodes/base/test_start_and_end.py')
#: What tells whether other versions compute the same.
UNDER_VERSIONS = ('test/core/numerics', 'test/core/planning', 'test/core/mechanics',
                  'test/laws/test_pipeline_laws.py', 'test/library/test_front_door.py')
#: Files of upper bounds, and '': what is newest.
VERSIONS = ('constraints-lowest.txt', 'constraints-middle.txt', '')
#: For all nodes to compile their kernels at the same time; limit of the first plan, and what it
#: may take beyond it [s].
COMPILE_TIME, FIRST_TIME, OVERRUN = 3000.0, 20.0, 1.0
#: In which a second suite is told in the diagnostics [s].
TOLD_TIME = 60.0


@contextmanager
def busy(count: int):
    """Keep so many processes computing."""
    processes = [subprocess.Popen([sys.executable, '-c', 'while True: pass'])
                 for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def run_tests(tally: Tally, *arguments: str, python: str = sys.executable, **environment) -> None:
    """Run tests of the project, and count them."""
    command = [python, '-m', 'pytest', '-q', '-m', 'slow or not slow', '-p', 'no:cacheprovider',
               *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True,
                          env={**os.environ, **environment})
    last = (done.stdout.strip().splitlines() or [done.stderr])[-1]
    tally.ends[ANSWERED] += sum(map(int, re.findall(r'(\d+) passed', last)))
    failed = [line for line in done.stdout.splitlines() if line.startswith(('FAILED', 'ERROR'))]
    for line in failed:
        tally.add(WRONG, line)
    if done.returncode and not failed:
        tally.add(WRONG, ' '.join(command), last)
    tally.note = f'{tally.note} {last}'.strip()


def load(tally: Tally) -> None:
    """Run what must not depend on a machine's pace on one that is busy."""
    with busy(LOAD):
        run_tests(tally, *UNDER_LOAD, GRIPSIM_PATIENCE='10')


def versions(tally: Tally, sets: tuple[str, ...] = VERSIONS) -> None:
    """Set up each set of versions from nothing and run what computes with it."""
    for constraints in sets:
        name = Path(constraints).stem.removeprefix('constraints-') or 'newest'
        place = ROOT / 'build' / 'trials' / name
        own = {'NUMBA_CACHE_DIR': str(place / 'cache')}
        done = subprocess.run(
            ['make', 'setup-all', f'VENV={place / "venv"}', f'CONSTRAINTS={constraints}'],
            cwd=ROOT, env={**os.environ, **own}, capture_output=True, text=True)
        tally.check(done.returncode == 0, f'make setup-all, {name}', done.stderr[-500:])
        if not done.returncode:
            run_tests(tally, '-n', '2', *UNDER_VERSIONS, python=str(place / 'venv/bin/python'),
                      **own)


def cold(tally: Tally) -> None:
    """Start a suite without any compiled kernel; its first plan must keep its limit."""
    import tempfile

    from gripsim_ros.ros.clients.plan import STATUS_NAMES, PlanGraspClient
    from gripsim_ros.ros.clients.suite import Suite
    from suite_cases import goal
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        suite = Suite({**os.environ, 'NUMBA_CACHE_DIR': folder})
        try:
            suite.start()
            suite.wait_until_ready(timeout=COMPILE_TIME)
            ready = time.monotonic() - begin
            with PlanGraspClient() as client:
                begin = time.monotonic()
                answer = client.plan(goal(hypotheses=400, max_planning_time=FIRST_TIME))
                took = time.monotonic() - begin
        finally:
            suite.stop()
    status = STATUS_NAMES[answer.status]
    tally.check(status in ('SUCCEEDED', 'TIMED_OUT') and took < FIRST_TIME + OVERRUN,
                'the first plan', f'{status} after {took:.1f} s: {answer.message}')
    tally.note = f'ready after {ready:.0f} s, first plan {status} in {took:.1f} s'


def launch(tally: Tally) -> None:
    """Run the tests that start the launch file."""
    if find_spec('launch_testing') is None:
        tally.skipped = 'launch_testing is not installed: it comes with a ROS 2 install'
        return
    run_tests(tally, '-m', 'launch')


def doctor(tally: Tally) -> None:
    """Ask the doctor about the suite that runs: nothing of it may be called bad."""
    done = subprocess.run(
        [sys.executable, '-m', 'gripsim_ros.apps.cli', 'doctor', '--thorough', '--json'],
        capture_output=True, text=True)
    findings = json.loads(done.stdout)['findings'] if done.stdout else []
    bad = [f'{f["subject"]}: {f["found"]}' for f in findings if f['state'] == 'bad']
    tally.check(done.returncode == 0 and not bad and len(findings) > 40, 'gripsim doctor',
                f'{len(findings)} findings, {bad}, {done.stderr[-300:]}')


def neighbours(tally: Tally, suite, client, case, right: dict) -> None:
    """Start a second suite in the same domain: plans stay right, and both tell of each other."""
    from diagnostic_msgs.msg import DiagnosticArray
    from gripsim_ros.ros.clients.suite import Suite
    from suite_cases import wait_for

    from .stages import judge_call
    told = {}
    heard = client.node.create_subscription(DiagnosticArray, '/diagnostics', lambda array: [
        told.update({status.name: status.message}) for status in array.status], 50)
    with Suite(os.environ, parameters=suite._parameters) as second:
        for _ in range(3):
            judge_call(tally, client, case, right, 'a plan beside a second suite')
        warned = wait_for(lambda: all(told.get(name, '').startswith('2 nodes are called')
                                      for name in second.names), TOLD_TIME)
        tally.check(warned, 'two suites warn of each other', str(told))
    client.node.destroy_subscription(heard)
