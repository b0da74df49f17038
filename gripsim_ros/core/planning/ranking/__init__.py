"""Scores of grasps that hold, which are worth going on with, and robustness."""
