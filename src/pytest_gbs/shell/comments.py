"""The comments of a script as blocks, so that what they claim can be read, with what it prints of its batch before it starts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from pytest_gbs.model.command import Word
from pytest_gbs.model.digits import is_digits
from pytest_gbs.model.document import COMPUTED, DIVIDED, PRINTED, CommentBlock
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.readers.owners import ABOVE, END, HEADER, TRAILING
from pytest_gbs.shell.state import Variable
from pytest_gbs.shell.text import ShellText, every_node

if TYPE_CHECKING:
    from tree_sitter import Node

# Lines that are for the shell's caller or the scheduler of a cluster, and no comments.
_DIRECTIVES: Final = ("#!", "#SBATCH", "#PBS", "#BSUB", "#PJM", "#$ -", "#COBALT")
# `echo "Effective batch size: 64 (2 * 4 GPUs * 8)"`, without a variable: its author computed it.
_printed = lazy_pattern(
    r"""(?i)echo (?:-e )?(["'])((?:\\n)?[^"'$`\\\n]{0,80}\b(?:effective|global|total|eff\.?)[ _-](?:batch(?:[ _-]?size)?|bsz?)\b"""
    r"""[^"'$`\\\n]{1,120})\1"""
)


def read_comments(text: ShellText, root: Node) -> tuple[CommentBlock, ...]:
    """The comments of a script in order, without `#!` and what schedulers read; neighbouring lines make one block.

    A batch size that a script prints as it is, outside of branches and functions, is one by itself. Another value of a variable that is
    commented out is none.
    """
    printed = frozenset(_printed_sizes(text, root))
    spans = sorted([*(text.span(node) for node in every_node(root) if node.type == "comment"), *printed])
    first = next((text.span(child)[0] for child in root.children if child.type != "comment"), len(text.string))
    last = text.span(root.children[-1])[1] if root.children else 0
    code = max((text.span(child)[1] for child in root.children if child.type != "comment"), default=0)
    blocks: list[tuple[str, list[str], list[tuple[int, int]]]] = []
    previous = -1
    length = 0  # of the block at hand
    assigned: frozenset[str] | None = None
    for start, stop in spans:
        raw = text.string[start:stop].rstrip()
        other = _other_value().fullmatch(raw)
        if other is not None and assigned is None:
            assigned = frozenset(_assigned().findall(text.string))
        if raw.startswith(_DIRECTIVES) or (other is not None and assigned is not None and other[1] in assigned):
            continue
        body = raw.lstrip("#").lstrip()
        origin = text.location(start + len(raw) - len(body), stop).start
        line = text.string.rfind("\n", 0, start) + 1
        alone = not text.string[line:start].strip()
        if alone and blocks and line == previous and blocks[-1][0] not in (TRAILING, PRINTED):
            _, lines, pieces = blocks[-1]
            pieces.append((length, origin))
            lines.append(body)
            length += len(body) + 1
        else:
            placement = PRINTED if (start, stop) in printed else _placement(alone, start < first, start >= code and last >= code)
            blocks.append((placement, [body], [(0, origin)]))
            length = len(body) + 1
        previous = stop + 1
    return tuple(CommentBlock("\n".join(lines), tuple(pieces), None, placement) for placement, lines, pieces in blocks)


# `# NNODES=1` beside `NNODES=4`: another value of a variable of the script, which is commented out.
_other_value = lazy_pattern(r"#[# \t]*(?:export[ \t]+)?([A-Za-z_]\w*)=(?:\S*|\"[^\"]*\"|'[^']*')(?:[ \t]+#.*)?")
_assigned = lazy_pattern(r"(?m)^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)=")

# The same with the value of a variable or of a product in it.
_sized = lazy_pattern(r"\b(?:effective|global|total)[ _-](?:batch(?:[ _-]?size)?|bsz?)\s*[:=]\s*\d+\s*(?:\Z|\()", re.I)


def computed_size(word: Word, sources: Mapping[str, str]) -> CommentBlock | None:
    """What a command prints as `word` if that is a batch size of which a part is a product in one of `sources`; else None."""
    if word.text is None or "\n" in word.text or _sized().search(word.text) is None:
        return None
    given = [
        sources.get(at.source, "")[at.start : at.stop] for part in word.parts for at in (part.at, part.use) if part.name or at != word.at
    ]
    if not any("$((" in text and "*" in text for text in given):
        return None
    lengths = accumulate((len(part.text or "") for part in word.parts[:-1]), initial=0)
    return CommentBlock(
        word.text, tuple((length, part.use.start) for length, part in zip(lengths, word.parts, strict=True)), None, COMPUTED
    )


# `ACCUM=$((TOTAL_BATCH_SIZE / NUM_GPUS / MICRO))`: the variable that an accumulation is found from, and what is found.
_divides = lazy_pattern(r"(?<!\w)((?:total|global|effective)_?(?:train_?)?(?:batch_?size|batch|bsz|bs))\}?\s*/", re.I)
_accumulates = lazy_pattern(r"acc|grad|(?<![a-z])ga(?![a-z])", re.I)


def divided_size(name: str, expression: str, variables: Mapping[str, Variable], sources: Mapping[str, str]) -> CommentBlock | None:
    """The global batch size that `expression` divides to give the variable `name`, an accumulation; None if it is not written out."""
    found = _divides().search(expression) if _accumulates().search(name) else None
    variable = variables.get(found[1]) if found is not None else None
    if variable is None or len(variable.scalar) != 1 or not is_digits(variable.text or ""):
        return None
    at, (size,) = variable.scalar[0].at, (variable.text,)
    said = "total batch size: "
    written = sources.get(at.source, "")[at.start : at.stop] == size
    return CommentBlock(f"{said}{size}", ((0, at.start), (len(said), at.start)), None, DIVIDED) if written else None


def _placement(alone: bool, is_first: bool, is_last: bool) -> str:
    """Where a comment is: behind a command, in front of all of them, behind them all, or above one."""
    return TRAILING if not alone else HEADER if is_first else END if is_last else ABOVE


def _printed_sizes(text: ShellText, root: Node) -> Iterator[tuple[int, int]]:
    """Yield where each text with a batch size is that the commands of `root` itself print."""
    if _printed().search(text.string) is None:
        return
    for child in root.children:
        start, stop = text.span(child)
        found = _printed().fullmatch(text.string, start, stop) if child.type == "command" else None
        if found is not None:
            yield found.span(2)
