"""``gripsim sweep`` as a command: what it prints, what it refuses, Ctrl-C."""

import io
import os
import signal
import sys

from cli_cases import assert_refused, gripsim, strict
import pytest
from sweep_cases import BAD, HYPOTHESES, begin, database, FakeEngine, write_bad, write_ball

from gripsim_ros.apps.cli.sweep import SweepProgress
from gripsim_ros.apps.sweep.runner import SweepState

MATERIAL = 'youngs_modulus: 1.0e6\npoisson_ratio: 0.45\ndensity: 800\nfriction: 0.6\nname: soft\n'


class Terminal(io.StringIO):
    """Stands for a terminal."""

    def isatty(self):
        """Say so."""
        return True


def again(tmp_path, *options):
    """Sweep once more over what is settled; no worker is started."""
    (tmp_path / 'soft.yaml').write_text(MATERIAL)
    return gripsim('sweep', tmp_path / 'meshes', '--database', tmp_path / 'g.db', '--material',
                   tmp_path / 'soft.yaml', '--hypotheses', HYPOTHESES, *options)


def test_what_is_settled_is_told_and_not_planned_again(tmp_path):
    for name in ('a.ply', 'sub/b.ply'):
        write_ball(tmp_path / 'meshes' / name, 0.033)
    write_bad(tmp_path / 'meshes')
    begin(database(tmp_path / 'g.db'), tmp_path / 'meshes').run(FakeEngine(
        lambda jobs: (0, 'bad' if jobs[0][1].label == BAD else 'done')))
    code, out, err = again(tmp_path, '--json')
    answer = strict(out)
    assert (code, err) == (0, '')
    assert [answer[name] for name in ('jobs', 'done', 'failed', 'planned', 'grasps')] == [
        3, 2, 1, 0, 0]
    assert answer['failures'] == [{'object': BAD, 'material': 'soft', 'scale': 1.0,
                                   'reason': f'{BAD} is bad'}]
    code, out, _ = again(tmp_path)
    assert code == 0 and f'{BAD} is bad' in out and '{' not in out


def test_bad_input_is_refused_before_any_work(tmp_path):
    database = ('--database', tmp_path / 'g.db')
    assert_refused(gripsim('sweep', tmp_path / 'none', *database), 'there is no such folder')
    assert_refused(gripsim('sweep', tmp_path, *database), 'holds no mesh')
    (tmp_path / 'a.stl').write_text('x')
    for options, said in (
            (('--scale', '0'), '--scale must be a finite number above 0'),
            (('--workers', '-1'), '--workers must be from 0'), (('--seed', '-1'), '--seed'),
            (('--time', 'nan'), '--time'), (('--count', '0'), '--count'),
            (('--hypotheses', '0'), '--hypotheses'), (('--material', 'cheese'), 'cheese'),
            (('--task', tmp_path / 'none.yaml'), 'no such file'),
            (('--database', tmp_path), 'cannot be written there'),
            (('--database', tmp_path / 'a.stl'), 'file is not a database')):
        assert_refused(gripsim('sweep', tmp_path, *database, *options), said)
    assert (tmp_path / 'a.stl').read_text() == 'x'      # no database was made of it


@pytest.mark.parametrize('terminal', [True, False])
def test_progress_is_shown_and_an_interrupt_stops(monkeypatch, terminal):
    screen = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr(sys, 'stderr', screen)
    monkeypatch.setattr('gripsim_ros.apps.cli.sweep.PLAIN_INTERVAL', 0.0)
    before = signal.getsignal(signal.SIGINT)
    with SweepProgress() as progress:
        assert progress(SweepState(total=4, done=1, planned=1, grasps=7, seconds=30.0))
        os.kill(os.getpid(), signal.SIGINT)
        assert not progress(SweepState(total=4, done=2, failed=1, planned=2, seconds=60.0))
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before
    text = screen.getvalue()
    assert '7 grasps, 2.0 objects a minute' in text and '1 failed' in text
    assert ('1/4' in text) == terminal and ('1 of 4 objects' in text) != terminal
    assert 'run again to go on' in text
