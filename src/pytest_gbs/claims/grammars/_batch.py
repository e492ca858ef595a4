"""The words that name the global batch: `GBS`, `effective batch size`, `total samples per step`; never the batch of something else."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_gbs.claims.grammars._hardware_words import devices_at
from pytest_gbs.claims.grammars._sizes import count_at, name_at
from pytest_gbs.claims.grammars._tokens import NUMBER, SIGN, WORD, WordToken, text_at
from pytest_gbs.claims.grammars.words import DEVICE_UNITS, DEVICES, OTHER_BATCH, PART_OF_BATCH, STEPS, UNITS, is_chip, words
from pytest_gbs.model.quantity import Name
from pytest_gbs.model.record import Final, NamedTuple

_WHOLE: Final = words(
    "global effective eff total overall aggregate combined full equivalent golbal cumulative efectivo efetivo effektive efective"
)
GLOBAL_MARKS: Final = words("global total effective overall")
_EFFECTIVE: Final = words("effective equivalent")
_BETWEEN: Final = words("train training fixed optimizer global effective optimization optimiser")
_BATCH: Final = words("batch batchsize bs bsz bsize batchgröße")
_ENDS: Final = words(""") , . ; : = ( ] ' " ` ! ? | ~ - } # … / @""")
_FACTORS: Final = words("accumulation accum accumulate gpus gpu cards devices x *")
_UNCOUNTED: Final = words("x or to steps step epochs epoch gpus gpu nodes node times gb devices")
_PHRASE: Final = 4  # so many words in front of and behind a label belong to it


class Label(NamedTuple):
    """Tokens `first` to `stop` (excluded) that name the global batch, or the prompts of it, where `name` says so."""

    first: int
    stop: int
    name: str = Name.GLOBAL_BATCH_SIZE


def labels(text: str, tokens: Sequence[WordToken]) -> tuple[Label, ...]:
    """The names of the global batch in a statement of the block text `text`, in order."""
    found: list[Label] = []
    i = 0
    while i < len(tokens):
        label = _label(text, tokens, i)
        if label is not None and not _of_something_else(tokens, label):
            found.append(label)
        i = label.stop if label else i + 1
    return tuple(found)


def _label(text: str, tokens: Sequence[WordToken], i: int) -> Label | None:
    token = tokens[i]
    if token.kind != WORD:
        return None
    if token.text == "gbs":
        # "GBs" are gigabytes.
        return None if text[token.start : token.stop] == "GBs" else Label(i, i + 1)
    if token.text in _EFFECTIVE and _worked_out(tokens, i):
        return Label(i, i + 1)
    if token.text in _WHOLE or token.text in _BETWEEN:
        return _named_batch(tokens, i)
    counted = i + (token.text == "unique")
    unit = UNITS.get(text_at(tokens, counted))
    stop = _per_step(tokens, counted + 1) if unit in ("samples", "prompts") else 0
    return Label(i, stop, Name.PROMPTS_PER_STEP if unit == "prompts" else Name.GLOBAL_BATCH_SIZE) if stop else None


def _worked_out(tokens: Sequence[WordToken], i: int) -> bool:
    """Whether "effective" at token `i` is all that names what factors before it give: `batch 4 per GPU, 8 GPUs, effective 32`."""
    number = i + 1 + (text_at(tokens, i + 1) in ("is", "=", ":"))
    if count_at(tokens, number) is None or (number + 1 < len(tokens) and tokens[number + 1].kind != SIGN):
        return False
    before = {token.text for token in tokens[:i]}
    return not before.isdisjoint(_BATCH) and not before.isdisjoint(_FACTORS) and is_bare(tokens, number + 1)


def _per_step(tokens: Sequence[WordToken], i: int) -> int:
    """Where "per step", "per optimizer step" or the like ends that starts at token `i`; 0 if there is none."""
    if text_at(tokens, i) not in ("per", "/"):
        return 0
    i += 1
    while text_at(tokens, i) in _BETWEEN or text_at(tokens, i) in ("gradient", "weight", "parameter", "optim"):
        i += 1
    return i + 1 if text_at(tokens, i) in STEPS else 0


def _named_batch(tokens: Sequence[WordToken], i: int) -> Label | None:
    """The label of words such as `global train batch size` and `full, fixed batch size` from token `i` on."""
    j, whole = i, False
    while (text := text_at(tokens, j)) in _WHOLE or text in _BETWEEN or (text == "," and whole and text_at(tokens, j + 1) in _BETWEEN):
        whole = whole or text in _WHOLE
        j += 2 if text == "eff" and text_at(tokens, j + 1) == "." else 1
    if whole and text in UNITS and (stop := _per_step(tokens, j + 1)):
        return Label(i, stop)
    if not whole or text not in _BATCH:
        return None
    j += 1 + (text == "batch" and text_at(tokens, j + 1) in ("size", "sz", "größe"))
    return None if text_at(tokens, j) in ("sizes", "norm", "normalization", "dim") else Label(i, j)


def _of_something_else(tokens: Sequence[WordToken], label: Label) -> bool:
    """Whether words close by make it a batch of evaluation, of one device, of another part of the program."""
    for j in range(label.first - 1, max(-1, label.first - 1 - _PHRASE), -1):
        text = tokens[j].text
        if text == "each" and text_at(tokens, j + 1) in DEVICE_UNITS:
            return True  # `each node processes 512 samples per step`
        if tokens[j].kind == SIGN and text in (*",;.)(=", "->"):
            break
        if text == "each" and text_at(tokens, j - 1) in DEVICES and j < label.first - 1:
            break  # `8 GPUs each with effective batch size 384`
        if text in OTHER_BATCH or (text in PART_OF_BATCH and j >= label.first - 2):
            return True
    return per_device(tokens, label.stop)


def per_device(tokens: Sequence[WordToken], i: int) -> bool:
    """Whether "per GPU", "/device", "for evaluation" or the like is at token `i`."""
    text, behind = text_at(tokens, i), text_at(tokens, i + 1)
    if text == "per" and devices_at(tokens, i + 1) is not None:
        return True  # "per A100", "per 40gb A100"
    each = behind in ("each", "every")
    if text in ("per", "/", "a", "on", "for", "in") and text_at(tokens, i + 1 + each) in DEVICE_UNITS:
        return text in ("per", "/") or each
    for token in tokens[i : i + _PHRASE]:
        if token.kind != WORD and token.text != "(":
            return False
        if token.text in OTHER_BATCH and token.text != "gen":
            return True
    return False


def unit_at(tokens: Sequence[WordToken], i: int) -> tuple[str, int]:
    """The unit behind a number and where it ends: `samples`, `tokens`, ...; "" if none is said."""
    j = i + (text_at(tokens, i) in ("unique", "packed", "training", "preference"))
    unit = UNITS.get(text_at(tokens, j), "")
    return (unit, j + 1) if unit else ("", i)


def is_bare(tokens: Sequence[WordToken], i: int) -> bool:
    """Whether a number that ends before token `i` counts samples: nothing behind it makes it steps, GPUs, a ratio, a range."""
    if i >= len(tokens):
        return True
    token = tokens[i]
    if token.kind == SIGN:
        return token.text in _ENDS and not (token.text in (",", "-", "/") and is_list(tokens, i - 1))
    return token.kind != NUMBER and token.text not in _UNCOUNTED and not per_device(tokens, i) and not _is_factor(tokens, i)


def _is_factor(tokens: Sequence[WordToken], i: int) -> bool:
    """Whether the words from token `i` on call the number before them a batch that is multiplied: `2 train batch size x 4 GPUs`."""
    for j in range(i, min(i + _PHRASE, len(tokens) - 1)):
        if tokens[j].text in _BATCH:
            return text_at(tokens, j + 1 + (text_at(tokens, j + 1) == "size")) in ("x", "*")
        if tokens[j].kind != WORD:
            return False
    return False


def is_list(tokens: Sequence[WordToken], i: int) -> bool:
    """Whether the number at token `i` is one of several: `16, 32, 64`, `64 or 128`; not `128, 8 nodes`."""
    if text_at(tokens, i + 1) not in (",", "or", "and", "/", "to", "-", "|") or count_at(tokens, i + 2) is None:
        return False
    if name_at(tokens, i + 3 + (text_at(tokens, i + 3) == "(")) is not None:
        return False  # `256, 4 samples per GPU`, `256, 4 (per device)`
    called = i + 3 + (text_at(tokens, i + 3) in UNITS) + (text_at(tokens, i + 3) == "batch") * (1 + (text_at(tokens, i + 4) == "size"))
    if per_device(tokens, called):
        return False  # `256, 4/GPU`, `256, 4 sequences/GPU`, `256, 4 batch size for each GPU`
    behind = tokens[i + 3] if i + 3 < len(tokens) else None
    counts_something = behind is not None and behind.kind == WORD and (behind.text in _COUNTED or is_chip(behind.text))
    grid = behind is not None and behind.text in ("x", "*")
    return not (counts_something or grid)


_COUNTED: Final = DEVICE_UNITS | words(
    "per accumulation gradient grad accum micro tokens tok context ctx seq seqlen sequence length epoch epochs step steps layers experts lr"
    " optimizer optim updates prompts generations rollouts warmup"
)
