"""Ranking: scores of grasps that hold, pruning of closings, robustness."""
