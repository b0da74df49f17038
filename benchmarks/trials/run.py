"""
Do from outside what others do: ``tools/trial.sh [NAME ...] [--nightly] [--seed K] [--out FILE]``.

Without names all trials run that take seconds; with ``--nightly`` those that take minutes, too.
Prints a table of what was tried, answered, refused, wrong and lost, and every fault; the exit code
is 1 if anything was wrong or lost. A trial is a function that fills a ``Tally``.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path

from .tally import table, Tally

HELPERS = Path(__file__).resolve().parents[2] / 'test' / 'helpers'
#: Requests with known answers; each has to be worked out here first.
CASES = 4
#: Of the suite that is asked about meshes that nobody chose.
NAMESPACE = '/strangers'
#: Of each kind of mesh that nobody chose.
STRANGERS, MANY_STRANGERS = 1, 25


class Trials:
    """All trials by name; they share a running suite, or two."""

    def __init__(self, folder: Path, seed: int, nightly: bool) -> None:
        """Prepare; nothing is started yet."""
        self.folder, self.seed, self.nightly = folder, seed, nightly
        self.opened = ExitStack()

    @cached_property
    def known(self) -> tuple[list, dict]:
        """Requests whose right answers are known, and those answers, of one process."""
        from fault_cases import write_answers

        from .stages import read_answers
        write_answers(self.answers, CASES)
        return read_answers(self.answers)

    @property
    def answers(self) -> Path:
        """File of the right answers."""
        return self.folder / 'answers.json'

    @cached_property
    def suite(self):
        """The running suite."""
        from gripsim_ros.ros.clients.suite import Suite
        from suite_cases import parameters
        return self.opened.enter_context(
            Suite(os.environ, parameters=parameters(self.folder)))

    @cached_property
    def client(self):
        """One caller of it."""
        from gripsim_ros.ros.clients.plan import PlanGraspClient
        self.suite      # before it
        return self.opened.enter_context(PlanGraspClient())

    @cached_property
    def stranger(self):
        """A caller of a second suite, in a namespace, with the options that users have."""
        from gripsim_ros.ros.clients.plan import PlanGraspClient
        from gripsim_ros.ros.clients.suite import Suite
        self.opened.enter_context(Suite(os.environ, namespace=NAMESPACE))
        return self.opened.enter_context(PlanGraspClient(namespace=NAMESPACE))

    def callers(self, tally: Tally) -> None:
        """Have thirty, or two hundred, callers ask at once."""
        from .callers import call_at_once, FEW, MANY
        self.known, self.client
        tally.note = f'{MANY if self.nightly else FEW} at once'
        call_at_once(tally, self.answers, MANY if self.nightly else FEW, self.seed)

    def forged(self, tally: Tally) -> None:
        """Have answers forged."""
        from .stages import forge_answers
        forge_answers(tally, self.client, *self.known)

    def strangers(self, tally: Tally) -> None:
        """Offer meshes that nobody chose."""
        from .strangers import offer
        offer(tally, self.stranger, self.folder, MANY_STRANGERS if self.nightly else STRANGERS,
              self.seed)

    def stages(self, tally: Tally) -> None:
        """Kill and stop every node."""
        from .stages import disturb_each
        disturb_each(tally, self.suite, self.client, *self.known,
                     seed=None if self.nightly else self.seed)

    def doctor(self, tally: Tally) -> None:
        """Ask the doctor."""
        from .machines import doctor
        self.client
        doctor(tally)

    def neighbours(self, tally: Tally) -> None:
        """Start a second suite in the same domain."""
        from .machines import neighbours
        known, right = self.known
        neighbours(tally, self.suite, self.client, known[0], right)

    def launch(self, tally: Tally) -> None:
        """Start the launch file, where launch is there."""
        from .machines import launch
        launch(tally)

    def load(self, tally: Tally) -> None:
        """Try what must hold at load 16."""
        from .machines import load
        load(tally)

    def cold(self, tally: Tally) -> None:
        """Plan for the first time without compiled kernels."""
        from .machines import cold
        cold(tally)

    def versions(self, tally: Tally) -> None:
        """Try the lowest, a middle and the newest versions of what is computed with."""
        from .machines import versions
        versions(tally)


#: Those that take seconds, and those that take minutes.
QUICK = ('callers', 'forged', 'stages', 'launch')
NIGHTLY = ('strangers', 'doctor', 'neighbours', 'load', 'cold', 'versions')


def run(trials: Trials, names: list[str]) -> list[Tally]:
    """Run trials one after the other; a trial that cannot go on counts as wrong."""
    tallies = []
    for name in names:
        print(f'{name} ...', file=sys.stderr, flush=True)
        tally, begin = Tally(name), time.monotonic()
        try:
            getattr(trials, name)(tally)
        except Exception as error:
            tally.add('wrong', name, f'{type(error).__name__}: {error}')
        tally.seconds = time.monotonic() - begin
        for fault in tally.faults:
            print(f'  {fault}', file=sys.stderr, flush=True)
        tallies.append(tally)
    return tallies


def main() -> int:
    """Run the trials that are named, or all; return the exit code."""
    parser = argparse.ArgumentParser(prog='tools/trial.sh', description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('names', nargs='*', metavar='NAME',
                        help=f'of {", ".join((*QUICK, *NIGHTLY))}')
    parser.add_argument('--nightly', action='store_true', help='those that take minutes, too')
    parser.add_argument('--seed', type=int, default=1, help='of everything left to chance')
    parser.add_argument('--out', type=Path, help='write the figures as JSON')
    options = parser.parse_args()
    unknown = set(options.names) - {*QUICK, *NIGHTLY}
    if unknown:
        parser.error(f'there is no trial {", ".join(sorted(unknown))}')
    sys.path.insert(0, str(HELPERS))
    from gripsim_ros.ros.environment import enter_isolation
    enter_isolation('trial')
    names = options.names or [*QUICK, *(NIGHTLY if options.nightly else ())]
    with tempfile.TemporaryDirectory() as folder:
        trials = Trials(Path(folder), options.seed, options.nightly)
        with trials.opened:
            tallies = run(trials, names)
    print(table(tallies))
    if options.out:
        options.out.write_text(json.dumps([t.record() for t in tallies], indent=1), 'utf-8')
    return int(any(tally.failed for tally in tallies))


if __name__ == '__main__':
    sys.exit(main())
