"""Contact of two meshes of files, by one of several methods."""
