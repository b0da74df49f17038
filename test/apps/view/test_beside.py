"""Plans beside each other: each at its place, with its name, all at the same moment."""

import json

import numpy as np
import pytest

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

from cli_cases import assert_refused, gripsim  # noqa: E402
from plan_cases import apple, made_up_grasp  # noqa: E402
from suite_cases import wait_for  # noqa: E402
from trimesh import Trimesh  # noqa: E402

from gripsim_ros.apps.cli.output import plain  # noqa: E402
from gripsim_ros.apps.view.beside import NAMES, PlansBeside  # noqa: E402
from gripsim_ros.apps.view.marker_shapes import shapes_of  # noqa: E402
from gripsim_ros.apps.view.sources import PlanSource  # noqa: E402
from gripsim_ros.library.grasp_file import PlanAnswer  # noqa: E402
from gripsim_ros.library.resources import load_default_hand  # noqa: E402

TIMEOUT = 60.0


@pytest.fixture(scope='module')
def files(tmp_path_factory):
    """Return the files of two plans, of two grasps and of one."""
    folder, mesh = tmp_path_factory.mktemp('plans'), apple().mesh
    Trimesh(mesh.vertices, mesh.faces, process=False).export(folder / 'apple.ply')
    written = []
    for name, count in (('few', 2), ('one', 1)):
        answer = PlanAnswer(load_default_hand(), apple(), str(folder / 'apple.ply'), 1.0,
                            [made_up_grasp(k + 1) for k in range(count)], {}, {'repairs': []})
        written.append(folder / f'{name}.json')
        written[-1].write_text(json.dumps(plain(answer.to_mapping())))
    return written


@pytest.fixture
def beside(files):
    """Return both plans beside each other, and the arrays that they showed by topic."""
    source = PlansBeside([PlanSource(file) for file in files], ('few', 'one'), rank=2)
    source.shown = []
    source.open(lambda topic, array: source.shown.append((topic, array)))
    yield source
    source.close()


def span(array):
    """Return the least and the largest x of what is no text [m]."""
    x = np.concatenate([shape.vertices[:, 0] for shape in shapes_of(array)[0]])
    return x.min(), x.max()


def names(array):
    """Return the names above plans."""
    return [m.text for m in array.markers if m.ns == NAMES and m.text]


def test_plans_stand_side_by_side_and_say_who_they_are(beside):
    first, second = beside.arrays(beside.first, 1.0)
    assert span(first)[1] < span(second)[0]
    assert names(first)[0].startswith('few 2: ') and names(second)[0].startswith('one 1: ')
    low, high = beside.bounds[:, 0]
    assert low <= span(first)[0] and span(second)[1] <= high
    topics = {topic for topic, _ in beside.shown}
    assert {'1/closing/markers', '2/closing/markers'} <= topics


def test_a_grasp_is_chosen_for_its_plan_and_the_moment_for_all(beside):
    assert [line.partition(':')[0] for line in beside.grasps] == ['few 1', 'few 2', 'one 1']
    beside.shown.clear()
    beside.select(1, 0.0)

    def said():
        return {topic[0]: names(array)[0].partition(':')[0] for topic, array in beside.shown
                if names(array)}
    assert wait_for(lambda: said() == {'1': 'few 1', '2': 'one 1'}, TIMEOUT)
    request, grasp = beside.about(3)
    assert request['plan'] == 'one' and grasp.terms
    with pytest.raises(IndexError):
        beside.about(4)


def test_the_command_draws_them_and_refuses_what_goes_with_one(files, tmp_path):
    from PIL import Image
    code, out, said = gripsim('view', *files, '--picture', tmp_path / 'x.png')
    assert (code, out) == (0, ''), said
    picture = np.asarray(Image.open(tmp_path / 'x.png'), int)
    halves = [half.std() for half in np.split(picture, 2, axis=1)]
    assert picture.shape[1] > 1.5 * picture.shape[0] and min(halves) > 5.0
    assert_refused(gripsim('view', *files, '--whole'), 'go with one plan')
    assert_refused(gripsim('view', files[0], tmp_path / 'no.json'), 'no such file')
    (tmp_path / 'x.mcap').touch()
    assert_refused(gripsim('view', files[0], tmp_path / 'x.mcap'), 'only plans can be seen')
