"""The batches of the ring <-> their messages."""
