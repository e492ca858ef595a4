"""When something of a framework's table applies: what must be at a key of the recipe."""

from __future__ import annotations

from pytest_gbs.model.location import KeyPath
from pytest_gbs.model.record import NamedTuple


class Condition(NamedTuple):
    """True where the value at `key` is one of `values` (as resolved by the loader), or none of them if `negated`.

    An absent key counts as `default`. It is true as well where a comment of the document has the text `said`, as for a variable
    of the environment that nothing else in the file states (`USE_MCA=1`). With `of_files` it is asked of configuration files alone, and is
    true of a command line without one.
    """

    key: KeyPath
    values: tuple[object, ...]
    negated: bool = False
    default: object = None
    said: str = ""
    of_files: bool = False
