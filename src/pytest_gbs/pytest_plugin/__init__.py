"""Training recipes in pytest: imported only once recipes are asked for. One check of all of them, items for each file, a summary."""
