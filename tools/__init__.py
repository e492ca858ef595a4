"""Programs for those who work on the project; none of them is installed."""
