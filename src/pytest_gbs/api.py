"""The one entrance: `check` a tree, and get a report. Command line, pytest and hooks are its callers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pytest_gbs.checking.reporting import active_rules
from pytest_gbs.checking.session import KEEP_RUNS, CheckOptions, check
from pytest_gbs.model.hardware import CommandLineHardware
from pytest_gbs.model.location import Tree
from pytest_gbs.model.record import TYPE_CHECKING, Final
from pytest_gbs.model.report import Report
from pytest_gbs.model.settings import Settings

if TYPE_CHECKING:
    from pytest_gbs.fixes.apply import FixResult, Recheck
    from pytest_gbs.fixes.editing import Read

_AS_USUAL: Final = CheckOptions()


def check_worktree(tree: Tree, targets: Sequence[str], settings: Settings, given: CommandLineHardware, options: CheckOptions) -> Report:
    """The report on `targets` of a folder as the settings ask: as strict as they say, without the findings of the baseline.

    Raises:
        GbsError: as `check` does, or the baseline can't be read.
    """
    from pytest_gbs.checking.accepted import accepted
    from pytest_gbs.checking.strict import tighten

    report = check(tree, targets, settings, given, options)
    return tighten(accepted(report, settings, tree, targets), settings)


def fix(
    tree: Tree,
    targets: Sequence[str],
    settings: Settings,
    given: CommandLineHardware,
    kinds: Iterable[str] = (),
    *,
    options: CheckOptions = _AS_USUAL,
) -> FixResult:
    """The files at `targets` with their findings fixed, in memory: by safe fixes, and by those of `kinds` (`Applicability`).

    Raises:
        UsageError: as `check` does.
    """
    from pytest_gbs.fixes.apply import apply_fixes

    return apply_fixes(*_rechecking(tree, targets, settings, given, options), kinds)


def ignore(
    tree: Tree,
    targets: Sequence[str],
    settings: Settings,
    given: CommandLineHardware,
    reason: str = "",
    *,
    options: CheckOptions = _AS_USUAL,
) -> FixResult:
    """The files at `targets` with a comment beside each finding that silences it, in memory."""
    from pytest_gbs.fixes.ignoring import ignore_all

    return ignore_all(*_rechecking(tree, targets, settings, given, options), reason)


def _rechecking(
    tree: Tree, targets: Sequence[str], settings: Settings, given: CommandLineHardware, options: CheckOptions
) -> tuple[Report, Read, Recheck]:
    """The report on a tree, how to read it, and how to check it again with some of its files replaced."""
    from pytest_gbs.files.overlay import OverlayTree

    report = check(tree, targets, settings, given, options)
    return report, tree.read, lambda files: check(OverlayTree(tree, files), targets, settings, given, options)


__all__ = ["KEEP_RUNS", "CheckOptions", "active_rules", "check", "check_worktree", "fix", "ignore"]
