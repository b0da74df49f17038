"""Contact beside ray tracers and collision libraries."""
