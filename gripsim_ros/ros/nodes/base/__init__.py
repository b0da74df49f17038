"""What all nodes share: parameters, lifecycle, health, interrupts, frames, joint states."""
