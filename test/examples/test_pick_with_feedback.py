"""The example of picking, stage by stage and where it fails; the tutorial of docs/clients.md."""

import contextlib
import functools
import os
import re
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces')

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'examples'))

import pick_with_feedback as example  # noqa: E402
import rclpy  # noqa: E402
import lossy_planner  # noqa: E402
from action_msgs.msg import GoalStatus  # noqa: E402
from gripsim_interfaces.action import PlanGrasps  # noqa: E402
from gripsim_interfaces.msg import Grasp  # noqa: E402
from gripsim_interfaces.srv import PlanGrasp  # noqa: E402
from rclpy.action.server import GoalResponse  # noqa: E402
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor  # noqa: E402

from gripsim_ros.ros import environment  # noqa: E402
from gripsim_ros.ros.clients import plan as client_module  # noqa: E402
from gripsim_ros.ros.clients.plan import PlanGraspClient, ServerLost, Status  # noqa: E402

#: For what must come, and of a planner that is silent on purpose [s].
DISCOVERY, SILENCE, SHORT_SILENCE = 60.0, 30.0, 3.0
#: Middleware may drop an answer to a client that it has just met: so the manual says, ask again.
MOST_ASKS = 4
#: Given to the function for the service [s].
LIMIT = 20.0


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


def test_the_domain_of_a_running_suite_is_joined(tmp_path, monkeypatch):
    monkeypatch.setattr(environment, '_held', {})
    monkeypatch.setattr(environment.tempfile, 'gettempdir', lambda: str(tmp_path))
    monkeypatch.delenv('ROS_DOMAIN_ID')
    domain, seen = environment.claim_domain(environment.SUITE), []

    def lost(namespace):
        seen.append(os.environ.get('ROS_DOMAIN_ID'))
        raise ServerLost('not there')
    monkeypatch.setattr(example, 'PlanGraspClient', lost)
    assert example.main(['ball.stl']) == 1
    assert seen == [str(domain)]


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


@pytest.mark.parametrize('ended', [
    GoalStatus.STATUS_ABORTED, GoalStatus.STATUS_CANCELED, GoalStatus.STATUS_UNKNOWN])
def test_an_executor_that_ends_without_a_result_has_not_succeeded(monkeypatch, ended):
    empty = SimpleNamespace(status=ended, result=example.ExecuteGrasp.Result())
    with pytest.raises(ServerLost, match='without a result'):
        carried_out(monkeypatch, empty)


@pytest.mark.parametrize('ended, status', [
    (GoalStatus.STATUS_SUCCEEDED, example.ExecuteGrasp.Result.SUCCEEDED),
    (GoalStatus.STATUS_ABORTED, example.ExecuteGrasp.Result.MISSED_CONTACT),
    (GoalStatus.STATUS_CANCELED, example.ExecuteGrasp.Result.CANCELED)])
def test_a_result_that_agrees_with_the_end_of_its_goal_is_taken(monkeypatch, ended, status):
    told = example.ExecuteGrasp.Result(status=status)
    assert carried_out(monkeypatch, SimpleNamespace(status=ended, result=told)) is told


def carried_out(monkeypatch, answer):
    """Return what the example makes of the answer to an accepted goal."""
    picking = task()
    handle = SimpleNamespace(accepted=True, get_result_async=None)
    answers = [(handle, 1), (answer, 1)]
    monkeypatch.setattr(picking, '_answer', lambda *_: answers.pop(0))
    return picking._carried_out(None, None)


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


def defined(word):
    """Return what the code of the manual with a word in it defines."""
    text = (ROOT / 'docs' / 'clients.md').read_text(encoding='utf-8')
    code, = [block for block in re.findall(r'^```python\n(.*?)^```$', text, re.M | re.S)
             if word in block]
    names = {'__name__': 'tutorial'}
    exec(compile(code, 'clients.md', 'exec'), names)
    return names


@pytest.fixture(scope='module')
def context():
    """Begin ROS as a program does, in the planner's namespace."""
    rclpy.init(args=['--ros-args', '-r', f'__ns:=/{lossy_planner.NAMESPACE}'],
               signal_handler_options=rclpy.SignalHandlerOptions.NO)
    yield
    rclpy.try_shutdown()


@pytest.fixture
def tutorial(context):
    """Return what the rclpy example defines, with the patience of a busy machine."""
    names = defined('class Asker')
    names.update(DISCOVERY=DISCOVERY, SILENCE=SILENCE)
    return names


@pytest.fixture
def asker(tutorial):
    node = tutorial['Asker']()
    yield node
    node.client.destroy()
    node.destroy_node()


@pytest.fixture(scope='module')
def serving():
    """Return a planner that answers, or keeps its answers to itself."""
    context = rclpy.Context()
    rclpy.init(context=context, signal_handler_options=rclpy.SignalHandlerOptions.NO)
    lossy = lossy_planner.LossyPlanner(context)
    executor = MultiThreadedExecutor(4, context=context)
    executor.add_node(lossy.node)

    def spin():
        with contextlib.suppress(ExternalShutdownException):
            executor.spin()

    thread = threading.Thread(target=spin, daemon=True)
    thread.start()
    yield lossy
    executor.shutdown(1.0)
    thread.join(5.0)
    lossy._action.destroy()
    lossy.node.destroy_node()
    context.try_shutdown()


@pytest.fixture
def planner(serving):
    """Return the planner, which answers everything."""
    serving.losses.clear()
    serving.accepts = GoalResponse.ACCEPT
    return serving


def first(ask):
    """Return the first answer that comes, asked as often as the manual says."""
    for _ in range(MOST_ASKS - 1):
        with contextlib.suppress(RuntimeError):     # also its own ServerLost
            answer = ask()
            if answer is not None:
                return answer
    return ask()


def test_the_tutorial_finds_no_planner_that_is_not_there(tutorial, asker):
    tutorial['DISCOVERY'] = 0.2
    with pytest.raises(tutorial['ServerLost'], match='no grasp_planner'):
        asker.ask(PlanGrasps.Goal())


def test_the_tutorial_gets_its_answer(asker, planner):
    assert first(lambda: asker.ask(PlanGrasps.Goal())).evaluated == lossy_planner.EVALUATED


@pytest.mark.parametrize('lost', [
    'send_goal_response', pytest.param('send_result_response', marks=pytest.mark.nightly)])
def test_the_tutorial_notices_a_planner_that_is_silent(tutorial, asker, planner, lost):
    tutorial['SILENCE'] = SHORT_SILENCE
    planner.losses[lost] = lossy_planner.ALWAYS
    with pytest.raises(tutorial['ServerLost'], match='silent'):
        asker.ask(PlanGrasps.Goal())


@pytest.fixture
def plan(monkeypatch):
    """Return the function of the manual that uses the client, in the planner's namespace."""
    monkeypatch.setattr(client_module, 'SILENCE', SILENCE)
    monkeypatch.setattr(client_module, 'DISCOVERY_TIMEOUT', DISCOVERY)
    names = defined('PlanGraspClient')
    names['PlanGraspClient'] = functools.partial(PlanGraspClient, lossy_planner.NAMESPACE)
    return names['plan']


def test_the_manual_plans_by_the_client(plan, planner):
    assert plan('apple.stl').evaluated == lossy_planner.EVALUATED


def test_the_manual_asks_again_where_the_planner_is_lost(plan, planner, capsys):
    planner.accepts = GoalResponse.REJECT
    with pytest.raises(SystemExit, match='the planner stays away'):
        plan('apple.stl', tries=2)
    assert capsys.readouterr().out.count('asking again') == 2


@pytest.fixture
def caller(context):
    node = rclpy.create_node('caller')
    yield node
    node.destroy_node()


def test_the_manual_calls_the_service(caller, planner):
    client = caller.create_client(PlanGrasp, 'plan_grasp')
    call = defined('def call(')['call']
    assert isinstance(first(lambda: call(caller, client, PlanGrasp.Request(), LIMIT)),
                      PlanGrasp.Response)


def test_the_manual_notices_a_service_that_goes_away_and_forgets_its_request(caller):
    future, forgotten = SimpleNamespace(done=lambda: False), []
    client = SimpleNamespace(
        wait_for_service=lambda timeout_sec: True, call_async=lambda request: future,
        service_is_ready=lambda: False, remove_pending_request=forgotten.append)
    assert defined('def call(')['call'](caller, client, None, LIMIT) is None
    assert forgotten == [future]


def test_the_manual_notices_a_service_that_is_not_there(caller):
    client = SimpleNamespace(wait_for_service=lambda timeout_sec: False)
    assert defined('def call(')['call'](caller, client, None, LIMIT) is None
