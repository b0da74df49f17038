"""Trajectories on the hand: what it can follow, what is checked first, heat."""
