"""Vertices of each of two meshes inside the other, and their way out."""
