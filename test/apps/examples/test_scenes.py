"""The examples: closed bodies, files that are understood, a plan and its report."""

import json
import re
import shlex
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import trimesh

import gripsim_ros
from gripsim_ros.apps.cli.main import main
from gripsim_ros.apps.examples import SCENES, bodies
from gripsim_ros.apps.examples.scenes import Scene
from gripsim_ros.core.bodies import TriangleMesh, load_material
from gripsim_ros.library.task_file import load_task

ROOT = Path(__file__).resolve().parents[3]
#: Between the two sides of a wall of paper [m].
WALL = 0.0005
#: Lines of code that an example of the gallery has, at most.
TEN = 10
#: Examples that have a grasp with two hypotheses; the others are planned for every night.
QUICK = (pytest.param('tomato', marks=pytest.mark.nightly), 'paper_cup')


@pytest.mark.parametrize('scene', SCENES.values(), ids=SCENES)
def test_an_examples_files_hold_a_closed_body_a_material_and_a_task(scene, tmp_path):
    words = scene.write(tmp_path)
    options = dict(zip(words[2::2], words[3::2]))
    assert words[0] == 'plan' and load_material(options['--material']).density > 0.0
    if '--task' in options:
        assert len(load_task(options['--task']).gravity_directions) == 1
    made = scene.make()
    if isinstance(made, TriangleMesh):
        solid = trimesh.Trimesh(made.vertices, made.faces, process=False)
        assert solid.is_watertight and solid.volume > 0.0
        assert trimesh.load(words[1]).faces.shape == made.faces.shape
    else:
        assert np.array_equal(np.load(words[1]), made) and len(made) > 1000


def test_the_cup_has_a_wall_and_no_top():
    made = bodies.paper_cup()
    cup = trimesh.Trimesh(made.vertices, made.faces, process=False)
    assert 0.5 * WALL < cup.volume / (0.5 * cup.area) < 1.1 * WALL


def test_a_camera_sees_the_side_that_faces_it_and_nothing_behind_something():
    ball, hidden = bodies.blended([([0, 0, 0], [0, 0, 0], 0.03)]), 0.1
    seen = bodies.seen_points(ball, (1.0, 0.0, 0.0))
    assert seen[:, 0].min() > 0.03**2 / 1.0 - 0.002     # the horizon of a ball of 30 mm
    behind = TriangleMesh(np.concatenate([ball.vertices, ball.vertices - [hidden, 0, 0]]),
                          np.concatenate([ball.faces, ball.faces + len(ball.vertices)]))
    both = bodies.seen_points(behind, (1.0, 0.0, 0.0))
    far = both[both[:, 0] < -0.5 * hidden]
    assert len(both) >= len(seen) and len(far) < 0.2 * len(seen)


def test_an_example_is_planned_for_and_says_what_to_look_at(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(SCENES, 'tomato', replace(SCENES['tomato'], hypotheses=2))
    monkeypatch.setattr(Scene, 'write', lambda *of, write=Scene.write: [
        *write(*of), '--elasticity', 'half_space'])
    # By day the README's commands write a report.
    monkeypatch.setattr('gripsim_ros.apps.report.write_report', lambda _, path: path.touch())
    assert main(['examples', 'tomato', '--out', str(tmp_path / 'new')]) == 0
    told = capsys.readouterr().err
    command = next(line for line in told.splitlines() if line.startswith('gripsim plan'))
    assert shlex.split(command)[1] == 'plan' and 'The table is an obstacle' in told
    content = json.loads((tmp_path / 'new' / 'tomato.json').read_text())
    assert content['statistics']['evaluated'] <= 2 and (tmp_path / 'new' / 'tomato.html').exists()


def test_examples_are_listed_and_unknown_ones_refused(capsys):
    assert main(['examples']) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in SCENES)
    assert main(['examples', 'piano']) == 2
    assert 'tomato' in capsys.readouterr().err


def sections():
    """Return title and text of each section of the gallery."""
    page = (ROOT / 'docs' / 'gallery.md').read_text(encoding='utf-8')
    return dict(part.split('\n', 1) for part in page.split('\n## ')[1:])


def ten_lines(scene):
    """Return the code of a section."""
    (code,) = re.findall(r'^```python\n(.*?)^```$', sections()[scene.title],
                         re.MULTILINE | re.DOTALL)
    return code


def run_ten_lines(scene, folder, monkeypatch, capsys):
    """Run the code of a section where `gripsim examples` has left its files; return its words."""
    monkeypatch.chdir(folder)
    Path('home').mkdir()
    scene.write(Path('home'))
    capsys.readouterr()
    exec(compile(ten_lines(scene), 'gallery.md', 'exec'), {})
    return capsys.readouterr().out


def test_the_gallery_shows_every_example_with_its_picture_and_ten_lines():
    assert set(sections()) == {scene.title for scene in SCENES.values()}
    for name, scene in SCENES.items():
        assert f'](images/example_{name}.png)' in sections()[scene.title]
        assert sum(bool(line.strip()) for line in ten_lines(scene).splitlines()) <= TEN, name


@pytest.mark.parametrize('name', QUICK)
def test_the_ten_lines_of_an_example_run(name, tmp_path, monkeypatch, capsys):
    def plan(body, task, hypotheses):
        assert hypotheses == SCENES[name].hypotheses
        return planned(body, task, hypotheses=2, elasticity='half_space')
    planned = gripsim_ros.plan_grasps
    monkeypatch.setattr(gripsim_ros, 'plan_grasps', plan)
    assert 'Grasp 1: stable' in run_ten_lines(SCENES[name], tmp_path, monkeypatch, capsys)


@pytest.mark.nightly
def test_the_gallery_tells_what_its_examples_answer(tmp_path, monkeypatch, capsys):
    told = {}
    monkeypatch.setattr(gripsim_ros, 'plan_grasps', partial(gripsim_ros.plan_grasps, workers=0))
    for name, scene in SCENES.items():
        (tmp_path / name).mkdir()
        told[name] = run_ten_lines(scene, tmp_path / name, monkeypatch, capsys)

    def numbers(name, pattern):
        return [float(found) for found in re.findall(pattern, told[name])]
    assert min(numbers('tomato', r'bruised at ([\d.]+)')) > 1.0
    assert 'compliance: quantitative' not in told['paper_cup']
    assert told['paper_cup'].count(': not quantitative') == 10
    crumb, wood = (max(map(float, areas.split(', '))) for areas in
                   re.findall(r'on ([\d, ]+) mm2', told['bread_roll']))
    assert 4.0 * wood < crumb < 60.0
    dry, oily = numbers('full_bottle', r'([\d.]+) N, own')
    assert 12.0 < dry < 14.0 and 19.0 < oily < 22.0
    handle, anywhere = numbers('power_drill', r'score ([\d.]+)')
    assert anywhere > handle + 0.1 and 'outside the regions allowed' in told['power_drill']
    assert len(numbers('soft_toy', r"'(\d+) mm'")) > 10 and "'0 mm'" in told['soft_toy']


def test_an_example_is_planned_with_a_hand_of_ones_own(tmp_path, monkeypatch, capsys):
    import box_hands
    from gripsim_ros.apps.cli import examples
    urdf, own = box_hands.write_urdf(tmp_path, box_hands.sliding_gripper(1)), tmp_path / 'own.yaml'
    assert main(['hand', 'new', str(urdf), '--out', str(own)]) == 0
    asked = []

    def plan(mesh: str, hand: str = ''):
        asked.append(hand)
    monkeypatch.setattr(examples, 'plan', plan)
    monkeypatch.setattr(type(SCENES['tomato']), 'write', lambda *_: ['plan', 'mesh.stl'])
    assert main(['examples', 'tomato', '--out', str(tmp_path), '--hand', str(own)]) == 0
    assert asked == [str(own)] and f'--hand {own}' in capsys.readouterr().err
    assert main(['examples', 'stairs', '--out', str(tmp_path), '--hand', str(own)]) == 2
    assert 'without a hand' in capsys.readouterr().err
    assert main(['examples', 'tomato', '--out', str(tmp_path), '--hand', 'none.yaml']) == 2
