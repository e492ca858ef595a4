"""The frameworks of the settings themselves: tables described in them, or in files of the repository that they name."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from pytest_gbs import frameworks
from pytest_gbs.files.regular import read_bytes
from pytest_gbs.files.root import leads_outside
from pytest_gbs.frameworks._building import build_framework
from pytest_gbs.frameworks._notation import NotationError, Path, Plain, expand
from pytest_gbs.frameworks._origins import stated_at
from pytest_gbs.model.errors import SettingsError
from pytest_gbs.model.framework import Framework
from pytest_gbs.model.limits import MOST_OWN_FRAMEWORKS, MOST_SETTINGS_BYTES
from pytest_gbs.model.location import dotted
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.settings.described import Described, is_too_deep
from pytest_gbs.settings.explain import problems, sentences
from pytest_gbs.settings.file import parse
from pytest_gbs.settings.framework_mistakes import SIZES, meant, missing_sizes, mistakes
from pytest_gbs.settings.meaning import MOST_PROBLEMS, Raw, SettingsProblem
from pytest_gbs.settings.shape import fits


class _Stated(NamedTuple):
    """One description: the path at which the settings state it, its name, what it says, and its file and the text of that.

    The text is "" if it is in the settings.
    """

    path: Path
    name: str
    raw: Any
    home: str
    text: str = ""


def describe(stated: Any, root: str, file: str) -> Described:
    """The tables of `stated`: a list of files, or tables (or files) by name; `file` is the settings file.

    One whose name starts with an underscore is a part for others to inherit, and no table.
    """
    if len(stated) > MOST_OWN_FRAMEWORKS:
        many = f"contains {len(stated):,} frameworks; at most {MOST_OWN_FRAMEWORKS} are read"
        return Described((), (SettingsProblem(("frameworks",), many),))
    found, wrong, lines = _found(stated, root, file)
    known = {each.name: each.raw for each in found}
    tables: list[Framework] = []
    for each in found:
        described = _Description(each, known)
        tables.extend(described.tables())
        if each.text:
            lines.extend(sentences(described.wrong, each.home, each.text, ()) if described.wrong else ())
        else:
            wrong.extend(problem._replace(path=(*each.path, *problem.path)) for problem in described.wrong)
    return Described(tuple(tables), tuple(wrong), tuple(lines))


def _found(stated: Any, root: str, file: str) -> tuple[list[_Stated], list[SettingsProblem], list[str]]:
    """Each description, what is wrong with the settings that name them, and what with files that can't be read, a line each."""
    found: list[_Stated] = []
    wrong: list[SettingsProblem] = []
    lines: list[str] = []
    for path, name, each in _each(stated):
        if not isinstance(each, str):
            found.append(_Stated(path, name, each, file))
        elif _leaves(each, root):
            wrong.append(
                SettingsProblem(path, f'{"contains" if name == "" else "is"} "{each[:200]}", which is not a file of this repository')
            )
        else:
            try:
                found.append(_of_file(path, each, root))
            except SettingsError as error:
                lines.extend(str(error).split("\n"))
    return found, wrong, lines


def _each(stated: Any) -> Iterator[tuple[Path, str, Any]]:
    """Yield the path within the settings, the name and the description of each."""
    if isinstance(stated, list):
        yield from ((("frameworks", number), "", each) for number, each in enumerate(stated))
    else:
        yield from ((("frameworks", name), name, each) for name, each in stated.items())


def _leaves(path: str, root: str) -> bool:
    """Whether `path` is not a plain path below the root; settings may come from a stranger."""
    plain = path.replace("\\", "/")
    return (
        not plain.isprintable()
        or plain.startswith("/")
        or ":" in plain
        or ".." in plain.split("/")
        or leads_outside(f"{root}/{plain}", root)
    )


def _of_file(stated_at: Path, path: str, root: str) -> _Stated:
    """What the file at `path` describes.

    Raises:
        SettingsError: it can't be read, or is not TOML.
    """
    file = parse(path, read_bytes(f"{root}/{path}", MOST_SETTINGS_BYTES), ())
    name = path.replace("\\", "/").rpartition("/")[2].removesuffix(".toml")
    return _Stated(stated_at, name, file.raw, path, file.text or "\n")


class _Description:
    """One description on its way to tables, and what turns out to be wrong with it; `known` are all of the settings by name."""

    def __init__(self, stated: _Stated, known: Raw) -> None:
        self.wrong: list[SettingsProblem] = []
        self._stated = stated
        self._known = known

    def tables(self) -> list[Framework]:
        """The tables, one for each variant; none where anything is wrong."""
        found = [self._table(plain) for plain in self._plain()]
        self.wrong = list(dict.fromkeys(self.wrong))[:MOST_PROBLEMS]
        return [] if self.wrong else [table for table in found if table is not None]

    def _plain(self) -> tuple[Plain, ...]:
        name, raw = self._stated.name, self._stated.raw
        if is_too_deep(raw):
            self.wrong.append(SettingsProblem((), "is nested too deeply"))
        elif not fits(name, "framework", "word"):
            self.wrong.append(SettingsProblem((), "has a name that is not text of 1 to 200 printable characters"))
        elif not fits(raw, "framework"):
            self.wrong.extend(_with_hints(problems(raw, "framework"), raw))
        elif not name.startswith("_"):
            try:
                return expand(raw, self._find)
            except NotationError as error:
                self.wrong.append(SettingsProblem(error.path, str(error)))
        return ()

    def _find(self, name: str) -> Raw | None:
        """The description of that name: another of the settings, or a built-in one.

        Raises:
            NotationError: there is none, or it has the wrong shape, which is reported at its place.
        """
        if name != self._stated.name and name in self._known:
            found: Raw = self._known[name]
            if is_too_deep(found) or not fits(found, "framework"):
                raise NotationError(("inherits",), f'is "{name[:80]}", which has mistakes')
            return found
        built_in = frameworks.description(name)
        if built_in is None and name == self._stated.name:
            raise NotationError(("inherits",), f'is "{name[:80]}", which refers back to itself')
        if built_in is None:
            known = (*self._known, *frameworks.names())
            raise NotationError(("inherits",), f'is "{name[:80]}", and there is no table of that name{meant(name, known)}')
        return built_in

    def _table(self, plain: Plain) -> Framework | None:
        """The table of a plain description, None if it has mistakes."""
        name, home = self._stated.name, self._stated.home
        if not fits(plain.raw, "framework", "whole"):
            self._refuse(plain, problems(plain.raw, "framework", "whole"))
            return None
        wrong = list(islice(mistakes(plain.raw), MOST_PROBLEMS))
        if wrong:
            self._refuse(plain, wrong)
            return None
        titled = {"title": self._stated.raw.get("name", name), **plain.raw}
        built = build_framework(titled, name, home)
        wrong = list(islice(missing_sizes(plain.raw, built), MOST_PROBLEMS))
        self._refuse(plain, wrong)
        return built

    def _refuse(self, plain: Plain, wrong: list[SettingsProblem]) -> None:
        """Keep what is wrong with a plain description, each at the place that says so or inherits it."""
        raw = self._stated.raw
        for problem in wrong:
            path = stated_at(raw, plain, problem.path) if problem.path else ()
            if path is None:
                of_variant = plain.variant is not None and "inherits" in raw["variants"][plain.variant]
                home: Path = ("variants", plain.variant or 0, "inherits") if of_variant else ("inherits",) if "inherits" in raw else ()
                said = dotted(problem.path)
                self.wrong.append(SettingsProblem(home, f"brings {said}, which {problem.text}" if home else f"{said} {problem.text}"))
            else:
                self.wrong.append(problem._replace(path=path))


def _with_hints(wrong: list[SettingsProblem], raw: Raw) -> list[SettingsProblem]:
    """The problems, with a word about keys that lack their quotes: TOML reads `train.batch = ...` as a table in a table."""
    nested = {problem.path[:2] for problem in wrong if _lacks_quotes(problem.path, raw)}
    hint = 'has no size; a key with dots is written in quotes, such as "train.batch" = "micro_batch_size"'
    kept = (SettingsProblem(problem.path[:2], hint) if problem.path[:2] in nested else problem for problem in wrong)
    return list(dict.fromkeys(kept))


def _lacks_quotes(path: Path, raw: Raw) -> bool:
    """Whether what is wrong at `path` is a size, or a table of one, within the table of a key."""
    if len(path) < 3 or path[0] != "keys":
        return False
    row: Any = raw["keys"][path[1]]
    inner = row.get(path[2]) if isinstance(row, dict) and "size" not in row else None
    return inner in SIZES if isinstance(inner, str) else isinstance(inner, dict) and path[2] != "words"
