"""Contact patches: nodes on the curved surface and their overlap with an indenter."""
