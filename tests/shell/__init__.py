"""Tests of reading shell scripts."""
