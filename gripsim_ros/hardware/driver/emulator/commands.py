"""Words by which a running emulator is told what goes wrong and what is in the way."""

from .faults import KINDS, parse_fault
from .motion import AXES
from .server import EmulatedHand

HELP = """fault KIND[:PROBABILITY][@REQUEST]   let something go wrong from now on
clear                                no faults any more
block AXIS DEGREES                   something solid is in the way of an axis
free                                 nothing is in the way any more
temperature DEGREES                  of all motors
touch MATRIX COUNTS                  press on a tactile matrix
show                                 angles, targets, temperatures, faults so far"""


def obey(hand: EmulatedHand, line: str) -> str:
    """
    Do what a line says; return what is to be shown.

    Raises
    ------
    ValueError
        It is no command; the message lists them.
    """
    words = line.split()
    try:
        return _obey(hand, words) if words else ''
    except (IndexError, ValueError) as error:
        raise ValueError(f'{line.strip()!r} is no command ({error}); there are:\n{HELP}\n'
                         f'kinds of faults: {", ".join(KINDS)}') from error


def _obey(hand: EmulatedHand, words: list[str]) -> str:
    name, numbers = words[0], words[1:]
    if name == 'fault':
        kind, options = parse_fault(numbers[0])
        hand.faults.add(kind, **options)
    elif name == 'clear':
        hand.faults.clear()
    elif name == 'block':
        set_block(hand, int(numbers[0]), float(numbers[1]))
    elif name == 'free':
        with hand.firmware.lock:
            for axis in hand.firmware.motors.axes:
                axis.block_low, axis.block_high = -float('inf'), float('inf')
    elif name == 'temperature':
        hand.firmware.temperatures[:AXES] = AXES * [float(numbers[0])]
    elif name == 'touch':
        hand.board.touches[int(numbers[0])] = float(numbers[1])
    elif name == 'show':
        return _show(hand)
    else:
        raise ValueError('unknown')
    return ''


def set_block(hand: EmulatedHand, number: int, angle: float) -> None:
    """Put something solid in the way of an axis, on the side that it is not on [deg]."""
    with hand.firmware.lock:
        axis = hand.firmware.motors.axes[number]
        if angle >= axis.angle:
            axis.block_high = angle
        else:
            axis.block_low = angle


def _show(hand: EmulatedHand) -> str:
    firmware = hand.firmware
    with firmware.lock:
        firmware.advance()
        angles = ' '.join(f'{axis.angle:.1f}' for axis in firmware.motors.axes)
        targets = ' '.join(f'{value:.1f}' for value in firmware.sets['p'])
    degrees = ' '.join(f'{value:.0f}' for value in firmware.temperatures)
    struck = ', '.join(f'{kind} {count}' for kind, count in hand.faults.struck.items()) or 'none'
    return f'angles {angles}\ntargets {targets}\ntemperatures {degrees}\nfaults {struck}'
