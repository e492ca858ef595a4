"""`gbs scale`: carry recipes to other hardware, their global batch size kept."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from typing import Final

from pytest_gbs.api import KEEP_RUNS, check
from pytest_gbs.arithmetic.admissible import hardware
from pytest_gbs.cli._command import SubCommand
from pytest_gbs.cli._fixing import print_patch, write
from pytest_gbs.cli._input import STDIN, CheckRequest, add_hardware
from pytest_gbs.cli._output import complain, emit, options
from pytest_gbs.cli._shared import number, request_for
from pytest_gbs.files.overlay import OverlayTree
from pytest_gbs.fixes.apply import FixResult
from pytest_gbs.fixes.scale import ScaleContext, Target, same, scale
from pytest_gbs.formats._scale import render_scaled
from pytest_gbs.model.errors import UsageError
from pytest_gbs.model.hardware import CommandLineHardware
from pytest_gbs.model.location import Source, Unreadable
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.model.report import Report, Role
from pytest_gbs.model.run import Run
from pytest_gbs.model.scaling import Scaled, Stuck

FORMATS: Final = ("text", "json", "markdown")


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="*", metavar="PATH", help="recipes, folders, or a script that launches one")
    group = parser.add_argument_group("the hardware to go to")
    add_hardware(group, number)
    group = parser.add_argument_group("the current hardware, if the recipes do not state it")
    add_hardware(group, number, "from-")
    group = parser.add_argument_group("the micro batch (default: unchanged, or smaller if needed)")
    group.add_argument("--max-micro-batch-size", type=number, metavar="N", help="the largest that fits into memory")
    group.add_argument("--micro-batch-size", type=number, metavar="N", help="use exactly this micro batch size")
    group = parser.add_argument_group("output")
    group.add_argument("--diff", action="store_true", help="write nothing, print the patch")
    group.add_argument("--format", choices=FORMATS, default="text", help="output format (default: text)")
    group.add_argument("--output-file", metavar="FILE", help="write there instead of standard output")
    group.add_argument("--config", metavar="FILE", help="settings file (default: gbs.toml or pyproject.toml)")


def run(arguments: argparse.Namespace) -> int:
    """Scale what can be scaled, write all of it or nothing, and return the exit code."""
    to = hardware(arguments.nodes, arguments.gpus_per_node, arguments.world_size)
    if not arguments.paths or STDIN in arguments.paths:
        raise UsageError("gbs scale takes recipes, folders, or a script that launches one")
    if not to:
        raise UsageError("gbs scale needs the hardware to go to: --nodes N, --gpus-per-node N or --world-size N")
    here = hardware(arguments.from_nodes, arguments.from_gpus_per_node, arguments.from_world_size, "--from-")
    request = request_for(arguments.paths, here, arguments.config)
    results, files, report = _scale_all(request, to, here, arguments)
    stuck = [each for each in results if isinstance(each, Stuck)]
    _write(request, {} if stuck else files, report, diff=arguments.diff)
    if not arguments.diff or arguments.format != "text":
        _print_notes(results, request, arguments)
    for each in stuck if arguments.diff and arguments.format == "text" else ():
        complain(f"{each.launch or each.path}: {each.reason}")
    if stuck and len(stuck) < len(results):
        complain(f"{len(stuck)} of {len(results)} can't be scaled: nothing was written")
    if files and not stuck and not arguments.diff and isinstance(request.tree.read("gbs.lock"), Source):
        complain("gbs.lock still has the old numbers; run gbs lock")
    if arguments.diff and not files and not stuck:
        complain("nothing to change")
    return 1 if stuck else 0


def _print_notes(results: list[Scaled | Stuck], request: CheckRequest, arguments: argparse.Namespace) -> None:
    look = argparse.Namespace(output_file=arguments.output_file, color="never", verbose=0, quiet=0)
    shown = options(look, request.root, request.folder)
    emit(render_scaled(results, arguments.format, shown), arguments.output_file)


def _write(request: CheckRequest, files: Mapping[str, tuple[Source, Source]], report: Report, *, diff: bool) -> None:
    """Write the files, all or none, or print the patch."""
    fixed_files = FixResult(report, dict(files))
    if diff:
        print_patch(request, fixed_files)
    else:
        write(request, fixed_files)


class _Subject(NamedTuple):
    """One thing to scale: a recipe by itself, or the launch in a script; the files that belong to it alone; `which` of its file it is."""

    run: Run
    script: str
    files: frozenset[str]
    which: str = ""


def _scale_all(
    request: CheckRequest, to: CommandLineHardware, here: CommandLineHardware, arguments: argparse.Namespace
) -> tuple[list[Scaled | Stuck], dict[str, tuple[Source, Source]], Report]:
    """What came of each recipe, the files as they were and will be, and the report on what was there.

    Raises:
        UsageError: nothing there is a recipe.
    """
    goal = Target(to, arguments.max_micro_batch_size or 0, arguments.micro_batch_size or 0)
    report = _check(request, request.targets, {}, here)
    changed: dict[str, Source] = {}
    results: list[Scaled | Stuck] = []
    for subject in _subjects(request, report, here):
        if isinstance(subject, Stuck):
            results.append(subject)
            continue
        run, targets = subject.run, () if subject.script else (subject.run.path,)
        context = _context(request, targets, changed, subject)
        if run.path in changed:
            run = same(run, _check(request, targets, changed, here)) or run
        result = scale(run, goal, context)._replace(which=subject.which)
        results.append(result)
        if isinstance(result, Scaled):
            changed.update((new.path, new) for _, new in result.files)
    if not results:
        raise UsageError(f"no recipe in {', '.join(arguments.paths)} that gbs knows")
    files = {path: (old, new) for path, new in changed.items() if isinstance(old := request.tree.read(path), Source)}
    return results, files, report


def _context(request: CheckRequest, targets: tuple[str, ...], changed: dict[str, Source], subject: _Subject) -> ScaleContext:
    def read(path: str) -> Source | Unreadable:
        return changed.get(path) or request.tree.read(path)

    def recheck(files: Mapping[str, Source], given: CommandLineHardware) -> Report:
        return _check(request, targets, {**changed, **files}, given)

    return ScaleContext(read, recheck, subject.files)


def _check(request: CheckRequest, targets: tuple[str, ...], changed: Mapping[str, Source], given: CommandLineHardware) -> Report:
    tree = OverlayTree(request.tree, changed) if changed else request.tree
    return check(tree, targets, request.settings, given, KEEP_RUNS)


def _subjects(request: CheckRequest, report: Report, here: CommandLineHardware) -> Iterator[_Subject | Stuck]:
    """Yield what is to be scaled: each recipe by itself, and of each script that was named its one launch."""
    named = request.targets
    for file in report.files:
        if file.role == Role.COMPANION and file.path not in named:
            continue
        own = [run for run in file.runs if run.launch is None]
        yield from (_Subject(run, "", frozenset((run.path,)), file.which) for run in own)
        if file.framework is not None and file.runs and not own and file.launcher is None and not file.launches:
            yield Stuck(file.path, "", "only its launches make it a recipe: scale the script that launches it")
    scripts = [path for path in named if any(file.path == path and file.launches for file in report.files)]
    whole = _check(request, (), {}, here) if scripts else report
    launches = [run for file in whole.files for run in file.runs if run.launch is not None and run.launch.start is not None]
    for path in scripts:
        own = [run for run in launches if run.launch and run.launch.at.source == path]
        if len(own) == 1:
            alone = sum(run.path == own[0].path for run in launches) == 1
            yield _Subject(own[0], path, frozenset((path, own[0].path) if alone else (path,)))
        else:
            yield Stuck(path, "", f"it has {len(own)} launches of recipes, and shares numbers among them: scale it by hand")


COMMAND = SubCommand(
    "rewrite recipes for other hardware, keeping the global batch size", _add_arguments, run, "PATH ... --nodes N [FLAG ...]"
)
