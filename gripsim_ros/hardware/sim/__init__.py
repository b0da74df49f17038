"""A hand to grasp with in MuJoCo: bodies, world, trajectories, touch, pictures."""
