"""The recipe that a program reads where its command line names none: `args.config = os.path.join(os.path.dirname(__file__), "a.yaml")`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from pytest_gbs.launches.named_files import RECIPE_ENDS
from pytest_gbs.model.command import Word
from pytest_gbs.model.location import Source, below
from pytest_gbs.model.pattern import lazy_pattern

_OPTION: Final = r"(config|config_file|config_path|cfg|recipe)"
_text = r"[\"']([^\"'{}\n]{1,200})[\"']"
# `add_argument("--config", type=str, default="conf/a.yaml", help="...")`
_declared = lazy_pattern(
    rf"add_argument\(\s*(?:[\"']-\w[\"']\s*,\s*)?[\"']--{_OPTION.replace('_', '[_-]')}[\"'][^()]{{0,200}}?default\s*=\s*{_text}"
)
# `args.config = os.path.join(os.path.dirname(__file__), "configs", "sft.yaml")`
_assigned = lazy_pattern(
    rf"\bargs\.{_OPTION}\s*=\s*(?:os\.path\.)?join\(\s*(?:os\.path\.)?dirname\(__file__\)((?:\s*,\s*[\"'][^\"'{{}}\n]{{1,200}}[\"'])+)\s*,?\s*\)"
)
_part = lazy_pattern(_text)


def default_recipe(program: Source, words: Sequence[Word], is_there: Callable[[str], bool]) -> str | None:
    """The path of the recipe that `program` reads by default; None if `words` name another, or not exactly one is known and there.

    A default is a path from where the program is started: from the root of the tree, if that has it, or from the folder of the program.
    """
    text = program.text
    if not any(end in text for end in RECIPE_ENDS):
        return None
    folder = program.path.rpartition("/")[0]
    found: dict[tuple[str, str], tuple[str, ...]] = {(match[1], match[2]): ("", folder) for match in _declared().finditer(text)}
    for match in _assigned().finditer(text):
        found[match[1], "/".join(part[1] for part in _part().finditer(match[2]))] = (folder,)
    if len(found) != 1:
        return None
    ((option, name), bases) = next(iter(found.items()))
    if not name.endswith(RECIPE_ENDS) or any(_names(word, option) for word in words):
        return None
    paths = dict.fromkeys(path for base in bases if (path := below(base, name)) is not None and is_there(path))
    return next(iter(paths)) if len(paths) == 1 else None


def _names(word: Word, option: str) -> bool:
    """Whether a word gives the option, or may: an unknown word may be anything."""
    known = word.starts_with.partition("=")[0].replace("-", "_").lstrip("_")
    return (word.text is None and not word.starts_with) or (word.starts_with.startswith("-") and option.startswith(known))
