"""Scans of one side of a body, closed by a stated assumption."""
