"""The stages of the ring as nodes."""
