"""The sources keep the house's style."""

from pathlib import Path
import subprocess
import sys

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_flake8_finds_nothing():
    pytest.importorskip('flake8')
    run = subprocess.run([sys.executable, '-m', 'flake8'], cwd=ROOT, capture_output=True,
                         text=True, timeout=300)
    assert run.returncode == 0, run.stdout
