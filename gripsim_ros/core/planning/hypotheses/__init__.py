"""Grasp hypotheses: palm poses with preshapes, prescreened in a distance field."""
