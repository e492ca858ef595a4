"""Launches: found in scripts and documents, linked to recipes, resolved to what the program really reads."""
