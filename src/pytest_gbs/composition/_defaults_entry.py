"""One entry of a Hydra defaults list at its place: the group, file and package that it means there."""

# After hydra/core/default_element.py of Hydra 1.3; names there in brackets.

from __future__ import annotations

from typing import Any, Final

from pytest_gbs.composition._errors import LimitExceeded
from pytest_gbs.composition._folder import DefaultsEntry

_LONGEST_PACKAGE: Final = 200


class PlacedEntry:
    """An entry of a defaults list at its place in the tree [ConfigDefault, GroupDefault]."""

    def __init__(self, entry: DefaultsEntry, parent: PlacedEntry | None, appended: bool = False) -> None:
        self.group = entry.group
        self.value = entry.value
        self.package = "" if entry.package == "_here_" else entry.package
        self.optional = entry.optional
        self.override = entry.override
        self.at = entry.at
        self.parent = parent
        self.appended = appended
        self.header: str | None = None
        self.deleted = False
        self.deferred: bool = parent is not None and parent.deferred  # below an option that is computed
        self.children: list[PlacedEntry | None] | None = None  # None among them is `_self_`
        self.parent_group = ""
        self.parent_package = ""

    def place(self, group: str, package: str) -> None:
        """Set the group and the package of the list that contains this entry [update_parent]."""
        self.parent_group = group
        self.parent_package = package
        if self.package is not None and "_group_" in self.package:
            self.package = f"_global_.{self.package.replace('_group_', self.group_path.replace('/', '.'))}"

    def set_header(self, package: str | None) -> None:
        """Note the package of the file's header, which counts from the root [set_package_header]."""
        if package is not None:
            if package == "_group_" and not self.group_path:
                package = "_global_"  # of a primary configuration until Hydra 1.1, which fairseq has; later a key of this name
            self.header = package if package == "_global_" or package.startswith("_global_.") else f"_global_.{package}"

    @property
    def relative_group(self) -> str:
        """The group as the entry names it [_relative_group_path]."""
        name = self.group if self.group is not None else self.value.rpartition("/")[0] if self.value.strip("/") else ""
        return name.removeprefix("/")

    @property
    def group_path(self) -> str:
        """The group from the folder down [get_group_path]."""
        whole = self.group if self.group is not None else self.value
        relative = self.relative_group
        if whole.startswith("/") or not self.parent_group:
            return relative
        return f"{self.parent_group}/{relative}" if relative else self.parent_group

    @property
    def name(self) -> Any:
        """The option, or the last part of a plain file's path; None if nothing is chosen [get_name]."""
        return self.value if self.group is not None else str(self.value).rpartition("/")[2]

    @property
    def config(self) -> str:
        """The file from the folder down, without suffix [get_config_path]."""
        if self.group is not None:
            return f"{self.group_path}/{self.value}"
        path = str(self.value)
        if path.startswith("/"):
            return path[1:]
        return f"{self.parent_group}/{path}" if self.parent_group else path

    def final_package(self, with_header: bool = True) -> str:
        """The package that the file goes into [get_final_package]."""
        package = self.header if self.package is None and with_header else self.package
        if package is None:
            package = self.relative_group.replace("/", ".")
        whole = ".".join(part for part in (self.parent_package, package) if part)
        if len(whole) > _LONGEST_PACKAGE:
            raise LimitExceeded("a package of hundreds of characters")
        place = whole.rfind("_global_")
        return whole if place < 0 else whole[place + len("_global_") + 1 :]

    @property
    def key(self) -> str:
        """What an override calls this entry [get_override_key]."""
        package = self.final_package(with_header=False)
        path = self.group_path
        return path if path.replace("/", ".") == package else f"{path}@{package or '_global_'}"

    @property
    def interpolates(self) -> bool:
        """True if the option is computed from the others."""
        text = self.value if self.group is not None else self.config
        return type(text) is str and "${" in text
