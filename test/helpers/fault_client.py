"""
One caller of a suite under faults: ``python fault_client.py KIND SEED ANSWERS``.

Prints one JSON object a line for each call, until its standard input closes, and rests between
two calls from a line ``rest`` there to the next line. ``stream`` plans,
cancels, evaluates and asks for an object by its label; ``spoilt`` sends messages with one field
wrong in turn, and now and then a mesh of half a million triangles where its file is given.
"""

import functools
import json
import os
from pathlib import Path
import random
import sys
import threading
import time

from fault_cases import (
    HYPOTHESES, LABEL, SPOILT_TIME, TIME, answer_of, cases, evaluation, is_line, reader, request,
    rich_requests)
from fault_messages import spoilt, ways_to_spoil
from fault_run import REST, RESTING
from gripsim_interfaces.action import PlanGrasps
from gripsim_interfaces.srv import EvaluateGrasp, PlanGrasp, ShowClosing
import numpy as np
from suite_cases import as_request

from gripsim_ros.core.errors import GripsimError
from gripsim_ros.ros.clients.plan import GRACE, STATUS_NAMES, PlanGraspClient, ServerLost

#: Most times that a spoilt request is sent again where the suite was not there or busy.
TRIES = 10
#: Draws of two fields that are wrong at once; those count where both are of one request.
PAIRS = 8000
#: From the begin of one large mesh to that of the next [s]: as often late in a run as early.
LARGE_PERIOD = 90.0
#: What a caller that gets no processor may take beyond its limit [s].
SLACK = 30.0
ANSWERED = ('SUCCEEDED', 'NO_GRASP')
#: What a caller may get instead of the right answer while nodes are killed.
FAILED = ('TIMED_OUT', 'CANCELED', 'STAGE_MISSING', 'BUSY')
#: What a planner that was asked to end says.
ENDING = ('the node is shutting down', 'the node is not active')


class Caller:
    """Makes calls, judges and tells what came of them."""

    def __init__(self, seed: int, answers: dict, idle: float = 1.0) -> None:
        """Connect; ``idle`` is the longest pause between two calls of a stream [s]."""
        self.random, self.answers, self._idle = random.Random(seed), answers, idle
        self._reader = reader()
        self.client = PlanGraspClient(node_name=f'fault_client_{os.getpid()}')
        self.stop, self._resting = threading.Event(), threading.Event()
        self._larges, self._next_large = 0, time.monotonic() + LARGE_PERIOD
        threading.Thread(target=self._wait_for_end, daemon=True).start()

    def _wait_for_end(self) -> None:
        for line in sys.stdin:
            if line.strip() == REST:
                self._resting.set()
            else:
                self._resting.clear()
        self._resting.clear()
        self.stop.set()

    def _rest(self) -> None:
        """Call nobody while all are to rest; say when that begins."""
        if self._resting.is_set():
            print(json.dumps({RESTING: True}), flush=True)
        while self._resting.is_set():
            time.sleep(0.1)

    def call(self, what: str, ask, judge, limit: float) -> str:
        """Make a call; print how it went, and return its status."""
        self._rest()
        begin, wrong, message = time.monotonic(), '', ''
        try:
            result = ask()
            status, message = STATUS_NAMES[result.status], result.message
            wrong = judge(result, status)
        except ServerLost as error:
            status, message = 'LOST', str(error)
        except Exception as error:
            status, wrong = 'ERROR', f'{type(error).__name__}: {error}'
        took = time.monotonic() - begin
        if took > limit + GRACE + SLACK:
            wrong = wrong or f'took {took:.1f} s with a limit of {limit:g} s'
        print(json.dumps({'what': what, 'begin': begin, 'took': round(took, 3), 'status': status,
                          'message': message[:300], 'wrong': wrong}), flush=True)
        return status

    # -- a stream of plans ------------------------------------------------------------

    def stream(self) -> None:
        """Plan, one call after the other."""
        known = [case for case in cases() if case.name in self.answers]
        last: list = []
        while not self.stop.is_set():
            case = self.random.choice(known)
            draw = self.random.random()
            if draw < 0.15:
                self._cancel(case)
            elif draw < 0.3:
                self._by_label()
            elif draw < 0.4 and last:
                self._evaluate(case, last)
            else:
                self._plan(case, last, by_service=draw > 0.8)
            self.stop.wait(self._idle * self.random.random())

    def _plan(self, case, last: list, by_service: bool) -> None:
        def ask():
            if by_service:
                return self.client.plan_by_service(as_request(case.goal, PlanGrasp.Request))
            return self.client.plan(case.goal)

        def judge(result, status):
            last[:] = [(case.name, result.grasps[0])] if result.grasps else []
            return judged(result, status, [self.answers[case.name]])
        self.call(f'{"service" if by_service else "action"} {case.name}', ask, judge, TIME)

    def _cancel(self, case) -> None:
        end = time.monotonic() + 2.0 * self.random.random()
        goal = PlanGrasps.Goal(**{name: getattr(case.goal, name)
                                  for name in case.goal.get_fields_and_field_types()})
        goal.max_hypotheses = 100 * HYPOTHESES
        self.call(f'cancel {case.name}',
                  lambda: self.client.plan(goal, lambda _: time.monotonic() < end),
                  lambda result, status: '' if status in (*FAILED, *ANSWERED)
                  or result.message in ENDING else f'{status}: {result.message}', TIME)

    def _by_label(self) -> None:
        goal = PlanGrasps.Goal(object_id=LABEL, max_hypotheses=HYPOTHESES, max_planning_time=TIME)
        right = [self.answers[f'{LABEL} {kind}'] for kind in ('ball', 'box')]

        def judge(result, status):
            if status == 'INVALID_REQUEST' and 'published' in result.message:
                return ''       # the planner is young and nobody has told it yet
            return judged(result, status, right)
        self.call('label', lambda: self.client.plan(goal), judge, TIME)

    def _evaluate(self, case, last: list) -> None:
        name, grasp = last[0]
        known = {case.name: case for case in cases()}[name]
        question = as_request(known.goal, EvaluateGrasp.Request)
        question.grasps = [grasp]
        self.call(f'evaluate {name}', lambda: self.client.evaluate(question),
                  lambda result, status: '' if status in FAILED or result.message in ENDING or (
                      status == 'SUCCEEDED' and result.grasps[0].stable)
                  else f'{status} {result.message} {list(result.reasons)}', TIME)

    # -- spoilt requests --------------------------------------------------------------

    def spoilt(self, large: Path | None, most: int | None = None) -> None:
        """Send every mutant of every request: what is malformed first, in an order of chance."""
        work = [(name, message, (mutant,)) for name, message in self._requests()
                for mutant in ways_to_spoil(message)]
        self.random.shuffle(work)
        for _ in range(PAIRS):
            (name, message, ways), (other, _, more) = self.random.sample(work, 2)
            work += [(name, message, ways + more)] if name == other else []
        understood = []
        for item in work[:most]:
            if self.stop.is_set():
                return
            understood += [] if self._send_spoilt(*item, only_refused=True) else [item]
            self._large_in_turn(large)
        for item in understood:
            if self.stop.is_set():
                return
            self._send_spoilt(*item)
            self._large_in_turn(large)
        while not self.stop.wait(1.0):
            self._rest()
            self._large_in_turn(large)

    def _send_spoilt(self, name: str, message, ways: tuple, only_refused: bool = False) -> bool:
        """Send a spoilt message until it is answered; return whether it was to be sent."""
        broken = spoilt(message, *ways)
        refused = broken is not None and self._is_refused(broken)
        if broken is None or (only_refused and not refused):
            return False
        for _ in range(TRIES):
            if self.stop.is_set():
                break
            if self._spoilt(name, ways, broken, refused) not in ('LOST', 'BUSY', 'STAGE_MISSING'):
                break
            self.stop.wait(self.random.random())
        return True

    def _is_refused(self, message) -> bool:
        """Return whether one process refuses a request."""
        if isinstance(message, ShowClosing.Request):
            return False
        try:
            with np.errstate(all='ignore'):
                self._reader.read(message)
        except GripsimError:
            return True
        return False

    def _requests(self):
        requests = rich_requests()
        yield from requests.items()
        yield 'goal', PlanGrasps.Goal(**{
            name: getattr(requests['mesh'], name)
            for name in PlanGrasps.Goal.get_fields_and_field_types()})
        yield 'closing', ShowClosing.Request(rank=1, fraction=0.5)
        grasp = self._some_grasp()
        if grasp is not None:
            yield 'evaluate', evaluation([grasp])

    def _some_grasp(self):
        """Return a grasp to be spoilt, planned as soon as the suite lets it."""
        while not self.stop.is_set():
            try:
                result = self.client.plan(request('ball', max_grasps=1))
                if result.grasps:
                    return result.grasps[0]
            except ServerLost:
                pass
            self.stop.wait(1.0)
        return None

    def _spoilt(self, name: str, ways: tuple, message, refused: bool) -> str:
        ask = {EvaluateGrasp.Request: self.client.evaluate, PlanGrasps.Goal: self.client.plan,
               PlanGrasp.Request: self.client.plan_by_service}.get(type(message))
        what = f'{"malformed" if refused else "spoilt"} ' + ' and '.join(
            f'{name}.{way.path} = {way.label}' for way in ways)
        if ask is None:
            return self._spoilt_closing(what, message)
        limit = message.max_planning_time
        limit = limit if 0.0 < limit < 1e5 else 60.0

        def judge(result, status):
            if status == 'INVALID_REQUEST':
                return '' if is_line(result.message) else f'not a line: {result.message[:200]!r}'
            wrong = status == 'INTERNAL' and result.message not in ENDING
            return f'{status}: {result.message}' if wrong or (
                refused and status in ANSWERED) else ''
        return self.call(what, lambda: ask(message, timeout=limit + GRACE), judge, limit)

    def _spoilt_closing(self, what: str, message) -> str:
        client = self.client
        if not hasattr(self, '_closing'):
            self._closing = client.node.create_client(ShowClosing, 'show_closing')

        def ask():
            client.wait_for_server()
            end = time.monotonic() + 2.0 * SPOILT_TIME + GRACE
            answer = client._await(self._closing.call_async(message), end, None)
            return PlanGrasp.Response(
                status=PlanGrasp.Response.SUCCEEDED if answer.success
                else PlanGrasp.Response.INVALID_REQUEST, message=answer.message)
        return self.call(what, ask, lambda result, status: '' if is_line(result.message)
                         else f'not a line: {result.message[:200]!r}', 2.0 * SPOILT_TIME)

    def _large_in_turn(self, file: Path | None) -> None:
        """Ask for a large mesh if it is time for one, by its file and in the message in turn."""
        if file is None or time.monotonic() < self._next_large:
            return
        self._next_large = time.monotonic() + LARGE_PERIOD
        self._larges += 1
        self._large(file, inline=self._larges % 2 == 0)

    def _large(self, file: Path, inline: bool) -> None:
        goal = request('ball', max_hypotheses=2)
        goal.mesh = type(goal.mesh)()
        if inline:
            from gripsim_ros.core.bodies import load_mesh
            from gripsim_ros.ros.conversions import mesh_to_msg
            mesh = load_mesh(file).mesh
            goal.mesh = mesh_to_msg(mesh.vertices, mesh.faces)
        else:
            goal.mesh_resource = str(file)
        self.call(f'large {"message" if inline else "file"}', lambda: self.client.plan(goal),
                  lambda result, status: '' if status in (*FAILED, *ANSWERED)
                  else f'{status}: {result.message}', TIME)


def judged(result, status: str, right: list[dict]) -> str:
    """Return what is wrong with an answer, or ''."""
    if status in ANSWERED:
        told = answer_of(result)
        if result.message and status == 'SUCCEEDED':
            return f'{status} with {result.message!r}'
        return '' if told in right else f'wrong ranking: {json.dumps(told)[:2000]}'
    if status == 'INTERNAL' and result.message in ENDING:
        return ''
    if status not in FAILED:
        return f'{status}: {result.message}'
    return '' if is_line(result.message) or status == 'CANCELED' else f'{status} says nothing'


def main(kind: str, seed: str, answers: str, *rest: str) -> None:
    """Call until the standard input closes."""
    right = json.loads(Path(answers).read_text(encoding='utf-8'))
    if kind == 'stream':
        caller = Caller(int(seed), right, float(rest[0]))
        work = caller.stream
    else:
        caller, large = Caller(int(seed), right), Path(rest[0]) if rest[0] else None
        work = functools.partial(caller.spoilt, large, int(rest[1]) if len(rest) > 1 else None)
    try:
        work()
    finally:
        caller.client.close()


if __name__ == '__main__':
    main(*sys.argv[1:])
