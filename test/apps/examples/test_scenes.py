"""The examples: closed bodies, files that are understood, a plan and its report."""

import json
import shlex
from dataclasses import replace

import numpy as np
import pytest
import trimesh

from gripsim_ros.apps.cli.main import main
from gripsim_ros.apps.examples import SCENES, bodies
from gripsim_ros.core.bodies import TriangleMesh, load_material
from gripsim_ros.library.task_file import load_task

#: Between the two sides of a wall of paper [m].
WALL = 0.0005


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
    monkeypatch.setitem(SCENES, 'tomato', replace(SCENES['tomato'], hypotheses=6))
    assert main(['examples', 'tomato', '--out', str(tmp_path / 'new')]) == 0
    told = capsys.readouterr().err
    command = next(line for line in told.splitlines() if line.startswith('gripsim plan'))
    assert shlex.split(command)[1] == 'plan' and 'The table is an obstacle' in told
    content = json.loads((tmp_path / 'new' / 'tomato.json').read_text())
    assert content['statistics']['evaluated'] <= 6 and (tmp_path / 'new' / 'tomato.html').exists()


def test_examples_are_listed_and_unknown_ones_refused(capsys):
    assert main(['examples']) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in SCENES)
    assert main(['examples', 'piano']) == 2
    assert 'tomato' in capsys.readouterr().err
