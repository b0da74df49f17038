"""The suite of nodes under load and faults."""
