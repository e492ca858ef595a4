"""`gbs rule`: the manual of a rule."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any, Final

from pytest_gbs.cli._command import SubCommand
from pytest_gbs.cli._from_settings import added
from pytest_gbs.cli._output import emit
from pytest_gbs.formats._json import dump, taken
from pytest_gbs.model.errors import UsageError
from pytest_gbs.model.rule import Example, Rule
from pytest_gbs.rules import manuals, named
from pytest_gbs.settings.selection import advice, resolve

_EXAMPLE: Final = "stale-declaration"


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    example = named(_EXAMPLE)
    words = f"codes, starts of codes, or names: {example.code}, GBS2, {example.name}"
    parser.add_argument("rules", nargs="*", metavar="CODE", help=words)
    parser.add_argument("--all", action="store_true", help="every rule")
    parser.add_argument("--format", choices=("text", "markdown", "json"), default="text", help="output format (default: text)")


def run(arguments: argparse.Namespace) -> int:
    """Write the manual of each rule asked for."""
    chosen = _chosen(["ALL"] if arguments.all else arguments.rules)
    if arguments.format == "json":
        entries = [entry(rule) for rule in chosen]
        emit(dump(entries[0] if len(entries) == 1 else entries))
    else:
        write = _markdown if arguments.format == "markdown" else _text
        emit("\n\n".join("\n".join(write(rule)) for rule in chosen) + "\n")
    return 0


def _chosen(words: list[str]) -> list[Rule]:
    if not words:
        raise UsageError(f"which rule? gbs rule {named(_EXAMPLE).code}, or gbs rules for a list")
    known = {rule.code: rule for rule in (*manuals(), *added().rules)}
    names = {code: rule.name for code, rule in known.items()}
    for word in words:
        if not resolve(word, names):
            raise UsageError(f"no rule is called {word}; {advice(word, names)}")
    return [known[code] for code in dict.fromkeys(code for word in words for code in resolve(word, names))]


def entry(rule: Rule) -> dict[str, Any]:
    """A rule as JSON has it."""
    return {
        **taken(rule, "code name summary severity default since scope frameworks"),
        "manual": rule.manual.strip(),
        "bad": [_example(example) for example in rule.bad],
        "good": [_example(example) for example in rule.good],
    }


def _example(example: Example) -> dict[str, Any]:
    base = {"base": dict(example.base)} if example.base else {}
    return {"files": dict(example.files), "flags": list(example.flags), **base}


def _facts(rule: Rule) -> str:
    default = "on by default" if rule.default else "off unless selected"
    return f"{rule.severity}, {default}, since {rule.since}"


def _text(rule: Rule) -> Iterator[str]:
    yield from (f"{rule.code} {rule.name}", _facts(rule), "", rule.manual.strip() or rule.summary)
    for title, examples in (("Fires on", rule.bad), ("Silent on", rule.good)):
        for example in examples:
            flags = f" (with {' '.join(example.flags)})" if example.flags else ""
            yield f"\n{title}{flags}:"
            for name, text in (*((f"{name} at the base", text) for name, text in example.base), *example.files):
                yield f"\n  {name}"
                yield from (f"    {line}".rstrip() for line in text.splitlines())


def _markdown(rule: Rule) -> Iterator[str]:
    yield from (f"# {rule.code} {rule.name}", "", f"*{_facts(rule)}*", "", rule.manual.strip() or rule.summary)
    for title, examples in (("Fires on", rule.bad), ("Silent on", rule.good)):
        for example in examples:
            flags = f", checked with `{' '.join(example.flags)}`" if example.flags else ""
            yield f"\n{title}{flags}:"
            for name, text in example.base:
                yield f"\n```{name.rpartition('.')[2]}\n# {name} at the base\n{text.rstrip()}\n```"
            for name, text in example.files:
                yield f"\n```{name.rpartition('.')[2]}\n# {name}\n{text.rstrip()}\n```"


COMMAND = SubCommand("print the manual of a rule: what it finds, why, and how to fix it", _add_arguments, run)
