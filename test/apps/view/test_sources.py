"""A running suite shows a grasp's closing on request, and its page follows."""

import os

import pytest

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')
pytest.importorskip('viser', reason='needs the extra `view`')
pytest.importorskip('mcap', reason='needs the extra `record`')

from gripsim_interfaces.srv import ShowClosing  # noqa: E402
from suite_cases import goal, parameters, wait_for  # noqa: E402

from gripsim_ros.apps.view.browser import BrowserView  # noqa: E402
from gripsim_ros.apps.view.sources import SuiteSource  # noqa: E402
from gripsim_ros.ros.clients.plan import PlanGraspClient  # noqa: E402
from gripsim_ros.ros.clients.suite import Suite  # noqa: E402

pytestmark = pytest.mark.slow

TIMEOUT = 60.0
#: An answer that has not come by then was lost [s].
ANSWER_TIME = 20.0


def test_a_moment_is_asked_for_once_the_planner_serves():
    source, asked = SuiteSource('/nobody_plans_here'), []
    try:
        source.open(lambda topic, msg: None)
        source.select(1, 0.25)
        source.select(2, 0.5)
        service = source.node.create_service(
            ShowClosing, 'show_closing',
            lambda request, response: asked.append((request.rank, request.fraction)) or response)
        assert wait_for(lambda: asked == [(2, 0.5)], TIMEOUT)
        source.node.destroy_service(service)
    finally:
        source.close()


@pytest.mark.nightly
def test_the_page_of_a_running_suite_shows_a_moment_as_the_stages_see_it(tmp_path):
    with Suite(os.environ, parameters=parameters(tmp_path)), PlanGraspClient() as client:
        service = client.node.create_client(ShowClosing, 'show_closing')
        page = BrowserView(SuiteSource(), port=18100)
        try:
            page.open()
            answer = client.plan(goal())
            assert answer.grasps
            terms = {term.name: term.contribution for term in answer.grasps[0].quality}
            assert wait_for(lambda: page._source.about(1)[1].terms == pytest.approx(terms),
                            TIMEOUT)
            assert page._source.about(1)[0]['hypotheses'] == f'{answer.evaluated} judged'
            assert wait_for(lambda: page._listed, TIMEOUT)
            assert wait_for(lambda: any(name.endswith('markers/deformation')   # selected or not
                                        for name in page.names()), TIMEOUT)
            page._fraction.value = 0.98
            assert wait_for(lambda: 'closing/markers/hand' in page.names(), TIMEOUT)
            assert service.wait_for_service(TIMEOUT)

            def said(**moment):     # asked again: an answer may be lost, stages may be late
                future = service.call_async(ShowClosing.Request(rank=1, **moment))
                done = wait_for(future.done, ANSWER_TIME)
                return done and future.result().success and future.result().message
            assert wait_for(lambda: 'contacts' in (said(fraction=0.98) or ''), 5 * TIMEOUT)
            assert wait_for(lambda: said(duration=0.5), 5 * TIMEOUT)
            assert wait_for(lambda: 'closing/markers/deformation' in page.names(), TIMEOUT)
        finally:
            page.close()
