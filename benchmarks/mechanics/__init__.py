"""Mechanics: accuracy and time of its models."""
