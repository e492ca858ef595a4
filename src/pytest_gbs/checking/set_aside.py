"""Which files a repository has set aside: tests, code of others, and what its owners say is not maintained."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Final

from pytest_gbs.model.location import Source, upwards

if TYPE_CHECKING:
    from pytest_gbs.model.tree import Tree

_FOLDERS: Final = frozenset(("test", "tests", "third_party", "third-party", "thirdparty", "3rdparty", "vendor"))
# Of which one in the name of a folder is enough.
_WORDS: Final = frozenset(("archive", "archived", "deprecated", "legacy", "obsolete", "old", "outdated", "unused"))
_READMES: Final = ("README.md", "readme.md", "README.rst", "README")
_FIRST: Final = 3_000  # characters of a README that may say that its folder is not maintained


class SetAside:
    """The lazy memo of which folders of a tree are set aside; what lies below a folder that was asked for is not."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._folders: dict[str, bool] = {"": False}
        self.targets: Sequence[str] = ()

    def __contains__(self, path: object) -> bool:
        """Whether the file at `path` lies in a folder that is set aside."""
        folder = str(path).rpartition("/")[0]
        asked = max((len(target) for target in self.targets if f"{folder}/".startswith(f"{target.rstrip('/')}/")), default=0)
        return any(len(each) > asked and self._is_set_aside(each) for each in upwards(folder))

    def _is_set_aside(self, folder: str) -> bool:
        if folder not in self._folders:
            name = folder.rpartition("/")[2].lower()
            named = name in _FOLDERS or not _WORDS.isdisjoint(re.split(r"[_.-]", name))
            self._folders[folder] = named or self._says_so(folder)
        return self._folders[folder]

    def _says_so(self, folder: str) -> bool:
        """Whether the README of `folder` says that its content is not maintained."""
        readme = next((text for name in _READMES if isinstance(text := self._tree.read(f"{folder}/{name}"), Source)), None)
        return readme is not None and _unmaintained().search(readme.text[:_FIRST]) is not None


@cache
def _unmaintained() -> re.Pattern[str]:
    here = r"this[ \t]+(?:folder|directory|code|example|recipe|project|package)[ \t]+(?:is|has[ \t]+been)"
    cared_for = r"(?:not|no[ \t]+longer)[ \t]+(?:actively[ \t]+)?maintained"
    return re.compile(rf"(?i)\b(?:unmaintained|{cared_for}|{here}[ \t]+(?:now[ \t]+)?(?:deprecated|archived))\b")
