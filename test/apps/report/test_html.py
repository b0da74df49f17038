"""The report: one file that opens offline, with all input escaped, and pictures."""

import base64
import json
import re
import zlib
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from arm_cases import T_BASE_OBJECT, brought, planned_arm
from execution_cases import reach
from numpy.testing import assert_allclose
from PIL import Image
from plan_cases import PEAK, STATISTICS, apple, made_up_answer, made_up_grasp

from gripsim_ros.apps.report import html, pictures, write_pictures, write_report
from gripsim_ros.apps.report.html import render_report
from gripsim_ros.apps.report.motion_picture import motion_picture
from gripsim_ros.apps.report.packing import packed_json
from gripsim_ros.apps.report.payload import scene_data
from gripsim_ros.apps.report.pictures import scene_picture
from gripsim_ros.core.bodies import TriangleMesh
from gripsim_ros.core.planning import Task
from gripsim_ros.core.transforms import transform
from gripsim_ros.library.boxes import hand_boxes
from gripsim_ros.library.drawing.glyphs import arrow, ball, ring
from gripsim_ros.library.drawing.raster import Camera, make_surface, merge_surfaces, render_layer
from gripsim_ros.library.drawing.refinement import EDGE_SHARE, refine_near
from gripsim_ros.library.drawing.render import View, best_viewpoint, render
from gripsim_ros.library.drawing.scene import PRESSURE_COLOURS, make_scene, pressure_colours
from gripsim_ros.library.planned_arm import motion_of
from gripsim_ros.library.whole_motion import whole_motion
from report_cases import EVIL, Page

LARGEST_REPORT = 3e6
#: Triangles of a scan as those that people have.
SCAN = 15_000


#: A sixteen-bit step of a displacement; a drawn circle's polygon; a pixel of a silhouette.
RTOL_QUANTISED, RTOL_POLYGON, RTOL_PIXELS = 1e-4, 0.02, 0.02
ATOL_SINGLE, RTOL_ROUNDOFF = 1e-6, 1e-9
#: A table below the object.
TABLE = np.array([[1, 0.4, 0.3, 0.02, 1, 0, 0, 0.1, 0, 1, 0, 0.0, 0, 0, 1, -0.1]])
#: Radius of a contact that no more than a few vertices lie in [m].
SMALL = 0.003


def unpacked(text):
    """Return the data of a report's script element."""
    return json.loads(zlib.decompress(base64.b64decode(text)))


@pytest.fixture(scope='module')
def page():
    return render_report(made_up_answer())


@pytest.fixture
def undrawn(monkeypatch):
    """Leave the pictures of grasps white, where the page's words and data are of interest."""
    for name in ('scene_picture', 'draw_grasp_contact', 'draw_section'):
        monkeypatch.setattr(html, name, lambda *_, **__: Image.new('RGB', (8, 8), 'white'))


def test_every_element_is_closed_in_its_turn(page):
    parsed = Page(page)
    assert not parsed.problems and not parsed.open


def test_the_page_names_no_address_outside_itself(page):
    assert not re.search(r'(https?:)?//[a-z0-9-]+\.[a-z]', page, re.IGNORECASE)
    assert '@import' not in page
    for tag, attributes in Page(page).tags:
        for name in ('src', 'href', 'action', 'srcset', 'data'):
            assert (attributes.get(name) or 'data:').startswith('data:'), (tag, name)


@pytest.mark.nightly     # ten grasps of a scan are drawn
def test_the_page_is_below_its_largest_size(tmp_path):
    body = apple(edge_length=0.0017)
    assert len(body.mesh.faces) > SCAN
    write_report(made_up_answer(10, body=body), tmp_path / 'r.html')
    assert (tmp_path / 'r.html').stat().st_size < LARGEST_REPORT


def test_names_from_outside_stay_text(page, undrawn):
    evil = made_up_grasp(1, preshape=EVIL, warnings=(EVIL,))
    answer = replace(made_up_answer(1, mesh_name=EVIL), grasps=[evil], rejected={EVIL: 3},
                     statistics={**STATISTICS, EVIL: EVIL, 'repairs': [EVIL]})
    text = render_report(answer)
    assert EVIL not in text and '<img src=x' not in text
    assert len(Page(text).scripts) == len(Page(page).scripts)
    assert unpacked(Page(text).scripts[0])['grasps'][0]['warnings'] == [EVIL]


@given(st.dictionaries(st.text(), st.text() | st.floats(allow_nan=False, allow_infinity=False)))
def test_data_in_a_script_element_cannot_end_it_and_come_back_as_they_were(data):
    text = packed_json({**data, 'a': '</script><!--\u2028'})
    assert re.fullmatch('[A-Za-z0-9+/=]+', text)
    assert unpacked(text) == {**data, 'a': '</script><!--\u2028'}


def test_data_give_back_the_deformed_surface(page):
    data = unpacked(Page(page).scripts[0])
    grasp, mesh = data['grasps'][0], apple().mesh
    moves = np.frombuffer(base64.b64decode(grasp['displacements']), '<i2').reshape(-1, 3)
    expected = made_up_grasp(1).vertices - mesh.vertices
    assert_allclose(grasp['displacement_step'] * moves, expected,
                    atol=RTOL_QUANTISED * np.abs(expected).max())
    vertices = np.frombuffer(base64.b64decode(data['object']['vertices']), '<f4').reshape(-1, 3)
    assert_allclose(vertices, mesh.vertices, atol=ATOL_SINGLE)
    rows = len(made_up_grasp(1).trajectory)
    poses = np.frombuffer(base64.b64decode(grasp['poses']), '<f4')
    assert len(poses) == rows * len(data['links']) * 16


def test_data_give_back_boxes_and_regions_of_the_closed_hand(page):
    scene = make_scene(made_up_answer(1))
    told = unpacked(Page(page).scripts[0])['grasps'][0]['boxes']
    found = hand_boxes(TriangleMesh(scene.vertices, scene.faces), scene.hand,
                       scene.grasps[0].T_object_link[-1])
    for name, boxes in (('boxes', found.whole), ('regions', found.parts)):
        corners = np.frombuffer(base64.b64decode(told[name]), '<f4').reshape(-1, 8, 3)
        assert len(corners)
        assert_allclose(corners, [box.corners() for box in boxes], atol=ATOL_SINGLE)


def test_data_give_back_the_whole_motion_where_there_is_one():
    answer = replace(made_up_answer(2), grasps=[made_up_grasp(1, reach=reach()),
                                                made_up_grasp(2)])
    data = scene_data(make_scene(answer))
    motion, moments = data['grasps'][0]['motion'], whole_motion(answer.grasps[0])
    assert data['grasps'][1]['motion'] is None
    assert [text.partition(',')[0] for text in motion['phases']] == [m.phase for m in moments]
    moved = np.frombuffer(base64.b64decode(motion['object']), '<f4').reshape(-1, 4, 4)
    assert_allclose(moved, [m.T_object_moved for m in moments], atol=ATOL_SINGLE)
    poses = np.frombuffer(base64.b64decode(motion['poses']), '<f4').reshape(
        len(moments), -1, 4, 4)
    palm = answer.hand.palm_index
    assert_allclose(poses[:, palm], [m.T_object_palm for m in moments], atol=ATOL_SINGLE)
    least = [m.step.minimal_forces[0] for m in moments if m.step is not None]
    assert_allclose([row[0][1] for row in motion['forces'] if row], least)


@pytest.mark.nightly     # by day test_browser shows it
def test_data_give_back_where_the_arm_is_at_each_moment(undrawn):
    arm = planned_arm()
    way = reach()
    grasp = brought(made_up_grasp(1, reach=way, T_object_palm=way.T_object_palm[0],
                                  T_object_pregrasp=way.T_object_palm[0]))
    page = Page(render_report(replace(made_up_answer(1), grasps=[grasp], arm=arm)))
    assert any(attributes.get('id') == 'motion_strip' for _, attributes in page.tags)
    data = unpacked(page.scripts[0])
    motion, moments = data['grasps'][0]['motion'], motion_of(grasp, arm)
    assert len(data['arm']['parts']) == len(arm.arm.parts)
    poses = np.frombuffer(base64.b64decode(motion['arm']), '<f4').reshape(
        len(moments), len(arm.arm.parts), 4, 4)
    frames = np.array([arm.arm.poses(m.arm_joints)[arm.arm.part_frames] for m in moments])
    assert_allclose(T_BASE_OBJECT @ poses, frames, atol=ATOL_SINGLE)
    assert_allclose(motion['up'], T_BASE_OBJECT[2, :3])


def on_a_table():
    """Return the scene of a plan on a table."""
    return make_scene(replace(made_up_answer(1), task=Task(obstacles=TABLE),
                              grasps=[made_up_grasp(1, reach=reach())]))


def test_data_give_back_what_stands_about_the_object():
    scene = on_a_table()
    assert scene_data(replace(scene, surroundings=()))['surroundings'] == []
    table, = scene_data(scene)['surroundings']
    corners = np.frombuffer(base64.b64decode(table['vertices']), '<f4').reshape(-1, 3)
    assert_allclose(np.ptp(corners, axis=0), TABLE[0, 1:4], atol=ATOL_SINGLE)


@pytest.mark.nightly
def test_pictures_show_what_stands_about_the_object():
    scene = on_a_table()
    bare = replace(scene, surroundings=())
    for draw in (motion_picture, scene_picture):
        drawn = [np.asarray(draw(one), int) for one in (bare, scene)]
        assert np.abs(drawn[1] - drawn[0]).mean() > 1.0, draw.__name__


def test_moduli_and_numbers_of_the_planning_have_units(undrawn):
    answer = made_up_answer(1)
    stiff = replace(answer, grasp_object=replace(answer.grasp_object, material=replace(
        answer.grasp_object.material, youngs_modulus=2.0e9)), statistics={
            **answer.statistics, 'planning_time': 3.7, 'timed_out': False,
            'times': {'reading': 0.25, 'planning': 2.5}})
    text = render_report(stiff)
    assert 'E 2 GPa' in text and '>3.7 s<' in text and '>False<' not in text
    assert 'reading 0.2 s, planning 2.5 s' in text


def test_meshes_that_links_share_are_sent_once(page):
    data = unpacked(Page(page).scripts[0])
    assert len(data['meshes']) < len(data['links'])


def test_a_plan_without_grasps_is_reported_with_its_reasons():
    text = render_report(replace(made_up_answer(), grasps=[]))
    assert 'No grasp was found' in text and 'open hand collides' in text
    assert not Page(text).problems and not Page(text).scripts


def test_a_grasp_without_a_surface_is_drawn_undeformed():
    scene = make_scene(made_up_answer(1, vertices=None, vertex_pressures=None))
    assert_allclose(scene.grasps[0].vertices, apple().mesh.vertices)
    assert not scene.grasps[0].pressures.any()


@pytest.mark.nightly     # by day the page has them, and each has tests of its own
def test_pictures_show_something_everywhere_they_should(tmp_path, monkeypatch):
    monkeypatch.setattr(pictures, 'FRAME_SIZE', (210, 280))     # of five frames: half as large
    paths = write_pictures(made_up_answer(2), tmp_path)
    assert [path.name for path in paths] == ['scene.png', 'closing.png', 'scores.png',
                                             'contact.png', 'section.png']
    for path in paths:
        pixels = np.asarray(Image.open(path).convert('RGB'), float)
        assert min(pixels.shape[:2]) > 100 and pixels.std() > 5.0


def test_no_pictures_are_written_without_grasps(tmp_path):
    assert not write_pictures(replace(made_up_answer(), grasps=[]), tmp_path)
    assert not list(tmp_path.iterdir())


def test_pressure_shows_in_the_colour_of_the_contact():
    scene = make_scene(made_up_answer(1))
    camera = best_viewpoint(scene, 0).camera((300, 300))
    plain = render(scene, View(hand=0.0, forces=False), camera, 1.0)
    loaded = render(scene, View(hand=0.0), camera, scene.grasps[0].peak)
    reddened = (loaded[..., 0] - loaded[..., 2]) - (plain[..., 0] - plain[..., 2])
    assert (reddened > 0.2).sum() > 20


def test_a_contact_smaller_than_the_mesh_is_drawn_from_its_area_and_peak():
    small = [replace(contact, area=np.pi * SMALL**2) for contact in made_up_grasp(1).contacts]
    scene = make_scene(made_up_answer(1, contacts=tuple(small)))
    shown = scene.grasps[0]
    assert len(shown.spots) == 3 and shown.peak == PEAK
    pressures = scene.corner_pressures(shown)
    assert PEAK * 0.9 < pressures.max() <= PEAK
    points = scene.refinement.spread(scene.vertices[scene.faces])
    loaded = np.linalg.norm(points[pressures > 0.0] - shown.spots[0].centre, axis=1)
    assert (np.sort(loaded)[:10] < SMALL).all()


@given(st.integers(0, 2**32 - 1))
def test_parts_of_triangles_cover_them_and_end_short_near_the_centre(seed):
    corners = np.random.default_rng(seed).uniform(-1.0, 1.0, (4, 3, 3))
    centre, radius = corners[0].mean(axis=0), 0.2
    parts = refine_near(corners, centre[None], np.array([radius]))
    spread = parts.spread(corners)
    areas = np.linalg.norm(np.cross(spread[:, 1] - spread[:, 0], spread[:, 2] - spread[:, 0]),
                           axis=1)
    whole = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]),
                           axis=1)
    assert_allclose(np.bincount(parts.origins, areas, 4), whole, rtol=RTOL_ROUNDOFF)
    near = np.linalg.norm(spread.mean(axis=1) - centre, axis=1) < radius
    edges = np.linalg.norm(spread - np.roll(spread, 1, axis=1), axis=2)
    assert (edges[near] <= EDGE_SHARE * radius).all()


def test_no_pressure_has_the_colour_of_the_object():
    assert_allclose(pressure_colours(np.zeros(4), 0.0), np.tile(PRESSURE_COLOURS[0], (4, 1)))
    assert_allclose(pressure_colours(np.array([5.0]), 5.0)[0], PRESSURE_COLOURS[-1])


def _camera(size=400):
    """Return a camera at the origin that looks along z, 1 m wide at 1 m."""
    return Camera(transform(np.eye(3), np.zeros(3)), float(size), size, size)


def _square(depth, side, colour):
    corners = 0.5 * side * np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0.0]])
    faces = np.array([[0, 1, 2], [0, 2, 3]])
    return make_surface(corners + [0.0, 0.0, depth], faces, np.array(colour))


def test_a_square_covers_the_pixels_it_should():
    layer = render_layer(_square(2.0, 0.5, (1, 0, 0)), _camera())
    seen = np.isfinite(layer.depth)
    assert_allclose(seen.sum(), (0.5 / 2.0 * 400) ** 2, rtol=RTOL_PIXELS)
    assert_allclose(layer.depth[seen], 2.0, rtol=ATOL_SINGLE)


def test_the_nearer_surface_hides_the_farther():
    layer = render_layer(merge_surfaces([_square(1.0, 0.2, (1, 0, 0)),
                                         _square(2.0, 1.0, (0, 1, 0))]), _camera())
    assert_allclose(layer.colours[200, 200], [1, 0, 0], atol=ATOL_SINGLE)
    assert_allclose(layer.colours[200, 110], [0, 1, 0], atol=ATOL_SINGLE)


def test_depth_across_a_slanted_triangle_is_that_of_its_plane():
    vertices = np.array([[-0.5, -0.5, 1.0], [0.5, -0.5, 1.0], [0.0, 1.5, 3.0]])
    layer = render_layer(make_surface(vertices, np.array([[0, 1, 2]]), np.ones(3)), _camera())
    rows, columns = np.nonzero(np.isfinite(layer.depth))
    rays = np.column_stack([(columns + 0.5 - 200) / 400, (rows + 0.5 - 200) / 400,
                            np.ones(len(rows))])
    normal = np.cross(vertices[1] - vertices[0], vertices[2] - vertices[0])
    assert_allclose(layer.depth[rows, columns], (vertices[0] @ normal) / (rays @ normal),
                    rtol=ATOL_SINGLE)


def test_a_box_keeps_its_edges_and_a_ball_is_smooth():
    vertices, faces = ball(np.zeros(3), 1.0)
    normals = make_surface(vertices, faces, np.ones(3)).normals
    equator = np.abs(vertices[faces][..., 2]) < 0.5
    assert_allclose(normals[equator], vertices[faces][equator], atol=RTOL_POLYGON)
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    sharp = make_surface(corners, np.array([[0, 2, 1], [0, 1, 3]]), np.ones(3)).normals
    assert_allclose(sharp[0], np.tile([0, 0, -1], (3, 1)), atol=ATOL_SINGLE)


def test_glyphs_have_the_size_they_were_given():
    vertices, faces = arrow(np.zeros(3), np.array([0.0, 0.0, 0.1]), 0.002)
    assert_allclose(vertices[:, 2].max(), 0.1)
    assert faces.max() < len(vertices)
    centre, normal = np.array([1.0, 2.0, 3.0]), np.array([1.0, 1.0, 0.0])
    circle, _ = ring(centre, normal, 0.01, 0.001)
    assert_allclose(np.linalg.norm(circle - centre, axis=1), 0.01, atol=0.0011)
    assert_allclose((circle - centre) @ normal / np.sqrt(2.0), 0.0, atol=0.0011)


def test_the_page_shows_the_cut_through_the_object(page):
    sections = [attributes for tag, attributes in Page(page).tags
                if tag == 'img' and attributes.get('id') == 'section']
    assert len(sections) == 1 and sections[0]['src'].startswith('data:image/png;base64,')
