"""Planar closing: fingers as chains of phalanges that close on a contour."""
