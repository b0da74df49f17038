"""A sourced ROS is kept out of .venv, and processes of the suite keep to themselves."""

import fcntl
import importlib.util
import json
import os
from pathlib import Path
import shutil
import socket
import subprocess
import sys

import pytest

from gripsim_ros.ros import environment

ROOT = Path(__file__).resolve().parents[2]
PROBE = """
import json, os, sys
import numpy
try:
    import rclpy
    where = rclpy.__file__
except ImportError:
    where = None
print(json.dumps({'argv': sys.argv[1:], 'numpy': numpy.__file__, 'rclpy': where,
                  'environment': dict(os.environ)}))
"""
CLEARED = ('PYTHONPATH', 'AMENT_PREFIX_PATH', 'CMAKE_PREFIX_PATH', 'COLCON_PREFIX_PATH',
           'ROS_DISTRO', 'ROS_VERSION')

needs_guard = pytest.mark.skipif(
    importlib.util.find_spec('gripsim_venv') is None or sys.prefix == sys.base_prefix,
    reason='this Python is not of a .venv that make setup has made')


@pytest.fixture
def sourced_ros(tmp_path):
    """Return an environment in which another, broken ROS is sourced."""
    prefix = tmp_path / 'ros'
    packages = prefix / 'lib' / 'python3' / 'site-packages'
    for name in ('rclpy', 'numpy', 'gripsim_interfaces'):
        (packages / name).mkdir(parents=True)
        (packages / name / '__init__.py').write_text('raise RuntimeError("the other ROS")\n')
    (prefix / 'lib' / 'librcl.so').write_text('not a library')
    return {'PATH': os.environ['PATH'], 'HOME': str(tmp_path), 'PYTHONPATH': str(packages),
            'LD_LIBRARY_PATH': str(prefix / 'lib'), 'AMENT_PREFIX_PATH': str(prefix),
            'CMAKE_PREFIX_PATH': str(prefix), 'COLCON_PREFIX_PATH': str(prefix),
            'ROS_DISTRO': 'jazzy', 'ROS_VERSION': '2', 'ROS_PYTHON_VERSION': '3'}


def run_probe(variables, *arguments):
    """Start this Python with exactly these variables; return its report and standard error."""
    run = subprocess.run([sys.executable, '-c', PROBE, *arguments], env=variables, text=True,
                         capture_output=True, timeout=300)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout), run.stderr


@needs_guard
def test_sourced_ros_is_cleared_and_said_in_one_line(sourced_ros):
    report, errors = run_probe(sourced_ros, 'two words', '--flag')
    assert report['argv'] == ['two words', '--flag']
    assert report['numpy'].startswith(sys.prefix)
    assert report['rclpy'].startswith(sys.prefix)
    assert not set(CLEARED) & set(report['environment'])
    assert sourced_ros['LD_LIBRARY_PATH'] not in report['environment']['LD_LIBRARY_PATH']
    assert len(errors.splitlines()) == 1
    for name in ('PYTHONPATH', 'LD_LIBRARY_PATH', 'AMENT_PREFIX_PATH', 'CMAKE_PREFIX_PATH'):
        assert name in errors


@needs_guard
@pytest.mark.parametrize('name', ['PYTHONPATH', 'LD_LIBRARY_PATH', 'AMENT_PREFIX_PATH'])
def test_one_variable_of_a_sourced_ros_is_enough_to_tell(sourced_ros, name):
    report, errors = run_probe({'PATH': os.environ['PATH'], name: sourced_ros[name]})
    assert sourced_ros[name] not in report['environment'].get(name, '')
    assert errors.count('\n') == 1 and name in errors


@needs_guard
def test_without_a_sourced_ros_nothing_is_cleared(tmp_path):
    report, errors = run_probe({'PATH': os.environ['PATH'], 'PYTHONPATH': str(tmp_path)})
    assert report['environment']['PYTHONPATH'] == str(tmp_path)
    assert errors == ''


@needs_guard
def test_libraries_of_another_environment_do_not_come_first(sourced_ros):
    # What a process inherits from the Python of another .venv.
    inherited = {'PATH': os.environ['PATH'], '_ROS_WHEELS_BOOTSTRAP_COMPLETE': '1',
                 'LD_LIBRARY_PATH': sourced_ros['LD_LIBRARY_PATH']}
    report, _ = run_probe(inherited)
    first = report['environment']['LD_LIBRARY_PATH'].split(os.pathsep)[0]
    assert first == str(Path(sys.prefix, 'lib'))
    assert report['rclpy'].startswith(sys.prefix)


@needs_guard
def test_opting_out_keeps_everything(sourced_ros):
    kept = {'PATH': os.environ['PATH'], 'GRIPSIM_KEEP_ENVIRONMENT': '1',
            'CMAKE_PREFIX_PATH': sourced_ros['CMAKE_PREFIX_PATH'],
            'AMENT_PREFIX_PATH': sourced_ros['AMENT_PREFIX_PATH']}
    report, errors = run_probe(kept)
    assert report['environment']['AMENT_PREFIX_PATH'] == kept['AMENT_PREFIX_PATH']
    assert errors == ''


@needs_guard
def test_command_line_survives_a_sourced_ros(sourced_ros):
    command = Path(sys.prefix, 'bin', 'gripsim')
    run = subprocess.run([str(command), '--help'], env=sourced_ros, text=True,
                         capture_output=True, timeout=300)
    assert run.returncode == 0, run.stderr
    assert 'the other ROS' not in run.stderr + run.stdout


def test_guard_acts_in_its_own_environment_alone(sourced_ros):
    spec = importlib.util.spec_from_file_location('guard', ROOT / 'tools' / 'venv_guard.py')
    guard = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(guard)
    # Elsewhere, it returns; here it would replace the process by a new one.
    guard.apply(sourced_ros['AMENT_PREFIX_PATH'])
    assert guard.find_foreign_ros(sourced_ros, sys.prefix) == [
        'AMENT_PREFIX_PATH', 'COLCON_PREFIX_PATH', 'PYTHONPATH', 'LD_LIBRARY_PATH']
    assert guard.find_foreign_ros({'AMENT_PREFIX_PATH': sys.prefix}, sys.prefix) == []


@pytest.mark.skipif(shutil.which('make') is None, reason='make is not installed')
def test_make_clears_a_sourced_ros_and_says_so(sourced_ros):
    run = subprocess.run(['make', '--no-print-directory', '--dry-run', 'clean'], cwd=ROOT,
                         env=sourced_ros, text=True, capture_output=True, timeout=300)
    assert run.returncode == 0
    assert run.stderr.count('\n') == 1
    for name in ('PYTHONPATH', 'LD_LIBRARY_PATH', 'AMENT_PREFIX_PATH', 'CMAKE_PREFIX_PATH'):
        assert name in run.stderr


@pytest.fixture
def own_locks(tmp_path, monkeypatch):
    """Let this test claim domains that no other test or program sees."""
    monkeypatch.setattr(environment, '_held', {})
    monkeypatch.setattr(environment.tempfile, 'gettempdir', lambda: str(tmp_path))
    return tmp_path


def test_isolation_keeps_what_the_user_set(own_locks, monkeypatch):
    for name, value in (('ROS_DOMAIN_ID', '77'), ('ROS_AUTOMATIC_DISCOVERY_RANGE', 'SUBNET'),
                        ('FASTRTPS_DEFAULT_PROFILES_FILE', '/my.xml')):
        monkeypatch.setenv(name, value)
    monkeypatch.delenv('RMW_FASTRTPS_USE_QOS_FROM_XML', raising=False)
    isolated = environment.isolated_environment()
    assert isolated['ROS_DOMAIN_ID'] == '77'
    assert isolated['ROS_AUTOMATIC_DISCOVERY_RANGE'] == 'SUBNET'
    assert isolated['FASTRTPS_DEFAULT_PROFILES_FILE'] == '/my.xml'
    assert 'RMW_FASTRTPS_USE_QOS_FROM_XML' not in isolated     # another profile may not be for it


def test_isolation_fills_in_what_is_missing(own_locks, monkeypatch):
    for name in ('ROS_DOMAIN_ID', 'ROS_AUTOMATIC_DISCOVERY_RANGE', 'ROS_LOCALHOST_ONLY',
                 'FASTRTPS_DEFAULT_PROFILES_FILE', 'RMW_FASTRTPS_USE_QOS_FROM_XML'):
        monkeypatch.delenv(name, raising=False)
    isolated = environment.isolated_environment()
    assert int(isolated['ROS_DOMAIN_ID']) in environment.DOMAINS
    assert isolated['ROS_AUTOMATIC_DISCOVERY_RANGE'] == 'LOCALHOST'
    assert Path(isolated['FASTRTPS_DEFAULT_PROFILES_FILE']).is_file()
    assert isolated['RMW_FASTRTPS_USE_QOS_FROM_XML'] == '1'
    assert environment.isolated_environment() == isolated
    assert 'ROS_DOMAIN_ID' not in os.environ


def test_two_processes_get_two_domains(own_locks):
    mine = environment.claim_domain()
    script = (f'import tempfile; tempfile.tempdir = {str(own_locks)!r}\n'
              'from gripsim_ros.ros.environment import claim_domain; print(claim_domain())')
    run = subprocess.run([sys.executable, '-c', script], text=True, capture_output=True,
                         timeout=300, cwd=ROOT)
    assert int(run.stdout) in environment.DOMAINS
    assert int(run.stdout) != mine


def test_a_domain_whose_port_is_taken_is_not_claimed(own_locks):
    first = environment.claim_domain()
    environment._held.pop(first).close()
    port = environment.PORT_BASE + environment.PORT_STEP * first + environment.PORT_OFFSET
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(('', port))
        assert environment.claim_domain() != first


def test_running_out_of_domains_is_said(own_locks, monkeypatch):
    monkeypatch.setattr(environment, 'DOMAINS', range(1, 3))
    monkeypatch.setattr(environment, '_is_port_free', lambda port: False)
    with pytest.raises(RuntimeError, match='set ROS_DOMAIN_ID'):
        environment.claim_domain()


def test_a_running_suite_is_found_and_a_finished_one_is_not(own_locks):
    assert environment.find_suite_domain() is None
    domain = environment.claim_domain('suite')
    assert environment.find_suite_domain() == domain
    environment._held.pop(domain).close()
    assert environment.find_suite_domain() is None


def make_segment(directory, name):
    """Write the files of a Fast DDS segment as old ones; return the path of its lock."""
    for suffix, size in (('', 1000), ('_el', 0)):
        path = directory / f'{name}{suffix}'
        path.write_bytes(b'\0' * size)
        os.utime(path, (1, 1))
    return directory / f'{name}_el'


def test_segments_of_dead_processes_are_removed_and_others_kept(tmp_path):
    make_segment(tmp_path, 'fastrtps_0123456789abcdef')
    alive = make_segment(tmp_path, 'fastrtps_fedcba9876543210')
    make_segment(tmp_path, 'somebody_elses_file')
    with alive.open('r+') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert environment.clean_shared_memory(tmp_path) == 1000
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        'fastrtps_fedcba9876543210', 'fastrtps_fedcba9876543210_el', 'somebody_elses_file',
        'somebody_elses_file_el']


def test_segments_of_starting_processes_are_kept(tmp_path):
    lock = make_segment(tmp_path, 'fastrtps_0123456789abcdef')
    lock.touch()
    assert environment.clean_shared_memory(tmp_path) == 0


def test_a_segment_stays_locked_until_all_of_it_is_gone(tmp_path, monkeypatch):
    locks = [make_segment(tmp_path, 'fastrtps_port7410')]
    locks[0].rename(tmp_path / 'fastrtps_port7410_el')
    seen, remove = [], environment._remove

    def look(path):
        for lock in tmp_path.glob('*_el'):
            with lock.open('r+') as other:
                seen.append(environment._try_lock(other))
        return remove(path)
    monkeypatch.setattr(environment, '_remove', look)
    assert environment.clean_shared_memory(tmp_path) == 1000
    assert seen and not any(seen)
    assert not list(tmp_path.iterdir())


def test_missing_interfaces_end_the_process_with_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, 'rclpy', object())
    monkeypatch.setitem(sys.modules, 'gripsim_interfaces', None)
    with pytest.raises(SystemExit, match='gripsim_interfaces.*make setup.*colcon build') as ended:
        environment.require_interfaces()
    assert '\n' not in str(ended.value)


@pytest.mark.parametrize('told, factor', [(None, 1.0), ('', 1.0), ('6', 6.0), ('2.5', 2.5)])
def test_clients_wait_as_long_as_they_are_told(monkeypatch, told, factor):
    monkeypatch.delenv(environment.PATIENCE, raising=False)
    if told is not None:
        monkeypatch.setenv(environment.PATIENCE, told)
    assert environment.patience() == factor


@pytest.mark.parametrize('told', ['much', '0', '-1', 'nan', 'inf', '1e9'])
def test_a_patience_that_is_none_is_refused_in_one_line(monkeypatch, told):
    monkeypatch.setenv(environment.PATIENCE, told)
    with pytest.raises(ValueError, match='must be a number from 1 to 100, got'):
        environment.patience()
