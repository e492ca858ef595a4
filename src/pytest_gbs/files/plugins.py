"""Finding the plug-ins of a package: whatever files lie in its folder, so that adding one is adding a file.

What is known of each without loading it is written down when the package is built (`tools/build_indexes.py`, which
hatch_build.py calls) and read here.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from marshal import dumps, loads
from os import listdir, scandir

from pytest_gbs.model.record import Any, Final

# Where the indexes lie, below the package; the folder is in no repository.
PREBUILT: Final = "_prebuilt"
_VERSION: Final = 4  # of marshal: every Python from 3.4 on reads it


def module(name: str) -> Any:
    """The module `name`, imported: `importlib.import_module` without its package, which nothing else needs at start-up."""
    __import__(name)
    return sys.modules[name]


def modules(package: str, search: Sequence[str]) -> tuple[Any, ...]:
    """The modules of `package`, by name; `search` is its `__path__`."""
    return tuple(module(f"{package}.{name}") for name in names(search))


def names(search: Sequence[str]) -> tuple[str, ...]:
    """The names of the modules in the folders `search`, sorted, but for those that start with an underscore.

    Where these are not folders (of a zipped package) the import system is asked.
    """
    try:
        found = {name.removesuffix(".py") for folder in search for name in listdir(folder) if name.endswith(".py")}
    except OSError:
        from pkgutil import iter_modules  # takes inspect along: several milliseconds

        found = {each.name for each in iter_modules(search)}
    return tuple(sorted(name for name in found if not name.startswith("_")))


def read_beside(package: str, name: str) -> bytes | None:
    """The bytes of the file `name` in the folder of `package`, in a zipped package too; None if there is none."""
    try:
        return _bytes_of(f"{sys.modules[package].__path__[0]}/{name}")
    except OSError:
        return None


def _bytes_of(path: str) -> bytes:
    data: bytes = __loader__.get_data(path)  # type: ignore[name-defined]  # `pkgutil.get_data` without importing pkgutil
    return data


def prebuilt(name: str, search: Sequence[str]) -> Any:
    """The index `name`, made of the files in the folders `search`, or None.

    None if there is no such index, or where one of the files has changed since: the plug-ins themselves are looked at then, which
    is slower and just as right. An index knows the files that it was made of by a checksum of what they hold, and by their sizes and
    times, which save reading them. One of a wheel is sealed: nothing changes what is installed, and so no file is looked at.
    """
    data = read_beside("pytest_gbs", f"{PREBUILT}/{name}.bin")
    if data is None:
        return None
    try:
        (checksum, stamps, sealed), content = loads(data)
    except (EOFError, ValueError, TypeError):  # cut short, or written in a way that this Python does not read
        return None
    return content if sealed or stamps == _stamps(search) or checksum == _checksum(search) else None


def to_index(search: Sequence[str], content: Any, *, sealed: bool) -> bytes:
    """The bytes of an index of the files in `search`, where `content` is of plain tuples, lists, sets, texts and numbers."""
    sources = (0, (), True) if sealed else (_checksum(search), _stamps(search), False)
    return dumps((sources, content), _VERSION)


def _files(search: Sequence[str]) -> list[Any]:
    return [entry for folder in search for entry in scandir(folder) if entry.name.endswith((".py", ".toml"))]


def _stamps(search: Sequence[str]) -> tuple[tuple[str, int, int], ...]:
    """A stamp of each file that an index of `search` depends on; nothing where these are not folders."""
    try:
        return tuple(sorted((entry.name, (status := entry.stat()).st_size, status.st_mtime_ns) for entry in _files(search)))
    except OSError:
        return ()


def _checksum(search: Sequence[str]) -> int:
    """A checksum of the names of the files in `search` and of what they hold, 0 where these are not folders."""
    from zlib import crc32

    found = 0
    try:
        for entry in sorted(_files(search), key=lambda entry: entry.name):
            found = crc32(_bytes_of(entry.path), crc32(entry.name.encode(), found))
    except OSError:
        return 0
    return found
