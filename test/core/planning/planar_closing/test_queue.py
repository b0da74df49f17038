"""Hypotheses that wait for their closing, in the order of their prospects."""

from functools import partial
from types import SimpleNamespace

from hypothesis import given, strategies as st
import numpy as np

from gripsim_ros.core.planning.planar_closing.prospects import Prospect
from gripsim_ros.core.planning.planar_closing.queue import ClosingQueue
from gripsim_ros.core.planning.rejections import NO_PLANAR_BALANCE


def queue_of(prospects, first=1):
    """Return a queue of numbers with a judge that knows their prospects: None, or a score."""
    items = [SimpleNamespace(hypothesis=SimpleNamespace(number=i), held=None, reason='')
             for i in range(len(prospects))]
    for item in items:
        item.fail = partial(setattr, item, 'reason')

    def prospect(hypothesis):
        score = prospects[hypothesis.number]
        return Prospect(False) if score is None else Prospect(True, score)
    return ClosingQueue(items, SimpleNamespace(foretells=True, prospect=prospect), first)


def numbers(closings):
    """Return the hypotheses' numbers."""
    return [closing.hypothesis.number for closing in closings]


def test_what_has_no_hope_is_refused_only_where_something_holds():
    queue = queue_of([0.5, None, 0.5, None])
    begun = queue.take(3)
    assert numbers(begun) == [0, 2] and len(queue) == 2
    queue.note(SimpleNamespace(held=object()))
    assert not queue.take(3) and not queue.refused      # another is not done yet
    queue.note(SimpleNamespace(held=None))
    assert not queue.take(3) and len(queue) == 0
    assert [closing.reason for closing in queue.refused] == 2 * [NO_PLANAR_BALANCE]


def test_what_has_no_hope_is_worked_on_where_nothing_holds():
    queue = queue_of([None, 0.5, None])
    for number in (1, 0, 2):
        assert numbers(queue.take(1)) == [number]
        queue.note(SimpleNamespace(held=None))
    assert len(queue) == 0 and not queue.refused


def test_a_queue_of_hopeless_closings_begins_at_once():
    assert numbers(queue_of([None, None, None]).take(2)) == [0, 1]


SCORES = st.lists(st.one_of(st.none(), st.just(-np.inf), st.floats(0.0, 1.0)), max_size=30)


@given(prospects=SCORES, first=st.integers(1, 10), count=st.integers(1, 5), ahead=st.booleans())
def test_a_first_wave_begins_as_it_comes_and_the_best_prospects_after_it(
        prospects, first, count, ahead):
    queue, begun = queue_of(prospects, first), []
    while taken := queue.take(count):
        begun += numbers(taken)
        if ahead:
            queue.look_ahead()
    promising = [i for i, score in enumerate(prospects) if score is not None]
    if not promising:       # nothing is foretold that would put anything off
        assert begun == list(range(len(prospects)))
        return
    assert begun[:first] == promising[:first]
    assert begun[first:] == sorted(promising[first:], key=lambda i: -prospects[i])


@given(prospects=SCORES, first=st.integers(1, 10), count=st.integers(1, 5))
def test_prospects_that_others_find_make_the_same_order(prospects, first, count):
    alone, shared = queue_of(prospects, first), queue_of(prospects, first)
    judge = queue_of(prospects)
    begun, out = [], []
    while True:
        if sought := shared.seek(2):
            out.append(sought)
        elif taken := shared.take(count):
            begun += numbers(taken)
        elif out:
            assert not shared.take(1)       # none begins before all are learned
            shared.learn({n: judge.prospect(waiting) for waiting in judge
                          if (n := waiting.hypothesis.number) in out[-1]})
            out.pop()
        else:
            break
    assert begun == numbers(alone.take(len(prospects)))


def test_looking_ahead_finds_one_prospect_at_a_time_once_the_first_wave_has_begun():
    queue = queue_of([0.1, 0.5, 0.3])
    assert not queue.look_ahead() and not queue.lacks_prospects
    queue.take(1)
    looked = 0
    while queue.lacks_prospects:
        assert queue.look_ahead()
        looked += 1
    assert looked == 2 and not queue.look_ahead()


@given(prospects=SCORES, least=st.floats(0.0, 1.0))
def test_what_is_hopeless_is_held_back_until_it_is_released(prospects, least):
    queue, begun = queue_of([0.5, *prospects]), []
    while taken := queue.take(1, lambda score: score < least):
        begun += numbers(taken)
    of = [0.5, *prospects]
    hopeful = [i for i, score in enumerate(of) if i and score is not None and score >= least]
    assert begun[0] == 0 and sorted(begun[1:]) == hopeful
    held = numbers(queue.held_back)
    assert all(of[i] < least for i in held)
    queue.release(2)
    assert numbers(queue.take(9, lambda score: True)) == held[:2]


def test_those_without_forces_are_refused_once_such_are_hopeless_and_another_holds():
    queue = queue_of([0.5, -np.inf, -np.inf])
    begun = queue.take(1)
    assert not queue.take(2, lambda score: score < -1e6) and not queue.held_back
    queue.note(SimpleNamespace(held=object()))
    assert numbers(begun) == [0] and not queue.take(2) and len(queue.refused) == 2


def test_a_queue_that_nothing_is_foretold_of_keeps_its_order():
    items = [SimpleNamespace(hypothesis=SimpleNamespace(number=i)) for i in range(5)]
    queue = ClosingQueue(items, SimpleNamespace(foretells=False), 1)
    assert not queue.look_ahead() and not queue.seek(3)
    assert numbers(queue.take(9, lambda score: score < 0.9)) == list(range(5))
