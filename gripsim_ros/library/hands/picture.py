"""Pictures of a hand, open and closed in each preshape, with pads and axes; as PNG and HTML."""

from __future__ import annotations

import base64
import html
import io
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image as PillowImage, ImageDraw

from ...core.hand import HandModel, forward_kinematics
from ...core.planning.hypotheses.hand_geometry import find_fingers
from ...core.transforms import apply
from ..drawing import glyphs
from ..drawing.raster import Surface, make_surface
from ..drawing.render import draw_surfaces, look_along
from .check import Findings

#: Pixels of one picture, and height of the line of text above it.
SIZE, TITLE = (420, 400), 22
#: Colours of links, of links with a pad, of the palm; of pads, of approach and across.
LINK, PAD_LINK, PALM = (0.62, 0.64, 0.68), (0.34, 0.37, 0.42), (0.75, 0.76, 0.78)
PAD, APPROACH, ACROSS = (0.1, 0.6, 0.25), (0.1, 0.3, 0.85), (0.85, 0.2, 0.15)
#: The eye looks along these, given along the axes of grasping.
DIRECTIONS = (np.array([-0.45, 0.85, -0.35]), np.array([0.85, 0.45, -0.35]))


def draw_hand(hand: HandModel) -> PillowImage.Image:
    """Return a picture: a row for each preshape; open and closed, each from two sides."""
    rows = []
    for preshape in hand.preshapes:
        rows.append([(f'{preshape.name}, {word}', _drawn(hand, joints, direction))
                     for word, joints in (('open', preshape.open), ('closed', preshape.closed))
                     for direction in DIRECTIONS])
    width, height = SIZE[0] * len(rows[0]), (SIZE[1] + TITLE) * len(rows)
    sheet = PillowImage.new('RGB', (width, height), 'white')
    pen = ImageDraw.Draw(sheet)
    for i, row in enumerate(rows):
        for k, (title, picture) in enumerate(row):
            place = k * SIZE[0], i * (SIZE[1] + TITLE)
            pen.text((place[0] + 6, place[1] + 5), title, fill='black')
            sheet.paste(picture, (place[0], place[1] + TITLE))
    return sheet


def _drawn(hand: HandModel, joints: Any, direction: Any) -> PillowImage.Image:
    T = forward_kinematics(hand, joints[None])[0]
    surfaces = [make_surface(apply(pose, link.mesh.vertices), link.mesh.faces, np.array(
        PALM if i == hand.palm_index else LINK if link.pad is None else PAD_LINK))
        for i, (pose, link) in enumerate(zip(T, hand.links))]
    points = np.concatenate([surface.vertices for surface in surfaces])
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    radius = float(np.linalg.norm(points - middle, axis=1).max())
    surfaces += _marks(hand, T, radius)
    camera = look_along(hand.palm_axes @ direction, hand.approach, middle, 1.05 * radius, SIZE)
    return draw_surfaces(surfaces, camera)


def _marks(hand: HandModel, T_palm_link: Any, radius: float) -> list[Surface]:
    """Return arrows of the palm's axes and of the pads of closing fingers."""
    palm = hand.links[hand.palm_index].mesh.vertices
    centre = 0.5 * (palm.min(axis=0) + palm.max(axis=0))
    arrows = [(centre, centre + 0.9 * radius * hand.approach, APPROACH),
              (centre, centre + 0.5 * radius * hand.palm_axes[:, 0], ACROSS)]
    for finger in find_fingers(hand):
        for link in finger.links:
            point = apply(T_palm_link[link], hand.links[link].pad_point[None])[0]
            normal = T_palm_link[link, :3, :3] @ hand.links[link].pad_normal
            arrows.append((point, point + 0.16 * radius * normal, PAD))
    return [make_surface(*glyphs.arrow(tail, tip, 0.012 * radius), np.array(colour))
            for tail, tip, colour in arrows]


def write_hand_picture(hand: HandModel, findings: Findings, png: Path) -> tuple[Path, Path]:
    """Write a picture and a page with it and the findings beside it; return both paths."""
    picture, page = draw_hand(hand), png.with_suffix('.html')
    picture.save(png, format='PNG', optimize=True)
    data = io.BytesIO()
    picture.save(data, format='PNG', optimize=True)
    rows = ''.join(
        f'<tr><td>{html.escape(name)}</td><td>{low:.4g}</td><td>{high:.4g}</td>'
        f'<td>{effort:.4g} {"N" if slides else "N m"}</td></tr>'
        for name, low, high, effort, slides in zip(
            hand.joint_names, hand.joint_lower, hand.joint_upper, hand.joint_efforts,
            hand.prismatic))
    lines = ''.join(f'<li>{html.escape(line)}</li>'
                    for line in (*findings.faults, *findings.oddities))
    page.write_text(
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        f'<title>Hand {html.escape(hand.name)}</title>'
        '<style>body{font:15px sans-serif;margin:2em}td,th{padding:.2em .8em;text-align:left}'
        'img{max-width:100%}</style>'
        f'<h1>Hand {html.escape(hand.name)}</h1>'
        f'<p>Base link {html.escape(hand.base_link)}; {len(hand.fingers)} fingers, '
        f'{len(hand.joint_names)} joints. Blue: the approach; red: across it, along which the '
        'fingers close; green: pads.</p>'
        f'<img alt="The hand open and closed in each preshape" src="data:image/png;base64,'
        f'{base64.b64encode(data.getvalue()).decode()}">'
        f'<h2>Findings</h2><ul>{lines or "<li>none</li>"}</ul>'
        '<h2>Joints</h2><table><tr><th>joint</th><th>lower</th><th>upper</th><th>effort</th></tr>'
        f'{rows}</table></html>', encoding='utf-8')
    return png, page
