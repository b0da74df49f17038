"""Reading and repair of meshes."""
