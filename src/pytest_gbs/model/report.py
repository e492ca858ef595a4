"""The result of a check: everything a format needs, and nothing that needs a file to be read again."""

from __future__ import annotations

from pytest_gbs.model.assumption import Assumption
from pytest_gbs.model.launch import LauncherFile
from pytest_gbs.model.location import Source
from pytest_gbs.model.outcome import SEVERITIES, Finding, Undetermined
from pytest_gbs.model.record import Final, NamedTuple
from pytest_gbs.model.rule import Rule
from pytest_gbs.model.run import Run


class Role:
    """What a file is to us."""

    RECIPE: Final = "recipe"
    LAUNCHER: Final = "launcher"
    COMPANION: Final = "companion"
    NEITHER: Final = "neither"
    UNREADABLE: Final = "unreadable"


class Verdict:
    """What is true of a recipe as a whole."""

    VERIFIED: Final = "verified"
    VIOLATED: Final = "violated"
    WARNED: Final = "warned"
    UNDETERMINED: Final = "undetermined"
    UNCLAIMED: Final = "unclaimed"


VERDICTS: Final = (Verdict.VERIFIED, Verdict.VIOLATED, Verdict.WARNED, Verdict.UNDETERMINED, Verdict.UNCLAIMED)


class FileReport(NamedTuple):
    """What was found out about one document of one file.

    `rules` maps the code of each rule that applied to its worst outcome: verified, violated, undetermined. `verdict` and
    `framework` are None for what is not a recipe. `runs` is empty unless asked for. `assumptions` are those that a verified or
    violated judgement rests on.
    """

    path: str
    document: int
    role: str
    framework: str | None
    verdict: str | None
    rules: tuple[tuple[str, str], ...] = ()
    findings: tuple[Finding, ...] = ()
    undetermined: tuple[Undetermined, ...] = ()
    suppressed: int = 0
    assumptions: tuple[Assumption, ...] = ()
    runs: tuple[Run, ...] = ()
    named: bool = False  # the file itself was named by the user
    problem: str = ""  # why it could not be read, for role unreadable; for role neither that it sets a batch size all the same
    launcher: LauncherFile | None = None  # what it gives, for role launcher, where runs are kept
    launches: int = 0  # how many commands in it launch a recipe
    elsewhere: tuple[Finding, ...] = ()  # findings about its launches, which are reported for the launching files
    part: str = ""  # where its document is in the file, for people: "line 104", "cell 5"
    unknown: bool = False  # a recipe that states no batch, and of which not even the batch of one GPU is known
    unread: bool = False  # it is a script that was not read to its end, or one such may launch it

    @property
    def which(self) -> str:
        """Which document of its file it is, to be behind the path: ` (document 2)`; "" where the path says enough."""
        part = self.part or (f"document {self.document}" if self.document > 1 else "")
        return f" ({part})" if part else ""

    @property
    def launches_others(self) -> bool:
        """Whether recipes may rest on it: a launcher file, a script, or one that was not read to its end."""
        return self.role == Role.LAUNCHER or self.unread


class Bug(NamedTuple):
    """A bug in gbs that was met on the way: the error, the file, and the code of the rule, "" if none is to blame.

    Without a file it is not a bug but a reason why nothing could be checked.
    """

    error: str
    path: str = ""
    code: str = ""

    @property
    def words(self) -> str:
        """What happened, for people."""
        guilty = f" in {self.code}" if self.code else ""
        return f"internal error{guilty} on {self.path}: {self.error}" if self.path else self.error


class Report(NamedTuple):
    """All that one check found, in path order.

    `sources` holds the text of each file that a finding or an undetermined claim points into (of each recipe, where runs are
    kept). `advice` names the one setting that would decide what is undetermined, or "". `internal` are
    internal errors: the exit code is then 2. `notices` list entries of settings and baseline that match nothing, and say if not all of
    a large folder was searched.
    """

    files: tuple[FileReport, ...]
    sources: dict[str, Source]
    rules: dict[str, Rule]
    advice: str = ""
    internal: tuple[Bug, ...] = ()
    notices: tuple[str, ...] = ()

    def rule(self, name: str) -> Rule:
        """The rule called `name`."""
        return {rule.name: rule for rule in reversed(self.rules.values())}[name]

    def number(self, verdict: str) -> int:
        """How many recipes have `verdict`."""
        return sum(file.verdict == verdict for file in self.files)

    def recipes(self) -> tuple[FileReport, ...]:
        """The recipes among the files; a script that is its own recipe is one where something says what its batch should be."""
        return tuple(file for file in self.files if file.role == Role.RECIPE or file.verdict is not None)

    def findings(self, severity: str | None = None) -> tuple[Finding, ...]:
        """Every finding once, or those of one severity, in file order; of one that several files report, the gravest."""
        found: dict[object, Finding] = {}
        for finding in (each for file in self.files for each in file.findings):
            known = found.setdefault(finding.identity, finding)
            if SEVERITIES.index(finding.severity) < SEVERITIES.index(known.severity):
                found[finding.identity] = finding
        return tuple(each for each in found.values() if severity is None or each.severity == severity)
