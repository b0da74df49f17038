"""Errors of bad input: each says what is wrong, what arrived, what is allowed."""


class GripsimError(ValueError):
    """Bad input; the message is one line fit to be shown to a user."""


class ShapeError(GripsimError):
    """An array has the wrong shape, type or holds NaN or infinity."""


class MeshError(GripsimError):
    """A mesh cannot be used: open, flat, self-inverted, of absurd size."""


class MaterialError(GripsimError):
    """A material parameter is outside its physical range."""


class HandError(GripsimError):
    """A hand description is inconsistent, or a joint or link is unknown."""


class TaskError(GripsimError):
    """A task or a planning option is outside its allowed range."""


class ArmError(GripsimError):
    """An arm cannot be used: its files, its joints or a request do not fit."""


def told_outside(value: float, low: float, high: float) -> str:
    """
    Return a number that is not from ``low`` to ``high`` as text that is not either.

    Four digits, and more only where rounding to these would bring it into the range.
    """
    texts = (f'{value:.{digits}g}' for digits in range(4, 18))
    return next((text for text in texts if not low <= float(text) <= high), f'{value!r}')
