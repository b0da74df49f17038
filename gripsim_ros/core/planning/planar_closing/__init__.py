"""Planar closing: where the phalanges of fingers touch a contour."""
