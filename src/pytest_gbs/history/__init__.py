"""What changed between two states of a repository: diff, lock and baseline."""
