"""Nodes that are killed and stopped in the midst of plans, and answers that are forged."""

import json
import signal
import threading
import time

from .tally import ANSWERED, LOST, Tally, WRONG

#: Into a plan, a node is killed or stopped after so long; then started or let go on after [s].
DELAY, AWAY, STOPPED = 0.3, 1.0, 3.0
#: In which a plan is right again after a fault [s], and pause between two tries.
RECOVERY, AGAIN = 60.0, 0.5


def disturb_each(tally: Tally, suite, client, known: list, right: dict,
                 seed: int | None = None) -> None:
    """
    Kill and stop each node once while a plan is under way; then one plan must be right.

    With a seed each node is either killed or stopped, in turns, beginning with what it says.
    """
    for number, name in enumerate(suite.names):
        faults = (('killed', kill), ('stopped', stop))
        for kind, fault in faults if seed is None else (faults[(seed + number) % 2],):
            case = known[number % len(known)]
            worker = threading.Thread(target=fault, args=(suite, name), daemon=True)
            worker.start()
            judge_call(tally, client, case, right, f'{name} {kind}')
            worker.join()
            expect_right(tally, client, case, right, f'after {name} was {kind}')


def kill(suite, name: str) -> None:
    """Kill a node, and start it again as launch does."""
    time.sleep(DELAY)
    suite.processes[name].kill()
    suite.processes[name].wait()
    time.sleep(AWAY)
    suite.start([name])


def stop(suite, name: str) -> None:
    """Stop a node, and let it go on."""
    time.sleep(DELAY)
    suite.processes[name].send_signal(signal.SIGSTOP)
    time.sleep(STOPPED)
    suite.processes[name].send_signal(signal.SIGCONT)


def judge_call(tally: Tally, client, case, right: dict, what: str) -> bool:
    """
    Plan once while something is wrong; return whether the answer was right.

    A clear failure counts as refused; a planner that is away is told as lost by its client.
    """
    from fault_client import ANSWERED as DONE, judged
    from gripsim_ros.ros.clients.plan import STATUS_NAMES, ServerLost
    try:
        result = client.plan(case.goal)
    except ServerLost:
        tally.add('refused', what)
        return False
    status = STATUS_NAMES[result.status]
    wrong = judged(result, status, [right[case.name]])
    tally.add(WRONG if wrong else ANSWERED if status in DONE else 'refused', what, wrong)
    return not wrong and status in DONE


def expect_right(tally: Tally, client, case, right: dict, what: str) -> None:
    """Plan until the answer is right, for ``RECOVERY``; clear failures meanwhile do not count."""
    begin, passing = time.monotonic(), Tally('passing')
    while not judge_call(passing, client, case, right, what):
        if passing.faults or time.monotonic() - begin > RECOVERY:
            tally.add(WRONG if passing.faults else LOST, what, ' '.join(passing.faults)
                      or f'no right answer within {RECOVERY:g} s')
            return
        time.sleep(AGAIN)
    tally.add(ANSWERED, what)


def forge_answers(tally: Tally, client, known: list, right: dict) -> None:
    """Plan while each kind of forged answer comes to every question."""
    from forged_answers import TOPICS, forger
    count = 0
    for number, forge in enumerate(TOPICS):
        with forger(client, forge) as sent:
            judge_call(tally, client, known[number % len(known)], right, forge.__name__)
        count += len(sent)
        if not sent:
            tally.add(WRONG, forge.__name__, 'nothing was forged')
    tally.note = f'{count} forged answers'


def read_answers(path) -> tuple[list, dict]:
    """Return the requests whose answers are known, and the answers by name."""
    from fault_cases import cases
    right = json.loads(path.read_text(encoding='utf-8'))
    return [case for case in cases() if case.name in right], right
