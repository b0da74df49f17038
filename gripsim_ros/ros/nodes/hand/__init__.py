"""The nodes of the two hands: the SDH and the simulated one."""
