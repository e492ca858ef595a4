"""The lines under all findings: how many recipes are verified, what that assumes, and what stays open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from pytest_gbs.arithmetic.wording import assumed_in_brief, counted, listing
from pytest_gbs.formats._escape import escape
from pytest_gbs.formats._paint import CONSISTENT, Paint
from pytest_gbs.formats._places import Places
from pytest_gbs.formats._problems import open_claim, open_claims
from pytest_gbs.model.assumption import Assuming, Assumption
from pytest_gbs.model.document import PROGRAMS
from pytest_gbs.model.outcome import Finding, Severity
from pytest_gbs.model.quantity import Name
from pytest_gbs.model.record import Final
from pytest_gbs.model.report import VERDICTS, FileReport, Report, Role, Verdict
from pytest_gbs.model.rule import Needs

_PLAIN = Paint(color=False)
WORDS: Final = (Verdict.VERIFIED, CONSISTENT, *VERDICTS[1:])
LAUNCHER: Final = "launcher"
PROGRAM: Final = "program"
_JUDGED = WORDS[:4]
_SHOWN_VARIABLES: Final = 5  # of those that are assumed not to be set, in the line about them
_SAID = (Needs.CLAIMS, Needs.DECLARATIONS, Needs.POLICIES, Needs.LOCKED, Needs.BASE)


def files(report: Report, role: str | None = None) -> int:
    """How many files the report is about, or those of one role; documents of one file count once."""
    return len({file.path for file in report.files if role is None or file.role == role})


def launchers(report: Report) -> int:
    """How many launcher files the report is about."""
    return sum(kind(path) == LAUNCHER for path in {file.path for file in report.files if file.role == Role.LAUNCHER and not file.launches})


def kind(path: str) -> str:
    """What a file with findings that is not a recipe is: a launcher, or a program that has a rule of its own."""
    return PROGRAM if path.lower().endswith(PROGRAMS) else LAUNCHER


def launches(report: Report) -> int:
    """How many commands launch the recipes that the report is about."""
    return sum(file.launches for file in report.files)


def headline(report: Report, paint: Paint = _PLAIN) -> str:
    """`22 recipes in 25 files, 3 launchers: 3 verified, 19 unclaimed`; of scripts alone `26 launches in 25 files, no recipe`.

    Recipes of which no claim was verified, only what the framework asks for, are `consistent`. Errors and warnings come last.
    """
    recipes, number = len(report.recipes()), launches(report)
    launched = counted(number, "launch")
    first = counted(recipes, "recipe") if recipes else launched if number else "no recipe"
    parts = [f"{first} in {counted(files(report), 'file')}"]
    if beside := launchers(report):
        parts.append(counted(beside, "launcher"))
    if number:
        parts.append(launched if recipes else "no recipe")
    numbers = Counter(word_of(file, report) for file in report.files)
    words = [paint(f"{numbers[word]:,} {word}", word) for word in WORDS if numbers[word]]
    words.extend(_others(report))
    if suppressed := sum(file.suppressed for file in report.files):
        words.append(f"{counted(suppressed, 'finding')} suppressed")
    return ", ".join(parts) + (f": {', '.join(words)}" if words else "") + severities(report.findings())


def word_of(file: FileReport, report: Report) -> str:
    """The word for the verdict on a recipe, "" if there is none."""
    return CONSISTENT if file.verdict == Verdict.VERIFIED and not _claims_hold(file, report) else file.verdict or ""


def _claims_hold(file: FileReport, report: Report) -> bool:
    """Whether something was verified that people said: a claim, a name, hardware in a comment, a policy, an entry of the lock."""
    return any(word == Verdict.VERIFIED and code in report.rules and report.rules[code].needs in _SAID for code, word in file.rules)


def severities(found: Iterable[Finding]) -> str:
    """How many errors and warnings were found, to be behind the verdicts: `; 2 errors, 1 warning`; nothing if there are none."""
    numbers = Counter(finding.severity for finding in found)
    words = [counted(numbers[severity], severity) for severity in (Severity.ERROR, Severity.WARNING) if numbers[severity]]
    return f"; {', '.join(words)}" if words else ""


def _others(report: Report) -> Iterator[str]:
    """Yield what is wrong with files that are not recipes, since no verdict shows it."""
    wrong = {file.path for file in report.files if file.role == Role.LAUNCHER and file.findings and not file.launches}
    for noun, number in sorted(Counter(map(kind, wrong)).items()):
        yield f"{counted(number, noun)} with findings"
    unreadable = files(report, Role.UNREADABLE)
    if unreadable:
        yield f"{counted(unreadable, 'file')} unreadable"


def remarks(report: Report, places: Places) -> Iterator[str]:
    """Yield the lines below the headline: assumptions, what unclaimed means, each open claim, and what would decide most."""
    yield from _assumed(report)
    # What is suppressed, here or with a launch of it, may be about a batch that is stated.
    claimless = (file for file in report.files if file.verdict == Verdict.UNCLAIMED and not file.suppressed)
    unclaimed = [file for file in claimless if not _claims_hold(file, report)]
    if unclaimed:
        yield unclaimed_in_words(len(unclaimed), sum(file.unknown for file in unclaimed))
    for _, outcome in open_claims(report):
        yield f"undetermined: {places.where(outcome.at)}  {open_claim(outcome)}"
    yield from _unread(report)
    consistent = [file for file in report.files if word_of(file, report) == CONSISTENT]
    if consistent:
        yield _consistent_in_words(len(consistent), sum(file.unknown for file in consistent))
    if launches(report) and not report.recipes():
        yield "gbs show lists the launches with their batch sizes; gbs lock records them, so that no change goes unnoticed"
    if report.recipes() and not any(report.number(verdict) for verdict in (Verdict.VERIFIED, Verdict.VIOLATED)):
        yield "nothing was verified"
    if report.advice:
        yield escape(report.advice)


def _unread(report: Report) -> Iterator[str]:
    """Yield a line about the files that can't be read and have no finding that says so, since they don't seem to be recipes."""
    silent = {file.path: file.problem or "" for file in report.files if file.role == Role.UNREADABLE and not file.findings}
    if len(silent) == 1:
        yield from (f"unreadable: {escape(path)}  {escape(problem)}" for path, problem in silent.items())
    elif silent:
        yield f"unreadable: {escape(next(iter(silent)))} and {len(silent) - 1:,} more; gbs check -v names them"


def unclaimed_in_words(number: int, unknown: int) -> str:
    """What unclaimed means for so many recipes, and which command protects them; of `unknown` of them nothing can be locked."""
    subject = "this recipe states" if number == 1 else "these recipes state"
    return f"unclaimed: {subject} no batch size, so a change would go unnoticed; {_protected(number, unknown)}"


def _consistent_in_words(number: int, unknown: int) -> str:
    subject, verb = ("this recipe states", "passes") if number == 1 else ("these recipes state", "pass")
    return f"consistent: {subject} no batch size, and {verb} the framework's own checks; {_protected(number, unknown)}"


def _protected(number: int, unknown: int) -> str:
    them = "it" if number == 1 else "them"
    if unknown == number:
        return f"gbs lock can't protect {them}, since not even the batch of one GPU is known: gbs show says what is missing"
    rest = f"all but {unknown:,}, of which not even the batch of one GPU is known" if unknown else them
    return f"gbs lock protects {rest}"


def _assumed(report: Report) -> Iterator[str]:
    """Yield a line for each assumption that verdicts rest on, with the setting that makes it a fact; one for all variables."""
    found: dict[Assumption, list[FileReport]] = {}
    judged = [file for file in report.recipes() if file.verdict in _JUDGED]
    for file in judged:
        for assumption in dict.fromkeys(each._replace(where="") for each in file.assumptions):
            found.setdefault(assumption, []).append(file)
    variables = [each for each in found if each.kind == Assuming.NOT_SET and each.name and not each.name.isdecimal()]
    if len(variables) > 1:  # a script has many: one line for all of them
        recipes = list({id(file): file for each in variables for file in found.pop(each)}.values())
        yield f"{_assuming(report, recipes)} {escape(_at_most([each.name for each in variables]))} are not set"
    for assumption, recipes in found.items():
        what, why = assumed_in_brief(assumption)
        words = f"{what} ({why})" if why else what
        settable = assumption.name == Name.GPUS_PER_NODE and not assumption.by_default
        fact = f"; if that is right, set gpus-per-node = {assumption.value} in [tool.gbs]" if settable else ""
        yield f"{_assuming(report, recipes)} {escape(words)}{fact}"


def _at_most(names: list[str]) -> str:
    """The first of many names, and how many more there are."""
    more = [f"{len(names) - _SHOWN_VARIABLES} more variables"] if len(names) > _SHOWN_VARIABLES + 1 else names[_SHOWN_VARIABLES:]
    return listing([*names[:_SHOWN_VARIABLES], *more], last="and")


def _assuming(report: Report, recipes: list[FileReport]) -> str:
    """Which recipes assume something, with the verb."""
    return f"{_subject(report, recipes)} {'assumes' if len(recipes) == 1 else 'assume'}"


def _subject(report: Report, recipes: list[FileReport]) -> str:
    """Which recipes assume something: `verified and violated`, or `2 of 3 verified and the violated one`, as the headline counts them."""
    of = Counter(word_of(file, report) for file in report.recipes())
    found = Counter(word_of(file, report) for file in recipes)
    words = [(verdict, found[verdict], of[verdict]) for verdict in _JUDGED if found[verdict]]
    if all(number == of for _, number, of in words):
        return listing((verdict for verdict, _, _ in words), last="and")
    return listing((_part(*each) for each in words), last="and")


def _part(verdict: str, number: int, of: int) -> str:
    if number < of:
        return f"{number:,} of {of:,} {verdict}"
    return {1: f"the {verdict} one", 2: f"both {verdict}"}.get(of, f"all {of:,} {verdict}")
