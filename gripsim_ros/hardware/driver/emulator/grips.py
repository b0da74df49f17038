"""
The hand's own grips, `selgrip` and `grip`: postures between open and closed.

[I] throughout: which angles the firmware goes to is not known from outside, nor how it shares
them out. What is known: four grips by number, a share from 0 (open) to 1 (closed), a duration in
the answer, that the limits of current of gripping replace those of moving, and that nothing
interrupts it.
"""

#: By number: centrical, parallel, cylindrical, spherical; open and closed, axis by axis [deg].
POSTURES = (
    ((60.0, *3 * (-40.0, 20.0)), (60.0, *3 * (10.0, 20.0))),
    ((0.0, *3 * (-40.0, 40.0)), (0.0, *3 * (-5.0, 5.0))),
    ((0.0, *3 * (-30.0, 30.0)), (0.0, *3 * (10.0, 30.0))),
    ((60.0, *3 * (-40.0, 35.0)), (60.0, *3 * (0.0, 35.0))),
)
#: Velocity of `selgrip`, which takes none [deg/s].
SELECT_VELOCITY = 40.0


def posture(grip: int, share: float) -> list[float]:
    """Return the angles of a grip that is closed by a share from 0 to 1 [deg]."""
    opened, closed = POSTURES[grip]
    return [a + share * (b - a) for a, b in zip(opened, closed)]
