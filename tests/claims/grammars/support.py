"""Comments built by hand, and what is read in them in a short form."""

from pytest_gbs.claims.grammars import read_declarations
from pytest_gbs.model.declaration import Declaration, Force
from pytest_gbs.model.document import CommentBlock
from pytest_gbs.model.location import KeyPath

SOURCE = "sft.yaml"
BATCHES = ("global_batch_size", "tokens_per_step", "prompts_per_step")


def block(text: str, owner: KeyPath | None = None, placement: str = "", start: int = 0) -> CommentBlock:
    """A comment block of `text`, each line of which stands four characters ("  # ") deep in its file from `start` on."""
    pieces: list[tuple[int, int]] = []
    offset, place = 0, start
    for line in text.split("\n"):
        pieces.append((offset, place + 4))
        offset += len(line) + 1
        place += len(line) + 5
    return CommentBlock(text, tuple(pieces), owner, placement or ("trailing" if owner else "header"))


def declared(text: str, owner: KeyPath | None = None, placement: str = "") -> tuple[Declaration, ...]:
    """All declarations of one comment."""
    return read_declarations((block(text, owner, placement),), SOURCE)


def behind(key: str, text: str) -> tuple[Declaration, ...]:
    """All declarations of a comment that stands behind `key`."""
    return declared(text, (key,))


def batches(text: str, owner: KeyPath | None = None) -> list[tuple[str, int]]:
    """The batches that a comment states: name and number."""
    return [(d.name, d.value) for d in declared(text, owner) if d.name in BATCHES and d.force == Force.STATES]


def batch(text: str, owner: KeyPath | None = None) -> Declaration:
    """The one batch that a comment declares, of whatever force."""
    (found,) = [d for d in declared(text, owner) if d.name in BATCHES]
    return found


def hardware(text: str, force: str = Force.STATES) -> dict[str, int]:
    """The hardware that a comment declares with this force."""
    return {d.name: d.value for d in declared(text) if d.name not in BATCHES and d.force == force}
