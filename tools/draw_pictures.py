"""
Draw the pictures of docs/seeing.md and docs/concepts.md.

``python tools/draw_pictures.py PLAN.json [--mesh MESH] [--recording FILE.mcap]`` writes into
``docs/images``; those of the page in a browser need a Chromium, the last one a recording. The
plan of the docs is that of ``gripsim record --out demo.mcap -- gripsim demo``.
"""

import argparse
import io
from pathlib import Path

import numpy as np
from geometry_msgs.msg import Point
from headless_chromium import Page, find_chromium
from PIL import Image, ImageDraw, ImageFont
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from gripsim_ros.apps.view.browser import BrowserView
from gripsim_ros.apps.view.picture import best_view, draw_markers
from gripsim_ros.apps.view.sources import PlanSource, RecordingSource
from gripsim_ros.core.hand import forward_kinematics
from gripsim_ros.library.display import moving_links
from gripsim_ros.ros.conversions import pose_to_msg
from gripsim_ros.ros.markers import MarkerFrame, ranked_markers

FOLDER = Path(__file__).resolve().parents[1] / 'docs' / 'images'
FRAME = MarkerFrame('object')
#: Size of a panel and of the page in the browser.
PANEL, WINDOW = (560, 450), (960, 640)
INK, FAINT, BLUE, ORANGE = (28, 32, 40), (95, 102, 115), (13, 89, 191), (205, 120, 0)
#: Moments of the closing whose forces are drawn, all near its end.
MOMENTS = np.linspace(0.985, 1.0, 13)
#: Colours of the axes x, y, z, as in RViz, and their length [m].
AXES, AXIS = ((0.8, 0.1, 0.1), (0.1, 0.6, 0.1), (0.1, 0.2, 0.8)), 0.06


def save(picture, name):
    """Write a picture."""
    picture.convert('RGB').save(FOLDER / name, optimize=True)
    print('wrote', FOLDER / name)


def beside(pictures, titles=()):
    """Return pictures in a row, with lines between them and titles over them."""
    whole = Image.new('RGB', (sum(p.width for p in pictures), pictures[0].height))
    draw, x = ImageDraw.Draw(whole), 0
    for number, picture in enumerate(pictures):
        whole.paste(picture, (x, 0))
        if number < len(titles):
            draw.text((x + 20, 14), titles[number], INK, ImageFont.load_default(24))
        if number:
            draw.line([(x, 0), (x, whole.height)], (200, 204, 212))
        x += picture.width
    return whole


def only(array, *names, without=()):
    """Return those markers of an array that are in some namespaces, all if none is named."""
    return MarkerArray(markers=[m for m in array.markers
                                if (not names or m.ns in names) and m.ns not in without])


def closing_picture(source):
    """Return the closing half done, the grasp, its pressures from near, and the other grasps."""
    held = only(source.markers(1, 1.0), without=('moment',))
    half = only(source.markers(1, 0.5), without=('moment',))
    ghosts = ranked_markers(source.ranked[:5], FRAME, source.hand)
    near = only(held, 'deformation', 'pressure_legend')
    side = best_view([held])
    outward = max((-contact.normal for contact in source.ranked[0].contacts),
                  key=lambda normal: float(normal @ side))
    towards = outward + 0.5 * side
    upper = beside([draw_markers([half], PANEL, side), draw_markers([held], PANEL, side)],
                   ['Half closed', 'The best grasp'])
    lower = beside([draw_markers([near], PANEL, towards / np.linalg.norm(towards), zoom=0.75),
                    draw_markers([only(held, 'deformation'), ghosts], PANEL)],
                   ['Where it presses', 'The five best grasps: rank and score'])
    whole = Image.new('RGB', (upper.width, 2 * upper.height))
    whole.paste(upper, (0, 0))
    whole.paste(lower, (0, upper.height))
    return whole


def axes(T_object_frame, name):
    """Return markers of a frame's axes with its name."""
    array = MarkerArray()
    for k, colour in enumerate(AXES):
        marker = Marker(ns='axes', id=len(array.markers), type=Marker.ARROW)
        marker.scale.x, marker.color = 0.004, ColorRGBA(
            **dict(zip('rgb', colour)), a=1.0)
        start = T_object_frame[:3, 3]
        marker.points = [Point(**dict(zip('xyz', map(float, p))))
                         for p in (start, start + AXIS * T_object_frame[:3, k])]
        marker.pose.orientation.w = 1.0
        array.markers.append(marker)
    label = Marker(ns='axes', id=len(array.markers), type=Marker.TEXT_VIEW_FACING, text=name)
    T_object_label = np.array(T_object_frame)
    T_object_label[:3, 3] -= 0.02 * T_object_frame[:3, 2]
    label.pose = pose_to_msg(T_object_label)
    array.markers.append(label)
    return array


def frames_picture(source):
    """Return the hand where it comes from and where it closes, with the frames that are told."""
    grasp = source.ranked[0]
    T_palm_link = forward_kinematics(source.hand, grasp.trajectory[:1])[0]

    def hand(T_object_palm, alpha):
        array = MarkerArray()
        for k, (mesh, T) in enumerate(zip(moving_links(source.hand), T_palm_link)):
            marker = Marker(ns='ghosts', id=k, type=Marker.TRIANGLE_LIST,
                            pose=pose_to_msg(T_object_palm @ T),
                            color=ColorRGBA(r=0.62, g=0.64, b=0.68, a=alpha))
            marker.points = [Point(**dict(zip('xyz', map(float, p))))
                             for p in mesh.vertices[mesh.faces].reshape(-1, 3)]
            array.markers.append(marker)
        return array
    across = np.cross(grasp.T_object_palm[:3, 2], [0.0, 0.0, 1.0])
    return draw_markers(
        [only(source.markers(1, 0.0), 'object'), hand(grasp.T_object_pregrasp, 0.25),
         hand(grasp.T_object_palm, 0.6), axes(np.eye(4), 'object'),
         axes(grasp.T_object_pregrasp, 'palm at pregrasp_pose'),
         axes(grasp.T_object_palm, 'palm at hand_pose')],
        (900, 560), across / np.linalg.norm(across) + [0.0, 0.0, 0.35])


def forces_picture(source, size=(900, 420)):
    """Return a chart of the closing's end: what the pads press, and what load would be held."""
    moments, forces, margins = 100.0 * MOMENTS, [], []
    for fraction in MOMENTS:
        state = source._state(1, float(fraction))
        forces.append(sum(np.linalg.norm(c.closing_force) for c in state.contacts))
        margins.append(state.margin if np.isfinite(state.margin) else 0.0)
    picture = Image.new('RGB', size, (253, 253, 255))
    draw, font = ImageDraw.Draw(picture), ImageFont.load_default(17)
    left, right, top, bottom = 80, size[0] - 80, 100, size[1] - 60
    draw.text((20, 14), 'Closing stops at the first state that holds', INK,
              ImageFont.load_default(24))
    draw.line([(left, top), (left, bottom), (right, bottom), (right, top)], FAINT, 2)
    draw.text(((left + right) / 2, size[1] - 22), 'closing [%]', INK, font, anchor='mm')

    def x(moment):
        share = (moment - moments[0]) / (moments[-1] - moments[0])
        return left + share * (right - left)
    for moment in moments[::4]:
        draw.text((x(moment), bottom + 16), f'{moment:.1f}', FAINT, font, anchor='mm')
    for values, colour, words, edge, anchor, room in (
            (forces, BLUE, 'sum of the pads\' forces [N]', left - 10, 'rm', 1.1),
            (margins, ORANGE, 'load that is held, over the wanted', right + 10, 'lm', 1.6)):
        most = room * max(*values, 1e-9)

        def y(value, most=most):
            return bottom - value / most * (bottom - top)
        draw.line([(x(m), y(v)) for m, v in zip(moments, values)], colour, 4)
        for m, v in zip(moments, values):
            draw.ellipse([x(m) - 5, y(v) - 5, x(m) + 5, y(v) + 5], colour)
        for tick in np.linspace(0.0, most, 5)[:-1]:
            draw.text((edge, y(tick)), f'{tick:.1f}', colour, font, anchor=anchor)
        draw.text((left if anchor == 'rm' else right, top - 14), words, colour, font,
                  anchor='ls' if anchor == 'rm' else 'rs')
        if colour == ORANGE:
            for dash in range(left, right, 14):
                draw.line([(dash, y(1.0)), (dash + 7, y(1.0))], ORANGE, 1)
    return picture


def browser_picture(source, ghosts=False, moment=None):
    """Return the page as headless Chromium shows it."""
    view = BrowserView(source, port=18400)
    try:
        view.open()
        with Page(view.url, WINDOW) as page:
            page.wait(lambda: 'centre of mass' in page.text())
            page.wait(lambda: page.place("document.querySelector('[role=alert] button')"))
            page.click("document.querySelector('[role=alert] button')")     # no graphics card
            if moment is not None:
                source.select(1, moment)
                page.wait(lambda: f'{100.0 * moment:.0f} % closed' in page.text())
            if ghosts:
                page.click_box('Ranked ghosts')
                page.wait(lambda: view._visible['ghosts'])
            return Image.open(io.BytesIO(settled(page)))
    finally:
        view.close()


def settled(page):
    """Return the page as PNG once it no longer changes."""
    last = [page.screenshot()]

    def still():
        last.append(page.screenshot())
        return last[-1] == last[-2]
    page.wait(still)
    return last[-1]


def main():
    """Draw what can be drawn."""
    parser = argparse.ArgumentParser(description=__doc__.strip().split('\n\n')[0])
    parser.add_argument('plan', type=Path, help='JSON of `gripsim plan --out`')
    parser.add_argument('--mesh', default='', help='of the object, if it has moved')
    parser.add_argument('--recording', type=Path, help='of the same plan')
    parser.add_argument('--no-browser', action='store_true')
    options = parser.parse_args()
    source = PlanSource(options.plan, options.mesh)
    save(closing_picture(source), 'closing.png')
    save(frames_picture(source), 'concept_frames.png')
    save(forces_picture(source), 'concept_forces.png')
    if find_chromium() and not options.no_browser:
        pages = [browser_picture(source)]
        if options.recording:
            pages.append(browser_picture(RecordingSource(options.recording), ghosts=True))
        save(beside(pages), 'browser.png')


if __name__ == '__main__':
    main()
