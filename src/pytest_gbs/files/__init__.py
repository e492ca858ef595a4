"""Where files come from: the only code that opens any."""
