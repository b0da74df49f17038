"""Steps that make a raw surface closed, and its faces point outward."""
