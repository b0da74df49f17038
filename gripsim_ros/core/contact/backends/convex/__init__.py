"""Convex bodies: GJK, EPA, contact manifolds, decomposition."""
