"""What fingers feel, by motors beside pads, and how they are loaded by it."""
