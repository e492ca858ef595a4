"""Fixing what a check found: which fixes are wanted, writing them, or printing the patch."""

# Paths are plain text here: `import pathlib` alone takes 4 ms.
# ruff: noqa: PTH110, PTH118, PTH120

from __future__ import annotations

import argparse
import os

from pytest_gbs import api
from pytest_gbs.cli._input import STDIN, CheckRequest
from pytest_gbs.cli._output import complain, emit_bytes, slashed
from pytest_gbs.cli._temporary_files import clean_up
from pytest_gbs.files.writing import FileChange, encoded, write_together
from pytest_gbs.fixes.apply import FindingFix, FixResult
from pytest_gbs.fixes.patching import patch
from pytest_gbs.formats._escape import has_control_sequences
from pytest_gbs.model.errors import UsageError
from pytest_gbs.model.location import Lines, Source
from pytest_gbs.model.outcome import Applicability


def fixed_files(request: CheckRequest, arguments: argparse.Namespace) -> FixResult:
    """The targets of a check fixed in memory, as the flags say.

    Raises:
        UsageError: the flags contradict each other.
    """
    if arguments.fix_settings and arguments.fix_declarations:
        raise UsageError("--fix-settings trusts the claims and --fix-declarations trusts the settings: give only one of them")
    fixes = arguments.fix or arguments.fix_settings or arguments.fix_declarations
    if arguments.add_ignore is not None and fixes:
        raise UsageError("--add-ignore silences the findings that the fixes would remove: give only one of them")
    if STDIN in arguments.paths and not arguments.diff and len(request.targets) > 1:
        raise UsageError("standard input is fixed by itself: leave out the other paths")
    options = api.CheckOptions(listed=request.listed)
    if arguments.add_ignore is not None:
        return api.ignore(request.tree, request.targets, request.settings, request.given, arguments.add_ignore, options=options)
    kinds = [Applicability.SETTINGS] if arguments.fix_settings else []
    kinds += [Applicability.DECLARATIONS] if arguments.fix_declarations else []
    return api.fix(request.tree, request.targets, request.settings, request.given, kinds, options=options)


def write(request: CheckRequest, found: FixResult) -> None:
    """Write the fixed files, all or none, and print what was fixed and what was not.

    Raises:
        UsageError: a file can't be written; none is changed then.
    """
    clean_up(request.root, (file.path.rpartition("/")[0] for file in found.report.files))
    if found.files:
        pairs = found.files.items()
        write_together(request.root, [FileChange(path, encoded(before), encoded(after)) for path, (before, after) in pairs])
    _print_done(request, found)


def print_fixed(request: CheckRequest, found: FixResult) -> None:
    """Write the text of standard input, fixed, to standard output, and print what was fixed and what was not."""
    (target,) = request.targets
    source = found.files[target][1] if target in found.files else request.tree.read(target)
    assert isinstance(source, Source)  # it was read before it was checked
    emit_bytes(encoded(source))
    _print_done(request, found)


def _print_done(request: CheckRequest, found: FixResult) -> None:
    for repair in found.applied:
        complain(f"fixed {_place(request, repair, found)} {repair.finding.code}: {repair.fix.title}")
    print_refused(request, found)


def print_refused(request: CheckRequest, found: FixResult) -> None:
    """Say why repairs were not made."""
    for each in found.refused:
        complain(f"not fixed {_place(request, each.repair, found)} {each.repair.finding.code}: {each.repair.fix.title}: {each.why}")


def _place(request: CheckRequest, repair: FindingFix, found: FixResult) -> str:
    """The place of a finding as people see it: path and line, relative to the current folder."""
    at = repair.finding.at
    source = request.tree.read(at.source)
    line = f":{Lines(source.text).line_of(at.start)}" if isinstance(source, Source) and at.source not in found.files else ""
    return request.seen(at.source) + line


def print_patch(request: CheckRequest, found: FixResult) -> int:
    """Print the patch of all fixed files, with paths relative to the root of the git repository; return 1 if there is one.

    A patch is printed byte by byte, so one that git can't apply, or that a terminal or a CI system would obey, is left out with one line.
    """
    root = _repository(request.root)
    parts = []
    for path, (before, after) in sorted(found.files.items()):
        full = os.path.realpath(os.path.join(request.root, path))
        text = patch(slashed(os.path.relpath(full, root)), before, after)
        reason = ""
        if before.encoding != "utf-8":
            reason = f"it is {before.encoding.upper()}, which git treats as binary"
        elif has_control_sequences(text):
            reason = "it contains control characters or commands of CI systems"
        if reason:
            complain(f"can't print a patch of {path}: {reason}; run without --diff to write it")
        else:
            parts.append(text)
    emit_bytes("".join(parts).encode("utf-8", "surrogateescape"))
    print_refused(request, found)
    return 1 if found.files else 0


def _repository(root: str) -> str:
    """The folder with `.git` that holds `root`, or `root` itself."""
    folder = start = os.path.realpath(root)
    while not os.path.exists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return start
        folder = above
    return folder
