"""Grasps of many objects in a database: sweeping, asking it, exporting it."""
