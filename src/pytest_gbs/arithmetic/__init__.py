"""Everything that computes: the solver, laws of unknown sizes, admissible values."""
