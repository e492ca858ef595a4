"""What an editor offers to change: the fix of a finding, a comment that silences it, all safe fixes, and a recipe for other hardware."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from lsprotocol import types

from pytest_gbs.arithmetic.wording import count
from pytest_gbs.fixes.apply import FixResult, apply_fixes, run
from pytest_gbs.fixes.editing import by_source
from pytest_gbs.fixes.ignoring import offers
from pytest_gbs.fixes.scale import ScaleContext, Target, scale
from pytest_gbs.lsp.positions import PositionMap, ShownPart
from pytest_gbs.lsp.project import Project
from pytest_gbs.lsp.subjects import RunBlock, blocks_in, subject_at
from pytest_gbs.model.hardware import CommandLineHardware
from pytest_gbs.model.outcome import Applicability, Edit, Finding, Fix
from pytest_gbs.model.quantity import Name
from pytest_gbs.model.report import Report
from pytest_gbs.model.scaling import Scaled

# The edit of a workspace with which a client makes edits, None if it can't.
Written: TypeAlias = "Callable[[Iterable[Edit]], types.WorkspaceEdit | None]"
FIX_ALL: Final = "source.fixAll.gbs"
_FACTORS: Final = (2, 4)  # how many times the hardware, and which part of it, a recipe is offered for


def fixes(project: Project, path: str, span: tuple[int, int], written: Written) -> Iterator[tuple[Finding, types.CodeAction]]:
    """Yield each fix of each finding that touches `span`, if it does away with the finding and brings no other; and what silences it."""
    report = project.answer.report
    for finding in report.findings():
        if finding.at.source != path or finding.at.stop < span[0] or finding.at.start > span[1]:
            continue
        whole = [fix for fix in finding.fixes if fix.edits]
        for fix in whole:
            edit = written(fix.edits) if _holds(project, report, finding, fix) else None
            if edit is not None:
                safe = fix.applicability == Applicability.SAFE
                yield (
                    finding,
                    types.CodeAction(
                        fix.title[:1].upper() + fix.title[1:], types.CodeActionKind.QuickFix, edit=edit, is_preferred=safe or None
                    ),
                )
        silenced = next((fix for fix in offers(finding, report, project.tree.read) if _holds(project, report, finding, fix)), None)
        edit = written(silenced.edits) if silenced is not None else None
        if silenced is not None and edit is not None:
            yield finding, types.CodeAction(f"Silence {finding.code} here with a comment", types.CodeActionKind.QuickFix, edit=edit)


def _holds(project: Project, report: Report, finding: Finding, fix: Fix) -> bool:
    """Whether `finding` is gone after `fix`, and nothing else is worse, checked in memory."""
    fix_result = run(report, project.tree.read, project.recheck, lambda each, _: (fix,) if each == finding else ())
    return bool(fix_result.applied) and fix_result.applied[0].finding == finding


def fix_all(project: Project, written: Written) -> types.CodeAction | None:
    """All safe fixes of the open files at once; None if there is none."""
    fix_result: FixResult = apply_fixes(project.answer.report, project.tree.read, project.recheck, ())
    edit = written(edit for each in fix_result.applied for edit in each.fix.edits)
    return types.CodeAction("Apply all safe fixes of gbs", FIX_ALL, edit=edit) if fix_result.applied and edit is not None else None


def scalings(project: Project, path: str, offset: int) -> Iterator[types.CodeAction]:
    """Yield an action without its edit for hardware that is several times as large, or a part, of what the recipe under the cursor has."""
    subject = subject_at(project, path, offset)
    block = subject.block if subject is not None else None
    if block is None or block.run.launch is not None:
        return
    batch = block.run.geometry.global_batch_size
    for wanted in _hardware(block) if batch is not None else ():
        words = _words(wanted)
        data = {
            "path": path,
            "document": block.run.document.number,
            "hardware": [wanted.num_nodes, wanted.gpus_per_node, wanted.world_size],
        }
        title = f"Scale to {words}, global batch size {batch:,} kept"
        yield types.CodeAction(title, types.CodeActionKind.RefactorRewrite, data=data)


def _hardware(block: RunBlock) -> Iterator[CommandLineHardware]:
    """Yield the hardware that a recipe may be carried to: other numbers of nodes if it names them, else of GPUs."""
    geometry = block.run.geometry
    nodes, each, world = (geometry.value(name) for name in (Name.NUM_NODES, Name.GPUS_PER_NODE, Name.WORLD_SIZE))
    if nodes and each and nodes * each == world:
        yield from (CommandLineHardware(many, each, None) for many in _others(nodes))
    elif world:
        yield from (CommandLineHardware(None, None, many) for many in _others(world))


def _others(number: int) -> list[int]:
    smaller = [number // factor for factor in reversed(_FACTORS) if number % factor == 0]
    return [*smaller, *(number * factor for factor in _FACTORS)]


def _words(wanted: CommandLineHardware) -> str:
    if wanted.num_nodes is not None and wanted.gpus_per_node is not None:
        return f"{count(wanted.num_nodes, Name.NUM_NODES)} x {count(wanted.gpus_per_node, Name.WORLD_SIZE)}"
    return count(wanted.world_size or 0, Name.WORLD_SIZE)


def scaled(project: Project, data: Mapping[str, Any], written: Written) -> types.WorkspaceEdit | str:
    """The edit that carries a recipe to other hardware, or why there is none; every candidate is checked again in memory."""
    blocks = [each for each in blocks_in(project.answer.report, data["path"]) if each.run.document.number == data["document"]]
    if not blocks or blocks[0].run.launch is not None:
        return "the recipe is not there any more"
    wanted = CommandLineHardware(*data["hardware"])
    context = ScaleContext(project.tree.read, project.recheck, frozenset((data["path"],)))
    found = scale(blocks[0].run, Target(wanted, 0, 0), context)
    if not isinstance(found, Scaled):
        return found.reason
    return written(change.edit for change in found.changes) or "the changes can't be written from here"


def edits_in(edits: Iterable[Edit], positions_of: Callable[[str], PositionMap | None]) -> dict[str, list[types.TextEdit]] | None:
    """The edits of each text as the protocol has them; None if one is of a text that the client can't show, or would need escapes."""
    found: dict[str, list[types.TextEdit]] = {}
    for path, of_file in by_source(edits).items():
        positions = positions_of(path)
        for edit in of_file:
            part = positions.part_at(edit.at.start) if positions is not None else None
            where = positions.range(edit.at.start, edit.at.stop) if positions is not None else None
            if part is None or where is None or not _plain(edit, part):
                return None
            found.setdefault(where[0], []).append(types.TextEdit(where[1], edit.replacement))
    return found or None


def _plain(edit: Edit, part: ShownPart) -> bool:
    """Whether an edit is the same in a file and in a cell of a notebook, which the file has with escapes."""
    return part.places is None or (edit.at.stop <= part.stop and not {"\\", '"'} & {*edit.replacement, *edit.expected})
