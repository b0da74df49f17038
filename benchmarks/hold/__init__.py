"""Planned grasps shaken in a simulator that knows nothing of the planner."""
