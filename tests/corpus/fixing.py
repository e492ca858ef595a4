"""A measurement over the corpus: break one operand of a recipe that holds, fix it, and compare.

Each recipe whose global batch follows on 8 GPUs gets a comment that states it. Then one setting of its batch is changed, as somebody
might, and `--fix-settings` has to find a batch that is as stated again; of `--fix-declarations` the comment has to follow. The rest of
the file must stay as it is, byte for byte, and the second run must change nothing.

`python -m tests.corpus.fixing` runs it over every recipe.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from pytest_gbs import Given
from pytest_gbs.api import KEEP_RUNS, check, fix
from pytest_gbs.arithmetic.wording import leaves
from pytest_gbs.files.worktree import WorkTree
from pytest_gbs.fixes.apply import FixResult
from pytest_gbs.model.location import Location, Source
from pytest_gbs.model.outcome import Applicability
from pytest_gbs.model.quantity import Name, Origin, Quantity
from pytest_gbs.model.report import Role
from pytest_gbs.model.run import Run
from pytest_gbs.model.settings import Settings
from tests.support import corpus, in_memory

GPUS = 8
OPERANDS = (Name.GRADIENT_ACCUMULATION_STEPS, Name.MICRO_BATCH_SIZE, Name.GLOBAL_BATCH_SIZE)
_SETTINGS = Settings()


class Broken(NamedTuple):
    """A recipe with a claim that held until the number at `at` was changed from `was` to `now`."""

    source: Source
    claimed: int
    at: Location
    was: int
    now: int


def recipes() -> Iterator[Source]:
    """Yield the files of the corpus that can hold a comment."""
    for folder in sorted(path for path in (corpus() / "files").iterdir() if path.is_dir()):
        tree = WorkTree(folder)
        for path in tree.paths():
            source = tree.read(path)
            if path.endswith((".yaml", ".yml", ".toml")) and isinstance(source, Source):
                yield source._replace(path=f"{folder.name}/{path}")


def claiming(source: Source) -> tuple[Source, Run] | None:
    """A recipe with a comment that states its batch, and its run; None where it has none on 8 GPUs or says another."""
    own = _run(source, Given(world_size=GPUS))
    size = own and own.geometry.get(Name.GLOBAL_BATCH_SIZE)
    if not isinstance(size, Quantity) or size.value < 1:
        return None
    ending = "\r\n" if "\r\n" in source.text else "\n"
    stated = source._replace(text=f"# gbs: {size.value} on {GPUS} gpus{ending}{source.text}")
    report = check(in_memory({stated.path: stated}), (stated.path,), _SETTINGS, Given(), KEEP_RUNS)
    (file, *others) = report.files
    if others or file.findings or dict(file.rules).get("GBS101") != "verified" or not file.runs:
        return None
    return stated, file.runs[0]


def _run(source: Source, given: Given) -> Run | None:
    report = check(in_memory({source.path: source}), (source.path,), _SETTINGS, given, KEEP_RUNS)
    files = [file for file in report.files if file.role == Role.RECIPE]
    return files[0].runs[0] if len(files) == 1 and files[0].runs and files[0].runs[0].launch is None else None


def breakages(source: Source, run: Run) -> Iterator[Broken]:
    """Yield the recipe with each operand of its batch changed: doubled, and one more."""
    size = run.claims[0].worlds[0].geometry.get(Name.GLOBAL_BATCH_SIZE)
    assert isinstance(size, Quantity)
    for leaf in dict.fromkeys(leaves(size)):
        if leaf.name not in OPERANDS or leaf.origin != Origin.FILE or leaf.at is None:
            continue
        if source.text[leaf.at.start : leaf.at.stop].strip("\"'") != str(leaf.value):
            continue
        for now in (leaf.value * 2, leaf.value + 1):
            written = source.text[leaf.at.start : leaf.at.stop].replace(str(leaf.value), str(now))
            text = source.text[: leaf.at.start] + written + source.text[leaf.at.stop :]
            yield Broken(source._replace(text=text), size.value, leaf.at, leaf.value, now)


def repaired(broken: Broken, kind: str) -> FixResult:
    """What fixing a broken recipe comes to."""
    return fix(in_memory({broken.source.path: broken.source}), (broken.source.path,), _SETTINGS, Given(), (kind,))


def judged(broken: Broken, kind: str) -> str:
    """`restored`, or what is wrong with the recipe after fixing it."""
    path = broken.source.path
    before = check(in_memory({broken.source.path: broken.source}), (path,), _SETTINGS, Given())
    if not before.findings():
        return "not broken"
    found = repaired(broken, kind)
    after = found.files[path][1] if path in found.files else broken.source
    left = [finding.code for finding in check(in_memory({after.path: after}), (path,), _SETTINGS, Given()).findings()]
    if left and kind == Applicability.DECLARATIONS and not any(code.startswith("GBS1") for code in left):
        return "the settings contradict themselves, whatever the comment says"
    if left:
        why = found.refused[0].why if found.refused else "no fix"
        return f"left {','.join(left)}: {why[:60]}"
    if not _is_numbers_only(broken.source.text, after.text):
        return "the rest has changed"
    if kind == Applicability.SETTINGS and not after.text.startswith(f"# gbs: {broken.claimed} on"):
        return "the claim has changed"
    again = fix(in_memory({after.path: after}), (path,), _SETTINGS, Given(), (kind,))
    return "changes again" if again.files else "restored"


def _is_numbers_only(before: str, after: str) -> bool:
    """Whether two texts are the same but for digits, at most three times, or one line of a key that has its default."""
    from re import findall, sub

    if sub(r"[0-9]+", "0", before) == sub(r"[0-9]+", "0", after):
        numbers = zip(findall(r"[0-9]+", before), findall(r"[0-9]+", after), strict=True)
        return sum(1 for one, other in numbers if one != other) <= 3
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    return len(new) == len(old) + 1 and any(new[:n] + new[n + 1 :] == old for n in range(len(new)))


def measure(sources: Iterator[Source], kinds: tuple[str, ...]) -> tuple[Counter[str], Mapping[str, list[str]]]:
    """How often each came about, and where."""
    counts: Counter[str] = Counter()
    places: dict[str, list[str]] = {}
    for source in sources:
        found = claiming(source)
        if found is None:
            counts["no claim to break"] += 1
            continue
        counts["recipes"] += 1
        for broken in breakages(*found):
            for kind in kinds:
                word = f"{kind}: {judged(broken, kind)}"
                counts[word] += 1
                places.setdefault(word, []).append(f"{source.path}: {broken.at.path} {broken.was} -> {broken.now}")
    return counts, places


def main() -> None:
    """Print the measurement."""
    import sys

    counts, places = measure(recipes(), (Applicability.SETTINGS, Applicability.DECLARATIONS))
    lines = [f"{number:6}  {word}" for word, number in counts.most_common()]
    lines += [f"{word}\n    {place}" for word, each in places.items() if not word.endswith("restored") for place in each[:4]]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
