"""
The hand's side of the protocol: an SDH that is not there.

``requests`` cuts bytes into lines and binary frames, ``firmware`` answers them, ``motion`` moves
the axes in time, ``grips`` holds the hand's own grips, ``tactile_board`` answers packets,
``faults`` spoils the answers on request, ``server`` offers all that on ``ports``: TCP or
pseudo-terminals.
Nothing here imports the driver, so that a mistake in one shows against the other.
"""
