"""A body's elasticity in a grid of cubes that its surface cuts."""
