"""Commands, options and names that the docs tell exist; code that can run there runs."""

import importlib
import os
import re
import shlex
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

from benchmarks.__main__ import BENCHMARKS
import numpy as np
import pytest
import typer

from convex_cases import step_mesh
from gripsim_ros.core.bodies import shapes

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([ROOT / 'README.md', *(page for page in (ROOT / 'docs').rglob('*.md')
                                      if 'generated' not in page.parts)])
#: A command stands in an indented or fenced block; its options may go on in further lines.
COMMAND = re.compile(r'^(?: {4}|\$ )?(gripsim [^\n]*(?:\n {8,}[^\n]*)*)', re.MULTILINE)
SHELL = re.compile(r'^ {4}((?:gripsim|python|sed) (?:-c "[^"]*"|[^\n]*))', re.MULTILINE)
TABLE_ROW = re.compile(r'^\| [^|]+ \| `([\w.]+)` \| `([\w/]+)/(\w+)`: `(\w+)` \|$', re.MULTILINE)
LAW_ROW = re.compile(r'^\| [^|]+ \| `([\w/]+)/(\w+)`: `(\w+)` \|$', re.MULTILINE)
LEAST_COMMANDS, LEAST_EQUATIONS, MILLIMETRES = 30, 50, 1000.0
#: Hypotheses with which the quick start's example is quick.
FEW = 4


def name(page):
    return str(page.relative_to(ROOT))


def text(page):
    return page.read_text(encoding='utf-8')


@lru_cache(maxsize=1)
def verbs():
    """Return the options of each verb of the command line."""
    from gripsim_ros.apps.cli.main import app
    found = {}

    def collect(command, words):
        for word, below in getattr(command, 'commands', {}).items():
            collect(below, (*words, word))
        if not hasattr(command, 'commands'):
            found[' '.join(words)] = {'--help', '--debug'} | {
                option for parameter in command.params
                for option in (*parameter.opts, *parameter.secondary_opts)}
    collect(typer.main.get_command(app), ())
    return found


def commands(page):
    """Return verb, options and the line of every command ``gripsim`` of a page's blocks."""
    found = []
    for line in COMMAND.findall(text(page)):
        own = line.partition(' #')[0].partition(' -- ')[0].partition('|  ')[0]
        words = own.split()[1:]
        verb = next((' '.join(words[:n]) for n in (2, 1) if ' '.join(words[:n]) in verbs()), None)
        found.append((verb, set(re.findall(r'(?<![\w-])--[a-z][a-z-]*', own)), line))
    return found


def test_commands_in_the_docs_have_the_options_that_they_are_given():
    count = 0
    for page in PAGES:
        for verb, options, line in commands(page):
            assert verb or options <= {'--help', '--version'}, f'{name(page)}: {line}'
            if verb:
                assert not options - verbs()[verb], f'{name(page)}: {line}'
                count += 1
    assert count > LEAST_COMMANDS


def test_arguments_of_the_launch_file_in_the_docs_are_its_own():
    launch = (ROOT / 'launch' / 'gripsim.launch.py').read_text()
    own = set(re.findall(r"DeclareLaunchArgument\(\s*'(\w+)'", launch))
    assert {'object', 'hardware'} <= own
    for page in PAGES:
        for line in re.findall(r'ros2 launch gripsim_ros gripsim.launch.py[^\n`]*', text(page)):
            for argument in re.findall(r'([a-z]\w*):=', line):
                assert argument in own, f'{name(page)}: {line}'


def test_targets_of_make_and_benchmarks_in_the_docs_exist():
    targets = set(re.findall(r'^([\w-]+):', (ROOT / 'Makefile').read_text(), re.MULTILINE))
    for page in PAGES:
        for target in re.findall(r'(?:^ {4}|`)make ([a-z][\w-]*)', text(page), re.MULTILINE):
            assert target in targets, f'{name(page)}: make {target}'
        for module in re.findall(r'python -m\s+benchmarks (\w+)', text(page)):
            assert module in BENCHMARKS, f'{name(page)}: benchmarks {module}'


def test_every_equation_of_the_model_has_its_function_and_its_test():
    page = text(ROOT / 'docs' / 'model' / 'README.md')
    rows = TABLE_ROW.findall(page)
    assert len(rows) > LEAST_EQUATIONS
    for path, folder, file, test in [*rows, *((None, *row) for row in LAW_ROW.findall(page))]:
        if path:
            module, _, function = path.rpartition('.')
            assert hasattr(importlib.import_module(f'gripsim_ros.core.{module}'), function), path
        source = (ROOT / 'test' / folder / f'test_{file}.py').read_text(encoding='utf-8')
        assert re.search(rf'^ *def {test}\(', source, re.MULTILINE), f'{file}: {test}'
    linked = set(re.findall(r'\]\((\w+\.md)\)', page))
    assert linked == {p.name for p in (ROOT / 'docs' / 'model').glob('*.md')} - {'README.md'}


#: What cannot be run for its text: places to fill, servers, other machines.
NOT_RUN = re.compile(r'[A-Z]{2}|…|tcp://|benchmarks|'
                     r'gripsim (view (?!\S+ .*--picture)|suite|record|replay|doctor)')


def write_apple(path, scale):
    import trimesh
    apple = shapes.apple()
    trimesh.Trimesh(scale * apple.vertices, apple.faces, process=False).export(path)


@pytest.mark.slow
@pytest.mark.nightly     # by day its options exist, its example and the README's commands run
def test_the_command_of_the_quick_start_runs(tmp_path, monkeypatch):
    from gripsim_ros.apps.cli.main import main
    (command,) = (command for command in SHELL.findall(text(ROOT / 'docs' / 'quick_start.md'))
                  if not NOT_RUN.search(command))
    write_apple(tmp_path / 'mug.stl', MILLIMETRES)
    monkeypatch.chdir(tmp_path)
    program, *arguments = shlex.split(command)
    # By day the README's commands prepare an object.
    assert program == 'gripsim' and main(
        [*arguments, '--hypotheses', str(FEW), '--elasticity', 'half_space']) == 0
    assert (tmp_path / 'mug.html').is_file()


@pytest.mark.slow
@pytest.mark.nightly     # by day the commands of quick start and README run
@pytest.mark.parametrize('page, count', [
    ('quick_start.md', 1), ('model/planar_closing.md', 2), ('tutorial.md', 6), ('sweep.md', 4)])
def test_commands_of_a_page_run_in_their_order(tmp_path, page, count):
    for file, scale in (('mug.stl', MILLIMETRES), ('meshes/apple.ply', 1.0)):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        write_apple(tmp_path / file, scale)
    (tmp_path / 'docs' / 'images').mkdir(parents=True)
    (tmp_path / 'examples').symlink_to(ROOT / 'examples')
    script = '\n'.join(
        re.sub(r'^(gripsim (?:plan|sweep)) ', rf'\1 --hypotheses {FEW} ',
               command.replace('\n    ', '\n'))
        for command in SHELL.findall(text(ROOT / 'docs' / page)) if not NOT_RUN.search(command))
    assert len(re.findall('^(?:gripsim|python) ', script, re.MULTILINE)) == count, script
    ended = subprocess.run(
        ['bash', '-e', '-c', script], cwd=tmp_path, text=True, capture_output=True,
        env={**os.environ, 'PATH': f'{Path(sys.executable).parent}:{os.environ["PATH"]}'})
    assert ended.returncode == 0, (script, ended.stderr)


@pytest.mark.slow
def test_the_example_of_the_quick_start_runs(tmp_path, monkeypatch, capsys):
    (code,) = re.findall(r'^```python\n(.*?)^```$', text(ROOT / 'docs' / 'quick_start.md'),
                         re.MULTILINE | re.DOTALL)
    write_apple(tmp_path / 'mug.stl', MILLIMETRES)
    monkeypatch.chdir(tmp_path)
    code = code.replace('hypotheses=40', f'hypotheses={FEW}')
    exec(compile(code, 'quick_start.md', 'exec'), {})
    assert capsys.readouterr().out.startswith('1 0.')


#: A row of the papers' table: what a paper has, function, command, test or reason.
PAPER_ROW = re.compile(r'^\| (?!what it has|--)([^|]+) \| (`[\w.]+`|–) \| (`[^`]+`|–) '
                       r'\| ([^|]+) \|$', re.MULTILINE)
PAPER_TEST = re.compile(r'`([\w/]+)/(\w+)`: `(\w+)`')
LEAST_PAPER_ROWS, PAPERS = 50, 5


def paper_rows():
    """Return (what, function, command, end) of each row of the papers' tables."""
    return [tuple(cell.strip('`') for cell in row[:3]) + (row[3],)
            for row in PAPER_ROW.findall(text(ROOT / 'docs' / 'model' / 'papers.md'))]


def test_what_the_papers_have_is_found_or_its_reason_told():
    page = text(ROOT / 'docs' / 'model' / 'papers.md')
    rows = paper_rows()
    assert len(rows) > LEAST_PAPER_ROWS and page.count('\n## ') == PAPERS
    assert len(rows) == sum(line.startswith('| ') for line in page.splitlines()) - PAPERS
    for what, function, command, end in rows:
        if function == '–':
            assert command == '–' and len(end.split()) > 5, f'{what}: needs a reason'
            continue
        module, _, name_ = function.rpartition('.')
        assert hasattr(importlib.import_module(f'gripsim_ros.{module}'), name_), function
        (folder, file, test), = PAPER_TEST.findall(end)
        source = (ROOT / 'test' / folder / f'test_{file}.py').read_text(encoding='utf-8')
        assert re.search(rf'^ *def {test}\(', source, re.MULTILINE), f'{file}: {test}'
        words = command.split()
        if words[0] == 'gripsim':
            assert not {word for word in words if word.startswith('--')} - verbs()[words[1]], what


#: Commands of the papers' table that take more than their part guards: verb or option.
LONG = re.compile(r'gripsim (plan|examples)|contact .*--picture')


@pytest.mark.nightly     # by day their options are looked up, and each verb has tests
@pytest.mark.parametrize('long', [False, True])
def test_commands_of_the_papers_table_run(tmp_path, monkeypatch, capsys, long):
    import trimesh
    from gripsim_ros.apps.cli.main import main
    monkeypatch.chdir(tmp_path)
    for file, away in (('a.ply', 0.0), ('b.ply', 0.054)):
        ball = shapes.sphere(0.03, 0.01)
        trimesh.Trimesh(ball.vertices + [0.0, 0.0, away], ball.faces, process=False).export(file)
    turns = np.linspace(0.0, 2.0 * np.pi, 40, endpoint=False)
    np.savetxt('ring.csv', 0.03 * np.stack([np.cos(turns), np.sin(turns)], axis=1), delimiter=',')
    for file, height in (('first.csv', 0.0), ('second.csv', 0.1)):
        np.savetxt(file, [[0, 0, height], [1, 0, height], [0, 1, height]], delimiter=',')
    np.savetxt('third.csv', [[.2, .2, -.1], [.2, .2, .1], [.3, .2, .1]], delimiter=',')
    step = step_mesh()
    trimesh.Trimesh(step.vertices, step.faces, process=False).export('step.ply')
    (tmp_path / 'task.yaml').write_text('displacement: {position: [0.0, 0.0, 0.004]}\n')
    for file, target in (('arm.yaml', 'ur5e.yaml'), ('ur5e.urdf', 'ur5e.urdf')):
        (tmp_path / file).symlink_to(ROOT / 'test' / 'data' / target)
    (tmp_path / 'pose.yaml').write_text('position: [0.5, 0.1, 0.3]\n')
    (tmp_path / 'others.yaml').write_text(
        '- {arm: arm.yaml, pose: {position: [1.0, 0.9, 0.0], orientation: [0, 0, 1, 0]},\n'
        '   joints: [[0.0, -1.6, 1.6, -1.6, -1.6, 0.0]]}\n')
    chosen = [command for command in dict.fromkeys(row[2] for row in paper_rows())
              if command.startswith('gripsim ') and bool(LONG.search(command)) == long]
    assert len(chosen) > 2
    for command in chosen:
        assert main(command.split()[1:]) == 0, command
    capsys.readouterr()
