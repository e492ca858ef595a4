"""Where else Hydra looks for files: the folders that the primary configuration names in `hydra.searchpath`."""

# After hydra/_internal/config_loader_impl.py (compute_search_path) and core_plugins/file_config_source.py of Hydra 1.3: the folder of
# the program comes first, relative folders (`file://verl/trainer/config`) are seen from where the program is started.

from __future__ import annotations

from typing import Final

from pytest_gbs.composition._nodes import Branch, Items, Leaf, Node
from pytest_gbs.composition.document_cache import DocumentCache
from pytest_gbs.model.location import below, upwards

_FILE: Final = "file://"
_PACKAGE: Final = "pkg://"


def searched_folders(hydra: Node | None, folder: str, cache: DocumentCache) -> tuple[str, ...]:
    """The folders of the tree that `hydra`, the settings in a file of `folder`, adds, in their order; those of elsewhere are left out."""
    named = hydra.content.get("searchpath") if isinstance(hydra, Branch) else None
    items = named.content if isinstance(named, Items) else ()
    texts = (item.value for item in items if isinstance(item, Leaf) and type(item.value) is str)
    found = (_folder(path, folder, cache) for text in texts if (path := _relative(text)))
    return tuple(each for each in found if each is not None)


def _relative(text: str) -> str:
    """The path that an entry names from where the program is started, "" if it names none."""
    if text.startswith(_PACKAGE):
        return text.removeprefix(_PACKAGE).replace(".", "/")
    path = text.removeprefix(_FILE)
    return "" if path.startswith(("/", "structured:")) or "${" in path else path


def _folder(path: str, folder: str, cache: DocumentCache) -> str | None:
    """The one folder that `path` names from a folder above `folder`, where the program may be started; None if it is not one."""
    places = {place for above in ("", *upwards(folder)) if (place := below(above, path)) is not None and cache.has_folder(place)}
    return places.pop() if len(places) == 1 else None
