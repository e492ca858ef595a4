"""`gbs check`: find what breaks the global batch size of training recipes."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from pytest_gbs.cli._command import SubCommand
from pytest_gbs.cli._flags import (
    NOT_IN_HELP,
    add_baseline,
    add_fixing,
    add_outputs,
    fixes_stdin,
    outputs,
    spare_recipes,
    wants_baseline,
    wants_fixing,
)
from pytest_gbs.cli._input import CheckRequest, add_input, count, read_request
from pytest_gbs.cli._output import add_output, complain, complain_each, complain_of_bugs, emit, options
from pytest_gbs.files.globs import matches_any
from pytest_gbs.formats import Format, FormatOptions, find
from pytest_gbs.model.errors import UsageError
from pytest_gbs.model.outcome import Severity
from pytest_gbs.model.report import Report, Role, Verdict
from pytest_gbs.model.settings import Settings
from pytest_gbs.rules import manuals


def add_arguments(parser: argparse.ArgumentParser, *, fixing: bool = False) -> None:
    """Add what `gbs check` takes; `gbs fix` takes the same, and its help shows other flags."""
    add_input(parser)
    group = parser.add_argument_group("what fails")

    def unless_fixing(words: str) -> str:
        return NOT_IN_HELP if fixing else words

    words = unless_fixing("undecided claims fail; =all: unclaimed recipes too")
    group.add_argument("--strict", nargs="?", const="claims", choices=("claims", "all"), metavar="=all", help=words)
    group.add_argument("--require-verified", type=count, default=0, metavar="N", help=unless_fixing("fail unless N recipes are verified"))
    group.add_argument("--exit-zero", action="store_true", help=unless_fixing("exit with 0 despite findings"))
    group.add_argument("--changed-since", metavar="REV", help=unless_fixing("only what changed since this git revision, or uses it"))
    words = unless_fixing("compare with the record of a job (pytest_gbs.runtime)")
    group.add_argument("--against-run", metavar="FILE", help=words)
    group.add_argument("--hook", action="store_true", help=NOT_IN_HELP)
    group.add_argument("--watch", action="store_true", help=unless_fixing("check again whenever a file changes, until Ctrl-C"))
    add_baseline(group, shown=not fixing)
    add_fixing(parser, shown=fixing)
    group = add_output(parser)
    add_outputs(group, shown=not fixing)
    group.add_argument("--statistics", action="store_true", help=unless_fixing("only count how often each rule fired"))
    group.add_argument("--show-files", action="store_true", help=unless_fixing("list the files that would be read, and stop"))
    group.add_argument("--show-settings", action="store_true", help=unless_fixing("write the settings that would be used, and stop"))


def run(arguments: argparse.Namespace) -> int:
    """Check, write the report, and return the exit code; with `--watch`, do so after each change until Ctrl-C."""
    if arguments.watch:
        from pytest_gbs.cli._watch import watch

        return watch(_check, arguments)
    return _check(arguments)


def _check(arguments: argparse.Namespace) -> int:
    if fixes_stdin(arguments):
        arguments.color = "never"  # the report goes to standard error
    wanted = find(arguments.format)
    render = _statistics(wanted) if arguments.statistics else wanted.render
    more = outputs(arguments)
    request = _request(arguments)
    if arguments.show_files or arguments.show_settings:
        from pytest_gbs.cli._print_inputs import print_inputs

        return print_inputs(request, arguments)
    report = _fixed(request, arguments) if wants_fixing(arguments) else _report(request, arguments)
    if isinstance(report, int):
        return report
    spare_recipes(report, request, (arguments.output_file, arguments.write_baseline, *(output.file for output in more)))
    if wants_baseline(arguments) or request.settings.baseline:
        from pytest_gbs.cli import _baseline

        remaining = _baseline.apply(report, request, arguments)
        if remaining is None:
            return 0
        report = remaining
    if request.settings.strict or request.settings.strict_all:
        from pytest_gbs.checking.strict import tighten

        report = tighten(report, request.settings)
    if any(form.manuals for form in (wanted, *(output.form for output in more))):
        report = report._replace(rules={rule.code: rule for rule in manuals()})
    if more:
        from pytest_gbs.cli._outputs import write_outputs

        write_outputs(more, lambda form, how: form.render(report, how), arguments, request)
    if not (arguments.hook and all(file.role == Role.NEITHER for file in report.files)):
        text = render(_with_unknown_trainers(report, request, arguments), options(arguments, request.root, request.folder))
        if fixes_stdin(arguments) and not arguments.output_file:  # standard output is the file itself
            for line in text.splitlines():
                complain(line, "")
        else:
            emit(text, arguments.output_file, commands=wanted.commands)
    _print_unmatched_globs(request, arguments)
    return _exit_code(report, request, arguments)


def _request(arguments: argparse.Namespace) -> CheckRequest:
    """What is to be checked, and against what."""
    request = read_request(arguments)._replace(listed=arguments.hook)
    if not arguments.against_run:
        return request
    from pytest_gbs.cli._against_run import against

    return against(request, arguments.against_run, arguments.paths)


def _with_unknown_trainers(report: Report, request: CheckRequest, arguments: argparse.Namespace) -> Report:
    """`report` with what is said only where each file is listed: which ones train with a framework that gbs does not know."""
    if arguments.format != "text" or arguments.verbose <= arguments.quiet:
        return report
    from pytest_gbs.checking.unknown_trainers import with_unknown_trainers

    return with_unknown_trainers(report, request.tree)


def _statistics(wanted: Format) -> Callable[[Report, FormatOptions], str]:
    """What counts how often each rule fired, as the format wants it.

    Raises:
        UsageError: it has no such table.
    """
    if wanted.name == "text":
        return find("statistics").render
    if wanted.statistics is None:
        raise UsageError(f"gbs check --statistics has no format '{wanted.name}'; there are text, json")
    return wanted.statistics


def _print_unmatched_globs(request: CheckRequest, arguments: argparse.Namespace) -> None:
    """Say which path patterns of the settings match no file; a check of single files is not about that."""
    if request.settings == Settings() or arguments.hook or arguments.changed_since or arguments.quiet or request.names_file:
        return
    from pytest_gbs.checking.accepted import unmatched_globs

    complain_each(unmatched_globs(request.settings, request.tree))


def _fixed(request: CheckRequest, arguments: argparse.Namespace) -> Report | int:
    """The report on the fixed files; the exit code where they are only to be shown.

    Raises:
        UsageError: the flags contradict each other, or a file can't be written.
    """
    if arguments.changed_since:
        raise UsageError("--changed-since checks only; name the files to be fixed")
    from pytest_gbs.cli import _fixing

    kept = request._replace(targets=_kept(request)) if arguments.hook else request
    if not kept.targets:
        return 0
    found = _fixing.fixed_files(kept, arguments)
    if arguments.diff:
        only_safe = not (arguments.fix_settings or arguments.fix_declarations or arguments.add_ignore is not None)
        if only_safe and not found.files and any(finding.fixes for finding in found.report.findings()):
            complain("no safe fix; --fix-settings trusts the comments, --fix-declarations trusts the settings")
        return _fixing.print_patch(request, found)
    if fixes_stdin(arguments):
        _fixing.print_fixed(request, found)
    else:
        _fixing.write(request, found)
    return found.report


def _exit_code(report: Report, request: CheckRequest, arguments: argparse.Namespace) -> int:
    """0 for clean, 1 for findings, 2 for a bug in gbs, 3 if there was no recipe and no launch; says why if the report does not."""
    if complain_of_bugs(report.internal):
        return 2
    failed = any(finding.severity == Severity.ERROR for finding in report.findings())
    verified = report.number(Verdict.VERIFIED)
    if verified < arguments.require_verified:
        complain(f"recipes verified: {verified}, but --require-verified asks for {arguments.require_verified}")
        failed = True
    nothing = 0 if arguments.hook or arguments.changed_since or report.recipes() else _nothing_found(report, request)
    if failed:
        return 0 if arguments.exit_zero else 1
    if arguments.changed_since and not report.recipes():
        complain(f"no recipe changed since {arguments.changed_since}")
    return nothing


def _nothing_found(report: Report, request: CheckRequest) -> int:
    """3 if there was no recipe and no launch, else 0; says why, and what may be one, beside findings too."""
    from pytest_gbs.cli._no_recipes import exit_code

    return exit_code(report, request)


def _report(request: CheckRequest, arguments: argparse.Namespace) -> Report:
    if arguments.hook:
        return _hooked(request)
    if arguments.changed_since:
        from pytest_gbs.checking.changed import check_changed

        return check_changed(
            request.tree, request.targets, request.settings, request.given, root=request.root, revision=arguments.changed_since
        )
    return request.check()


def _kept(request: CheckRequest) -> tuple[str, ...]:
    """The targets that the settings do not exclude."""
    return tuple(path for path in request.targets if not matches_any(path, request.settings.exclude))


def _hooked(request: CheckRequest) -> Report:
    """The report on changed files: with the recipes that rest on a changed launcher file, and all where settings changed.

    Files that the settings exclude are left out although they were named.
    """
    kept = _kept(request)
    if not kept:
        return Report((), {}, {})
    if not {request.settings.source, request.settings.baseline, "gbs.lock"}.isdisjoint(kept):
        return request.check(everything=True)
    report = request._replace(targets=kept).check()
    if not any(file.launches_others for file in report.files):
        return report
    whole = request.check(everything=True)
    here = {file.path for file in report.files}
    others = tuple(file for file in whole.files if file.path not in here and (file.assumptions or file.undetermined))
    files = tuple(sorted((*report.files, *others), key=lambda file: (file.path, file.document)))
    return report._replace(files=files, sources={**whole.sources, **report.sources}, internal=(*report.internal, *whole.internal))


COMMAND = SubCommand("find what breaks the global batch size of training recipes", add_arguments, run, "[FLAG ...] [PATH ...]")
