"""Contact forces of elastic bodies: kernels of influence, complementarity, resultants."""
