"""The example of picking, stage by stage and where it fails; the tutorial of docs/clients.md."""

import contextlib
import re
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces')

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / 'examples'))

import pick_with_feedback as example  # noqa: E402
import rclpy  # noqa: E402
import test_client  # noqa: E402
from gripsim_interfaces.action import PlanGrasps  # noqa: E402
from gripsim_interfaces.msg import Grasp  # noqa: E402
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor  # noqa: E402

from gripsim_ros.client import ServerLost, Status  # noqa: E402


class Planner:
    """Answers in turn what it is given: results, or errors to raise."""

    def __init__(self, *answers):
        self.answers, self.goals = list(answers), []

    def plan(self, goal, on_feedback):
        self.goals.append(goal)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def task(*answers, arguments=()):
    """Return a task whose planner answers so."""
    return example.PickTask(Planner(*answers), example.read_options(['ball.stl', *arguments]))


def result(status=Status.SUCCEEDED, count=1, message=''):
    grasps = [Grasp(rank=rank, margin=1.2, quantitative=True) for rank in range(1, count + 1)]
    return PlanGrasps.Result(status=status, grasps=grasps, message=message)


@pytest.fixture(autouse=True)
def no_pause(monkeypatch):
    monkeypatch.setattr(example, 'PAUSE', 0.0)


def test_the_object_is_asked_for_by_its_label_and_no_mesh_is_sent():
    picking = task(result(count=2), arguments=['--label', 'pear', '--time', '9'])
    assert picking.plan().startswith('SUCCEEDED, 2 grasps')
    goal, = picking.client.goals
    assert (goal.object_id, goal.mesh_resource, goal.max_planning_time) == ('pear', '', 9.0)


@pytest.mark.parametrize('first', [
    ServerLost('went away'), result(Status.BUSY, 0),
    result(Status.INVALID_REQUEST, 0, "give mesh or the object_id, got 'picked'")])
def test_a_planner_that_is_lost_busy_or_new_is_asked_again(first):
    picking = task(first, result())
    assert picking.plan().startswith('SUCCEEDED')
    assert len(picking.client.goals) == 2


def test_a_planner_that_stays_lost_ends_the_task():
    with pytest.raises(ServerLost):
        task(*[ServerLost('went away')] * example.TRIES).plan()


def test_bad_input_is_not_asked_for_again():
    picking = task(result(Status.INVALID_REQUEST, 0, 'scale must be above 0'))
    with pytest.raises(example.StageFailed, match='INVALID_REQUEST: scale must be above 0'):
        picking.plan()
    assert len(picking.client.goals) == 1


@pytest.mark.parametrize('enough, stable, go_on', [
    (0, 50, True), (3, 2, True), (3, 3, False), (3, 4, False)])
def test_planning_is_cancelled_once_enough_grasps_hold(enough, stable, go_on):
    picking = task(arguments=['--enough', str(enough)])
    assert picking._on_feedback(PlanGrasps.Feedback(stable=stable)) is go_on


def test_the_first_grasp_that_is_good_enough_is_chosen():
    picking = task(arguments=['--least-margin', '1.1'])
    picking.grasps = [Grasp(rank=1, margin=1.0, quantitative=True),
                      Grasp(rank=2, margin=1.3, quantitative=False),
                      Grasp(rank=3, margin=1.2, quantitative=True)]
    picking.choose()
    assert picking.grasp.rank == 3
    picking.grasps.pop()
    with pytest.raises(example.StageFailed, match='none of 2 grasps'):
        picking.choose()


def test_an_executor_that_goes_away_is_noticed():
    future = SimpleNamespace(done=lambda: False)
    with pytest.raises(ServerLost):
        task()._answer(SimpleNamespace(server_is_ready=lambda: False), lambda: future, [1e18])


def test_an_executor_whose_answer_is_lost_is_asked_again_about_the_same_goal(monkeypatch):
    monkeypatch.setattr(example, 'ASK_AGAIN', 0.0)
    futures = [SimpleNamespace(done=lambda: False),
               SimpleNamespace(done=lambda: True, result=lambda: 'answer')]
    heard = [time.monotonic()]
    assert task()._answer(SimpleNamespace(server_is_ready=lambda: True),
                          lambda: futures.pop(0), heard) == ('answer', 2)


def test_a_simulated_hand_that_is_not_ready_for_the_object_is_asked_again(monkeypatch):
    Result = example.ExecuteGrasp.Result
    late = Result(status=Result.INVALID_REQUEST,
                  message="the simulated hand holds the object '', not 'picked'")
    answers = [late, late, Result(status=Result.SUCCEEDED, lifted=True)]
    monkeypatch.setattr(example, 'ActionClient', lambda *_: SimpleNamespace(
        wait_for_server=lambda timeout: True))
    picking = task()
    picking.client.node = None
    picking.grasp = Grasp(rank=1)
    monkeypatch.setattr(picking, '_carried_out', lambda action, goal: answers.pop(0))
    assert picking.execute() == 'lifted and released' and not answers
    answers = [Result(status=Result.INVALID_REQUEST, message='no such link'), late]
    with pytest.raises(example.StageFailed, match='no such link'):
        picking.execute()
    assert answers == [late]


@pytest.mark.parametrize('error, code', [
    (example.StageFailed('x'), 1), (ServerLost('x'), 1), (example.GripsimError('x'), 2),
    (KeyboardInterrupt(), 130)])
def test_exit_codes(monkeypatch, capsys, error, code):
    class Client:
        def __init__(self, **_):
            pass

        def __enter__(self):
            raise error

        def __exit__(self, *_):
            pass

    monkeypatch.setattr(example, 'PlanGraspClient', Client)
    assert example.main(['ball.stl']) == code
    assert len(capsys.readouterr().err.splitlines()) == (code != 130)


def test_wrong_options_are_refused(capsys):
    with pytest.raises(SystemExit):
        example.read_options(['ball.stl', '--lift', 'high'])
    assert 'invalid float value' in capsys.readouterr().err


def test_the_package_in_cpp_names_what_it_uses():
    folder = ROOT / 'examples' / 'plan_grasps_rclcpp'
    cmake, manifest = (folder / 'CMakeLists.txt').read_text(), (folder / 'package.xml').read_text()
    for package in ('rclcpp', 'rclcpp_action', 'gripsim_interfaces'):
        assert f'find_package({package} REQUIRED)' in cmake
        assert f'<depend>{package}</depend>' in manifest
    assert (folder / 'src' / 'plan_grasps.cpp').is_file()


# -- the code of docs/clients.md ---------------------------------------------------------


@pytest.fixture(scope='module')
def tutorial():
    """Return what the rclpy example of the manual defines, with short times."""
    text = (ROOT / 'docs' / 'clients.md').read_text(encoding='utf-8')
    code, = [block for block in re.findall(r'^```python\n(.*?)^```$', text, re.M | re.S)
             if 'class Asker' in block]
    names = {'__name__': 'tutorial'}
    exec(compile(code, 'clients.md', 'exec'), names)
    names.update(DISCOVERY=5.0, SILENCE=1.0)
    rclpy.init(args=['--ros-args', '-r', f'__ns:=/{test_client.NAMESPACE}'],
               signal_handler_options=rclpy.SignalHandlerOptions.NO)
    yield names
    rclpy.try_shutdown()


@pytest.fixture
def asker(tutorial):
    node = tutorial['Asker']()
    yield node
    node.destroy_node()


@pytest.fixture(scope='module')
def planner():
    """Return a planner that answers, or keeps its answers to itself."""
    context = rclpy.Context()
    rclpy.init(context=context, signal_handler_options=rclpy.SignalHandlerOptions.NO)
    lossy = test_client.LossyPlanner(context)
    executor = MultiThreadedExecutor(4, context=context)
    executor.add_node(lossy.node)

    def spin():
        with contextlib.suppress(ExternalShutdownException):
            executor.spin()

    thread = threading.Thread(target=spin, daemon=True)
    thread.start()
    yield lossy
    executor.shutdown(1.0)
    context.try_shutdown()
    thread.join(5.0)


def test_the_tutorial_finds_no_planner_that_is_not_there(tutorial, asker):
    tutorial['DISCOVERY'] = 0.2
    with pytest.raises(tutorial['ServerLost'], match='no grasp_planner'):
        asker.ask(PlanGrasps.Goal())
    tutorial['DISCOVERY'] = 5.0


def test_the_tutorial_gets_its_answer(asker, planner):
    planner.losses.clear()
    assert asker.ask(PlanGrasps.Goal()).evaluated == test_client.EVALUATED


@pytest.mark.parametrize('lost', ['send_goal_response', 'send_result_response'])
def test_the_tutorial_notices_a_planner_that_is_silent(tutorial, asker, planner, lost):
    planner.losses.clear()
    planner.losses[lost] = test_client.ALWAYS
    with pytest.raises(tutorial['ServerLost'], match='silent'):
        asker.ask(PlanGrasps.Goal())
