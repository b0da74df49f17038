"""
Draw a finger in an apple: ``python -m benchmarks contact_picture [--figures]``.

Fingertip and apple in the pose of a deep contact: vertices of each inside the other, the
ways along which they leave, the regions of potential interaction; then the published rule's
pairs of vertices and projections. Prints what each back end says of the pose; ``--figures``
writes the pictures to docs/images.
"""

import argparse
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from gripsim_ros.apps.report.contact_picture import draw_contact
from gripsim_ros.core.bodies import shapes
from gripsim_ros.core.contact.backends.find_contacts import ContactBody, find_contacts
from gripsim_ros.core.transforms import transform
from gripsim_ros.library.resources import load_default_hand

LINK, EDGE_LENGTH = 'sdh_thumb_3_link', 0.0025
#: How deep the pad is in the apple, and how far the finger leans.
DEPTH, LEAN = 0.004, 10.0
#: The pad lies on the link's +x side; the middle of it along the finger.
PAD_HEIGHT = 0.040
IMAGES = Path(__file__).resolve().parents[2] / 'docs' / 'images'


def finger_in_apple():
    """Return apple and fingertip, pose of the fingertip in the apple, and its motion."""
    apple = shapes.apple(0.08, EDGE_LENGTH)
    tip = next(link.mesh for link in load_default_hand().links if link.name == LINK)
    down = np.column_stack([[-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, -1.0]])
    rotation = Rotation.from_euler('y', LEAN, degrees=True).as_matrix() @ down
    flank = np.array([0.5 * 0.08 - DEPTH, 0.0, 0.0])
    origin = flank - rotation @ [tip.bounds[1, 0], 0.0, PAD_HEIGHT]
    return ContactBody.from_arrays(apple.vertices, apple.faces), ContactBody.from_arrays(
        tip.vertices, tip.faces), transform(rotation, origin), rotation[:, 0]


def main():
    """Draw the picture, print the table; return the exit code."""
    parser = argparse.ArgumentParser(prog='benchmarks contact_picture', description=__doc__)
    parser.add_argument('--figures', action='store_true',
                        help='write contact.png and contact_pairs.png to docs/images')
    options = parser.parse_args()
    apple, tip, T, motion = finger_in_apple()
    exact = find_contacts(apple, tip, T, motion)
    rule = find_contacts(apple, tip, T, motion, 'seed')
    print(f'{"":10}{"apple in tip":>14}{"tip in apple":>14}{"deepest [mm]":>14}')
    for name, found in (('vp_tree', exact), ('seed', rule)):
        sides = found.a_in_b, found.b_in_a
        deepest = max(side.depths.max(initial=0.0) for side in sides)
        print(f'{name:10}{len(sides[0].vertices):14d}{len(sides[1].vertices):14d}'
              f'{1e3 * deepest:14.4f}')
    if options.figures:
        for name, found in (('contact.png', exact), ('contact_pairs.png', rule)):
            path = IMAGES / name
            draw_contact(apple, tip, T, found, ('apple', 'fingertip')).save(path, optimize=True)
            print(f'wrote {path}')
    return 0


if __name__ == '__main__':
    raise SystemExit(main())
