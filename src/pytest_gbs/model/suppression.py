"""A comment that silences rules on a line: `# gbs: ignore[CODE] reason`."""

from __future__ import annotations

from pytest_gbs.model.location import Location
from pytest_gbs.model.outcome import Edit
from pytest_gbs.model.record import NamedTuple


class Suppression(NamedTuple):
    """One such comment.

    `codes` are the codes it names, names of rules resolved; a word that is not a rule stays as written. There are none if the
    comment has no brackets: it silences nothing. `at` is the annotation, from its `#` (from `gbs:` where other words go before) to the
    end of its reason. `lines` are the lines it applies to, unless it is for the `whole_file`. `removal` takes it away; of a
    suppression that is unused in part, `codes` and `removal` are those of the unused part. One is `refused` where the settings
    ask for a reason and it gives none. One that is `misspelt` silences nothing; `meant` is the word that was probably meant.
    """

    at: Location
    codes: tuple[str, ...] = ()
    reason: str = ""
    lines: tuple[int, ...] = ()
    removal: Edit | None = None
    whole_file: bool = False
    refused: bool = False
    misspelt: str = ""
    meant: str = ""
