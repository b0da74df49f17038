"""Small numerical algorithms for kernels; nothing here knows about grasping."""
