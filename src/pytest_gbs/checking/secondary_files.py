"""Which files of a repository are secondary: tests, vendored code, and folders whose README says that they are not maintained."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from itertools import takewhile

from pytest_gbs.claims.grammars.words import words
from pytest_gbs.model.document import DOCUMENTS, PROGRAMS
from pytest_gbs.model.location import Source, Tree, upwards
from pytest_gbs.model.record import Final

_FOLDERS: Final = frozenset(("test", "tests", "third_party", "third-party", "thirdparty", "3rdparty", "vendor"))
# Of which one in the name of a folder is enough.
_WORDS: Final = frozenset(("archive", "archived", "deprecated", "legacy", "obsolete", "old", "outdated", "unused"))
# Packages that repositories carry whole, and the files that say that a folder is one. Recipes and scripts in it may be the owners' own.
_COPIED: Final = frozenset(
    words(
        """
        accelerate alignment-handbook axolotl colossalai deepspeed deepspeedexamples diffusers fairseq fastchat llama-factory llava
        megatron-deepspeed megatron-lm nemo open-instruct openrlhf peft pytorch-image-models transformers trl trlx verl
        """
    )
)
_PACKAGED: Final = ("pyproject.toml", "setup.py")
_OF_PACKAGES: Final = (*DOCUMENTS, *PROGRAMS)
_READMES: Final = ("README.md", "readme.md", "README.rst", "README")
_FIRST: Final = 3_000  # characters of a README that may say that its folder is not maintained


class SecondaryFiles:
    """Which folders of a tree are secondary, found when asked; nothing below a folder that the user named is."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._named: frozenset[str] = frozenset()
        self._folders: dict[str, bool] = {"": False}
        self._copies: dict[str, bool] = {}

    def name(self, targets: Iterable[str]) -> None:
        """Take no folder for secondary from now on that is one of `targets` or around it."""
        self._named = frozenset(target.rstrip("/") for target in targets)

    def __contains__(self, path: object) -> bool:
        """Whether the file at `path` lies in a secondary folder."""
        folder = str(path).rpartition("/")[0]
        of_others = str(path).lower().endswith(_OF_PACKAGES)
        within = list(takewhile(lambda each: each not in self._named, upwards(folder)))
        return any(map(self._is_secondary, within)) or (of_others and any(map(self._is_copied, within)))

    def _is_copied(self, folder: str) -> bool:
        """Whether `folder` holds the whole of a package of others, with its documents and examples."""
        if folder not in self._copies:
            named = folder.rpartition("/")[2].lower().replace("_", "-") in _COPIED
            self._copies[folder] = named and any(isinstance(self._tree.read(f"{folder}/{name}"), Source) for name in _PACKAGED)
        return self._copies[folder]

    def _is_secondary(self, folder: str) -> bool:
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
