"""Closing hypotheses: free motion, first contact, then force control to a state that holds."""
