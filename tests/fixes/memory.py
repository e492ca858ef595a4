"""Files in memory, for tests that fix them."""

from collections.abc import Mapping

from pytest_gbs import Given
from pytest_gbs.api import fix, ignore
from pytest_gbs.fixes.apply import FixResult
from pytest_gbs.model.outcome import Applicability
from pytest_gbs.model.settings import Settings
from tests.rules import claimed
from tests.support import in_memory

SETTINGS, DECLARATIONS = Applicability.SETTINGS, Applicability.DECLARATIONS


def repaired(files: Mapping[str, str], *kinds: str, given: Given | None = None) -> FixResult:
    """What fixing `files` comes to."""
    return fix(in_memory(files), (), Settings(), given or Given(), kinds)


def ignored(files: Mapping[str, str], reason: str = "") -> FixResult:
    """What silencing all findings of `files` comes to."""
    return ignore(in_memory(files), (), Settings(), Given(), reason)


def text(found: FixResult, before: str, path: str = "sft.yaml") -> str:
    """The text of one file after fixing."""
    return found.files[path][1].text if path in found.files else before


def recipe(micro: object = 4, accumulation: object = 2, header: str = "", trailing: str = "", more: str = "") -> str:
    """A small SFT recipe of 8 on each GPU; None leaves a key out."""
    return claimed.recipe(micro, accumulation, header, trailing, more)
