"""Numbers on the command line: options of several numbers, signs, exponents, ranges."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import typer
from typer.core import TyperCommand

from .inputs import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

#: Options that take several numbers, and how many; None: as many as follow.
NUMBER_OPTIONS = {'--direction': 3, '--at': 3, '--along': 3, '--joints': None, '--normal': 3,
                  '--viewpoint': 3, '--axis': 3, '--lengths': None, '--pivot': 2}

#: Models of the object's elasticity; the option's value, see docs/model/compliance.md.
ELASTICITIES = ('half_space', 'body', 'auto')


class NumbersCommand(TyperCommand):
    """
    A command whose options of ``NUMBER_OPTIONS`` take the numbers that follow them.

    The numbers may be negative, have an exponent, be quoted or separated by commas,
    and stand before or after the command's arguments.
    """

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:
        """Join the numbers of such an option to one value, then parse as usual."""
        return super().parse_args(ctx, join_numbers(args))


def join_numbers(arguments: Sequence[str]) -> list[str]:
    """
    Return arguments in which the numbers after a number option are one word.

    Raises
    ------
    InputError
        An option is followed by fewer numbers than it takes.
    """
    joined, waiting = [], list(arguments)
    while waiting:
        name, equals, first = waiting.pop(0).partition('=')
        if name not in NUMBER_OPTIONS:
            joined.append(name + equals + first)
            continue
        if equals:
            waiting.insert(0, first)
        joined += [name, ' '.join(_take_numbers(name, waiting))]
    return joined


def _take_numbers(name: str, waiting: list[str]) -> list[str]:
    wanted, taken = NUMBER_OPTIONS[name], []
    while waiting and (wanted is None or len(taken) < wanted):
        words = waiting[0].replace(',', ' ').split()
        if not words or not all(_is_number(word) for word in words):
            break
        taken += words
        waiting.pop(0)
    if wanted is not None and len(taken) != wanted or not taken:
        stop = f', then {waiting[0]!r}' if waiting and len(taken) < (wanted or 1) else ''
        raise InputError(f'{name} takes {wanted or "some"} numbers, '
                         f'got {" ".join(taken) or "none"}{stop}')
    return taken


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def whole_number(text: str) -> int:
    """Return a whole number for an option of one; say what arrived if it is none."""
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f'must be a whole number, got {text!r}') from None


def real_number(text: str) -> float:
    """Return a number for an option of one; say what arrived if it is none."""
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f'must be a number, got {text!r}') from None


def elasticity_name(text: str) -> str:
    """Return the name of a model of the object's elasticity; say what there is if it is none."""
    if text not in ELASTICITIES:
        raise typer.BadParameter(f'must be one of {", ".join(ELASTICITIES)}, got {text!r}')
    return text


def finite_numbers(name: str, text: str) -> NDArray[np.float64]:
    """Return the numbers of an option's value; refuse NaN and infinity."""
    import numpy as np
    numbers = np.array([float(word) for word in text.split()])
    if not np.isfinite(numbers).all():
        raise InputError(f'{name} must be finite, got {text}')
    return numbers


def unit_vector(name: str, text: str) -> NDArray[np.float64]:
    """Return the direction given by three numbers; refuse the zero vector."""
    import numpy as np
    direction = finite_numbers(name, text)
    largest = float(np.abs(direction).max())
    if largest == 0.0:
        raise InputError(f'{name} must not be zero, got {text}')
    direction = direction / largest     # so that tiny and huge lengths do not under- or overflow
    return direction / np.linalg.norm(direction)


def positive(name: str, value: float) -> float:
    """Return ``value`` where it is finite and above 0, else raise ``InputError``."""
    if not (math.isfinite(value) and value > 0.0):
        raise InputError(f'{name} must be a finite number above 0, got {value:g}')
    return value


def count(name: str, value: int, largest: int = 2**32 - 1) -> int:
    """Return ``value`` where it lies in 1 to ``largest``, else raise ``InputError``."""
    if not 1 <= value <= largest:
        raise InputError(f'{name} must be from 1 to {largest}, got {value}')
    return value
