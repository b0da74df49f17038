"""Stability of a grasp under its loads, its margin, and the least forces that hold them."""
