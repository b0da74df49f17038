"""Formats of mesh files that are read here: what others leave out or get wrong."""
