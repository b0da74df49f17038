"""Finite strain: a body of quadratic tetrahedra squeezed by obstacles, and its law from curves."""
