"""The other keys of a framework, as a set that is loaded when it is first asked."""

from __future__ import annotations

from pytest_gbs.core.typed import NamedTuple


class Known(NamedTuple):
    """The keys that table `table` knows besides its sizes."""

    table: str

    def __contains__(self, key: object) -> bool:
        """Tell whether `key` is one of them."""
        from pytest_gbs.frameworks._known_keys import KNOWN

        return key in KNOWN[self.table]
