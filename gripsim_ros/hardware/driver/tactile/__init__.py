"""The tactile sensors: packets, texels, and the thread that reads frames."""
