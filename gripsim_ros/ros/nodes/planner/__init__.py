"""The planner's node: requests, sessions, turns on the ring, the arm's choice."""
