"""Checking: what becomes of what the rules say."""
