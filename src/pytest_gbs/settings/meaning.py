"""Settings of the right shape as values, and what is wrong with them beyond their shape."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any, Final

from pytest_gbs.files import globs
from pytest_gbs.model.limits import MOST_PATTERN_CHARACTERS, MOST_PATTERNS
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.model.settings import Expectation, Hardware, Settings
from pytest_gbs.settings.hardware import KEYS, contradiction, origin_of
from pytest_gbs.settings.selection import advice, resolve

Raw = dict[str, Any]
MOST_PROBLEMS: Final = 100
SIZES: Final = ("global-batch-size", "tokens-per-step", "micro-batch-size", "gradient-accumulation-steps", "world-size")
_EVERYWHERE: Final = ("**",)


class SettingsProblem(NamedTuple):
    """Something wrong at `path` of the settings: the part of the sentence that follows the name of the key."""

    path: tuple[str | int, ...]
    text: str


def build(raw: Raw, file: str, table: str, rules: Mapping[str, str]) -> tuple[Settings, list[SettingsProblem]]:
    """The settings that `raw`, of the right shape, states, and what is wrong with them (the first hundred things).

    `file` is the name of the file, `table` the name of its table ("tool.gbs", or nothing for a whole file), `rules` the names of
    all rules by code.
    """
    selected = {key: _codes(raw.get(key, ()), rules) for key in ("select", "extend-select", "ignore")}
    settings = Settings(
        select=selected["select"],
        extend_select=selected["extend-select"],
        ignore=selected["ignore"],
        severity=_severity(raw.get("severity", {}), rules),
        per_file_ignores=tuple((glob, _codes(texts, rules)) for glob, texts in raw.get("per-file-ignores", {}).items()),
        exclude=tuple(raw.get("exclude", ())),
        hardware=tuple(_hardware(raw, file, table)),
        launches=tuple(_stated(entry, _home(file, table, "launch")) for entry in raw.get("launch", ())),
        expect=tuple(e for entry in raw.get("expect", ()) for e in _expectations(entry, _home(file, table, "expect"))),
        max_file_size=int(raw.get("max-file-size", Settings().max_file_size)),
        strict=bool(raw.get("strict", False)),
        strict_all=raw.get("strict") == "all",
        require_ignore_reason=raw.get("require-ignore-reason", False),
        source=file,
        baseline=raw.get("baseline", ""),
        versions=tuple(raw.get("versions", {}).items()),
    )
    wrong = chain(_wrong_rules(raw, rules), _wrong_hardware(raw), _wrong_ranges(raw), _wrong_globs(raw))
    return settings, list(islice(wrong, MOST_PROBLEMS))


def _codes(texts: Iterable[str], rules: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(code for text in texts for code in resolve(text, rules)))


def _severity(stated: dict[str, str], rules: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The severity of each code; what names fewer rules wins over a prefix that covers them."""
    found: dict[str, str] = {}
    for text in sorted(stated, key=lambda text: -len(resolve(text, rules))):
        found.update(dict.fromkeys(resolve(text, rules), stated[text]))
    return tuple(sorted(found.items()))


def _home(file: str, table: str, part: str = "") -> str:
    """Where an entry is, for people: `[[tool.gbs.hardware]] of pyproject.toml`."""
    if part:
        return f"[[{table}.{part}]] of {file}" if table else f"[[{part}]] of {file}"
    return f"[{table}] of {file}" if table else file


def _fields(entry: Raw) -> dict[str, int]:
    """The hardware of one table, by the names of our fields."""
    renamed = {**entry, "num-nodes": entry.get("num-nodes", entry.get("nodes"))}
    return {name: int(value) for name, key in KEYS.items() if (value := renamed.get(key)) is not None}


def _hardware(raw: Raw, file: str, table: str) -> Iterator[Hardware]:
    if _fields(raw):
        yield _stated(raw, _home(file, table))
    yield from (_stated(entry, _home(file, table, "hardware")) for entry in raw.get("hardware", ()))


def _stated(entry: Raw, home: str) -> Hardware:
    fields = _fields(entry)
    paths = tuple(entry.get("paths", _EVERYWHERE))
    return Hardware(paths, **fields, origin=origin_of(list(fields), home), name=entry.get("name", ""))


def _expectations(entry: Raw, home: str) -> Iterator[Expectation]:
    paths = tuple(entry["paths"])
    for key in SIZES:
        if key in entry:
            values, low, high, text = _wanted(entry[key])
            yield Expectation(paths, key.replace("-", "_"), values, low, high, origin=home, text=f"{key} = {text}")
    if "same" in entry:
        yield Expectation(paths, entry["same"].replace("-", "_"), shared=True, origin=home, text=f'same = "{entry["same"]}"')


def _wanted(value: Any) -> tuple[tuple[int, ...], int | None, int | None, str]:
    """The values, the bounds and the text of one expectation."""
    if not isinstance(value, dict):
        return (int(value),), None, None, str(int(value))
    if "in" in value:
        values = tuple(int(each) for each in value["in"])
        return values, None, None, f"{{in = [{', '.join(map(str, values))}]}}"
    low, high = (int(value[key]) if key in value else None for key in ("min", "max"))
    text = ", ".join(f"{key} = {bound}" for key, bound in (("min", low), ("max", high)) if bound is not None)
    return (), low, high, f"{{{text}}}"


def _wrong_rules(raw: Raw, rules: Mapping[str, str]) -> Iterator[SettingsProblem]:
    lists = [((key,), raw.get(key, ())) for key in ("select", "extend-select", "ignore")]
    lists += [(("per-file-ignores", glob), texts) for glob, texts in raw.get("per-file-ignores", {}).items()]  # type: ignore[misc]
    for path, texts in lists:
        for number, text in enumerate(texts):
            if not resolve(text, rules):
                yield SettingsProblem((*path, number), f'contains "{text}", which is not a rule; {advice(text, rules)}')
    for text in raw.get("severity", {}):
        if not resolve(text, rules):
            yield SettingsProblem(("severity", text), f"is not a rule; {advice(text, rules)}")


def _wrong_hardware(raw: Raw) -> Iterator[SettingsProblem]:
    entries: list[tuple[tuple[str | int, ...], Raw]] = [((), raw)]
    entries += [((key, number), entry) for key in ("hardware", "launch") for number, entry in enumerate(raw.get(key, ()))]
    for path, entry in entries:
        if "nodes" in entry and "num-nodes" in entry:
            yield SettingsProblem((*path, "nodes"), "is the same setting as num-nodes; keep one of them")
        wrong = contradiction(_fields(entry))
        if wrong:
            yield SettingsProblem((*path, "world-size"), wrong)


def _wrong_ranges(raw: Raw) -> Iterator[SettingsProblem]:
    for number, entry in enumerate(raw.get("expect", ())):
        for key in SIZES:
            bounds = entry.get(key)
            if isinstance(bounds, dict) and bounds.get("min", 0) > bounds.get("max", float("inf")):
                yield SettingsProblem(("expect", number, key), f"has min {int(bounds['min']):,} above max {int(bounds['max']):,}")


def _wrong_globs(raw: Raw) -> Iterator[SettingsProblem]:
    number, characters = 0, 0
    for path, glob in _globs(raw):
        if wrong := globs.problem(glob):
            yield SettingsProblem(path, wrong if path[-1] == glob else f'contains "{glob}", which {wrong}')
        spellings = globs.spellings(glob) or ()
        number, characters = number + len(spellings), characters + sum(map(len, spellings))
        if number > MOST_PATTERNS or characters > MOST_PATTERN_CHARACTERS:
            most = f"{MOST_PATTERNS:,} path patterns, or {MOST_PATTERN_CHARACTERS:,} characters of them"
            yield SettingsProblem(path[:1], f"takes the settings above {most}, each spelling of braces counted")
            return


def _globs(raw: Raw) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield each path pattern of the settings with where it is; a launch of all recipes has the pattern of all."""
    for glob in raw.get("per-file-ignores", {}):
        yield ("per-file-ignores", glob), glob
    for number, glob in enumerate(raw.get("exclude", ())):
        yield ("exclude", number), glob
    for key in ("hardware", "launch", "expect"):
        for number, entry in enumerate(raw.get(key, ())):
            for place, glob in enumerate(entry.get("paths", _EVERYWHERE)):
                yield (key, number, "paths", place), glob
