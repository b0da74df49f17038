"""Small numerical algorithms for kernels, which know nothing of what they are used for."""
