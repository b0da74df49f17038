"""The command ``gripsim``: its verbs, its exit codes, its one-line errors."""

import sys
import traceback
from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated

import typer

from ... import __version__
from ...core.errors import GripsimError
from . import (
    calibrate, contact, demo, doctor, emulate_sdh, evaluate, examples, execute, export, fk, hand,
    indent, palpate, plan, preshape, record, replay, squeeze, suite, sweep, view)
from .arguments import NumbersCommand
from .output import end_beside_threads, keep_answers_apart, say

DONE, FAULT, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130

#: ``typer.BadParameter`` is a usage error, and that a command line error; the classes
#: themselves live in click or inside typer, depending on typer's version.
CommandLineError = typer.BadParameter.__mro__[2]

app = typer.Typer(
    name='gripsim', add_completion=False, context_settings={'help_option_names': ['-h', '--help']},
    help='Plan grasps of deformable objects with a multi-finger hand.',
    epilog='Exit codes: 0 done, 2 bad input (one line says what), 1 a fault, 130 interrupted.')
for _name, _verb in (
        ('plan', plan.plan), ('evaluate', evaluate.evaluate), ('contact', contact.contact),
        ('indent', indent.indent), ('squeeze', squeeze.squeeze),
        ('calibrate', calibrate.calibrate), ('fk', fk.fk), ('sweep', sweep.sweep),
        ('preshape', preshape.preshape),
        ('execute', execute.execute), ('palpate', palpate.palpate), ('export', export.export),
        ('demo', demo.demo),
        ('examples', examples.examples),
        ('record', record.record), ('replay', replay.replay), ('view', view.view),
        ('doctor', doctor.doctor), ('emulate-sdh', emulate_sdh.emulate_sdh)):
    app.command(_name, cls=NumbersCommand)(_verb)
app.add_typer(suite.app, name='suite')
app.add_typer(hand.app, name='hand')


@app.callback()
def _options(
        version: Annotated[bool, typer.Option(
            '--version', help='Print the version and leave.', is_eager=True)] = False,
        debug: Annotated[bool, typer.Option(
            '--debug', help='Show the traceback of a fault; allowed anywhere.')] = False) -> None:
    """Hold the options that go before a verb; both are dealt with in ``main``."""


def main(argv: Sequence[str] | None = None) -> int:
    """
    Run ``gripsim`` and return its exit code.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments without the program's name; those of the process by default.

    Returns
    -------
    int
        0 done, 1 a fault, 2 bad input, 130 interrupted.
    """
    if argv is None:
        keep_answers_apart()
    arguments = list(sys.argv[1:] if argv is None else argv)
    debug = '--debug' in arguments
    arguments = [argument for argument in arguments if argument != '--debug'] or ['--help']
    if arguments == ['--version']:
        print(__version__)
        return DONE
    code = _guarded(arguments, debug)
    if argv is None:
        end_beside_threads(code)
    return code


def _guarded(arguments: list[str], debug: bool) -> int:
    try:
        code = _command().main(args=arguments, prog_name='gripsim', standalone_mode=False)
        return code if isinstance(code, int) else DONE
    except (CommandLineError, GripsimError) as error:
        say(f'gripsim: {_one_line(error)}')
        return BAD_INPUT
    except (KeyboardInterrupt, typer.Abort):
        say('gripsim: interrupted')
        return INTERRUPTED
    except BrokenPipeError:
        sys.stdout = None   # the reader has gone; nothing is left to be flushed to it
        return DONE
    except Exception as error:
        if debug:
            traceback.print_exc()
        else:
            say(f'gripsim: fault: {type(error).__name__}: {_one_line(error)} '
                '(run again with --debug for the traceback)')
        return FAULT


@lru_cache(maxsize=1)
def _command() -> typer.core.TyperGroup:
    """Return the command with its verbs, made once: their signatures take some hundredths."""
    return typer.main.get_command(app)


def _one_line(error: BaseException) -> str:
    message = error.format_message() if isinstance(error, CommandLineError) else str(error)
    return ' '.join(message.split())
