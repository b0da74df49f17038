"""Closing one hypothesis: free motion, touch, then the gentlest state that holds."""
