"""`gbs check`: find what breaks the global batch size of training recipes."""

from __future__ import annotations

from pytest_gbs.cli._command import Command
from pytest_gbs.cli._input import Job, add_input, job
from pytest_gbs.cli._output import add_output, complain, emit, options
from pytest_gbs.core.outcome import Severity
from pytest_gbs.core.report import Report, Role, Verdict
from pytest_gbs.core.typed import TYPE_CHECKING, Final
from pytest_gbs.formats import find

if TYPE_CHECKING:
    import argparse

_NOT_IN_HELP: Final = "==SUPPRESS=="  # argparse.SUPPRESS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `gbs check` takes."""
    add_input(parser)
    group = parser.add_argument_group("what fails")
    words = "a claim that can't be decided fails; --strict=all: an unclaimed recipe too"
    group.add_argument("--strict", nargs="?", const="claims", choices=("claims", "all"), metavar="=all", help=words)
    group.add_argument("--require-verified", type=int, default=0, metavar="N", help="fail unless N recipes are verified")
    group.add_argument("--exit-zero", action="store_true", help="findings do not fail")
    group.add_argument("--hook", action="store_true", help=_NOT_IN_HELP)
    group = add_output(parser)
    group.add_argument("--statistics", action="store_true", help="only count how often each rule fired")
    group.add_argument("--show-files", action="store_true", help="list the files that would be read, and stop")
    group.add_argument("--show-settings", action="store_true", help="write the settings that would be used, and stop")


def run(arguments: argparse.Namespace) -> int:
    """Check, write the report, and return the exit code."""
    wanted = find("statistics" if arguments.statistics else arguments.format)
    asked = job(arguments)
    if arguments.show_files or arguments.show_settings:
        from pytest_gbs.cli._reveal import reveal

        return reveal(asked, arguments)
    report = _hooked(asked) if arguments.hook else asked.check()
    if asked.settings.strict or asked.settings.strict_all:
        from pytest_gbs.cli._strict import tighten

        report = tighten(report, asked.settings)
    if arguments.format == "sarif":
        from pytest_gbs.rules import manuals

        report = report._replace(rules={rule.code: rule for rule in manuals()})
    if not (arguments.hook and not _concerns(report)):
        emit(wanted.render(report, options(arguments, asked.root, asked.folder)), arguments.output_file)
    return _exit_code(report, asked, arguments)


def _exit_code(report: Report, asked: Job, arguments: argparse.Namespace) -> int:
    """Return 0 for clean, 1 for findings, 2 for a bug of ours, 3 where there was no recipe; say why where the report does not."""
    for line in report.internal:
        complain(line)
    if report.internal:
        return 2
    failed = any(finding.severity == Severity.ERROR for finding in report.findings())
    verified = report.number(Verdict.VERIFIED)
    if verified < arguments.require_verified:
        complain(f"{verified} verified, --require-verified asks for {arguments.require_verified}")
        failed = True
    if failed:
        return 0 if arguments.exit_zero else 1
    if report.recipes() or asked.names_file or arguments.hook:
        return 0
    from pytest_gbs.cli._nothing import nothing_found

    complain(nothing_found(report, asked))
    return 3


def _concerns(report: Report) -> bool:
    return any(file.role != Role.NEITHER for file in report.files)


def _hooked(asked: Job) -> Report:
    """Return the report on changed files: with the recipes that rest on a changed launcher file, and all where settings changed.

    Files that the settings exclude are left out although they were named.
    """
    from pytest_gbs.core.globs import matches_any

    kept = tuple(path for path in asked.targets if not matches_any(path, asked.settings.exclude))
    if not kept:
        return Report((), {}, {})
    if asked.settings.source in kept:
        return asked.check(everything=True)
    report = asked._replace(targets=kept).check()
    if not any(file.role == Role.LAUNCHER for file in report.files):
        return report
    whole = asked.check(everything=True)
    here = {file.path for file in report.files}
    others = tuple(file for file in whole.files if file.path not in here and (file.assumptions or file.undetermined))
    files = tuple(sorted((*report.files, *others), key=lambda file: (file.path, file.document)))
    return report._replace(files=files, sources={**whole.sources, **report.sources}, internal=(*report.internal, *whole.internal))


COMMAND = Command("find what breaks the global batch size of training recipes", add_arguments, run, "[FLAG ...] [PATH ...]")
