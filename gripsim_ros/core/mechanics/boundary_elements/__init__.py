"""A body's own elastic compliance by boundary elements."""
