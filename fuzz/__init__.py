"""Fuzzing: one target per file of `targets`, with seeds from the repository's own examples.

`python -m fuzz yaml --seconds 60` runs a target with atheris (`pip install atheris`), guided by the coverage of `src`; `tests/fuzz`
runs each target for a moment without it.
"""
