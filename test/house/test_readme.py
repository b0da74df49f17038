"""The README's library example and its commands run as they stand there."""

import re
import shlex
from pathlib import Path

import pytest
import trimesh
import typer

from gripsim_ros.apps.cli.main import app, main
from gripsim_ros.core.bodies import shapes
from gripsim_ros.library.task_file import KEYS, task_from_mapping

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / 'README.md').read_text(encoding='utf-8')
MANUAL = (ROOT / 'docs' / 'cli.md').read_text(encoding='utf-8')
MOST_LINES = 80


def blocks(text, language):
    """Return the fenced blocks of a language."""
    return re.findall(rf'^```{language}\n(.*?)^```$', text, re.MULTILINE | re.DOTALL)


@pytest.fixture
def demo(tmp_path, monkeypatch):
    """Work where `make demo` has left its apple."""
    monkeypatch.chdir(tmp_path)
    Path('demo').mkdir()
    apple = shapes.apple()
    trimesh.Trimesh(apple.vertices, apple.faces, process=False).export('demo/apple.ply')


def test_the_library_example_runs_and_prints_grasps(demo, capsys):
    (example,) = blocks(README, 'python')
    exec(compile(example, 'README.md', 'exec'), {})
    assert re.match(r'Grasp 1: stable, score 0\.\d\d, \d contacts, \d+\.\d N, own compliance\n',
                    capsys.readouterr().out)
    assert len(example.strip().splitlines()) <= 10


@pytest.mark.slow
def test_the_commands_run_in_their_order(demo, capsys):
    (commands,) = blocks(README, 'sh')
    for command in commands.splitlines():
        program, *arguments = shlex.split(command)
        assert program == 'gripsim' and main(arguments) == 0, capsys.readouterr().err
    assert Path('demo/ripe.html').is_file()


def test_files_that_the_readme_names_are_there():
    named = re.findall(r'\]\((?!http)([^)#]+)\)', README)
    assert named and not [name for name in named if not (ROOT / name).is_file()]


def test_the_readme_fits_a_screen_or_two():
    assert len(README.splitlines()) < MOST_LINES


def test_the_manual_shows_every_key_of_a_task():
    import yaml
    (example,) = blocks(MANUAL, 'yaml')
    content = yaml.safe_load(example)
    assert set(content) == set(KEYS)
    assert len(task_from_mapping(content).obstacles) == 1


def test_the_manual_names_every_option_of_every_verb():
    # Of a pair such as --open and --no-open, the manual may name the one that changes something.
    checked = set()

    def check(command, words):
        for word, below in getattr(command, 'commands', {}).items():
            check(below, (*words, word))
        if not hasattr(command, 'commands'):
            checked.add(' '.join(words))
            for parameter in command.params:
                names = [*parameter.opts, *parameter.secondary_opts]
                assert not names[0].startswith('-') or any(
                    re.search(rf'(?<![\w-]){name}(?![\w-])', MANUAL) for name in names), \
                    (words, names)

    check(typer.main.get_command(app), ())
    assert {'plan', 'view', 'emulate-sdh', 'suite up'} <= checked
