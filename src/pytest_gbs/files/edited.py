"""A folder on disk under the unsaved texts of an editor: listed and read once, until a change is reported."""

from __future__ import annotations

from typing import Final

from pytest_gbs.files.decode import decode
from pytest_gbs.files.regular import MISSING, too_large
from pytest_gbs.files.stamps import Stamps, stamps
from pytest_gbs.files.worktree import Listing, WorkTree
from pytest_gbs.model.limits import MOST_FILE_BYTES
from pytest_gbs.model.location import Source, Unreadable

_MOST: Final = 100_000_000  # characters that are kept; beyond that, files are read again


class EditedTree:
    """The files below the root of `base`, or none, with unsaved texts laid over them.

    What was read is kept, and the same `Source` is given until its text changes, so that identity shows whether it changed.
    """

    def __init__(self, base: WorkTree | None) -> None:
        self.base = base
        self.unsaved: dict[str, Source | Unreadable] = {}
        self._kept: dict[str, Source | Unreadable] = {}
        self._room = _MOST
        self._disk: Listing | None = None
        self._listing: Listing | None = None
        self._stamps: Stamps = {}

    def paths(self) -> tuple[str, ...]:
        """The paths of all files, unsaved ones too, sorted."""
        return self.listing().paths

    def listing(self) -> Listing:
        """The paths of all files, and the folders that can't be listed; the disk is looked at once."""
        if self._listing is None:
            if self._disk is None:
                self._disk = self.base.listing() if self.base is not None else Listing(())
            self._listing = self._disk._replace(paths=tuple(sorted({*self._disk.paths, *self.unsaved})))
        return self._listing

    def read(self, path: str) -> Source | Unreadable:
        """The unsaved text of the file at `path`, or what the disk has."""
        found = self.unsaved.get(path) or self._kept.get(path)
        if found is None:
            found = self.base.read(path) if self.base is not None else Unreadable(path, MISSING)
            self._keep(path, found)
        return found

    def put(self, path: str, text: str) -> None:
        """Lay an unsaved text over the file at `path`, as the disk would have it."""
        data = text.encode("utf-8", "surrogatepass")
        most = self.base.max_file_size if self.base is not None else MOST_FILE_BYTES
        new = decode(path, data) if len(data) <= most else Unreadable(path, too_large(most))
        if path not in self.unsaved:
            self._listing = None
        before = (self.unsaved.get(path), self._kept.get(path))
        self.unsaved[path] = next((each for each in before if each == new), new)

    def drop(self, path: str) -> None:
        """Take the unsaved text away: the disk counts again."""
        before = (self._forget(path), self.unsaved.pop(path, None))
        self._listing = None
        found = self.read(path)
        same = next((each for each in before if each == found), None)
        if same is not None and path in self._kept:
            self._kept[path] = same

    def look_again(self) -> None:
        """Forget what has changed on the disk since it was read, and only that."""
        if self.base is None:
            return
        now, root = stamps(self.base), f"{str(self.base.root).rstrip('/')}/"
        for path, kept in list(self._kept.items()):
            stamp = now.get(root + path)
            # What is not listed has no stamp, nor has what is missing.
            if stamp != self._stamps.get(root + path) or (stamp is None and self.base.read(path) != kept):
                self._forget(path)
        self._stamps, self._listing, self._disk = now, None, None

    def _keep(self, path: str, found: Source | Unreadable) -> None:
        if self._room > _size(found):
            self._room -= _size(found)
            self._kept[path] = found

    def _forget(self, path: str) -> Source | Unreadable | None:
        """What was kept of the file at `path`, whose room is free from now on."""
        found = self._kept.pop(path, None)
        self._room += _size(found)
        return found


def _size(found: Source | Unreadable | None) -> int:
    return len(found.text) if isinstance(found, Source) else 0
