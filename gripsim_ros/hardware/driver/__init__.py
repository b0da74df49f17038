"""
The Schunk SDH on its own protocol, without ROS.

``transport`` moves bytes, ``protocol`` frames and reads lines, ``channel`` asks and is answered,
``hand`` speaks in radians and names, ``safety`` refuses, ``path`` turns trajectories into
motions, ``session`` keeps the hand and its state, ``tactile`` and ``pads`` read the sensors.
``emulator`` is the hand's side of it; the two share no code.

What the protocol notes infer rather than saw in a listing is marked ``[I]`` in the comments, and
is an option of ``options``.
"""
