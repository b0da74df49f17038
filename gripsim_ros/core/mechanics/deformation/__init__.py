"""The deformed surface, its volume, and numbers that describe it."""
