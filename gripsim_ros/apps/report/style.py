"""Colours that charts and pages share."""

from collections.abc import Iterable

#: Text, lesser text and paper of pictures.
INK, FAINT, PAPER = (28, 32, 40), (110, 116, 128), (255, 255, 255)
#: Colours of the terms of a score, in their order; used again from the start if too few.
TERM_COLOURS = ((47, 110, 186), (242, 142, 43), (89, 161, 79), (178, 87, 165), (225, 87, 89),
                (118, 183, 178), (156, 117, 95), (186, 176, 172))


def hex_colour(colour: Iterable[float]) -> str:
    """Return ``#rrggbb`` of red, green, blue in 0 to 1."""
    return '#' + ''.join(f'{round(255 * channel):02x}' for channel in colour)
