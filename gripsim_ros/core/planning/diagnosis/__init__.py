"""Why there is no grasp, and what came nearest."""
