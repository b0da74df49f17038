"""``gripsim preshape`` and ``plan --completion``: answers, pictures, refusals."""

from cli_cases import assert_refused, box_arrays, gripsim, strict, write_obj
import numpy as np
from PIL import Image
import pytest
from scan_cases import half_sphere

CIRCLE = 0.03 * np.column_stack([f(2 * np.pi * np.arange(200) / 200) for f in (np.cos, np.sin)])


@pytest.fixture
def files(tmp_path):
    """Return a folder with a circle, half a circle, a box, and scans of half a ball."""
    np.savetxt(tmp_path / 'circle.csv', CIRCLE, delimiter=',', header='x,y', comments='')
    np.save(tmp_path / 'half.npy', CIRCLE[:101])
    np.save(tmp_path / 'ball.npy', half_sphere(800))
    np.save(tmp_path / 'line.npy', np.outer(np.arange(50.0), (0.001, 0.002)))
    np.save(tmp_path / 'few.npy', CIRCLE[:2])
    write_obj(tmp_path / 'box.obj', *box_arrays())
    lines = '\n'.join(' '.join(map(str, row)) for row in half_sphere(200))
    (tmp_path / 'scan.ply').write_text(
        f'ply\nformat ascii 1.0\nelement vertex {len(lines.splitlines())}\nproperty float x\n'
        f'property float y\nproperty float z\nend_header\n{lines}\n')
    return tmp_path


def test_a_hand_closes_on_a_circle_and_is_drawn(files):
    code, out, err = gripsim('preshape', files / 'circle.csv', '--gap', '0.06', '--json',
                             '--picture', files / 'a.png')
    assert code == 0, err
    answer = strict(out)
    assert answer['closes'] and answer['fingers'] >= 2
    assert answer['contour']['closed'] and answer['source'] == 'points'
    radii = [np.hypot(*contact['point'][:2]) for contact in answer['contacts']]
    np.testing.assert_allclose(radii, 0.03, rtol=0.0, atol=1e-4)
    with Image.open(files / 'a.png') as picture:
        colours = picture.convert('RGB').getcolors(maxcolors=1 << 24)
    assert len(colours) > 50


def test_a_chain_closes_on_a_mirrored_scan_line(files):
    code, out, err = gripsim('preshape', files / 'half.npy', '--mirror', '--lengths', '0.05',
                             '0.03', '0.025', '--thickness', '0.012', '--json')
    assert code == 0 and 'mirror image' in err
    answer = strict(out)
    assert len(answer['angles']) == 3 and answer['overlap'] == 0.0
    assert [contact['phalanx'] for contact in answer['contacts']] == [0, 1, 2]


def test_a_section_of_a_mesh_is_closed_on(files):
    code, out, err = gripsim('preshape', files / 'box.obj', '--gap', '0.06', '--in-turn')
    assert code == 0, err
    assert 'fingers touch' in ' '.join(out.split())


def test_the_published_clearance_is_that_of_a_contour_with_moved_coordinates(files):
    """The same as to move each coordinate away from the middle and to keep no clearance."""
    np.savetxt(files / 'moved.csv', CIRCLE + np.where(CIRCLE < 0.0, -0.002, 0.002), delimiter=',')
    lengths = '--lengths', '0.09', '0.07', '--json'
    answers = [strict(gripsim('preshape', files / name, *lengths, *further)[1])
               for name, *further in (('circle.csv', '--clearance', '0.002', '--published'),
                                      ('moved.csv',), ('circle.csv', '--clearance', '0.002'))]
    published, moved, own = (np.array(answer['angles']) for answer in answers)
    np.testing.assert_allclose(published, moved, rtol=0.0, atol=1e-9)
    assert np.abs(published - own).max() > 1e-3         # parts on both sides of an axis move apart


@pytest.mark.parametrize('arguments, said', [
    (('no.csv',), 'no such file'), (('line.npy',), 'lie on one line'),
    (('few.npy',), 'at least 3 different finite points, got 2'),
    (('circle.csv', '--scale', '1000'), '--scale 0.001'),
    (('circle.csv', '--scale', '0.001'), '--scale 1000'),
    (('circle.csv', '--lengths', '0.1', '-0.1'), 'lengths above 0'),
    (('circle.csv', '--pivot', '0', '0'), 'go with --lengths'),
    (('circle.csv', '--gap', '-1'), '--gap must be'),
    (('circle.csv', '--clearance', '-0.1'), 'at most the half thickness'),
    (('circle.csv', '--normal', '0', '0', '1'), 'a plane of their own'),
    (('box.obj', '--normal', '0', '0', '0'), '--normal must not be zero'),
    (('box.obj', '--mirror',), 'not sections of meshes'),
    (('circle.csv', '--picture', 'a.jpg'), 'must end in .png'),
    (('ball.npy',), 'must lie in one plane')])
def test_preshape_refuses_bad_input_in_one_line(files, monkeypatch, arguments, said):
    monkeypatch.chdir(files)
    assert_refused(gripsim('preshape', *arguments, '--json'), said)


@pytest.mark.parametrize('arguments, said', [
    (('scan.ply',), '--completion mirror|extrude|convex'),
    (('ball.npy', '--completion', 'guess'), "got 'guess'"),
    (('box.obj', '--viewpoint', '0', '0', '1'), 'goes with --completion'),
    (('ball.npy', '--completion', 'mirror', '--viewpoint', '0', '0', 'nan'), 'must be finite'),
    (('few.npy', '--completion', 'convex'), 'shape (n, 3)'),
    (('box.obj', '--completion', 'convex'), "got 'obj'"),
    (('ball.npy', '--completion', 'convex', '--scale', '1000'), '--scale 1')])
def test_plan_refuses_unfit_scans_in_one_line(files, monkeypatch, arguments, said):
    monkeypatch.chdir(files)
    assert_refused(gripsim('plan', *arguments, '--json'), said)
