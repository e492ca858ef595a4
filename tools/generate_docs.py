"""Writes the pages of the rules, `docs/rules/`, from the rules themselves: manual, examples, and what the tool says of them; and those
of the limits, the settings and the command line from their constants, their schema and their help.

Each rule has a page of its own and there is none about all of them, so that two contributors never change the same one; `gbs rules`
lists them, and `gbs frameworks` the frameworks.

`python -m tools.generate_docs` writes them, with `--check` it only tells whether they are up to date. A test does that too.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from pytest_gbs.formats import FormatOptions
from pytest_gbs.formats.text import render
from pytest_gbs.model.rule import Example, Rule
from pytest_gbs.rules import manuals
from tools import limits_page, reference_pages
from tools.examples import check_example

FOLDER = Path(__file__).resolve().parents[1] / "docs"
_GENERATED = "<!-- Generated from the rule's module by tools/generate_docs.py: change the rule, then run it again. -->"
_LANGUAGES = {"yaml": "yaml", "yml": "yaml", "json": "json", "toml": "toml"}


def pages() -> dict[str, str]:
    """The text of every page by its path below `docs`."""
    found = {f"rules/{rule.code.lower()}.md": page(rule) for rule in manuals()}
    return {**found, "limits.md": limits_page.page(), "settings.md": reference_pages.settings(), "cli.md": reference_pages.command_line()}


def page(rule: Rule) -> str:
    """The page of one rule."""
    parts = [
        _GENERATED,
        f"# {rule.code} {rule.name}",
        f"*{_severity(rule)}, since {rule.since}*",
        rule.manual.strip(),
    ]
    for number, example in enumerate(rule.bad):
        parts += ["## Example" if not number else "## Another example", *_files(example), _command(example), _fence(_says(example), "text")]
    parts += ["## In order", *(part for example in rule.good for part in (*_files(example), *_flags(example)))]
    return "\n\n".join(parts) + "\n"


def _severity(rule: Rule) -> str:
    return rule.severity if rule.default else f"{rule.severity}, off by default"


def _files(example: Example) -> Iterator[str]:
    """Yield each file of `example` with its name."""
    for name, text in example.files:
        yield f"`{name}`"
        yield _fence(text, _LANGUAGES.get(name.rpartition(".")[2], ""))


def _command(example: Example) -> str:
    return f"`{' '.join(('gbs check', *example.flags))}` says"


def _flags(example: Example) -> tuple[str, ...]:
    return (f"with `{' '.join(('gbs check', *example.flags))}`",) if example.flags else ()


def _says(example: Example) -> str:
    with TemporaryDirectory() as folder:
        return render(check_example(example, Path(folder)), FormatOptions(verbosity=-1))


def _fence(text: str, language: str) -> str:
    return f"```{language}\n{text.rstrip(chr(10))}\n```"


def outdated() -> list[str]:
    """The paths of the pages that differ from what they should be, are missing, or belong to no rule."""
    wanted = pages()
    paths = (*FOLDER.glob("rules/*.md"), *(FOLDER / name for name in wanted if "/" not in name))
    there = {path.relative_to(FOLDER).as_posix(): path.read_text(encoding="utf-8") for path in paths if path.exists()}
    return sorted(name for name in wanted.keys() | there.keys() if wanted.get(name) != there.get(name))


def main(arguments: list[str]) -> int:
    """Write the pages, or with `--check` only say which would change."""
    stale = outdated()
    if arguments != ["--check"]:
        wanted = pages()
        (FOLDER / "rules").mkdir(parents=True, exist_ok=True)
        for name in stale:
            target = FOLDER / name
            target.write_text(wanted[name], encoding="utf-8", newline="\n") if name in wanted else target.unlink()
        sys.stdout.write(f"wrote {len(stale)} of {len(wanted)} pages\n")
        return 0
    sys.stdout.writelines(f"docs/{name} is out of date\n" for name in stale)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
