"""Planning: how fast, how its costs grow, and what it finds."""
