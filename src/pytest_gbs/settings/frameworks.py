"""The frameworks of the settings themselves: tables described in them, or in files of the repository that they name."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from pytest_gbs.core.errors import SettingsError
from pytest_gbs.core.framework import Framework
from pytest_gbs.core.limits import MOST_OWN_FRAMEWORKS, MOST_SETTINGS_BYTES
from pytest_gbs.core.typed import Any
from pytest_gbs.settings.described import Described, is_too_deep
from pytest_gbs.settings.framework import build_framework
from pytest_gbs.settings.framework_mistakes import mistakes
from pytest_gbs.settings.framework_shape import fits_framework
from pytest_gbs.settings.meaning import MOST_PROBLEMS, Problem, Raw
from pytest_gbs.trees.files import read_bytes
from pytest_gbs.trees.root import leads_outside


def describe(stated: Any, root: str, file: str) -> Described:
    """Return the tables of `stated`: a list of files, or tables (or files) by name; `file` is the settings file."""
    tables: list[Framework] = []
    wrong: list[Problem] = []
    lines: list[str] = []
    if len(stated) > MOST_OWN_FRAMEWORKS:
        return Described((), (Problem(("frameworks",), f"holds {len(stated):,} frameworks; at most {MOST_OWN_FRAMEWORKS} are read"),))
    for path, name, each in _each(stated):
        if isinstance(each, str):
            if _leaves(each, root):
                wrong.append(Problem(path, f'{"holds" if name == "" else "is"} "{each[:200]}", which is no file of this repository'))
                continue
            table, problems = _of_file(each, root)
            lines.extend(problems)
        else:
            table, found = _of_table(each, name, file)
            wrong.extend(problem._replace(path=(*path, *problem.path)) for problem in found)
        if table is not None:
            tables.append(table)
    return Described(tuple(tables), tuple(wrong), tuple(lines))


def _each(stated: Any) -> Iterator[tuple[tuple[str | int, ...], str, Any]]:
    """Yield the path within the settings, the name and the description of each."""
    if isinstance(stated, list):
        yield from ((("frameworks", number), "", each) for number, each in enumerate(stated))
    else:
        yield from ((("frameworks", name), name, each) for name, each in stated.items())


def _leaves(path: str, root: str) -> bool:
    """Return whether `path` is no plain path below the root; settings may come from a stranger."""
    plain = path.replace("\\", "/")
    return plain.startswith("/") or ":" in plain or ".." in plain.split("/") or leads_outside(f"{root}/{plain}", root)


def _of_file(path: str, root: str) -> tuple[Framework | None, list[str]]:
    """Return the table that the file at `path` describes, and what is wrong with it, a line each."""
    from pytest_gbs.settings.explain import sentences
    from pytest_gbs.settings.reading import parse

    try:
        file = parse(path, read_bytes(f"{root}/{path}", MOST_SETTINGS_BYTES), ())
    except SettingsError as error:
        return None, str(error).split("\n")
    name = path.replace("\\", "/").rpartition("/")[2].removesuffix(".toml")
    table, wrong = _of_table(file.raw, name, path)
    return table, sentences(wrong, path, file.text, ()) if wrong else []


def _of_table(raw: Raw, name: str, home: str) -> tuple[Framework | None, list[Problem]]:
    if is_too_deep(raw):
        return None, [Problem((), "is nested too deeply")]
    if fits_framework(raw):
        table = build_framework(raw, name, home)
        wrong = list(islice(mistakes(raw, table), MOST_PROBLEMS))
        return (None if wrong else table), wrong
    from pytest_gbs.settings.explain import problems

    return None, _kindly(problems(raw, "framework"))


def _kindly(wrong: list[Problem]) -> list[Problem]:
    """Return the problems, with a word about keys that lack their quotes: TOML reads `train.batch = ...` as a table in a table."""
    nested = {problem.path for problem in wrong if problem.path[:1] == ("keys",) and problem.text.startswith("has no size")}
    kept = (problem for problem in wrong if problem.path[:-1] not in nested)
    hint = 'has no size; a key with dots is written in quotes, such as "train.batch" = "micro_batch_size"'
    return [problem._replace(text=hint) if problem.path in nested else problem for problem in kept]
