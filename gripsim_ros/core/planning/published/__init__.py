"""What the papers print of planning, kept for comparison."""
