"""The page of ``gripsim view`` in headless Chromium: what it says, shows and does when clicked."""

import io
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')
pytest.importorskip('viser', reason='needs the extra `view`')

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / 'tools'))

from headless_chromium import Page, find_chromium  # noqa: E402
from plan_cases import apple, made_up_grasp  # noqa: E402

from gripsim_ros.apps.view.browser import LAYERS, BrowserView  # noqa: E402
from gripsim_ros.ros.conversions.plan_told import ToldGrasp  # noqa: E402
from gripsim_ros.library.resources import load_default_hand  # noqa: E402
from gripsim_ros.ros.markers import MarkerFrame, closing_markers, ranked_markers  # noqa: E402

pytestmark = [pytest.mark.slow, pytest.mark.skipif(
    find_chromium() is None, reason='no Chromium is installed: name one in CHROMIUM')]

SIZE, SCALE = (560, 560), 0.4
FRAME = MarkerFrame('object')
#: Share of the picture that must change where the hand goes.
LEAST_CHANGE = 0.01


class TwoGrasps:
    """Two grasps whose moments are shown without any stage."""

    moments, motions, felt = True, False, ()
    grasps = ('1: made up', '2: made up')

    def open(self, show):
        self.show = show
        show('ranked_grasps', ranked_markers([made_up_grasp(1)], FRAME, load_default_hand()))
        self.select(1, 1.0)

    def select(self, rank, fraction):
        grasp = made_up_grasp(rank)
        self.show('closing/markers', closing_markers(
            grasp, fraction, grasp if fraction == 1.0 else None, apple(), load_default_hand(),
            FRAME))

    def about(self, rank):
        return {'object': 'made up'}, ToldGrasp({'score': f'0.{rank}'}, {'gentleness': 0.1 * rank})

    def close(self):
        pass


def shown(page):
    """Return what the page shows as an array of colours, once it no longer changes."""
    def picture():
        return np.asarray(Image.open(io.BytesIO(page.screenshot())).convert('RGB'), int)
    last = [picture()]

    def settled():
        last.append(picture())
        return (last[-1] == last[-2]).all() or None
    page.wait(settled)
    return last[-1]


def test_a_plan_is_seen_and_steered_in_a_browser():
    view = BrowserView(TwoGrasps(), port=18300)
    try:
        view.open()
        with Page(view.url, SIZE, SCALE) as page:
            page.wait(lambda: 'grasp 1: 100 % closed' in page.text())
            assert all(layer in page.text() for layer in LAYERS)
            assert 'pressure [kPa]' in page.text()
            whole = shown(page)
            assert whole.std() > 5.0

            page.click_box('Hand')
            page.wait(lambda: not view._visible['hand'])
            without = shown(page)
            assert (np.abs(without - whole).max(axis=2) > 10).mean() > LEAST_CHANGE

            page.click("document.querySelector('.mantine-Slider-track')")
            page.wait(lambda: '50 % closed' in page.text())
            assert 'pressure [kPa]' not in page.text()      # nothing is touched
            page.click_box('Ranked ghosts')
            page.wait(lambda: view._visible['ghosts'])
            assert not page.errors
    finally:
        view.close()
