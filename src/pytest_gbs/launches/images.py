"""Where files of the tree lie inside a container: as its Dockerfile copies them, or as the command that runs it mounts them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from pytest_gbs.model.command import Command, Folder, Word, options
from pytest_gbs.model.limits import MOST_COPIED
from pytest_gbs.model.location import Source, below
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.shell.limits import LONGEST_PATH

_ENGINES: Final = ("docker", "podman")
_BINDS: Final = {**dict.fromkeys(_ENGINES, ("-v", "--volume")), **dict.fromkeys(("apptainer", "singularity"), ("-B", "--bind"))}


class Mount(NamedTuple):
    """A folder inside a container, and the folder of the tree that lies there."""

    target: str
    source: Folder


def mounted(folder: Folder, mounts: Iterator[Mount]) -> Folder | None:
    """The folder of the tree that `folder` is by the first of `mounts` that has it; None if none has."""
    path = folder.path
    for mount in mounts if path is not None and not folder.rooted else ():
        if path is not None and f"{path}/".startswith(f"{mount.target.rstrip('/')}/"):
            inside = path[len(mount.target.rstrip("/")) :]
            return Folder(below(mount.source.path or "", inside), mount.source.rooted)
    return None


def of_command(command: Command) -> Iterator[Mount]:
    """Yield what the machines of a job have elsewhere, and what the containers around a command are given of the folder it starts in."""
    for target, source in command.machines.mounts if command.machines is not None else ():
        yield Mount(target, Folder(source))
    for wrapper in command.wrappers:
        for option in options(wrapper.words, *_BINDS.get(wrapper.name, ()), start=1):
            yield from _bound(option.value)
        if wrapper.name == "srun":
            for option in options(wrapper.words, "--container-mounts", start=1):
                yield from _bound(option.value)


def _bound(word: Word | None) -> Iterator[Mount]:
    """Yield the mounts of `SOURCE:TARGET,...` whose source is the folder that the command starts in, or one of the tree."""
    parts = word.parts if word is not None else ()
    places = {f"${number}": part.path for number, part in enumerate(parts) if part.text is None and part.path is not None}
    rooted = {name: path for name, path in places.items() if path.partition("/")[0] != "."}
    names = [part.text if part.text is not None else f"${number}" for number, part in enumerate(parts)]
    text = "".join(name if name in rooted else places.get(name, name) for name in names)
    for entry in text.split(","):
        source, _, target = entry.partition(":")
        target = target.partition(":")[0]
        known = next((each for each in rooted if source.startswith(each)), None)
        if not target.startswith("/") or "$" in target or not source:
            continue
        if known is not None and "$" not in source[1:]:
            yield Mount(target, Folder(below(rooted[known] or "", source[len(known) :]), rooted=True))
        elif "$" not in source and not source.startswith(("/", "~")):
            yield Mount(target, Folder(below("", source)))


def of_image(dockerfile: Source) -> Iterator[Mount]:
    """Yield where a Dockerfile copies the folder that it is in, the build context, and then where folders and files of it."""
    folder = dockerfile.path.rpartition("/")[0]
    yield from sorted(islice(_copied(dockerfile, folder), MOST_COPIED), key=lambda mount: mount.source.path != folder)


def _copied(dockerfile: Source, folder: str) -> Iterator[Mount]:
    work = "/"
    for line in _instruction().finditer(dockerfile.text):
        words = [word for word in line.group(2).split() if not word.startswith(("--chown=", "--chmod="))]
        if line.group(1).upper() == "WORKDIR":
            if len(words) == 1 and "$" not in words[0]:
                work = words[0] if words[0].startswith("/") else f"{work.rstrip('/')}/{words[0]}"
                if len(work) > LONGEST_PATH:
                    return
        elif len(words) > 1 and not any(sign in word for word in words for sign in "$*?[:="):
            target = below("", words[-1] if words[-1].startswith("/") else f"{work}/{words[-1]}")
            for each in words[:-1]:
                source, name = below(folder, each), each.rstrip("/").rpartition("/")[2]
                is_file_in_folder = "." in name.strip(".") and "." not in words[-1].strip("./").rpartition("/")[2]
                if target is not None and source is not None and (target or is_file_in_folder):
                    to = f"{target}/{name}".lstrip("/") if is_file_in_folder else target
                    yield Mount(f"/{to}", Folder(source, rooted=True))


def copied_to(folder: Folder, dockerfile: Source) -> Iterator[str]:
    """Yield the paths of the tree that a container of a Dockerfile may have at `folder`, which may be relative to where it starts."""
    path = folder.path or ""
    for mount in of_image(dockerfile):
        if path.startswith("/"):
            inside = mounted(folder, iter((mount,)))
            found = inside.path if inside is not None else None
        else:
            named = mount.target.endswith(f"/{path}")
            found = mount.source.path if named else below(mount.source.path or "", path)
        if found is not None:
            yield found


_instruction = lazy_pattern(r"^[ \t]{0,9}(WORKDIR|COPY|ADD)[ \t]+([^\n\\]{1,400})$", re.MULTILINE | re.IGNORECASE)
