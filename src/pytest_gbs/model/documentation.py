"""Where the documentation lies, and the page of each rule in it."""

from __future__ import annotations

from typing import Final

DOCUMENTATION: Final = "https://pytest-gbs.readthedocs.io/en/stable/"
OWN_FRAMEWORK: Final = f"{DOCUMENTATION}own-framework/"


def page_of(code: str) -> str:
    """The address of the manual page of a rule; nothing for a rule that a plug-in brought."""
    return f"{DOCUMENTATION}rules/{code.lower()}/" if code.startswith("GBS") and code.isalnum() and code.isascii() else ""
