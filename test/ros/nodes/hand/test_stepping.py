"""Steps of the simulation: each is made once, by one client, in turn."""

import pytest

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

from gripsim_interfaces.srv import StepSimulation  # noqa: E402

from gripsim_ros.hardware.sim.options import SimulationError  # noqa: E402
from gripsim_ros.ros.nodes.hand import stepping as module  # noqa: E402
from gripsim_ros.ros.nodes.hand.stepping import STEP_PATIENCE, Stepping  # noqa: E402


def ask(driver, step):
    return StepSimulation.Request(driver=driver, step=step)


def make(stepping, driver, step):
    """Make a step as the simulation does; return its answer."""
    request = ask(driver, step)
    answer = stepping.known(request)
    if answer is None:
        answer = StepSimulation.Response(success=True, time=float(step))
        stepping.note(request, answer)
    return answer


@pytest.fixture
def stepping():
    """Return a simulation that client `a` has taken on by three steps."""
    begun = Stepping()
    assert not begun.stands
    for step in range(3):
        make(begun, 'a', step)
    assert begun.stands
    return begun


def test_a_step_that_is_asked_for_again_gets_the_same_answer(stepping):
    assert make(stepping, 'a', 2) is make(stepping, 'a', 2)
    assert make(stepping, 'a', 2).time == 2.0


@pytest.mark.parametrize('driver, step, words', [
    ('a', 0, 'step 3 comes next, got 0'), ('a', 1, 'step 3 comes next, got 1'),
    ('a', 4, 'step 3 comes next, got 4'), ('b', 3, 'another client'), ('', 3, 'must be a name')])
def test_a_step_out_of_turn_is_refused_and_harms_nobody(stepping, driver, step, words):
    with pytest.raises(SimulationError, match=words):
        stepping.known(ask(driver, step))
    assert make(stepping, 'a', 3).time == 3.0


def test_a_new_client_takes_over_and_the_old_one_is_told(stepping):
    make(stepping, 'b', 0)
    with pytest.raises(SimulationError, match='another client'):
        stepping.known(ask('a', 3))
    assert make(stepping, 'b', 1).time == 1.0


def test_only_who_steps_can_release(stepping):
    stepping.release('b')
    assert stepping.stands
    stepping.release('a')
    assert not stepping.stands
    with pytest.raises(SimulationError, match='it was released'):
        stepping.known(ask('a', 3))


def test_the_simulation_goes_on_by_itself_where_its_client_is_silent(stepping, monkeypatch):
    late = module.time.monotonic() + STEP_PATIENCE + 1.0
    monkeypatch.setattr(module.time, 'monotonic', lambda: late)
    assert not stepping.stands
    with pytest.raises(SimulationError, match='goes on by itself'):
        stepping.known(ask('a', 3))


def test_an_answer_to_a_client_that_has_gone_is_not_kept(stepping):
    stepping.end('another object came')
    stepping.note(ask('a', 3), StepSimulation.Response())
    with pytest.raises(SimulationError, match='another object came'):
        stepping.known(ask('a', 3))
