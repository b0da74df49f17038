"""Whether a grasp holds its loads, with what reserve, and the least forces that do."""
