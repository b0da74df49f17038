"""Hands of the user's own: loading, proposing and checking their configurations."""
