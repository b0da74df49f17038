"""Second-order cone programmes: an interior-point method for many small ones at once."""
