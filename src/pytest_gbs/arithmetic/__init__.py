"""Everything that computes: the solver, symbolic values of unknown sizes, admissible values."""
