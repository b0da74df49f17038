"""Certified lower bounds of distance."""
