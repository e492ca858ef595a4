"""`python -m tools.ecosystem FOLDER REVIEW.tsv [--update]`: what gbs finds in each repository below FOLDER, against what was read of it.

REVIEW has a row for each finding, with the verdict of whoever read it and the reason: TRUE (a maintainer wants to know), NOISE (true,
and nobody cares), FALSE, or ? (nobody has read it yet), and one for each repository without any. It quotes nobody's files: of the words
of gbs it holds a digest. What is new and what is gone is printed as a diff, then how many findings each rule has of each verdict;
repositories that are not below FOLDER are left as they are. The exit status is 0 where nothing changed and nothing is FALSE or unread.
--update writes the findings of now into REVIEW: verdicts stay with their findings, also where only the line or the words changed.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple

from pytest_gbs import Given, Settings
from pytest_gbs.api import check
from pytest_gbs.files.worktree import WorkTree
from pytest_gbs.formats._escape import escape
from pytest_gbs.formats._format import FormatOptions
from pytest_gbs.formats._places import Places

UNREAD: Final = "?"
VERDICTS: Final = ("TRUE", "NOISE", "FALSE", UNREAD)
_INTERNAL: Final = "internal error"
_NOTHING: Final = "-"


class Row(NamedTuple):
    """One finding in one repository, at `place` (path and line), with what somebody thought of it.

    `words` is a digest of its message, which is known of a finding of now alone.
    """

    repo: str
    rule: str
    place: str
    severity: str
    verdict: str
    reason: str
    words: str
    message: str = ""

    @property
    def found(self) -> tuple[str, ...]:
        """What gbs says, without what people do."""
        return (self.repo, self.rule, self.place, self.severity, self.words)

    @property
    def path(self) -> str:
        """The file of the place."""
        return self.place.rpartition(":")[0] or self.place


_COLUMNS: Final = Row._fields[:-1]


def findings(folder: Path) -> Iterator[Row]:
    """Yield the findings in the repository `folder`, none of them read."""
    report = check(WorkTree(folder), (), Settings(), Given())
    if not report.internal and not report.findings():
        yield Row(folder.name, _NOTHING, "", "", "TRUE", "", "")
    places = Places(report, FormatOptions())
    for bug in report.internal:
        yield Row(folder.name, _INTERNAL, escape(bug.path), "error", UNREAD, "", *_digest_and_words(bug.words))
    for each in report.findings():
        position = places.position(each.at)
        place = f"{escape(each.at.source)}:{position.line}" if position else escape(each.at.source)
        yield Row(folder.name, each.code, place, each.severity, UNREAD, "", *_digest_and_words(each.message))


def _digest_and_words(message: str) -> tuple[str, str]:
    return sha256(message.encode("utf-8", "backslashreplace")).hexdigest()[:8], escape(message)


def read(path: Path) -> list[Row]:
    """The rows of a review; none if there is no file yet.

    Raises:
        SystemExit: a verdict is none.
    """
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        rows = [Row(**row) for row in csv.DictReader(file, delimiter="\t")]
    wrong = [row for row in rows if row.verdict not in VERDICTS or (row.verdict == "FALSE" and not row.reason)]
    if wrong:
        raise SystemExit(f"{path}: {wrong[0].repo} {wrong[0].place}: a verdict is one of {', '.join(VERDICTS)}, and FALSE has a reason")
    return rows


def write(path: Path, rows: Iterable[Row]) -> None:
    """Write a review."""
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, delimiter="\t", lineterminator="\n")
        table.writerow(_COLUMNS)
        table.writerows(row[: len(_COLUMNS)] for row in rows)


def judged(now: Iterable[Row], before: list[Row]) -> list[Row]:
    """The findings of now in order, each with the verdict of the same one before: first by all that it says, then by rule and file."""
    left = sorted(before)
    rows = sorted(set(now))
    told: dict[Row, Row] = {}
    for alike in (
        lambda row: row.found,
        lambda row: (row.repo, row.rule, row.words, row.path),
        lambda row: (row.repo, row.rule, row.path),
    ):
        for row in rows:
            old = None if row in told else next((each for each in left if alike(each) == alike(row)), None)
            if old is not None:
                left.remove(old)
                told[row] = row._replace(verdict=old.verdict, reason=old.reason)
    return [told.get(row, row) for row in rows]


def difference(now: list[Row], before: list[Row]) -> list[str]:
    """What is found no longer and what is new, as lines of a diff."""
    was, is_now = {row.found for row in before}, {row.found for row in now}
    gone = [("-", row) for row in before if row.found not in is_now]
    new = [("+", row) for row in now if row.found not in was]
    changed = sorted([*gone, *new], key=lambda each: (each[1].repo, each[1].path, each[1].rule, each[0] == "+"))
    return [f"{sign} {row.repo}  {row.place}  {row.rule} {row.severity}  [{row.verdict}]  {row.message}" for sign, row in changed]


def table(rows: list[Row]) -> list[str]:
    """How many findings each rule has of each verdict, as lines."""
    counts = Counter((row.rule, row.verdict) for row in rows)
    rules = [(rule, *(str(counts[rule, verdict]) for verdict in VERDICTS)) for rule in sorted({row.rule for row in rows} - {_NOTHING})]
    totals = ("all", *(str(sum(row.verdict == verdict and row.rule != _NOTHING for row in rows)) for verdict in VERDICTS))
    return [f"{line[0]:<16}" + "".join(f"{cell:>8}" for cell in line[1:]) for line in (("rule", *VERDICTS), *rules, totals)]


def main(arguments: list[str] | None = None) -> int:
    """Print the report; the exit status says whether somebody has to look."""
    parser = argparse.ArgumentParser(prog="python -m tools.ecosystem", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("review", type=Path)
    parser.add_argument("--update", action="store_true", help="write the findings of now into the review")
    asked = parser.parse_args(arguments)
    folders = sorted(path for path in asked.folder.iterdir() if path.is_dir())
    here = {folder.name for folder in folders}
    reviewed = read(asked.review)
    before = [row for row in reviewed if row.repo in here]
    rows = judged((row for folder in folders for row in findings(folder)), before)
    changed = difference(rows, before)
    print(*changed, *table(rows), f"{len(folders)} repositories, {len(changed)} changes", sep="\n")
    if asked.update:
        write(asked.review, sorted([*rows, *(row for row in reviewed if row.repo not in here)]))
    return int(bool(changed) or any(row.verdict in ("FALSE", UNREAD) for row in rows))


if __name__ == "__main__":
    sys.exit(main())
