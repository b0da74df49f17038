"""DexGraspBench's protocol: a cube of a clone made up, held, let go of, and refused."""

import json

import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.spatial.transform import Rotation
import trimesh

pytest.importorskip('mujoco', reason='the simulator comes with `make bench-setup`')

from benchmarks.dexgraspbench.protocol import (  # noqa: E402
    at_the_grasp, MAX_OVERLAP, REACH, run, Trial)
from benchmarks.dexgraspbench.run import compare, METRICS, with_its_own  # noqa: E402
from benchmarks.dexgraspbench.scenes import (  # noqa: E402
    GRASPS, MASS, OBJECTS, read_shadow, Scene, scenes, SHADOW_PALM, written)
from benchmarks.hold.blind import FINGERS  # noqa: E402
from gripsim_ros.core.transforms import transform  # noqa: E402
from gripsim_ros.library.resources import load_default_hand, share_directory  # noqa: E402

SIDE, SCALE, PALM_DISTANCE = 0.6, 0.08, 0.17
RTOL_ROUNDOFF, ATOL_ROUNDOFF = 1e-9, 1e-12
#: What single precision of files and of MuJoCo's meshes leaves [-].
RTOL_SINGLE = 1e-5
#: Squeeze that holds 100 g at a stiffness of 5 N m/rad [rad]; steps of closing.
SQUEEZE, STEPS = 0.1, 400


@pytest.fixture(scope='module')
def clone(tmp_path_factory):
    clone = tmp_path_factory.mktemp('clone')
    folder = clone / OBJECTS / 'core_cube_0123'
    cube = trimesh.creation.box((SIDE,) * 3)
    for place in ('mesh/simplified.obj', 'urdf/meshes/convex_piece_000.obj'):
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        cube.export(folder / place)
    (folder / 'info').mkdir()
    (folder / 'info' / 'simplified.json').write_text(json.dumps(
        {'mass': 2.0 * SIDE**3, 'density': 2.0, 'scale': 1.0}))
    return clone


@pytest.fixture(scope='module')
def scene(clone):
    return next(scene for scene in scenes(clone) if scene.scale == SCALE)


@pytest.fixture(scope='module')
def trial(scene):
    T_object_palm = transform(np.eye(3), np.array([0.0, 0.0, -PALM_DISTANCE]))
    return Trial(scene, T_object_palm, load_default_hand(), share_directory() / 'urdf' / 'meshes')


@pytest.fixture(scope='module')
def ways(trial):
    """Return joints of the open hand, with all fingers in touch, and the way they close."""
    preshape = next(p for p in load_default_hand().preshapes if p.name == 'cylindrical')
    way, at = preshape.closed - preshape.open, preshape.open.copy()
    for name, own in FINGERS.items():
        for share in np.arange(STEPS) / STEPS:
            at[list(own)] = (preshape.open + share * way)[list(own)]
            if min((distance for link, distance in trial.distances(at).items()
                    if link.startswith(name)), default=REACH) <= 0.0:
                break
    return preshape.open, at, way


def test_objects_of_a_clone_have_the_mass_and_size_of_the_protocol(clone, scene, trial):
    assert [s.scale for s in scenes(clone)] == [0.06, 0.08, 0.1, 0.12]
    assert scene.name == 'core_cube' and str(scene.place) == 'core_cube_0123/scale008_pose000'
    assert_allclose(np.ptp(scene.body.mesh.vertices, axis=0), SIDE * SCALE, rtol=RTOL_SINGLE)
    assert_allclose(scene.body.mass_properties.mass, MASS, rtol=RTOL_SINGLE)
    assert_allclose(trial.model.body('object').mass, MASS, rtol=RTOL_SINGLE)


def test_a_hand_that_presses_holds_and_one_that_only_touches_does_not(trial, ways):
    before, at, way = ways
    held = run(trial, before, at, at + SQUEEZE * np.sign(way))
    assert held.held and 0.0 < held.shift < 0.05
    assert held.overlap < 0.001 and held.links >= 3
    assert 0.0 <= held.distance <= held.spread < REACH
    assert not run(trial, before, at, at).held


def test_a_hand_that_begins_inside_the_object_is_refused(trial, ways):
    before, at, way = ways
    inside = at + 0.3 * way
    assert min(trial.distances(inside).values()) < -MAX_OVERLAP
    refused = run(trial, inside, at, at + SQUEEZE * np.sign(way))
    assert not refused.held and np.isinf(refused.shift)


def test_contacts_are_told_of_the_nearest_link_of_each_finger():
    overlap, links, distance, spread = at_the_grasp({
        'sdh_finger_13_link': 0.001, 'sdh_finger_12_link': 0.004, 'sdh_thumb_3_link': -0.0015,
        'sdh_thumb_1_link': 0.0})
    assert overlap == 0.0015
    assert links == 2       # the knuckle's link bears no pad
    assert_allclose([distance, spread], [(0.001 + REACH) / 3.0, REACH + 0.0015],
                    rtol=RTOL_ROUNDOFF)


def test_a_grasp_is_written_as_its_evaluation_reads_it(clone, scene):
    turn = Rotation.from_euler('xyz', [0.3, -0.5, 0.7])
    palm = transform(turn.as_matrix(), np.array([0.01, 0.02, 0.03]))
    entry = written(scene, clone, [np.full(8, k) for k in (1.0, 2.0, 3.0)], palm)
    x, y, z, w = turn.as_quat()
    assert_allclose(entry['squeeze_qpos'], [0.01, 0.02, 0.03, w, x, y, z, *[3.0] * 8],
                    rtol=RTOL_ROUNDOFF)
    assert (clone / entry['obj_path']).is_dir() and entry['obj_scale'] == SCALE


def test_a_published_palm_is_that_of_the_hand_beside_the_object():
    turn = Rotation.from_euler('xyz', [0.3, -0.5, 0.7])
    x, y, z, w = turn.as_quat()
    quarter = np.sqrt(0.5)
    entry = {'grasp_qpos': np.array([0.1, 0.2, 0.3, w, x, y, z, *range(22)]),
             'obj_pose': np.array([0.1, 0.0, 0.0, quarter, 0.0, 0.0, quarter])}
    palm, joints = read_shadow(entry)
    back = Rotation.from_euler('z', -90.0, degrees=True)
    assert_allclose(palm[:3, 3], back.apply(np.array([0.0, 0.2, 0.3])
                                            + turn.apply(SHADOW_PALM)), atol=ATOL_ROUNDOFF)
    assert_allclose(palm[:3, :3], (back * turn).as_matrix(), atol=ATOL_ROUNDOFF)
    assert_allclose(joints, range(22))


def test_predictors_are_compared_where_its_own_evaluation_has_a_verdict(tmp_path):
    records = []
    for k, held in enumerate((True, False)):
        file = tmp_path / GRASPS / 'evaluation' / f'{k}.npy'
        file.parent.mkdir(parents=True, exist_ok=True)
        np.save(file, {'succ_flag': held, **dict.fromkeys(METRICS, float(k))})
        records.append({'file': f'{k}.npy', 'margin': 2.0 - k, 'touch_margin': 1.0,
                        'stable': held, 'reason': ''})
    records.append({'file': '7.npy', 'margin': 0.0, 'touch_margin': 0.0, 'stable': True,
                    'reason': ''})
    found = with_its_own(records, tmp_path)
    assert len(found) == 2
    for told in ('q1 1.000', ' margin 1.000', 'touch_margin 0.500'):
        assert told in compare(found)
    assert 'called stable 1, of them held 1' in compare(found)


def test_a_scene_is_named_without_its_hash():
    assert Scene(OBJECTS / 'sem_Piano_438f', 0.06).name == 'sem_Piano'
