"""Pictures of squeezes: the curve goes through its points, and the plates stand off the body."""

import numpy as np
import pytest

from gripsim_ros.apps.report.squeeze_picture import (
    CHART, FORCE, draw_squeeze, hand_and_body, plates_and_body)
from gripsim_ros.core.bodies import shapes
from gripsim_ros.core.mechanics.finite_strain.squeezing import CurvePoint
from gripsim_ros.library.resources import load_default_hand

BODY = shapes.sphere(0.02, 0.008)
UP = np.array([0.0, 0.0, 1.0])


@pytest.mark.parametrize('power', [1.0, 1.5])
def test_the_curve_is_where_its_numbers_are(power):
    shares = np.linspace(0.1, 1.0, 10)
    curve = [CurvePoint(2e-3 * share, 30.0 * share ** power, 1e-4) for share in shares]
    picture = draw_squeeze(curve, 'a ball', plates_and_body(BODY.vertices, BODY.faces, UP), UP)
    chart = np.asarray(picture)[:, :CHART[0]].astype(int)
    rows, columns = np.nonzero(np.abs(chart - FORCE).sum(axis=2) < 6)
    left, right, low, high = columns.min(), columns.max(), rows.max(), rows.min()
    middle = np.median(rows[np.abs(columns - (left + right) / 2) < 2])
    # The curve's line and marks are up to nine pixels wide.
    assert abs((low - middle) / (low - high) - 0.5 ** power) < 0.02


def test_plates_touch_the_body_from_both_sides():
    body, *plates = plates_and_body(BODY.vertices, BODY.faces, 2.0 * UP)
    heights = [plate.vertices @ UP for plate in plates]
    assert np.isclose(heights[0].max(), body.vertices[:, 2].min())
    assert np.isclose(heights[1].min(), body.vertices[:, 2].max())


def test_a_hand_is_drawn_around_the_body():
    hand = load_default_hand()
    surfaces = hand_and_body(hand, hand.preshapes[0].open, np.eye(4), BODY.vertices, BODY.faces)
    assert len(surfaces) == 1 + len(hand.links)
