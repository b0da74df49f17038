"""``gripsim emulate-sdh``: an SDH that is not there, for drivers."""

import sys
from typing import Annotated

import typer

from .inputs import InputError
from .output import say

#: Highest port.
MOST_PORT = 65535


def emulate_sdh(
        host: Annotated[str, typer.Option(help='Address to listen on.')] = '127.0.0.1',
        port: Annotated[int, typer.Option(
            help='TCP port of the joints (the hand has 23); 0: a free one.')] = 2323,
        tactile_port: Annotated[int, typer.Option(
            help='TCP port of the tactile sensors; 0: a free one.')] = 13000,
        pty: Annotated[bool, typer.Option(
            '--pty', help='Two pseudo-terminals instead of TCP ports.')] = False,
        can: Annotated[str, typer.Option(
            metavar='can://CHANNEL', help='The joints on CAN instead, by python-can.')] = '',
        firmware: Annotated[str, typer.Option(help='Version to tell.')] = '0.0.3.3',
        baudrate: Annotated[int, typer.Option(
            help='Answer as slowly as a serial line of this speed; 0: at once.')] = 0,
        fault: Annotated[list[str] | None, typer.Option(
            metavar='KIND[:PROBABILITY][@REQUEST]',
            help='What goes wrong, such as silence:0.01 or error@m; may be repeated.')] = None,
        block: Annotated[list[str] | None, typer.Option(
            metavar='AXIS=DEGREES', help='Something solid in the way; may be repeated.')] = None,
        temperature: Annotated[float, typer.Option(
            help='Of the motors, in degrees Celsius.')] = 35.0,
        seed: Annotated[int, typer.Option(help='Of the faults.')] = 0) -> None:
    """
    Answer as the hand's firmware does until Ctrl-C: motion in time, limits, tactile frames.

    While it runs, lines on standard input change faults and obstacles; `help` lists them.
    """
    from ...hardware.driver.emulator.commands import obey
    from ...hardware.driver.emulator.firmware import Identity
    from ...hardware.driver.emulator.server import EmulatedHand
    for name, number in (('--port', port), ('--tactile-port', tactile_port)):
        if not 0 <= number <= MOST_PORT:
            raise InputError(f'{name} must be from 0 to {MOST_PORT}, got {number}')
    try:
        hand = EmulatedHand(None if pty else host, port, tactile_port,
                            Identity(version=firmware), seed, max(baudrate, 0) or None,
                            can or None)
    except ImportError as error:
        raise InputError('CAN needs python-can: `pip install python-can`') from error
    except OSError as error:
        raise InputError(f'cannot listen on {host}, ports {port} and {tactile_port}: '
                         f'{error.strerror}') from error
    with hand:
        try:
            for line in (f'temperature {temperature}', *(f'fault {text}' for text in fault or ()),
                         *(f'block {text.replace("=", " ", 1)}' for text in block or ())):
                obey(hand, line)
        except ValueError as error:
            raise InputError(str(error).partition('; there are:')[0]) from error
        print(f'joints {hand.address}\ntactile {hand.tactile_address}', flush=True)
        _listen(hand, obey)


def _listen(hand, obey) -> None:
    """Take commands from standard input, and go on after its end."""
    import threading
    try:
        for line in sys.stdin or ():
            try:
                shown = obey(hand, line)
            except ValueError as error:
                shown = str(error)
            if shown:
                say(shown)
        threading.Event().wait()
    except KeyboardInterrupt:
        say('stopping')
