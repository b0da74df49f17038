"""Carrying out a planned grasp: what to send when, and what came of it. Knows no ROS."""
