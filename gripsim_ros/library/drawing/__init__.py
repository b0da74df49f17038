"""Pictures without a display: triangles to pixels, and the scenes that they show."""
