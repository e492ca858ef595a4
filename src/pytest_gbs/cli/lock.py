"""`gbs lock`: write down the batch of each recipe and launch, so that `gbs check` holds them to it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from typing import Final

from pytest_gbs.arithmetic.wording import counted
from pytest_gbs.claims.locked import change, moved, same_batch, words
from pytest_gbs.cli._command import SubCommand
from pytest_gbs.cli._input import STDIN, CheckRequest, add_input, read_request
from pytest_gbs.cli._output import complain, complain_of_bugs, emit
from pytest_gbs.cli._temporary_files import clean_up
from pytest_gbs.files.decode import decode
from pytest_gbs.files.overlay import OverlayTree
from pytest_gbs.files.regular import MISSING, read_bytes
from pytest_gbs.files.writing import FileChange, write_together
from pytest_gbs.formats._escape import escape
from pytest_gbs.formats._summary import launches
from pytest_gbs.history.lock import entries, locked, records
from pytest_gbs.history.lockfile import NAME, write_lock
from pytest_gbs.model.errors import SettingsError, UsageError
from pytest_gbs.model.limits import MOST_FILE_BYTES
from pytest_gbs.model.location import Source
from pytest_gbs.model.locked import Record
from pytest_gbs.model.report import Report
from pytest_gbs.rules import named

_LISTED: Final = 12  # entries of a file that was not there, all of which are new


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_input(parser, words="update only these recipes (default: all)")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if gbs.lock would change")
    parser.add_argument("-q", "--quiet", action="store_true", help="do not print what changed")


def run(arguments: argparse.Namespace) -> int:
    """Write `gbs.lock`, say what changed in it, and return the exit code."""
    if STDIN in arguments.paths:
        raise UsageError("gbs lock does not read standard input")
    request = read_request(arguments)
    if request.given:
        raise UsageError("gbs.lock records what the repository says, not the command line; set gpus-per-node = 8 in [tool.gbs] instead")
    data = read_bytes(f"{request.root}/{NAME}", MOST_FILE_BYTES)
    if isinstance(data, str) and data != MISSING:
        raise SettingsError(f"{NAME}: {data}")
    was = data if isinstance(data, bytes) else b""
    report = _report(request)
    if complain_of_bugs(report.internal):
        return 2
    old, broken = _old(was, partly=bool(arguments.paths))
    new = _new(report, request, old, partly=bool(arguments.paths))
    text = write_lock(new, named("differs-from-lock").code).encode()
    now = text.replace(b"\n", b"\r\n") if b"\r\n" in was else text
    if not arguments.quiet:
        changes = _changes(old, new) if was or len(new) <= _LISTED else ()
        emit(
            "".join(
                f"{escape(line)}\n" for line in (*changes, *_summary(report, new, was, now, check=arguments.check, seen=request.seen(NAME)))
            )
        )
    if broken:
        complain(broken)
    if arguments.check:
        return int(was != now)
    if was != now and (new or was):
        clean_up(request.root, [""])
        write_together(request.root, (FileChange(NAME, data if isinstance(data, bytes) else None, now),))
    return 0 if new or report.recipes() else 3


def first_lock(request: CheckRequest) -> tuple[str, Report]:
    """What `gbs.lock` has for a repository that has none yet, nothing if no batch can be locked; the report that it comes from.

    Raises:
        UsageError: a bug of gbs was met, so that it may be incomplete.
    """
    report = _report(request)
    if report.internal:
        raise UsageError(report.internal[0].words)
    new = _new(report, request, {}, partly=False)
    return write_lock(new, named("differs-from-lock").code) if new else "", report


def nothing_to_lock(report: Report) -> str:
    """Why no lock is written, and which command says more."""
    if not report.recipes() and not launches(report):
        return "gbs.lock was not written: there is no recipe and no launch; gbs check says where it looked"
    return "gbs.lock was not written: of no recipe or launch even the batch of one GPU is known; gbs show says what is missing"


def _report(request: CheckRequest) -> Report:
    """The report on all of the repository, without the lock that is to be written."""
    return request._replace(tree=OverlayTree(request.tree, {NAME: ""})).check(keep_runs=True, everything=True)


def _old(data: bytes, *, partly: bool) -> tuple[dict[str, Record], str]:
    """The entries that the file had, and why it has none that can be read: then all of it is written anew.

    Raises:
        SettingsError: it is to be kept in part, and can't be read.
    """
    source = decode(NAME, data)
    try:
        return {name: line.record for name, line in locked(source).items()}, ""
    except SettingsError as error:
        if partly:
            raise
        return {}, str(error) if isinstance(source, Source) else f"{error}; written anew"


def _new(report: Report, request: CheckRequest, old: Mapping[str, Record], *, partly: bool) -> dict[str, Record]:
    found = {name: now for name, (_, now) in records(report).items()}
    if not partly:
        return found
    kept = {name: each for name, each in old.items() if not _is_below(name, request.targets)}
    return {**kept, **{name: each for name, each in found.items() if _is_below(name, request.targets)}}


def _is_below(name: str, targets: tuple[str, ...]) -> bool:
    """Whether the recipe or the script that an entry is about lies below one of the paths."""
    return any(part == target or part.startswith(target) for part in name.split(" @ ") for target in targets)


def _changes(old: Mapping[str, Record], new: Mapping[str, Record]) -> Iterator[str]:
    """Yield a line for each entry that changes."""
    for name in sorted({**old, **new}):
        before, after = old.get(name), new.get(name)
        if before is None and after is not None:
            yield f"new      {name}: {words(after)}"
        elif after is None and before is not None:
            yield f"gone     {name}: {words(before)}"
        elif before is not None and after is not None and before != after:
            operands = ", ".join(map(change, moved(before, after)))
            if same_batch(before, after):
                yield f"same     {name}: {words(after)} ({operands or 'its hardware or operands changed'})"
            else:
                yield f"changed  {name}: {words(before)} to {words(after)}{f' ({operands})' if operands else ''}"


def _summary(report: Report, new: Mapping[str, Record], was: bytes, now: bytes, *, check: bool, seen: str) -> Iterator[str]:
    """Yield what was done with the lock, whose path is `seen` from the current folder, or would be."""
    if not (new or was):
        yield nothing_to_lock(report)
        return
    every = [(name, run.launch is not None) for name, run, _ in entries(report)]
    alone = {name for name, is_launch in every if is_launch}  # some have no recipe
    launched = sum(" @ " in name or name in alone for name in new)
    numbers = ((len(new) - launched, "recipe"), (launched, "launch"))
    locked = " and ".join(counted(number, noun) for number, noun in numbers if number) or counted(0, "recipe")
    done = "is up to date" if was == now else ("would change" if was else "would be written") if check else "written"
    yield f"{seen} {done}: {locked}" + ("; if that is intended, run gbs lock and commit it" if check and was != now else "")
    unknown = sorted({name for name, _ in every} - new.keys())
    if unknown and new:
        listed = ", ".join(unknown[:3]) + (", ..." if len(unknown) > 3 else "")
        yield f"  left out, since not even the batch of one GPU is known: {listed}"


COMMAND = SubCommand("record the batch size of each recipe in gbs.lock, for gbs check", _add_arguments, run, "[FLAG ...] [PATH ...]")
