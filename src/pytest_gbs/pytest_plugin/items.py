"""Training recipes as pytest items: one for each rule that applies to a file; the check is done, items only report it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from pytest_gbs.formats._escape import escape, neutralize
from pytest_gbs.model.outcome import Finding, Severity, Undetermined
from pytest_gbs.model.quantity import Name
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.model.report import Bug
from pytest_gbs.model.rule import Scope
from pytest_gbs.pytest_plugin.checks import Checked, Checks

# The only reasons for a skip, so that `-rs` folds them; the first that fits is given.
_REASONS: Final[Mapping[str, str]] = {
    Name.GPUS_PER_NODE: "GPUs per node unknown: --gbs-gpus-per-node, or [tool.gbs] gpus-per-node",
    Name.NUM_NODES: "nodes unknown: --gbs-nodes, or [tool.gbs] num-nodes",
    Name.WORLD_SIZE: "GPUs unknown: --gbs-world-size, or [tool.gbs] gpus-per-node",
    Name.DATA_PARALLEL_SIZE: "GPUs unknown: --gbs-world-size, or [tool.gbs] gpus-per-node",
}
_UNREAD: Final = "a script that may launch it was not read to its end: gbs check says which"
_OTHERWISE: Final = "a size is unknown: gbs show says which"
_BUG: Final = "internal-error"


class RuleResult(NamedTuple):
    """What one rule says of one file, all its documents together. `bugs` are errors in gbs, which fail the item too.

    `unread` is true of the rule about scripts that were not read to their end.
    """

    code: str
    findings: tuple[Finding, ...]
    undetermined: tuple[Undetermined, ...]
    bugs: tuple[Bug, ...]
    unread: bool

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that fail the item."""
        return tuple(finding for finding in self.findings if finding.severity == Severity.ERROR)

    @property
    def open_claims(self) -> tuple[Undetermined, ...]:
        """The claims that could not be decided."""
        return tuple(outcome for outcome in self.undetermined if outcome.claim)

    @property
    def outcomes(self) -> list[Finding | Undetermined]:
        """All that was found, the worst first."""
        return [*self.errors, *self.findings, *self.undetermined]

    @property
    def reason(self) -> str:
        """Why the item is skipped: one of a few fixed sentences."""
        if self.unread:
            return _UNREAD
        missing = {name for outcome in self.undetermined for name in outcome.missing}
        return next((reason for name, reason in _REASONS.items() if name in missing), _OTHERWISE)


def rule_results(checked: Checked) -> Iterator[RuleResult]:
    """Yield what each rule that applies says of a file, by rule code."""
    bugs = [(bug.code or _BUG, bug) for bug in checked.bugs]
    applying = {code for file in checked.files for code, _ in file.rules}
    applying |= {finding.code for file in checked.files for finding in (*file.findings, *file.elsewhere)}  # what `--gbs-strict` adds
    for code in sorted(applying | {code for code, _ in bugs}):
        everywhere = (finding for file in checked.files for finding in (*file.findings, *file.elsewhere))
        findings = tuple(finding for finding in everywhere if finding.code == code)
        undetermined = tuple(outcome for file in checked.files for outcome in file.undetermined if outcome.code == code)
        rule = checked.view.report.rules.get(code)
        guilty = tuple(bug for of, bug in bugs if of == code)
        yield RuleResult(code, findings, undetermined, guilty, rule is not None and rule.scope == Scope.UNREAD)


def names_of(path: Path, parent: pytest.Collector) -> dict[str, str]:
    """The name and the node id of the file or folder at `path`, if pytest's own would be misread or obeyed; else nothing.

    A colon that could be taken for the end of the path in a node id is written out.
    """
    root = parent.config.rootpath
    own = path.relative_to(root).as_posix() if path.is_relative_to(root) else f"{parent.nodeid}/{path.name}"
    node = _harmless(own)
    return {} if node == own else {"name": _harmless(path.name), "nodeid": node}


def _harmless(text: str) -> str:
    return neutralize(escape(text)).replace("::", r":\x3a")


class RecipeFile(pytest.File):
    """A file below a recipe folder, which has no items if no rule applies to it."""

    def __init__(self, *, checks: Checks, collected: list[RecipeFile], **named: Any) -> None:
        super().__init__(**named)
        self.checks = checks
        self.collected = collected
        self.items: list[RecipeItem] = []
        self.shown = self.config.rootpath / self.nodeid if "nodeid" in named else self.path
        self.add_marker(pytest.mark.gbs)

    def collect(self) -> list[RecipeItem]:
        """An item for each rule that applies. Whatever is wrong with the file is an item that fails, never an error here."""
        self.checked = checked = self.checks.of(self.path, named=self.session.isinitpath(self.path))
        self.items = [RecipeItem.from_parent(self, name=each.code, result=each, checked=checked) for each in rule_results(checked)]
        self.collected.append(self)
        return self.items


class Violated(Exception):
    """What a failing item raises; the findings are written out when it is reported."""


class RecipeItem(pytest.Item):
    """What one rule says of one file: passed if verified, failed if violated, skipped if it can't be decided."""

    def __init__(self, *, result: RuleResult, checked: Checked, **named: Any) -> None:
        super().__init__(**named)
        self.result = result
        self.checked = checked
        self.fails = bool(result.bugs or result.errors)
        if self.fails:
            crash = self._crash()
            said = (("gbs_code", result.code), ("gbs_path", crash.path), ("gbs_line", crash.lineno), ("gbs_message", crash.message))
            self.user_properties.extend(said)
        elif result.undetermined:
            self.add_marker(pytest.mark.skip(reason=result.reason))

    def runtest(self) -> None:
        """Raise if the rule is violated; there is nothing left to run."""
        if self.fails:
            raise Violated(self.name)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The very text of `gbs check` for what is violated."""
        return self.text() if isinstance(excinfo.value, Violated) else super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """The file as its node id has it, since pytest prints it; the line of what is wrong, from 0; and a name for people."""
        places = (outcome.at for outcome in self.result.outcomes)
        line = next((self.checked.view.line(at) for at in places if at.source == self.checked.path), 1)
        assert isinstance(self.parent, RecipeFile)
        return self.parent.shown, line - 1, f"{self.checked.view.title(self.name)}: {self.checked.view.path(self.checked.path)}"

    def text(self) -> str:
        """What was found, as `gbs check` prints it; for a bug in gbs, what happened."""
        return "\n\n".join([*map(_bug, self.result.bugs), *map(self.checked.view.finding, self.result.findings)])

    def claims(self) -> list[str]:
        """A line for each claim that could not be decided."""
        return [self.checked.view.claim(outcome) for outcome in self.result.open_claims]

    def _crash(self) -> Crash:
        """Where the worst is, with the one line that short summaries print."""
        view = self.checked.view
        if self.result.bugs:
            return Crash(view.path(self.checked.path), 1, _bug(self.result.bugs[0]))
        worst = self.result.errors[0]
        return Crash(view.path(worst.at.source), view.line(worst.at), view.one_line(worst))


def _bug(bug: Bug) -> str:
    return neutralize(escape(bug.words))


class Crash(NamedTuple):
    """Where a failure is: what pytest's short summary, `--tb=line` and JUnit print of it."""

    path: str
    lineno: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.lineno}: {self.message}"


class Failure:
    """The text of a failure together with its one line, in the shape that pytest's reports expect of a `longrepr`."""

    def __init__(self, text: str, reprcrash: Crash) -> None:
        self.text = text
        self.reprcrash = reprcrash

    def toterminal(self, writer: Any) -> None:
        """Write the text."""
        for line in self.text.split("\n"):
            writer.line(line)

    def __str__(self) -> str:
        return self.text
