"""The page of the frameworks, `docs/frameworks.md`: what each makes of a recipe, what is checked of it, and which are left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytest_gbs.check.rulebook import OF_TABLE, Rulebook
from pytest_gbs.cli._table import write_table
from pytest_gbs.cli.frameworks import HEAD, row
from pytest_gbs.formats._markdown import cell, table
from pytest_gbs.frameworks import tables
from pytest_gbs.launches.programs import launchers
from pytest_gbs.model.framework import Arguments, Exclusion, Framework, Requirement
from pytest_gbs.model.quantity import Name
from pytest_gbs.model.rule import Rule
from pytest_gbs.rules import manuals

GENERATED = "<!-- Generated from the tables by tools/generate_docs.py: change a table, then run it again. -->"
_YES = "✓"
_COMMAND_LINE = {
    Arguments.FLAGS: "`--key value`",
    Arguments.PAIRS: "`key=value`",
    Arguments.HYDRA: "Hydra",
    Arguments.NONE: "",
}
# A recipe of these is a program: nothing but running it says what its batch is. Where the configurations lie, in their repositories.
PYTHON_ONLY = (
    ("AXLearn", "`axlearn/experiments/**/*.py`", ""),
    ("ColossalAI", "flags of its training scripts", ""),
    ("NeMo 2 recipes", "`nemo/collections/llm/recipes/*.py`", "YAML of NeMo 1 is read, and Megatron Bridge's override files"),
    ("Tinker cookbook", "`tinker_cookbook/recipes/**/*.py`", ""),
    ("torchtitan, once its TOML files were gone", "`torchtitan/models/*/config_registry.py`", "TOML files of the time before are read"),
    ("XTuner", "`xtuner/configs/**/*.py`", ""),
)


def page() -> str:
    """Return the page."""
    known = tables()
    parts = [
        GENERATED,
        "# Frameworks and what is checked",
        f"{len(known)} tables, one for each kind of run whose batch is another. `gbs frameworks` prints the first of these lists, with"
        " the tables of your settings and plug-ins. Each row of a table names the file and function of the framework that it is from.",
        "## What a batch is",
        write_table(HEAD, [row(each) for each in known], "markdown").rstrip("\n"),
        "## What is checked",
        "Of every framework: what can't be read, doubled and misspelt keys, values that are not sizes (GBS00x), and every claim of a"
        " comment, a name or a policy against the batch (GBS1xx, GBS301, GBS5xx). Beside these, where its table says so:",
        _matrix(known),
        "*tokens*: tokens per optimizer step are told, and claims about them judged. *command line*: how a launch may change a recipe."
        " *versions*: what it was before some version, or keys that are gone.",
        "## What they enforce",
        "What stops a run, or silently gives another batch, as the framework's own code has it:",
        "\n".join(_enforced(known)),
        "## Launchers",
        table(("launcher", "reads"), ((cell(each.name), cell(each.summary)) for each in launchers())),
        "## Left out: programs rather than configurations",
        table(("framework", "its configurations", ""), PYTHON_ONLY),
        "A trainer with data files of its own is [a few lines of TOML](own-framework.md).",
    ]
    return "\n\n".join(parts) + "\n"


def _matrix(known: Iterable[Framework]) -> str:
    """Return a row for each table and a column for each rule that not all of them ask for."""
    book = Rulebook(manuals())
    asked = {framework.title: {rule.code for rule in book.about(framework) if _is_special(rule)} for framework in known}
    special = [rule for rule in manuals() if any(rule.code in codes for codes in asked.values())]
    head = ("framework", *(f"[{rule.code}](rules/{rule.code.lower()}.md)" for rule in special), "tokens", "command line", "versions")
    rows = []
    for framework in known:
        ticks = (_YES if rule.code in asked[framework.title] else "" for rule in special)
        tokens = _YES if any(row.name == Name.SEQUENCE_LENGTH for row in framework.rows) else ""
        versions = _YES if framework.eras or framework.removals else ""
        rows.append((cell(framework.title), *ticks, tokens, _COMMAND_LINE[framework.arguments], versions))
    return table(head, rows)


def _is_special(rule: Rule) -> bool:
    return bool(rule.frameworks) or rule.needs in OF_TABLE


def _enforced(known: Iterable[Framework]) -> Iterator[str]:
    """Yield a line for each table that enforces anything; variants that enforce the same stand together."""
    together: dict[tuple[str, ...], list[str]] = {}
    for framework in known:
        labels = tuple(dict.fromkeys(_labels(framework)))
        if labels:
            together.setdefault((framework.name, *labels), []).append(framework.title)
    for told, titles in together.items():
        yield f"- **{cell(', '.join(titles))}**: {cell('; '.join(told[1:]))}"


def _labels(framework: Framework) -> Iterator[str]:
    yield from (constraint.label for constraint in framework.constraints if constraint.label)
    asked: tuple[Requirement | Exclusion, ...] = (*framework.requirements, *framework.exclusions)
    for each in asked:
        keys = (".".join(map(str, key)) for key in each.keys)
        yield f"{' / '.join(keys)}: {each.label}"
    yield from (switch.label for switch in framework.switches)
