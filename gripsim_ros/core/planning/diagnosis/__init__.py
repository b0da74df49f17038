"""Diagnosis of a plan without grasp: the nearest miss and a hint."""
