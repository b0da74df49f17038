"""
Many callers at once: each is answered rightly, or refused with BUSY in one line.

``python -m benchmarks.trials.callers ANSWERS THREADS START SEED`` is one process of them: it calls
from so many threads at once at a moment of the clock and prints a line of JSON for each call.
"""

import json
import random
import subprocess
import sys
import threading
import time
from pathlib import Path

from .tally import ANSWERED, LOST, REFUSED, Tally, WRONG

#: Callers of the short trial and of the long one, and how many of them share a process.
FEW, MANY = 30, 200
SHARE = 10
#: Time that processes have to start, for each of them, and in which all must be answered [s].
START_TIME, ANSWER_TIME = 2.5, 400.0
#: Held while a caller prints its line.
TELLING = threading.Lock()


def call_at_once(tally: Tally, answers: Path, count: int, seed: int) -> None:
    """Have ``count`` callers ask at the same moment, half by service and half by action."""
    processes = -(-count // SHARE)
    start = time.time() + 3.0 + START_TIME * processes
    children = [subprocess.Popen(
        [sys.executable, '-m', __name__, str(answers), str(min(SHARE, count - SHARE * number)),
         repr(start), str(seed + number)], stdout=subprocess.PIPE, text=True)
        for number in range(processes)]
    end, told = start + ANSWER_TIME, []
    for child in children:
        try:
            told += child.communicate(timeout=max(1.0, end - time.time()))[0].splitlines()
        except subprocess.TimeoutExpired:
            child.kill()
            told += child.communicate()[0].splitlines()
    for line in told:
        _judge(tally, json.loads(line))
    for _ in range(count - len(told)):
        tally.add(LOST, 'a caller', f'no answer within {ANSWER_TIME:g} s')


def _judge(tally: Tally, call: dict) -> None:
    if call['status'] == 'LOST':
        tally.add(LOST, call['what'], call['message'])
    elif call['wrong']:
        tally.add(WRONG, call['what'], call['wrong'])
    else:
        tally.add(REFUSED if call['status'] == 'BUSY' else ANSWERED, call['what'])


def main(answers: str, threads: str, start: str, seed: str) -> None:
    """Call at the given moment."""
    from fault_cases import cases
    from gripsim_ros.ros.clients.plan import PlanGraspClient
    right = json.loads(Path(answers).read_text(encoding='utf-8'))
    known = [case for case in cases() if case.name in right]
    chance = random.Random(int(seed))
    with PlanGraspClient() as client:
        client.wait_for_server(60.0)
        callers = [threading.Thread(target=_call, args=(
            client, chance.choice(known), right, number % 2 == 0, float(start)))
            for number in range(int(threads))]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()


def _call(client, case, right: dict, by_service: bool, start: float) -> None:
    """Ask once, and print how it went."""
    from fault_client import judged
    from gripsim_interfaces.srv import PlanGrasp
    from gripsim_ros.ros.clients.plan import STATUS_NAMES, ServerLost
    from suite_cases import as_request
    time.sleep(max(0.0, start - time.time()))
    what, wrong = f'{"service" if by_service else "action"} {case.name}', ''
    try:
        result = (client.plan_by_service(as_request(case.goal, PlanGrasp.Request)) if by_service
                  else client.plan(case.goal))
        status, message = STATUS_NAMES[result.status], result.message
        if status not in ('SUCCEEDED', 'NO_GRASP', 'BUSY'):
            wrong = f'{status}: {message}'
        else:
            wrong = judged(result, status, [right[case.name]])
    except ServerLost as error:
        status, message = 'LOST', str(error)
    except Exception as error:
        status, message, wrong = 'ERROR', '', f'{type(error).__name__}: {error}'
    line = json.dumps({'what': what, 'status': status, 'message': message, 'wrong': wrong})
    with TELLING:
        print(line, flush=True)


if __name__ == '__main__':
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'test' / 'helpers'))
    main(*sys.argv[1:])
