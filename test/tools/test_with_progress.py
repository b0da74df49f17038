"""A long command tells that it goes on, and what it said only if it fails."""

from pathlib import Path
import subprocess
import sys

TOOL = Path(__file__).parents[2] / 'tools' / 'with_progress.py'


def run(command, every=15.0):
    """Run the tool on a Python command, with another time between lines."""
    start = ('import runpy, sys; tool = runpy.run_path(sys.argv[1]); sys.argv[:] = sys.argv[1:]; '
             f'tool["main"].__globals__["EVERY"] = {every}; sys.exit(tool["main"]())')
    return subprocess.run(
        [sys.executable, '-c', start, str(TOOL), 'doing it', sys.executable, '-c', command],
        capture_output=True, text=True)


def test_a_command_that_succeeds_shows_that_it_goes_on_alone():
    done = run('import time; print("much"); time.sleep(0.7)', every=0.2)
    assert done.returncode == 0 and done.stderr == ''
    first, *others = done.stdout.splitlines()
    assert first == 'gripsim: doing it'
    assert others and all(line.startswith('gripsim: doing it: ') for line in others)


def test_a_command_that_fails_shows_its_last_lines_and_its_code():
    done = run('import sys; [print("line", i) for i in range(100)]; sys.exit(3)')
    assert done.returncode == 3
    assert done.stderr.splitlines() == [f'line {i}' for i in range(70, 100)]
