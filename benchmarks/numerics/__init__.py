"""Small numerical algorithms beside libraries."""
