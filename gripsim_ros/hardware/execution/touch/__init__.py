"""Closing by touch: fingers seek what they are to touch, and are then loaded together."""
