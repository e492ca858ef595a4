"""Which code block of a document a paragraph points at: the one behind its colon or "run", "the following command", "the example above"."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from pytest_gbs.model.pattern import lazy_pattern, re
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.shell.blocks import Block


class Pointed(NamedTuple):
    """The lines of a code block, and the scripts that they start as they are."""

    start: int
    stop: int
    scripts: tuple[str, ...]


def code_blocks(text: str, blocks: Iterable[Block]) -> tuple[Pointed, ...]:
    """The code blocks of a document, in order."""
    found = ((block.lines[0][0], block.lines[-1][1]) for block in blocks if block.lines)
    return tuple(Pointed(start, stop, started_scripts(text, start, stop)) for start, stop in found)


def pointed_at(text: str, start: int, stop: int, shown: Sequence[Pointed]) -> Pointed | None:
    """The block of `shown` that the paragraph from `start` to `stop` points at; None if at none, an empty one if not certainly at one.

    `text` is the document, and `shown` are its code blocks.
    """
    paragraph = text[start:stop]
    said = _folds().sub("", paragraph.rstrip()).rstrip("*_ \n")
    behind = next((block for block in shown if block.start >= stop), None)
    shows = said.endswith((":", "：", " run")) or offers(paragraph) or any(each().search(said) for each in (_uses, _caption))
    near = behind is not None and behind.start - stop < _FARTHEST
    leads = shows and behind is not None and near and _between().fullmatch(text, stop, behind.start) is not None
    following = leads or _following().search(paragraph) is not None
    above = _above().search(paragraph) is not None
    if not following and not above:
        return None
    found = behind if following else next((block for block in reversed(shown) if block.stop <= start), None)
    return _NOWHERE if found is None or (following and above) else found


def offers(paragraph: str) -> bool:
    """Whether a paragraph says for which readers the block behind it is, and nothing else: `If you have 8 GPUs,`."""
    return _offer().fullmatch(paragraph) is not None


_offer = lazy_pattern(r"(?i)[\s*_]{0,9}if you (?:only )?have (?:[^.,!?;:\n]|\.(?=\d)|\n(?!\s*\n)){1,120}[,:]?[\s*_]{0,9}")
_NOWHERE: Final = Pointed(0, 0, ())
_WHAT: Final = r"(?:command|script|example|snippet|code)"
_IN_CHINESE: Final = "(?:命令|脚本|指令)"
_following = lazy_pattern(
    rf"(?i)\bfollowing (?:[\w-]+ ){{0,2}}{_WHAT}\b|\b{_WHAT} (?:[\w-]+ )?below\b|\bbelow is (?:the|an?) (?:[\w-]+ ){{0,2}}{_WHAT}\b"
    rf"|(?:以下|如下|下面的?){_IN_CHINESE}|(?:以下|下面)是[^。\n]{{1,60}}{_IN_CHINESE}"
)
_above = lazy_pattern(rf"(?i)\babove (?:[\w-]+ ){{0,2}}{_WHAT}\b|\b{_WHAT} (?:[\w-]+ )?above\b|(?:以上|上述|上面的?){_IN_CHINESE}")
# A last sentence about what the command behind it uses: "We use 4 nodes to pretrain the model.", "We use 8 GPUs as an example."
_uses = lazy_pattern(r"(?i)\bwe use\b[^.\n]{1,80}?\b(?:as an example|to (?:pre-?|fine-?)?t(?:rain|une)\b[^.\n]{0,120})\.?\s*\Z")
# One line that is no sentence and no item: "Base model on WikiTQ (4 GPUs, 128 effective batch size)".
_caption = lazy_pattern(r"\A(?!\s*[-*+>|#]\s)[^\n]{1,160}(?<![.!?,;。！？，；])\Z")
# Lines of HTML, which fold the block behind them.
_folds = lazy_pattern(r"(?:\n[ \t]{0,40}<[^\n]{1,200}>[ \t]{0,9}){1,6}\Z")
# What may be between a colon and the first line of the block: the name of a model (`Net-Tiny`:), lines of HTML, and the fence or the
# directive, with its options.
_between = lazy_pattern(
    r"\s*(?:[`*]{1,3}[\w.+-]{1,60}(?: ?\([\w ]{1,30}\))?[`*]{1,3}:[*]{0,2}[ \t]*\n\s*)?"
    r"(?:<[^\n]{1,200}>[ \t]*\n\s*){0,6}(?:(?:```|~~~)[^\n]*\n|\.\. [\w-]+::[^\n]*\n(?:\s+:[^\n]*\n)*)?\s*"
)
_FARTHEST: Final = 600


def started_scripts(text: str, start: int, stop: int) -> tuple[str, ...]:
    """The scripts that lines from `start` to `stop` start, with variables alone: one with known arguments is a launch of its own."""
    return tuple(dict.fromkeys(match[1] for match in _started().finditer(text, start, stop)))


_started = lazy_pattern(
    r"^[ \t]*(?:\$[ \t]+)?(?:(?:bash|sh|sbatch)[ \t]+|(?=\./))(?:\./)?([\w+-][\w.+/-]{0,300}\.(?:sh|slurm|sbatch))"
    r"(?:[ \t]+\$\{?\w{1,100}\}?)*[ \t]*(?:[ \t]#[^\n]*)?$",
    re.MULTILINE,
)
