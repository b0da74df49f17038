"""Squeezing objects between plates or fingers, and materials from measured squeezes."""
