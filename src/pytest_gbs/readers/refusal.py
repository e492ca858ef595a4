"""Why a text cannot be read: an exception inside a reader, a value to everyone else."""

from __future__ import annotations

from pytest_gbs.model.limits import DEEPEST_DOCUMENT, LONGEST_BARE_VALUE, MOST_NODES
from pytest_gbs.model.location import Source, Unreadable
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.record import Final

TOO_DEEP: Final = f"nested deeper than {DEEPEST_DOCUMENT} levels"
TOO_LONG: Final = f"a value without quotes of more than {LONGEST_BARE_VALUE:,} characters"
TOO_MANY: Final = f"more than {MOST_NODES:,} nodes"


class RefusedDocument(Exception):
    """A reader gives up at code point `offset`."""

    def __init__(self, offset: int, reason: str) -> None:
        super().__init__(reason)
        self.offset = offset
        self.reason = reason


def unreadable(source: Source, offset: int, reason: str) -> Unreadable:
    """The value that says why, and where, `source` cannot be read any further: markers of git rather than what they do to the syntax."""
    from pytest_gbs.files.words import MATTERING

    text = source.text
    offset, reason = conflict(text) or (offset, reason)
    matters = any(word in text for word in MATTERING) and not is_template(text) and not text.startswith("${", offset)
    return Unreadable(source.path, reason, min(offset, len(text)), source, matters)


def conflict(text: str) -> tuple[int, str] | None:
    """Where git marked a conflict that is not resolved, in words too; None if it did not."""
    marker = 0 if text.startswith("<<<<<<< ") else text.find("\n<<<<<<< ") + 1
    if "\n>>>>>>> " not in text or not text.startswith("<<<<<<< ", marker):
        return None
    return marker, f"merge conflict marker in line {text.count(chr(10), 0, marker) + 1}"


def is_template(text: str) -> bool:
    """Whether something fills in the text before anything reads it: `{{ x }}` or `{% if x %}` is outside of quotes."""
    return ("{{" in text or "{%" in text) and _fills_in().search(text) is not None


_fills_in = lazy_pattern(r"(?m)^[^'\"#\n{]*+(?:\{(?![{%])[^'\"#\n{]*+)*+\{[{%]")


def is_helm(text: str) -> bool:
    """Whether Helm fills in the text outside of comments (`{{ .Values.nodes }}`, `{{- range`), rather than a chat template."""
    if "{{" not in text:
        return False
    find = _of_helm().search
    return find(text) is not None and find(_comment().sub("", text)) is not None


_comment = lazy_pattern(r"(?m)(?:^|(?<=[ \t]))#.*")
_of_helm = lazy_pattern(r"\{\{-?[ \t]*+(?:\.[A-Z]|\$[a-zA-Z]|(?:if|range|with|include|define|template|toYaml|end|else)\b)")
