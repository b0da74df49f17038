"""The planner's end of the ring: turns, credits, retries and budgets, by a made-up clock."""

import pytest

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

from gripsim_ros.core.planning.progress import Ask, Progress  # noqa: E402
from gripsim_ros.ros.nodes.planner.dispatcher import LOAD_MEMORY, Dispatcher  # noqa: E402
from gripsim_ros.ros.nodes.planner.sessions import (  # noqa: E402
    CANCELED, DONE, INTERNAL, INVALID, STAGE_MISSING, STAGES, TIMED_OUT, Answer, RingSettings,
    Session)

CREDITS, TIMEOUT, ATTEMPTS = 4, 1.0, 5


class CountingPlanner:
    """Asks ``total`` questions, ``width`` at a time, and keeps what it is told."""

    def __init__(self, total, width=100):
        self.total, self.width = total, width
        self.told, self.failed, self.asked, self.stopped = {}, [], 0, False

    def ask(self):
        if self.stopped or self.asked >= self.total or self.asked - len(self.told) >= self.width:
            return None
        self.asked += 1
        return Ask(self.asked - 1, None)

    def tell(self, batch_id, states):
        if states == 'fault':
            raise KeyError('broken')
        self.told.setdefault(batch_id, states)

    def tell_failed(self, batch_id):
        self.failed.append(batch_id)
        self.told[batch_id] = None

    def stop(self):
        self.stopped = True

    def go_on(self):
        return False

    @property
    def progress(self):
        return Progress(len(self.told), self.total, 0, None)


class Body:
    """An object by its name."""

    def __init__(self, name):
        self.name = name


class Ring:
    """A dispatcher, a clock that is set by hand, and a list of what was sent."""

    def __init__(self):
        self.now, self.sent, self.objects, self.absent = 100.0, [], [], []
        self.dispatcher = Dispatcher(
            RingSettings(CREDITS, TIMEOUT, ATTEMPTS), self._send,
            lambda body: self.objects.append(body.name),
            lambda: self.absent, lambda: self.now)

    def _send(self, session, ask, attempt):
        self.sent.append((session.request_id, ask.batch_id, attempt))

    def begin(self, name, planner, limit=60.0, took=0.0, body=None, **fields):
        session = Session(name, self.now, self.now + limit, **fields)
        self.dispatcher.submit(session)
        self.dispatcher.prepared(session, planner, body or Body(f'object of {name}'), took)
        return session

    def step(self, seconds=0.0):
        """Let time pass, take events, and do what follows."""
        self.now += seconds
        while not self.dispatcher._events.empty():
            self.dispatcher._events.get()()
        return self.dispatcher.step()

    def answer(self, name, batch_id, attempt=0, states='states', **fields):
        self.dispatcher.answer(Answer(name, batch_id, attempt, states, **fields))

    def lack(self, seconds):
        """Say of the last batch that a stage lacks its object, and let time pass."""
        self.answer(*self.sent[-1], None, unknown_object=True, message='contact_detection: no')
        self.step()
        self.step(seconds)

    def answer_all(self):
        """Answer whatever was sent until nothing more is."""
        while self.sent:
            sent, self.sent = self.sent, []
            for name, batch_id, attempt in sent:
                self.answer(name, batch_id, attempt)
            self.step()


@pytest.fixture
def ring():
    return Ring()


def test_a_session_ends_when_every_question_is_answered(ring):
    planner = CountingPlanner(10)
    session = ring.begin('a', planner)
    ring.step()
    ring.answer_all()
    assert session.done.is_set() and session.outcome == DONE
    assert sorted(planner.told) == list(range(10))


def test_no_more_batches_are_out_than_there_are_credits(ring):
    ring.begin('a', CountingPlanner(10))
    ring.step()
    assert len(ring.sent) == CREDITS
    ring.answer('a', 0)
    ring.step()
    assert len(ring.sent) == CREDITS + 1


def test_sessions_take_turns_by_batch(ring):
    for name in 'abc':
        ring.begin(name, CountingPlanner(50))
    ring.step()
    for _ in range(5):
        sent, ring.sent = ring.sent, []
        for name, batch_id, attempt in sent:
            ring.answer(name, batch_id, attempt)
        ring.step()
    laps = [session.planner.asked for session in ring.dispatcher._sessions]
    assert max(laps) - min(laps) <= 1


def test_a_lost_batch_is_asked_for_again(ring):
    ring.begin('a', CountingPlanner(1))
    ring.step()
    ring.step(0.5 * TIMEOUT)
    assert ring.sent == [('a', 0, 0)]
    ring.step(0.6 * TIMEOUT)
    assert ring.sent == [('a', 0, 0), ('a', 0, 1)]


def test_a_late_answer_counts_and_the_second_is_dropped(ring):
    planner = CountingPlanner(1)
    session = ring.begin('a', planner)
    ring.step()
    ring.step(1.1 * TIMEOUT)
    ring.answer('a', 0, attempt=0, states='first')
    ring.answer('a', 0, attempt=1, states='second')
    ring.step()
    assert session.outcome == DONE and planner.told == {0: 'first'}


@pytest.mark.parametrize('reached, named', [(0, 0), (1, 1), (2, 2)])
def test_a_silent_stage_is_named_after_the_last_attempt(ring, reached, named):
    session = ring.begin('a', CountingPlanner(1))
    ring.step()
    for _ in range(ATTEMPTS):
        assert not session.done.is_set()
        for stage in STAGES[:reached]:
            ring.dispatcher.reached('a', 0, stage)
        ring.step(1.01 * TIMEOUT)
    assert session.outcome == STAGE_MISSING and session.message.startswith(STAGES[named])
    assert len(ring.sent) == ATTEMPTS


def test_a_stage_that_the_graph_does_not_show_is_named(ring):
    ring.absent = ['contact_detection']
    session = ring.begin('a', CountingPlanner(1))
    while not session.done.is_set():
        ring.step(0.3 * TIMEOUT)
    assert session.outcome == STAGE_MISSING
    assert session.message.startswith('contact_detection is not there')


def test_nothing_is_sent_before_the_stages_are_discovered(ring):
    ring.absent = ['deformation']
    ring.begin('a', CountingPlanner(1))
    ring.step()
    ring.step(0.1 * TIMEOUT)
    assert not ring.sent
    ring.absent = []
    ring.step(0.1 * TIMEOUT)
    assert ring.sent == [('a', 0, 0)]


def test_time_up_while_a_stage_is_silent_says_stage_missing(ring):
    session = ring.begin('a', CountingPlanner(1), limit=2.5 * TIMEOUT)
    ring.step()
    for _ in range(3):
        ring.step(TIMEOUT)
    assert session.outcome == STAGE_MISSING


def test_time_up_ends_with_what_there_is(ring):
    planner = CountingPlanner(1000, width=1)
    session = ring.begin('a', planner, limit=2.0)
    for i in range(100):
        ring.step(0.1)
        if session.done.is_set():
            break
        ring.answer('a', i)
    assert session.outcome == TIMED_OUT and planner.stopped
    assert ring.now <= 102.0 + 0.11


def test_time_is_up_though_answers_wait_that_take_long(ring):
    session = ring.begin('a', CountingPlanner(1000, width=1), limit=3.0)
    ended = []

    def take_a_second():
        if session.done.is_set() and not ended:
            ended.append(ring.now)
        ring.now += 1.0
    for _ in range(20):
        ring.dispatcher._events.put(take_a_second)
    ring.dispatcher._events.put(ring.dispatcher.close)
    ring.dispatcher.run()
    assert session.outcome in (TIMED_OUT, STAGE_MISSING) and ended[0] <= 100.0 + 3.0 + 1.0


def test_details_after_the_stop_are_not_a_time_out(ring):
    class DetailPlanner(CountingPlanner):
        @property
        def progress(self):
            return Progress(3, 3, 1, None)
    planner = DetailPlanner(1)
    session = ring.begin('a', planner, limit=2.0)
    ring.step()
    ring.step(1.9)
    ring.answer('a', 0)
    ring.step()
    assert planner.stopped and session.outcome == DONE


def foreign(ask, grasp_object):
    return 'it is about another object'


def test_an_answer_that_does_not_fit_is_dropped_and_the_right_one_counts(ring):
    planner = CountingPlanner(1)
    session = ring.begin('a', planner)
    ring.step()
    for fields in ({'misfit': foreign}, {'misfit': foreign, 'fatal': True},
                   {'misfit': foreign, 'unknown_object': True}, {'attempt': 1}):
        ring.answer('a', 0, **{'states': 'forged', **fields})
    ring.step()
    assert not session.done.is_set() and not planner.told and not ring.objects
    ring.answer('a', 0, states='right')
    ring.step()
    assert session.outcome == DONE and planner.told == {0: 'right'}
    assert ring.dispatcher.misfits == 4


def test_a_fault_inside_a_planner_is_told_with_its_traceback(ring):
    told = []
    ring.dispatcher._on_fault = lambda error, text: told.append((str(error), text))
    session = ring.begin('a', CountingPlanner(1))
    ring.step()
    ring.answer('a', 0, states='fault')
    ring.step()
    assert session.outcome == INTERNAL
    assert len(told) == 1 and 'broken' in told[0][0] and 'Traceback' in told[0][1]


def test_a_ring_that_gives_no_answer_that_fits_is_told_as_such(ring):
    told = []
    ring.dispatcher._on_misfit = told.append
    session = ring.begin('a', CountingPlanner(1))
    ring.step()
    for attempt in range(ATTEMPTS):
        ring.answer('a', 0, attempt, misfit=foreign)
        ring.step()
        ring.step(1.01 * TIMEOUT)
    assert session.outcome == STAGE_MISSING and 'it is about another object' in session.message
    assert len(told) == ATTEMPTS


def test_batches_behind_one_that_was_answered_wait_on(ring):
    ring.begin('a', CountingPlanner(4))
    ring.step()
    ring.step(0.9 * TIMEOUT)
    ring.answer('a', 0)
    ring.step()
    ring.step(0.9 * TIMEOUT)
    assert len(ring.sent) == 4
    ring.step(0.2 * TIMEOUT)
    assert ring.sent[4:] == [('a', 1, 1), ('a', 2, 1), ('a', 3, 1)]


def test_a_batch_that_was_sent_again_waits_behind_those_sent_meanwhile(ring):
    ring.begin('a', CountingPlanner(1))
    ring.step()
    ring.begin('b', CountingPlanner(1))
    ring.step(0.8 * TIMEOUT)
    ring.step(0.2 * TIMEOUT)
    ring.answer('b', 0)
    ring.step(0.7 * TIMEOUT)
    ring.step(0.5 * TIMEOUT)
    assert ring.sent == [('a', 0, 0), ('b', 0, 0), ('a', 0, 1)]


def test_a_stage_that_says_that_it_is_at_work_is_waited_for(ring):
    planner = CountingPlanner(1)
    session = ring.begin('a', planner)
    ring.step()
    for _ in range(10 * ATTEMPTS):
        ring.step(TIMEOUT)
        ring.dispatcher.at_work()
    assert not session.done.is_set() and len(ring.sent) <= 2
    for _ in range(10 * ATTEMPTS):      # it says so no more
        ring.step(TIMEOUT)
    assert session.outcome == STAGE_MISSING


def test_batches_of_ended_sessions_do_not_crowd_the_queues(ring):
    for name in 'abcd':
        session = ring.begin(name, CountingPlanner(100))
        ring.step()
        ring.dispatcher.cancel(session)
        ring.step()
    assert len(ring.sent) == 2 * CREDITS, 'the queues of the stages hold no more'
    ring.begin('e', CountingPlanner(100))
    ring.step()
    assert len(ring.sent) == 2 * CREDITS
    ring.answer('a', 0)
    ring.step()
    assert len(ring.sent) == 2 * CREDITS + 1
    ring.step(TIMEOUT)
    assert len([attempt for *_, attempt in ring.sent if attempt == 0]) == 3 * CREDITS


def test_a_stage_that_loads_is_waited_for_though_it_starts_over_meanwhile(ring):
    ring.absent = ['contact_detection']
    session = ring.begin('a', CountingPlanner(1))
    ring.step()
    assert ring.dispatcher.watching
    ring.dispatcher.at_work(loading=True)
    ring.step(LOAD_MEMORY - TIMEOUT)
    assert not ring.sent and not session.done.is_set(), 'there is nobody to be asked'
    ring.absent = []
    ring.step(0.1 * TIMEOUT)
    assert ring.sent == [('a', 0, 0)]
    ring.dispatcher.at_work(loading=True)       # it was seen, but starts over
    for _ in range(2 * ATTEMPTS):
        ring.step(1.01 * TIMEOUT)
    ring.answer('a', 0, attempt=1)
    ring.step()
    assert session.outcome == DONE


def test_time_up_while_a_stage_is_at_work_is_a_time_out(ring):
    session = ring.begin('a', CountingPlanner(1), limit=5.0)
    ring.step()
    for _ in range(5):
        ring.step(1.0)
        ring.dispatcher.at_work()
        ring.step()
    assert session.done.is_set() and session.outcome == TIMED_OUT


def test_an_unknown_object_is_published_again_and_the_batch_sent_again(ring):
    planner = CountingPlanner(1)
    session = ring.begin('a', planner)
    ring.step()
    ring.answer('a', 0, 0, None, unknown_object=True, message='contact_detection: no')
    ring.step()
    assert ring.objects == ['object of a']
    ring.step(0.05)
    assert ring.sent[-1] == ('a', 0, 1)
    ring.answer('a', 0, 1)
    ring.step()
    assert session.outcome == DONE


def test_a_stage_that_never_takes_the_object_ends_the_session_with_its_name(ring):
    session = ring.begin('a', CountingPlanner(1))
    ring.step()
    begin = ring.now
    while not session.done.is_set():
        ring.lack(0.01)
    assert session.outcome == STAGE_MISSING and session.message == 'contact_detection: no'
    assert ring.now - begin == pytest.approx(ATTEMPTS * TIMEOUT, abs=TIMEOUT)
    assert len(ring.objects) == 3, 'at once, after 1 s and 2 s more: a large one fills queues'
    assert len(ring.sent) < 4 * ATTEMPTS


def test_a_stage_that_says_that_it_lacks_the_object_is_waited_for_as_one_that_is_silent(ring):
    session = ring.begin('a', CountingPlanner(1))
    ring.step()
    while ring.now < 100.0 + 0.9 * ATTEMPTS * TIMEOUT:      # the object is on its way
        ring.lack(0.01)
    ring.answer(*ring.sent[-1])
    ring.step()
    assert session.outcome == DONE


def test_time_up_while_a_stage_lacks_the_object_says_so(ring):
    session = ring.begin('a', CountingPlanner(1), limit=2.5 * TIMEOUT, took=40.0 * TIMEOUT)
    ring.step()
    while not session.done.is_set():
        ring.lack(0.1)
    assert session.outcome == STAGE_MISSING and session.message == 'contact_detection: no'


def test_a_stage_that_was_silent_once_and_lacks_the_object_is_told_by_its_own_words(ring):
    session = ring.begin('a', CountingPlanner(1))
    ring.step()
    ring.step(1.01 * TIMEOUT)
    while not session.done.is_set():
        ring.lack(0.01)
    assert session.outcome == STAGE_MISSING and session.message == 'contact_detection: no'


def test_an_object_that_is_known_to_the_planner_may_be_new_to_the_stages(ring):
    body = Body('slow')
    ring.begin('a', CountingPlanner(0), took=40.0 * TIMEOUT, body=body)
    ring.step()
    ring.begin('b', CountingPlanner(1), took=0.0, body=body)
    ring.step()
    for _ in range(19):
        ring.step(TIMEOUT)
    assert ring.sent == [('b', 0, 0)]


def test_an_object_that_cannot_be_published_ends_its_session_alone(ring):
    other = ring.begin('b', CountingPlanner(1))
    session = ring.begin('a', CountingPlanner(1), body=object.__new__(Body))    # without a name
    ring.step()
    ring.answer('a', 0, 0, None, unknown_object=True, message='contact_detection: no')
    ring.step()
    assert session.outcome == INTERNAL and 'name' in session.message
    ring.answer('b', 0)
    ring.step()
    assert other.outcome == DONE


def test_stages_have_the_longer_for_an_object_the_longer_the_planner_took(ring):
    session = ring.begin('a', CountingPlanner(1), limit=1000.0, took=40.0 * TIMEOUT)
    ring.step()
    for _ in range(19):
        ring.step(TIMEOUT)
    assert len(ring.sent) == 1 and not ring.dispatcher.watching
    while not session.done.is_set():
        ring.step(TIMEOUT)
    assert session.outcome == STAGE_MISSING and '5 attempts within 20 s each' in session.message
    assert len(ring.sent) == ATTEMPTS


def test_another_hand_ends_the_session_at_once(ring):
    session = ring.begin('a', CountingPlanner(5))
    ring.step()
    ring.answer('a', 0, 0, None, fatal=True, message='deformation: holds another hand')
    ring.step()
    assert session.outcome == INTERNAL and 'deformation' in session.message


def test_a_batch_that_fails_in_a_stage_is_told_as_failed_and_remembered(ring):
    planner = CountingPlanner(2)
    session = ring.begin('a', planner)
    ring.step()
    ring.answer('a', 0, 0, None, message='deformation: singular')
    ring.answer('a', 1)
    ring.step()
    assert session.outcome == DONE and planner.failed == [0]
    assert session.failures == 'deformation: singular'


def test_a_fault_of_one_planner_ends_its_session_alone(ring):
    broken, whole = ring.begin('a', CountingPlanner(1)), ring.begin('b', CountingPlanner(1))
    ring.step()
    ring.answer('a', 0, states='fault')
    ring.answer('b', 0)
    ring.step()
    assert broken.outcome == INTERNAL and 'KeyError' in broken.message
    assert whole.outcome == DONE


def test_cancel_ends_at_once_and_frees_the_credits(ring):
    first, second = CountingPlanner(50), CountingPlanner(50)
    session = ring.begin('a', first)
    ring.step()
    ring.begin('b', second)
    ring.step()
    assert second.asked == 0
    ring.dispatcher.cancel(session)
    ring.step()
    assert session.outcome == CANCELED and first.stopped and second.asked == CREDITS


def test_a_session_can_end_while_its_planner_is_being_prepared(ring):
    session = Session('a', ring.now, ring.now + 1.0)
    ring.dispatcher.submit(session)
    ring.step()
    ring.step(1.1)
    assert session.outcome == TIMED_OUT
    ring.dispatcher.prepared(session, CountingPlanner(1), Body('x'))
    ring.step()
    assert session.planner is None and not ring.sent


def test_a_request_that_cannot_be_prepared_is_refused(ring):
    session = Session('a', ring.now, ring.now + 1.0)
    ring.dispatcher.submit(session)
    ring.dispatcher.refuse(session, INVALID, 'mesh is open')
    ring.step()
    assert session.outcome == INVALID and session.message == 'mesh is open'


def test_progress_is_reported_on_change_and_as_a_heartbeat(ring):
    reports = []
    ring.begin('a', CountingPlanner(2, width=1), on_progress=reports.append)
    ring.step()
    ring.step(0.2)
    assert [r.evaluated for r in reports] == [0]
    ring.answer('a', 0)
    ring.step(0.2)
    assert [r.evaluated for r in reports] == [0, 1]
    ring.step(1.05)
    assert [r.evaluated for r in reports] == [0, 1, 1]


def test_closing_ends_all_sessions(ring):
    session = ring.begin('a', CountingPlanner(5))
    ring.step()
    ring.dispatcher.close()
    ring.step()
    assert session.done.is_set() and session.outcome == INTERNAL


def test_details_that_never_come_are_a_time_out(ring):
    class JudgedPlanner(CountingPlanner):
        @property
        def progress(self):
            return Progress(3, 3, 1, None)
    session = ring.begin('a', JudgedPlanner(1), limit=2.0)
    ring.step()
    ring.step(2.1)      # what is told of the grasps would not be what it is without a limit
    assert session.done.is_set() and session.outcome == TIMED_OUT


# -- two stages --------------------------------------------------------------------------


class TwoStagePlanner(CountingPlanner):
    """Asks one question of the search, one of the second stage, and one to complete the first."""

    def __init__(self):
        super().__init__(1)
        self.steps, self.refusals, self.waits = ['search'], [], set()

    def ask(self):
        ask = None if self.asked >= self.total else super().ask()
        self.waits |= set() if ask is None else {ask.batch_id}
        return ask

    def tell(self, batch_id, states):
        super().tell(batch_id, states)
        self.waits.discard(batch_id)

    def is_asked(self, batch_id):
        return batch_id in self.waits

    def go_on(self):
        if self.steps == ['search'] and not self.stopped:
            self.steps.append('again')
        elif len(self.told) < 2 and self.steps[-1] != 'completed':
            self.steps.append('completed')
        else:
            return False
        self.total, self.stopped = self.total + 1, False
        return True

    def stop(self):
        super().stop()
        self.waits = set()

    def refuse(self, reason):
        self.refusals.append(reason)
        self.waits = set()

    @property
    def progress(self):
        return Progress(min(len(self.told), 1), 1, 1, None, self.steps[-1])


class PartsPlanner(CountingPlanner):
    """Has parts to do that ask nothing."""

    def __init__(self, parts):
        super().__init__(0)
        self.parts = parts

    def go_on(self):
        self.parts -= 1
        return self.parts >= 0


def test_others_and_limits_come_between_parts_that_ask_nothing(ring):
    planner, late = PartsPlanner(4), PartsPlanner(100)
    session = ring.begin('a', planner)
    ring.begin('b', late, limit=1.0)
    ring.step()
    assert (planner.parts, late.parts) == (3, 99) and not ring.dispatcher._events.empty()
    ring.begin('c', CountingPlanner(1))
    ring.step()
    assert ring.sent == [('c', 0, 0)] and planner.parts == 2
    ring.step(2.0)
    assert late.stopped
    for _ in range(3):
        ring.step()
    assert session.done.is_set() and session.outcome == DONE


def test_a_fault_while_looking_ahead_ends_its_session_alone(ring):
    session, other = ring.begin('a', CountingPlanner(1)), ring.begin('b', LookingPlanner(3))
    wait = ring.step()
    assert ring.dispatcher._looked_ahead(ring.now + wait)
    assert session.outcome == INTERNAL and 'look_ahead' in session.message
    assert session.done.is_set() and not other.done.is_set()


class LookingPlanner(CountingPlanner):
    """Has something to look ahead for while its one question is out."""

    def __init__(self, ahead, ring=None):
        super().__init__(1)
        self.ahead, self.ring = ahead, ring

    def look_ahead(self):
        self.ahead -= 1
        if self.ring is not None and self.ahead == 2:
            self.ring.answer('a', 0)
        return self.ahead >= 0


def test_planners_look_ahead_while_nothing_comes_and_are_then_asked_again(ring):
    planners = LookingPlanner(5), LookingPlanner(3)
    for name, planner in zip('ab', planners):
        ring.begin(name, planner)
    wait = ring.step()
    assert ring.dispatcher._looked_ahead(ring.now + wait)
    assert all(planner.ahead < 0 for planner in planners)
    assert not ring.dispatcher._looked_ahead(ring.now + wait)   # nothing is left: it waits


def test_an_answer_or_a_limit_ends_looking_ahead(ring):
    planner = LookingPlanner(10, ring)
    ring.begin('a', planner)
    wait = ring.step()
    assert not ring.dispatcher._looked_ahead(ring.now)
    assert planner.ahead == 10
    assert not ring.dispatcher._looked_ahead(ring.now + wait)
    assert planner.ahead == 2 and not ring.dispatcher._events.empty()


@pytest.fixture
def again(ring):
    """Return a planner whose second stage has asked, and its session."""
    planner = TwoStagePlanner()
    session = ring.begin('a', planner, limit=10.0)
    ring.step()
    ring.answer('a', 0)
    ring.step()
    assert planner.steps == ['search', 'again'] and ring.sent[-1] == ('a', 1, 0)
    return planner, session


def prepare(ring, seconds):
    """Say of the last batch that a stage prepares for it, and let time pass."""
    ring.answer(*ring.sent[-1], None, preparing=True, message='prepares')
    ring.step()
    ring.step(seconds)


def test_a_second_stage_waits_for_what_is_prepared_and_nothing_else(ring, again):
    planner, session = again
    for _ in range(3 * ATTEMPTS):      # longer than a silent stage, or one without the object
        prepare(ring, 0.5)
    assert not session.done.is_set() and not ring.objects
    assert ring.sent[-1][:2] == ('a', 1) and ring.sent[-1][2] == 3 * ATTEMPTS
    ring.answer(*ring.sent[-1])
    ring.step()
    assert session.outcome == DONE and sorted(planner.told) == [0, 1]


def test_a_stage_that_dies_while_it_prepares_is_asked_again_then_named(ring, again):
    planner, session = again
    prepare(ring, 0.5)
    for _ in range(ATTEMPTS):
        ring.step(TIMEOUT)
    assert session.outcome == STAGE_MISSING
    assert session.message.startswith('forward_kinematics is there but silent')


def test_a_limit_that_ends_before_leaves_time_to_complete_the_searchs_answer(ring, again):
    planner, session = again
    while not planner.steps[-1] == 'completed':
        assert not session.done.is_set() and ring.now < session.deadline
        prepare(ring, 0.5)
    assert ring.sent[-1] == ('a', 2, 0) and ring.dispatcher.outstanding == 1
    ring.answer('a', 2)
    ring.step()
    assert session.outcome == DONE and ring.now < session.deadline


def test_a_cancel_while_it_is_prepared_is_prompt(ring, again):
    planner, session = again
    prepare(ring, 0.0)
    ring.dispatcher.cancel(session)
    ring.step()
    assert session.outcome == CANCELED and planner.stopped and not ring.dispatcher.outstanding


def test_what_cannot_be_prepared_is_told_and_completed(ring, again):
    planner, session = again
    ring.answer('a', 1, states=None, no_compliance=True, reason='too odd')
    ring.step()
    assert planner.refusals == ['too odd'] and planner.steps[-1] == 'completed'
    ring.answer('a', 2)
    ring.step()
    assert session.outcome == DONE and not session.failures
