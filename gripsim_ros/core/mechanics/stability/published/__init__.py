"""The papers' own rules, as printed, for comparison."""
