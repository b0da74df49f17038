"""The short trial: callers, forged answers, nodes killed and stopped."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

from benchmarks.trials.run import NIGHTLY, QUICK, run, Trials  # noqa: E402
from benchmarks.trials.tally import LOST, REFUSED, table, Tally, WRONG  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
#: Trials that are skipped where what they need is no package of Python.
MAY_BE_SKIPPED = {'launch'}


@pytest.mark.nightly     # by day ros/test_faults and ros/test_nodes do these one by one
def test_nothing_is_wrong_or_lost_in_the_short_trial(tmp_path):
    out = tmp_path / 'trial.json'
    done = subprocess.run(
        [ROOT / 'tools' / 'trial.sh', '--out', out], capture_output=True, text=True,
        env={**os.environ, 'PYTHON': sys.executable})
    assert done.returncode == 0, done.stdout + done.stderr
    told = {record['name']: record for record in json.loads(out.read_text())}
    assert set(told) == set(QUICK)
    for name, record in told.items():
        assert record['tried'] or name in MAY_BE_SKIPPED and record['skipped'], name
        assert not record['faults'] and f'| {name} | {record["tried"]} |' in done.stdout
    assert told['callers']['tried'] == 30 and told['callers']['ends']['answered']
    assert told['forged']['ends'] == {'answered': told['forged']['tried']}


def test_what_is_wrong_or_lost_or_never_tried_fails_a_trial(tmp_path, monkeypatch):
    trials = Trials(tmp_path, 0, nightly=False)
    monkeypatch.setattr(Trials, 'forged', lambda self, tally: tally.check(False, 'a', 'b'))
    monkeypatch.setattr(Trials, 'callers', lambda self, tally: tally.add(LOST, 'a', 'b'))
    monkeypatch.setattr(Trials, 'stages', lambda self, tally: 1 / 0)
    monkeypatch.setattr(Trials, 'doctor', lambda self, tally: tally.add(REFUSED, 'a'))
    monkeypatch.setattr(Trials, 'launch', lambda self, tally: None)
    names = ['forged', 'callers', 'stages', 'doctor', 'launch']
    found = {tally.name: tally for tally in run(trials, names)}
    assert [found[name].failed for name in names] == [True, True, True, False, True]
    assert found['stages'].faults == ['stages: wrong: ZeroDivisionError: division by zero']
    assert found['forged'].ends == {WRONG: 1}


def test_a_trial_that_is_skipped_says_why_and_does_not_fail():
    tally = Tally('launch', skipped='there is no launch')
    assert not tally.failed and '| launch | 0 | 0 | 0 | 0 | 0 | 0 | there is no launch |' in (
        table([tally]))


def test_every_trial_is_there():
    assert all(callable(getattr(Trials, name)) for name in (*QUICK, *NIGHTLY))
