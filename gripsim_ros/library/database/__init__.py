"""A database of grasps: its tables, how plans are named, kept and found again."""
