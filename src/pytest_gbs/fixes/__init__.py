"""From findings to edits: which repairs to take, applying them to texts, and making sure that nothing else has changed."""
