"""Other planners and other protocols, beside ours on one machine."""
