"""Hands that move: the driver of the SDH, the simulated hand, and carrying out a grasp."""
