"""Holding by feel: forces that follow what pads and wrist tell, slip, and what cannot be held."""
