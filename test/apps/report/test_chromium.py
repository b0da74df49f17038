"""The report in headless Chromium: nothing is cut off, it is printed on two pages, and drawn."""

import base64
import re
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / 'tools'))

from headless_chromium import Page, find_chromium  # noqa: E402
from execution_cases import reach  # noqa: E402
from plan_cases import made_up_answer  # noqa: E402

from gripsim_ros.apps.report import write_report  # noqa: E402

pytestmark = [pytest.mark.slow, pytest.mark.skipif(
    find_chromium() is None, reason='no Chromium is installed: name one in CHROMIUM')]

#: A small screen of today [pixels].
SIZE = (1280, 800)
#: Several periods in which a player moves its slider on [s].
PERIODS = 0.3


@pytest.fixture(scope='module')
def page(tmp_path_factory):
    file = tmp_path_factory.mktemp('report') / 'report.html'
    write_report(made_up_answer(10, reach=reach()), file)
    with Page(file.as_uri(), SIZE, scale=0.4) as shown:
        shown.wait(lambda: shown.evaluate('document.querySelectorAll("#contacts tr").length'))
        yield shown
        assert not shown.errors


def test_no_section_is_scrolled_sideways(page):
    assert page.evaluate('document.querySelectorAll("section").length') > 5
    assert page.evaluate('Array.from(document.querySelectorAll("section"))'
                         '.filter((s) => s.scrollWidth > s.clientWidth).length') == 0


def test_it_is_printed_on_two_pages(page):
    printed = base64.b64decode(page.call('Page.printToPDF', preferCSSPageSize=True)['data'])
    assert len(re.findall(rb'/Type\s*/Page[^s]', printed)) == 2


def test_a_choice_shows_the_numbers_of_its_grasp(page):
    page.evaluate('document.querySelectorAll("#grasps tbody tr")[4].click()')
    assert page.evaluate('document.getElementById("chosen").textContent') == 'Grasp 5'
    assert page.evaluate('document.querySelectorAll("#still").length') == 0    # WebGL draws


def test_boxes_are_seen_where_they_are_asked_for(page):
    def picture():
        page.evaluate('viewer.drawNow()')
        return page.evaluate('byId("canvas").toDataURL()')
    before = picture()
    page.evaluate('byId("boxes").click()')
    assert picture() != before
    page.evaluate('byId("boxes").click()')
    assert picture() == before


def test_the_whole_motion_is_played_to_its_end(page):
    page.evaluate('document.getElementById("play_motion").click()')
    page.wait(lambda: page.evaluate('document.getElementById("motion").value') == '1')
    assert page.evaluate('document.getElementById("phase").textContent') == 'retreat'


def test_who_moves_a_slider_stops_what_plays(page):
    page.evaluate('document.getElementById("play_motion").click()')
    page.wait(lambda: page.evaluate('document.getElementById("phase").textContent') != '')
    page.evaluate('document.getElementById("row").dispatchEvent(new Event("input"))')
    time.sleep(PERIODS)
    assert page.evaluate('document.getElementById("phase").textContent') == ''
