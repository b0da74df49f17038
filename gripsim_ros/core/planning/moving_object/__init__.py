"""How an object moves while the fingers close on it: rigid, pushed by springs with friction."""
