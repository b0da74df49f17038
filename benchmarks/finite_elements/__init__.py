"""Forces and deformation beside finite elements."""
