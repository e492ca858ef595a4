"""How firmly a statement states what it states, by the words around it.

The words of the lists stand between blanks where whole words are meant; they are looked for in a text whose signs were made blanks.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from pytest_gbs.core.declaration import Force
from pytest_gbs.declarations._statements import Statement

_BLANKS: Final = str.maketrans(dict.fromkeys("\n\t\r\"'`!#$%&()*,-./:;<=>?@[]^_{|}~–—’…", " "))

# In front of the number: they take it back.
_OTHER_BEFORE: Final = (" not ", "n t ", " never ", " instead ", " rather ", " than ", " unlike ", " without ", " vs ", " versus ", " compared ", " no longer ")
# In front of the number: they put it off, or bound it.
_ADVISES_BEFORE: Final = (
    *(" may ", " might ", " can ", " could ", " would ", " up to ", " max ", " maximum ", " min ", " e g ", " for example ", " try ", " todo "),
    *(" fixme ", " increase ", " decrease ", " reduce ", " adjust ", " change ", " raise ", " double ", " halve ", " override ", " feel free "),
    *(" set to ", " set it to ", " set this to ", " must ", " need to ", " needs to ", " divisible ", " limit", " prefer", " want "),
)
# Anywhere in the statement.
_ADVISES: Final = (
    *(" best results ", " recommend", " suggest", " at least ", " at most ", " minimum ", " ideal", " lower bound ", " upper bound ", " depending "),
    *(" estimate", " suitable ", " compatible "),
)
_HISTORY: Final = (
    *(" paper ", " original", " previously ", " formerly ", " used to be ", " in the report ", " was trained ", " were trained ", " been trained "),
)
_HISTORY_BEFORE: Final = (" trained ", " published ")
_OTHER: Final = (" yaml ", " yml ", " other recipe", " other config", " sibling ")
_CONDITIONAL: Final = (" if ", " when ", " unless ")

_HARDWARE_HISTORY: Final = (" trained ", " tested ", " measured ", " profile ", " profiled ", " benchmarked ", " timed ", " took ", " ran ")
_HARDWARE_OTHER: Final = (
    *(" oom", " out of memory ", " memory ", " peak ", " gib ", " vram ", " throughput ", " tok s ", " tokens s ", " token s ", " vllm ", " sglang "),
    *(" infer", " generat", " rollout", " teacher", " student", " judge", " reward model ", " gym ", " replica", " dedicat", " reserv"),
    *(" otherwise ", " older ", " no effect ", " runner", " pytest ", " unit test", " gpu h ", " hour", " per epoch ", " epoch on ", " hrs "),
)
_PART_BEFORE: Final = (" split", " shard", " span", " fit ", " fits ")
_NEAR: Final = 60


def batch_force(statement: Statement, at: int, conditional: bool) -> str:
    """Return the force of a batch size stated at offset `at`; `conditional` where the statement names the hardware it holds for."""
    around, before = _words(statement.lower), _words(statement.before(at))
    if _says(around, _OTHER) or _says(before, _OTHER_BEFORE):
        return Force.OTHER
    if _says(around, _HISTORY) or _says(before, _HISTORY_BEFORE):
        return Force.HISTORY
    if _says(around, _ADVISES) or _bounds(statement, at) or _says(before, _ADVISES_BEFORE) or _is_request(before):
        return Force.ADVISES
    return Force.ADVISES if not conditional and _says(before, _CONDITIONAL) else Force.STATES


def hardware_force(statement: Statement, start: int, stop: int) -> str:
    """Return the force of hardware stated from offset `start` to `stop`."""
    around, before = _words(statement.lower), _words(statement.before(start))
    if _says(around, _OTHER) or _says(before, _OTHER_BEFORE):
        return Force.OTHER
    if _is_of_something_else(statement, start, stop):
        return Force.OTHER
    if _says(around, _HISTORY) or _says(before, _HARDWARE_HISTORY):
        return Force.HISTORY
    if _says(around, _ADVISES) or _bounds(statement, start) or _says(before, _ADVISES_BEFORE) or _says(before, _CONDITIONAL):
        return Force.ADVISES
    return Force.STATES


def _words(text: str) -> str:
    return f" {text.translate(_BLANKS)} "


def _says(text: str, words: tuple[str, ...]) -> bool:
    for word in words:  # a plain loop: this is the hot path
        if word in text:
            return True
    return False


def _bounds(statement: Statement, at: int) -> bool:
    """Return whether a sign makes the number at `at` a bound, or a question mark doubts it."""
    before = statement.before(at).rstrip()
    if before.endswith((">=", "<=", "≥", "≤")) or (before.endswith((">", "<")) and before[-2:] not in ("->", "=>")):
        return True
    return statement.lower.rstrip().endswith("?")


def _is_request(before: str) -> bool:
    """Return whether "keep" asks for something: `keep the batch at 128`; "to keep it at 128" says what is."""
    return " keep " in before.replace(" to keep ", " ")


def _is_of_something_else(statement: Statement, start: int, stop: int) -> bool:
    """Return whether the hardware serves, is split between jobs, or is named to tell how long or how large something was."""
    from_start = start - statement.start
    text = statement.lower
    if "(" in text:
        text = _brackets().sub(lambda match: match.group() if match.start() <= from_start < match.end() else " ", text)
    if _says(_words(text).replace("of experts", ""), (*_HARDWARE_OTHER, " expert ", " experts ")):
        return True
    if _says(_words(text[: min(from_start, len(text))]), _PART_BEFORE):
        return True
    return "+" in (near := statement.after(stop)[:_NEAR]) and _split().match(near) is not None


@cache
def _brackets() -> re.Pattern[str]:
    return re.compile(r"\([^()]*\)")


@cache
def _split() -> re.Pattern[str]:
    """Return how GPUs are told apart by what they do: `(1 trainer + 1 inference)`."""
    return re.compile(r"\s*\(?[^()]*?\b(?:train(?:er|ing)?|infer(?:ence)?|vllm|sglang|judge|rollout|generation|teacher|reward|actor|ref)\b[^()]*?\+")
