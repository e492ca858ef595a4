"""What to say if no recipe and no launch was found: where gbs looked, and for what."""

from __future__ import annotations

from typing import Final

from pytest_gbs.arithmetic.wording import counted, listing
from pytest_gbs.checking.unknown_trainers import unknown_trainers
from pytest_gbs.cli._input import CheckRequest
from pytest_gbs.cli._output import complain
from pytest_gbs.formats._summary import files, launches
from pytest_gbs.frameworks import titles
from pytest_gbs.model.document import CONFIGURATIONS, PROGRAMS
from pytest_gbs.model.documentation import OWN_FRAMEWORK
from pytest_gbs.model.report import Report, Role

_BESIDE: Final = ((Role.LAUNCHER, "launcher file"), (Role.COMPANION, "engine settings file"))
_OWN: Final = f"gbs init prints a table to start from ({OWN_FRAMEWORK})"


def exit_code(report: Report, request: CheckRequest) -> int:
    """0 if there is a recipe or a launch (of files that were named, a launcher's own is enough), else 3, with a line of why."""
    if report.recipes() or launches(report) or (request.names_file and any(file.role != Role.NEITHER for file in report.files)):
        return 0
    complain(nothing_found(report, request))
    return 3


def nothing_found(report: Report, request: CheckRequest) -> str:
    """One line: how many files were looked at, and what is there instead of a recipe of a framework that gbs knows."""
    unknown = next(unknown_trainers(report, request.tree), None)
    if request.names_file and len(request.targets) == 1:
        target = request.seen(request.targets[0])
        if unknown:
            return f"{target} {unknown.words}; {_OWN}"
        holds = "holds no recipe and no launch" if target.endswith(PROGRAMS) else "holds no launch"
        what = "is not a recipe or launcher file" if target.endswith(CONFIGURATIONS) else holds
        return f"{target} {what} of a framework that gbs knows (gbs frameworks)"
    where = " and ".join(map(request.seen, request.targets))
    if not report.files:
        return f"no recipe below {where}: no file there holds settings or a launch of a framework that gbs knows (gbs frameworks)"
    start = f"no recipe in {counted(files(report), 'file')} below {where}"
    if unknown:
        return f"{start}, but {request.seen(unknown.path)} {unknown.words}; {_OWN}"
    beside = [counted(number, noun) for role, noun in _BESIDE if (number := files(report, role))]
    if beside:
        return f"{start}: {listing(beside, last='and')}, but no recipe and no script that starts a training with them"
    known = len({title.split(" (")[0] for title in titles()})
    return f"{start}: none belongs to the {known} frameworks that gbs knows (gbs frameworks)"
