"""Simulated and real hands: grasps carried out, the driver under load."""
