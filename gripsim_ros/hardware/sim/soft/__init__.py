"""Soft objects of the simulated hand under its links: what tetrahedra do not yield."""
