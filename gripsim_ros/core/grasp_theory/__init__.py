"""Grasp theory: contact sets, the grasp map, wrench space; whatever finds the contacts."""
