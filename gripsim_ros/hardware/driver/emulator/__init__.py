"""
The hand's side of the protocol: an SDH that is not there.

``motion`` moves the axes in time, ``firmware`` answers lines, ``tactile_board`` answers packets,
``faults`` spoils the answers on request, ``server`` offers all that over TCP or pseudo-terminals.
Nothing here imports the driver, so that a mistake in one shows against the other.
"""
