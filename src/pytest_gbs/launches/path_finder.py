"""Where the files that a command names are in the tree: from its folder, the root or its script's folder, or inside a container."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final

from pytest_gbs.launches.images import Mount, copied_to, mounted, of_command, of_image
from pytest_gbs.model.command import Command, Folder, Script, Word, clones
from pytest_gbs.model.document import CONFIGURATIONS, OF_FILE, SCRIPTS
from pytest_gbs.model.limits import MOST_DOCKERFILES
from pytest_gbs.model.location import Source, Tree, below, by_name, endings, upwards
from pytest_gbs.model.pattern import lazy_pattern, re
from pytest_gbs.readers.refusal import conflict

_FLAT: Final = 3  # slashes of the path at which a container has a file that lies beside the job: /mnt/scripts/train.py

_DEEP: Final = 2  # slashes of a folder where somebody may have the tree: /content/acme


def function_named(word: Word) -> str:
    """The function that `word` names behind its file, `config/grpo.py:general_ocr`; "" if it names none."""
    file, _, function = (word.text or "").rpartition(":")
    return function if file.endswith(".py") and function.isidentifier() else ""


class PathFinder:
    """Finds the files that the commands of scripts name; `paths` are all of the tree."""

    def __init__(self, tree: Tree, paths: Sequence[str]) -> None:
        self._tree = tree
        self._all = paths
        self.conflicts: dict[str, str] = {}  # Dockerfiles that were looked into in vain, since git marked a conflict in them

    @cached_property
    def known(self) -> frozenset[str]:
        """All paths of the tree."""
        return frozenset(self._all)

    def find(self, word: Word, command: Command, script: Script) -> str | None:
        """The path in the tree of the file that `word` names: from where the command runs, the root, or the script's folder."""
        folder = mounted(word.path, self._mounts(word.path, command, script))
        if folder is not None:
            command = command._replace(folder=Folder())  # mounted from where the job is submitted
        folder = folder or word.path
        if folder.path is None or folder.path.startswith(("/", "~")):
            return self._of_job(word, command, script) or self._at_author(folder.path or "", command)
        return self._existing(folder, command, script) or self._built_in(folder, command, script) or self._of_job(word, command, script)

    def _at_author(self, path: str, command: Command) -> str | None:
        """The file at an absolute path of the author's, who has the tree where another path of the command shows: three steps agree."""
        named = (word.text or "" for word in command.words if path.endswith(CONFIGURATIONS))
        absolute = (text for text in named if text.startswith(("/", "~")) and text.endswith((*CONFIGURATIONS, ".py")))
        tops = {text.removesuffix(ending) for text in absolute for ending in endings(text, 3) if ending in self.known}
        found = {path.removeprefix(top) for top in tops if path.startswith(top)}
        return found.pop() if len(found) == 1 and found <= self.known else None

    def started(self, word: Word, command: Command, script: Script) -> str | None:
        """The path of the script that `word` names, which may lie behind a link to a folder, where no listing has it."""
        found = self.find(word, command, script)
        named = word.path.path or "/"
        if found is not None or named.startswith(("/", "~")):
            return found
        return next((path for path in self._places(word.path, command, script) if isinstance(self._tree.read(path), Source)), None)

    def configuration(self, word: Word, command: Command, script: Script) -> str | None:
        """The path of the file that `word` names, if its name is that of a configuration."""
        text = word.text if word.text is not None else word.path.path
        return self.find(word, command, script) if text is not None and text.endswith(CONFIGURATIONS) else None

    def of_function(self, word: Word, command: Command, script: Script) -> str | None:
        """The path of the Python file of which `word` names a function, as ml_collections does: `config/grpo.py:general_ocr`.

        Or it names the file alone, in which there is the one that ml_collections calls, or which OpenMMLab takes as a whole.
        """
        text = word.text or ""
        if function_named(word):
            return self.find(word._replace(text=text.rpartition(":")[0]), command, script)
        path = self.find(word, command, script) if text.endswith(".py") else None
        source = self._tree.read(path) if path is not None else None
        is_read = isinstance(source, Source) and (f"def {OF_FILE}(" in source.text or _of_openmmlab().search(source.text))
        return path if is_read else None

    def candidates(self, word: Word) -> Iterator[str]:
        """Yield the configurations that a path with variables in it may name."""
        matches = like(tuple(part.text for part in word.parts)).fullmatch
        yield from (path for path in self._all if path.endswith(CONFIGURATIONS) and matches(path))

    def program(self, program: tuple[Word, ...], command: Command, script: Script, *, further_down: bool) -> str | None:
        """The path of the Python file that runs; `further_down`: also the only one of its name below the script's folder.

        The words of a document say to go there first.
        """
        if program[0].text == "-m" and len(program) > 1 and program[1].text:
            return self._module(program[1].text.replace(".", "/"), command, script)
        name = program[0].text or program[0].parts[-1].text or ""
        if not name.endswith(".py"):
            return None
        folder = script.path.rpartition("/")[0]
        further_down = further_down and program[0].text is not None
        found = self.find(program[0], command, script) or (self.only_one(name, f"{folder}/" if folder else "") if further_down else None)
        return found or self._elsewhere(name, script)

    def _elsewhere(self, path: str, script: Script) -> str | None:
        """The program that a path names where the author has the tree (`/home/me/acme/examples/a/train.py`): its last three steps agree.

        Or it is the only one that ends so, of the folder nearest to the script that has any: the author starts it from a folder that no
        script names.
        """
        if not path.endswith(".py"):
            return None
        away = path.startswith(("/", "~"))
        ends = list(endings(path.removeprefix("./"), 3))[: None if away else 1]
        at_root = next((ending for ending in ends if ending in self.known), None) or self._at_root(path, script) if away else None
        if at_root is not None or path.rpartition("/")[2] not in self._by_name:
            return at_root
        folders = [f"{folder}/" for folder in upwards(script.path.rpartition("/")[0]) if folder]
        return next((found for ending in ends for folder in (*folders, "") if (found := self.only_one(ending, folder))), None)

    def only_one(self, ending: str, start: str = "") -> str | None:
        """The one file of the tree whose path ends with `/ending` and starts with `start`; None if there is none, or several."""
        named = self._by_name.get(ending.rpartition("/")[2], ())
        found = [path for path in named if path.endswith(f"/{ending}") and path.startswith(start)]
        return found[0] if len(found) == 1 else None

    def named(self, name: str) -> Sequence[str]:
        """The paths of the files with a name."""
        return self._by_name.get(name, ())

    def places(self, path: str, command: Command, script: Script) -> Iterator[str]:
        """Yield the paths that a relative path may mean, the likeliest first, whether they exist or not."""
        return self._places(Folder(path), command, script)

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        return by_name(self._all)

    @cached_property
    def _folders(self) -> frozenset[str]:
        """The names of all folders of the tree."""
        return frozenset(step for path in self._all for step in path.split("/")[:-1])

    def _module(self, name: str, command: Command, script: Script) -> str | None:
        """The file of a module that runs: from where the command runs, or the only one of its name, as an installed package has it."""
        for path in (f"{name}.py", f"{name}/__main__.py"):
            found = self._existing(Folder(path), command, script) or (self.only_one(path) if "/" in name else None)
            if found is not None:
                return found
        return None

    def _built_in(self, folder: Folder, command: Command, script: Script) -> str | None:
        """The one configuration file that a name without suffix means, as programs know their own (`llama3/8B_full`)."""
        name = folder.path or ""
        if "." in name.rpartition("/")[2] or not name or name.startswith("-") or "/" not in name:
            return None
        return self.only_one(f"{name}.yaml") or self._existing(Folder(f"{name}.yaml"), command, script)

    def _of_job(self, word: Word, command: Command, script: Script) -> str | None:
        """The one file that the container of a job has at the path of `word`.

        A Dockerfile of the folder nearest to that of the job that has any copies it there; or it lies beside the job.
        """
        path = word.text or ""
        name = path.rpartition("/")[2]
        found = self._by_name.get(name, ()) if "." in name and ".." not in path else ()
        if command.machines is None or not command.machines.in_image or not found:
            return None
        base = script.path.rpartition("/")[0]
        for folder in (*upwards(base), ""):
            images = [each for each in self._dockerfiles if each.startswith(f"{folder}/" if folder else "")]
            if len(images) > MOST_DOCKERFILES:
                break
            copied = {
                each for source in map(self._image, images) if source is not None for each in copied_to(Folder(path), source)
            }.intersection(found)
            if copied:
                return copied.pop() if len(copied) == 1 else None
        beside = below(base, name)
        return beside if path.startswith("/") and path.count("/") <= _FLAT and beside in self.known else None

    def _image(self, path: str) -> Source | None:
        """The Dockerfile at `path`, None if it can't be read."""
        found = self._tree.read(path)
        marked = conflict(found.text) if isinstance(found, Source) else None
        if marked is not None:
            self.conflicts[path] = marked[1]
        return found if isinstance(found, Source) and marked is None else None

    @cached_property
    def _dockerfiles(self) -> list[str]:
        return [path for name, paths in self._by_name.items() if name.partition(".")[0] == "Dockerfile" for path in paths]

    def _existing(self, folder: Folder, command: Command, script: Script) -> str | None:
        places = (path for path in self._places(folder, command, script) if path in self.known)
        found = next(places, self._in_checkout(folder, command))
        here = command.folder
        bare = not (folder.rooted or folder.from_start or here.rooted) and (here.path is None or here.path.startswith("/"))
        return found or (self._at_root(f"{here.path or '/home/of'}/{folder.path}", script) if bare and folder.path else None)

    def _at_root(self, path: str, script: Script) -> str | None:
        """The program or script at the root that an absolute path of two folders or more names, where the author has the tree.

        It is the only file of its name in the tree, which has no folder called like that, and the script does not have git make the folder.
        Or it is in the folder called like that in which the script is, too, whatever the author has above it.
        """
        folder, _, name = path.rpartition("/")
        named = self._by_name.get(name, ())
        if not named or not name.endswith((".py", *SCRIPTS)) or folder.count("/") < _DEEP:
            return None
        called = folder.rpartition("/")[2]
        words = (word.text or "" for command in script.commands if clones(command) for word in command.words[2:])
        if called in {word.rstrip("/").rpartition("/")[2] for word in words if ":" not in word}:  # the others are addresses
            return None
        around = (each for each in upwards(script.path.rpartition("/")[0]) if each.rpartition("/")[2].lower() == called.lower())
        agreeing = next((found for each in around if (found := f"{each}/{name}") in self.known), None)
        return name if agreeing is None and list(named) == [name] and called not in self._folders else agreeing

    def _in_checkout(self, folder: Folder, command: Command) -> str | None:
        """The file that a path of several steps names after `cd /home/me/repository`, or `cd $PROJECT`: where the author has the tree.

        After `cd /home/me/repository/src` it may be further down: the last steps of the folder, and the path, three at least.
        """
        at = command.folder.path
        if folder.rooted or folder.from_start or not (at is None or at.startswith("/")):
            return None
        steps = (at or "").strip("/").split("/")
        for index in range(len(steps), -1, -1):
            found = below("/".join(steps[index:]), folder.path or "")
            if found in self.known and found is not None and found.count("/") >= (1 if index == len(steps) else 2):
                return found
        return None

    def _places(self, folder: Folder, command: Command, script: Script) -> Iterator[str]:
        path = folder.path or ""
        if folder.rooted:
            yield path
            return
        here = Folder() if folder.from_start else command.folder
        started_in = mounted(here, self._mounts(here, command, script)) or here
        if started_in.path is None or started_in.path.startswith("/"):
            return
        base = script.path.rpartition("/")[0]
        bases = [""] if started_in.rooted else ["", *upwards(base)]
        for each in bases:
            inside = below(each, started_in.path)
            found = below(inside, path) if inside is not None else None
            if found is not None:
                yield found

    def _mounts(self, folder: Folder, command: Command, script: Script) -> Iterator[Mount]:
        """Yield what a command has of the tree elsewhere: mounted by what runs it, or copied by the nearest Dockerfile of its script."""
        yield from of_command(command)
        if not (folder.path or "").startswith("/"):
            return
        folders = (*upwards(script.path.rpartition("/")[0]), "")
        nearest = next((path for folder in folders if (path := below(folder, "Dockerfile")) in self.known), None)
        source = self._image(nearest) if nearest else None
        if source is not None:
            yield from of_image(source)


def like(parts: Sequence[str | None]) -> re.Pattern[str]:
    """What matches paths like a word of which some parts are unknown (None).

    An unknown part ends where the known one behind it first occurs, and is never tried again: many of them cost no more than one.
    """
    pattern, unknown, last = "", False, max((i for i, part in enumerate(parts) if part), default=-1)
    for i, part in enumerate(parts):
        if not part:
            unknown = unknown or part is None
            continue
        literal = re.escape(part.removeprefix("./") if not pattern and not unknown else part)
        ends = i == last and None not in parts[i:]
        pattern += literal if not unknown else f"[^/]+{literal}" if ends else f"(?>[^/]+?{literal})"
        unknown = False
    pattern += "[^/]+" if unknown else ""
    return re.compile(f"(?:.*/)?{pattern}" if parts and parts[0] is None else pattern)


# A configuration that is a Python module: its parents, or a dictionary of its own.
_of_openmmlab = lazy_pattern(r"(?m)^(?:_base_ = |with read_base\(\):|(?:data|model|train_dataloader) = dict\()")
