"""Contact forces of elastic bodies: influence functions, complementarity, resultants."""
