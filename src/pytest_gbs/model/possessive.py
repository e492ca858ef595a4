"""Regular expressions with possessive quantifiers and atomic groups, which Python's own have since 3.11."""

from __future__ import annotations

import sys

if sys.version_info >= (3, 11):
    import re
else:
    import regex as re

__all__ = ["re"]
