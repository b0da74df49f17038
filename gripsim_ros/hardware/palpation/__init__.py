"""Feeling what an object is: gentle squeezes with the hand's own fingers, and their modulus."""
