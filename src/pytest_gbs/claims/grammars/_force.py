"""How firmly a statement states what it states, by the words around it.

The words of the lists are between blanks where whole words are meant; they are looked for in a text whose signs were made blanks.
"""

from __future__ import annotations

import re
from functools import cache

from pytest_gbs.claims.grammars._statements import Statement
from pytest_gbs.model.declaration import Force
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.record import Final

_BLANKS: Final = str.maketrans(dict.fromkeys("\n\t\r\"'`!#$%&()*,-./:;<=>?@[]^_{|}~–—’…", " "))


def _phrases(text: str) -> tuple[str, ...]:
    """The phrases of `text`, which blanks separate; `_` stands for a blank within one, or for the border of a word."""
    return tuple(phrase.replace("_", " ") for phrase in text.split())


# In front of the number: they take it back.
_OTHER_BEFORE: Final = _phrases(
    "_not_ n_t_ _never_ _instead_ _rather_ _than_ _unlike_ _without_ _vs_ _versus_ _compared_ _no_longer_ _matching_ _derived_from_"
    " _down_from_the_ _up_from_the_ _scaled_from_ _compare_ _going_from_ _half_of_ _third_of_ _quarter_of_ _sweep_"
)
# In front of the number: they put it off, or bound it.
_ADVISES_BEFORE: Final = _phrases(
    "_may_ _might_ _can_ _could_ _would_ _up_to_ _max_ _maximum_ _min_ _e_g_ _for_example_ _examples_ _try_ _todo_ _fixme_ _increase_"
    " _decrease_ _reduce_ _adjust_ _change_ _raise_ _double_ _halve_ _override_ _feel_free_ _set_to_ _set_it_to_ _set_this_to_ _must_"
    " _need_to_ _needs_to_ _divisible_ _limit _prefer _want_ _use_ _found_ _stays_ _stay_ _remains_ _remain_ _still_"
    " _consider_ _alternative_ _set_gradient _set_grad_ _set_accum _set_per_device _set_micro _set_the_ _set_num_"
)
# Anywhere in the statement.
_ADVISES: Final = _phrases(
    "_best_results_ _recommend _suggest _at_least_ _at_most_ _minimum_ _ideal _lower_bound_ _upper_bound_ _depending_ _estimate_"
    " _estimated_ _estimation_ _suitable_ _compatible_ _either_ _too_high_ _too_large_ _too_big_ _too_low_ _too_small_ _ooms_ _unstable_"
    " _diverge _crashes_ _failed_ _would_need_ _would_require_ _once_we_ _but_this_"
)
_HISTORY: Final = _phrases(
    "_paper_ _in_table_ _original _previously_ _formerly_ _used_to_be_ _in_the_report_ _was_trained_ _were_trained_ _been_trained_"
)
_HISTORY_BEFORE: Final = _phrases(
    "_trained_ _published_ _reference_ _till_ _until_ _was_ _were_ _used_a_ _used_an_ _used_batch_ _used_effective_ _used_gbs_"
    " _used_global_"
)
_OTHER: Final = _phrases("_yaml_ _yml_ _other_recipe _other_config _s_recipe_ _s_config_ _upstream_ _sibling_ _lm_loss_")
# In the heading of a list: what follows is that of another run.
_OTHER_HEADING: Final = _phrases("_match_ _matches_ _matched_to_ _matching_ _same_as_ _compared_ _comparison_ _baseline _reference_")
_CONDITIONAL: Final = _phrases("_if_ _when_ _unless_")
# Behind a condition: what to do then, which says nothing of the recipe as it is.
_INSTRUCTS: Final = _phrases("_set_ _choose_ _switch_ _pick_ _make_it_ _you_")

_TAKES: Final = _phrases("_use_ _set_ _need_ _needs_")

# In front of hardware: it is that of another run, which has the same batch.
_HARDWARE_COMPARED: Final = _phrases("_matches_ _identical_to_ _old_")
_HARDWARE_HISTORY: Final = _phrases("_trained_ _tested_ _measured_ _profile_ _profiled_ _benchmarked_ _timed_ _took_ _ran_")
_HARDWARE_OTHER: Final = _phrases(
    "_oom _out_of_memory_ _memory_ _peak_ _gib_ _vram_ _throughput_ _tok_s_ _tokens_s_ _token_s_ _vllm_ _sglang_ _infer _generat _rollout"
    " _teacher _student _judge _reward_model_ _gym_ _replica _dedicat _reserv _otherwise_ _older_ _no_effect_ _runner _pytest_ _unit_test"
    " _gpu_h_ _hour _per_epoch_ _epoch_on_ _hrs_ _expert_ _experts_ _exceed _too_large_ _too_big_ _assume_we_"
    " _mins_ _minutes_ _seconds_ _step_time_ _gpu_cannot_ _gpus_cannot_ _gpu_can_t_ _gpus_can_t_ _cannot_train_ _cannot_fit_"
)
_PART_BEFORE: Final = _phrases("_split _shard _span _fit_ _fits_")
_NEAR: Final = 60


def batch_force(statement: Statement, at: int, conditional: bool) -> str:
    """The force of a batch size stated at offset `at`; `conditional` where the statement names the hardware it holds for."""
    text = _agreement().sub(_blank, statement.lower)
    around, before = _words(text), _in_front(text, at - statement.start)
    if _says(around, _OTHER) or _says(before, _OTHER_BEFORE) or _another().match(statement.lower):
        return Force.OTHER
    if _says(_words(_heading(statement)), _OTHER_HEADING):
        return Force.OTHER
    if _says(around, _HISTORY) or _says(before, _HISTORY_BEFORE):
        return Force.HISTORY
    if _says(around, _ADVISES) or _bounds(statement, at) or _says(_stated_before(before), _ADVISES_BEFORE) or _is_request(before):
        return Force.ADVISES
    if _alternative().match(statement.lower) or _is_supposed(before, around):
        return Force.ADVISES
    if _says(before, _CONDITIONAL) and (not conditional or _says(before, _INSTRUCTS)):
        return Force.ADVISES
    return Force.STATES


def hardware_force(statement: Statement, start: int, stop: int) -> str:
    """The force of hardware stated from offset `start` to `stop`."""
    around, before = _words(statement.lower), _in_front(statement.lower, start - statement.start)
    compared = _says(before, (*_OTHER_BEFORE, *_HARDWARE_COMPARED)) or " as " in f" {before.partition(' same ')[2]}"
    if _says(around, _OTHER) or compared:
        return Force.OTHER
    if _is_of_something_else(statement, around, start, stop):
        return Force.OTHER
    if _says(around, _HISTORY) or _says(before, _HARDWARE_HISTORY):
        return Force.HISTORY
    if _says(around, _ADVISES) or _bounds(statement, start) or _says(_stated_before(before), (*_ADVISES_BEFORE, *_CONDITIONAL)):
        return Force.ADVISES
    # `With three GPUs, split=[10, 20] puts ...` states what happens on them.
    supposed = before.split() == ["with"] and statement.after(stop).lstrip().startswith(",") and " batch" not in around
    # `Set NUM_NODES=2 to train on two`, `For 2 nodes, set NUM_NODES=2` say what to do for them.
    asked = before.split()[-1:] == ["set"] or _request().match(statement.after(stop)) is not None or _setting().fullmatch(statement.lower)
    return Force.ADVISES if supposed or asked else Force.STATES


def _in_front(text: str, offset: int) -> str:
    """What is in front of `offset` of a statement, without examples in brackets that end there and what only offers a command."""
    without = _example().sub(lambda match: _blank(match) if match.end() <= offset else match[0], text)
    before = _shown_command(_by_default(_front(_words(without), offset)), _words(text))
    # `To run it on several GPUs (e.g. 8 GPUs):` is above the example itself.
    return before.replace(" e g ", " ") if text.rstrip().endswith("):") else before


def _words(text: str) -> str:
    """`text` with its signs as blanks, each still one character, and a blank at either end."""
    return f" {text.translate(_BLANKS)} "


def _heading(statement: Statement) -> str:
    """The two lines that end with a colon above the statement, in its paragraph, in lower case; "" if none do."""
    first = statement.text.rfind("\n\n", 0, statement.start) + 1
    above = statement.text[first : statement.start].rpartition(":\n")[0]
    return "\n".join(above.rsplit("\n", 2)[-2:]).lower()


def _front(words: str, offset: int) -> str:
    """What is in front of `offset` of the text that `words` was made of."""
    return f"{words[: offset + 1]} "


def _says(text: str, words: tuple[str, ...]) -> bool:
    return any(map(text.__contains__, words))


def _bounds(statement: Statement, at: int) -> bool:
    """Whether a sign makes the number at `at` a bound, or a question mark doubts it."""
    before = statement.before(at).rstrip()
    if before.endswith((">=", "<=", "≥", "≤")) or (before.endswith((">", "<")) and before[-2:] not in ("->", "=>")):
        return True
    return statement.lower.rstrip().endswith("?")


def _by_default(before: str) -> str:
    """The text in front; "by default, models are trained on" says what is, and no history, nor does "with pre-trained weights"."""
    before = before.replace(" trained ", " ") if " by default " in before else before
    return _adjective().sub(" ", before) if " pre trained " in before else before


_adjective = lazy_pattern(
    r" pre trained (?=(?:(?!(?:with|on|using|by|for|from|in|and) )\w+ ){0,3}(?:models?|weights|checkpoints?|encoders?|backbones?) )"
)


def _shown_command(before: str, around: str) -> str:
    """The text in front without an offer of a command that is shown: "for example, use the following command to" states what it does."""
    return _offer().sub("", before) if _shows().search(around) else before


_offer = lazy_pattern(r" for example (?= (?:to|we) )| (?:you )?(?:can |may )?(?:please )?(?:use|run) (?=the following )")
_shows = lazy_pattern(r" the following (?:\w+ )?(?:command|script) | run +$")


def _stated_before(before: str) -> str:
    """The text in front without "we use" and "is set to", which state facts; "use" and "set to" alone advise."""
    return before.replace(" we use ", " we ").replace(" is set to ", " is ")


def _is_request(before: str) -> bool:
    """Whether "keep" asks for something: `keep the batch at 128`; "to keep it at 128" says what is."""
    return " keep " in before.replace(" to keep ", " ")


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


# A remark that the number is another's as well: `96 (same as the original)`, `16 (matching the QLoRA paper)`; it is in brackets.
_agreement = lazy_pattern(
    r"\((?:(?:the )?same as|as in|like|identical to|equal to|consistent with|(?:to )?match(?:es|ing)?|follow(?:s|ing)|unchanged from)"
    r" (?:the )?(?:[\w.-]{1,20} ){0,2}?(?:original|paper)(?:'s)?[^()\d]*\)"
)

# What to set for how many GPUs, and nothing else: `=2 for 32 gpus`.
_setting = lazy_pattern(r"[\s#*-]*(?:[=-]?>|=)?\s?\d[\d,]*\s(?:if|with|on|for)\s\d[\d,]*\sgpus?[\s.]*")

# What follows hardware that is supposed.
_request = lazy_pattern(r"\s*,\s*(?:please\s+)?(?:set|change|increase|decrease|edit|adjust|modify|pass|add)\s")

# The letter of one alternative of several: `(a) with GBS 16`.
_alternative = lazy_pattern(r"[\s#*-]*\(?[a-h]\)\s")

# The name of another run in front: `before: GBS 16`, `v1: ...`, `Experiment A: ...`.
_another = lazy_pattern(r"[\s#*-]*(?:before|old|previous|baseline|v\d[\d.]*|ablations?|(?:experiment|exp|run) ?\w{1,3})\s*:")


def _is_supposed(before: str, around: str) -> bool:
    """Whether a batch is named to say what it takes: `for GBS 96 use accumulation 6`."""
    return before.split()[:1] == ["for"] and _says(around[len(before) - 1 :], _TAKES)


def _is_of_something_else(statement: Statement, around: str, start: int, stop: int) -> bool:
    """Whether the hardware serves, is split between jobs, or is named to say how long or how large something was."""
    offset, text = start - statement.start, statement.lower
    if "(" in text:
        # Bracketed remarks are details, except the one that contains the hardware.
        text = _brackets().sub(lambda match: match[0] if match.start() <= offset < match.end() else " " * len(match[0]), text)
        around = _words(text)
    if _says(around.replace("of experts", ""), _HARDWARE_OTHER) or _says(_front(around, offset), _PART_BEFORE):
        return True
    rest = statement.after(stop)[:_NEAR]
    return ("(" in rest or "+" in rest) and _split().match(rest) is not None


_example = lazy_pattern(r"\((?:for example|e\.g\.)[^()]*\)")
_brackets = lazy_pattern(r"\([^()]*\)")


@cache
def _split() -> re.Pattern[str]:
    """How GPUs are distinguished by what they do: `(1 trainer + 1 inference)`, `(2 learners, 6 inference engines)`."""
    does = "train|trainer|training|infer|inference|vllm|sglang|judge|rollout|generation|teacher|reward|actor|ref"
    serves = "learners?|infer|inference|engines?|trainers?|vllm|sglang|judges?|rollout|actors?"
    return re.compile(rf"\s*\(?[^()]*?\b(?:{does})\b[^()]*?\+|\s*\([^()]*?\b(?:{serves})\b")
