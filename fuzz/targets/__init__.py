"""One target per file, found by listing this folder."""
