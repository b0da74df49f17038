"""The node that carries out grasps."""
