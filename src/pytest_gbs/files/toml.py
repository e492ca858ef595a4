"""Python's own reader of TOML; Python 3.10 has none, and takes the package that it was made from."""

import sys

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["tomllib"]
