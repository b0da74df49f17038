"""Contacts of a three-fingered hand for tests of mechanics."""

from dataclasses import fields
import numpy as np
from gripsim_ros.core import batches
from gripsim_ros.core.batches import ConfigurationBatch, ContactBatch
from gripsim_ros.core.bodies import Material
from lattice_cases import ball_under_pad

RADIUS = 0.03
SILICONE = Material(1e6, 0.45, 1000.0, 0.6)
FINGERS = ('sdh_finger_13_link', 'sdh_finger_23_link', 'sdh_thumb_3_link')
DIRECTIONS = ([1.0, 0.0, 0.0], [-0.5, 0.866, 0.0], [-0.5, -0.866, 0.0])
WEIGHT = np.array([[0.0, 0.0, -9.81, 0, 0, 0, 0, 0, 0]])
DEPTH = 1e-3


def three_fingers(depth=DEPTH, links=FINGERS, directions=DIRECTIONS):
    """Return links and nodes of patches about the equator of the ball."""
    return [(link, ball_under_pad(RADIUS, direction, depth, 0.012, 60))
            for link, direction in zip(links, directions)]


def contact_batch(hand, configurations, load_cases=WEIGHT, detail=batches.DETAIL_FORCES):
    """Return contacts of configurations, each a list of links and nodes."""
    count, joints = len(configurations), len(hand.joint_names)
    preshape = hand.preshapes[0]
    asked = ConfigurationBatch(
        np.tile(np.eye(4), (count, 1, 1)), np.tile(preshape.closed, (count, 1)),
        np.zeros((count, joints)), np.zeros((count, 3)), load_cases, detail=detail)
    patches = [patch for patches in configurations for patch in patches]
    nodes = [part for _, part in patches]

    def rows(name, width):
        return np.concatenate([np.zeros((0, 3) if width == 3 else 0)]
                              + [getattr(part, name) for part in nodes])

    def offsets(counts):
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)

    links = np.array([hand.link_index(name) for name, _ in patches], np.int64)
    return ContactBatch(
        asked, np.zeros((count, len(hand.links))), np.full(count, np.inf),
        np.full(count, np.inf), np.zeros((count, len(hand.links))),
        offsets([len(c) for c in configurations]), links, np.zeros(len(patches), np.int64),
        np.full(len(patches), 2.0 * RADIUS), offsets([len(part.depths) for part in nodes]),
        rows('points', 3), rows('normals', 3), rows('areas', 1), rows('spreads', 1),
        rows('depths', 1),
        np.zeros(count + 1, np.int64), np.zeros((0, 3)), np.zeros((0, 3)))


def rows_of(states, i):
    """Return all numbers of one configuration."""
    part = slice(int(states.patch_offsets[i]), int(states.patch_offsets[i + 1]))
    answers = {}
    for item in fields(states):
        values = getattr(states, item.name)
        if item.name == 'patch_offsets':
            continue
        by_patch = item.name.startswith(('patch_', 'minimal_'))
        answers[item.name] = values[part] if by_patch else values[i:i + 1]
    return answers
