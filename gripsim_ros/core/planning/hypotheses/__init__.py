"""Grasp hypotheses: where the palm may go, and which are rejected at once."""
