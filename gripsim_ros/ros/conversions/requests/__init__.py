"""Requests, ranked grasps and what belongs to them <-> messages."""
