"""The words that name the global batch: `GBS`, `effective batch size`, `total samples per step`; never the batch of something else."""

from __future__ import annotations

from pytest_gbs.claims.grammars._hardware_words import HARDWARE
from pytest_gbs.claims.grammars._shapes import Found, Notation
from pytest_gbs.claims.grammars._sizes import name_at
from pytest_gbs.claims.grammars._tokens import SIGN, Tokens, text_at
from pytest_gbs.claims.grammars.words import DEVICE_UNITS, DEVICES, OTHER_BATCH, PART_OF_BATCH, STEPS, UNITS, words
from pytest_gbs.model.quantity import Name
from pytest_gbs.model.record import Final, NamedTuple

GLOBAL_MARKS: Final = words("global total effective overall")
_WHOLE: Final = words(
    "global effective eff total overall aggregate combined full equivalent golbal cumulative efectivo efetivo effektive efective"
)
_BETWEEN: Final = words("train training fixed optimizer global effective optimization optimiser")
_BATCH: Final = words("batch batchsize bs bsz bsize batchgröße")
_FACTORS: Final = words("accumulation accum accumulate gpus gpu cards devices x *")
_FIRST: Final = _WHOLE | _BETWEEN | UNITS.keys() | {"gbs", "unique"}
_PHRASE: Final = 4  # so many words in front of a label belong to it

BATCH: Final = Notation(
    HARDWARE,
    WHOLE=_WHOLE,
    BETWEEN=_BETWEEN,
    BATCH=_BATCH,
    UNIT=UNITS,
    SAMPLES=[unit for unit, name in UNITS.items() if name == "samples"],
    PROMPTS=[unit for unit, name in UNITS.items() if name == "prompts"],
    ANY_WHOLE="[eff . | WHOLE]",
    NAMED="[UNIT PER_STEP | [batch size|sz|größe? | BATCH] !sizes|norm|normalization|dim]",
    PER_STEP="[per|/ BETWEEN|gradient|weight|parameter|optim* STEP]",
    STEP=STEPS,
    OF_DEVICE=DEVICE_UNITS,
    OTHER=OTHER_BATCH - {"gen"},
    # `per GPU`, `/device`, `on each node`, `per 40gb A100`, or `for evaluation` some words behind.
    PER_DEVICE="""[
        per DEVICES | per|/ each|every? OF_DEVICE | a|on|for|in each|every OF_DEVICE
        | &WORD|( ![a|on|for|in OF_DEVICE] PLAIN? PLAIN? PLAIN? OTHER
    ]""",
    PLAIN="[!OTHER WORD|(]",
    MARKED="[( GLOBAL )]",
    GLOBAL=GLOBAL_MARKS,
    SEVERAL=words(", or and / to - |"),
    ENDS=words(""") , . ; : = ( ] ' " ` ! ? | ~ - } # … / @"""),
    # What a number behind another one counts instead.
    THING=DEVICE_UNITS
    | words(
        "per accumulation gradient grad accum micro tokens tok context ctx seq seqlen sequence length epoch epochs step steps layers"
        " experts lr optimizer optim updates prompts generations rollouts warmup"
    ),
    UNCOUNTED=words("x or to steps step epochs epoch gpus gpu nodes node times gb devices"),
    NO_BATCH="[!BATCH WORD]",
)
# `global train batch size`, `full, fixed batch size`, `total samples per step`; `batch 4 per GPU, 8 GPUs, effective 32`.
_LABEL: Final = BATCH("""
    gbs:gbs
    | effective:[effective|equivalent is|=|:? number:COUNTED [$ | &SIGN]]
    | [!WHOLE BETWEEN]* ANY_WHOLE [ANY_WHOLE | BETWEEN | , &BETWEEN]* NAMED
    | unique? SAMPLES PER_STEP
    | prompts:[unique? PROMPTS PER_STEP]
""")
_PER_DEVICE: Final = BATCH("PER_DEVICE")
_UNIT: Final = BATCH("unique|packed|training|preference? unit:UNIT")
# Behind a number that counts samples, unless it is one of a list: nothing that makes it steps, GPUs, a ratio, a factor.
_BARE: Final = BATCH("[$ | ENDS | !SIGN|NUMBER|UNCOUNTED !PER_DEVICE ![NO_BATCH? NO_BATCH? NO_BATCH? BATCH size? x|*]]")
# `256, 4/GPU`, `256, 4 sequences/GPU`, `256, 4 batch size for each GPU` and `128, 8 nodes` are no lists.
_LIST: Final = BATCH("SEVERAL COUNTED ![[UNIT | batch size?]? PER_DEVICE] ![!NUMBER THING|CHIP] !x|*")


class Label(NamedTuple):
    """Tokens `first` to `stop` (excluded) that name the global batch, or the prompts of it, where `name` says so."""

    first: int
    stop: int
    name: str = Name.GLOBAL_BATCH_SIZE


def labels(text: str, tokens: Tokens) -> tuple[Label, ...]:
    """The names of the global batch in a statement of the block text `text`, in order."""
    found: list[Label] = []
    i = 0
    while i < len(tokens):
        match = _LABEL.at(tokens, i) if tokens[i].text in _FIRST else None
        label = _label(text, tokens, match) if match is not None else None
        if label is not None and not _of_something_else(tokens, label):
            found.append(label)
        i = label.stop if label else i + 1
    return tuple(found)


def _label(text: str, tokens: Tokens, match: Found) -> Label | None:
    first, said = match.first, match.places
    if "effective" in said:  # all that names what factors before it give
        before = {token.text for token in tokens[:first]}
        named = not before.isdisjoint(_BATCH) and not before.isdisjoint(_FACTORS) and is_bare(tokens, said["number"] + 1)
        return Label(first, first + 1) if named else None
    if "gbs" in said and text[tokens[first].start : tokens[first].stop] == "GBs":
        return None  # gigabytes
    return Label(first, match.stop, Name.PROMPTS_PER_STEP if "prompts" in said else Name.GLOBAL_BATCH_SIZE)


def _of_something_else(tokens: Tokens, label: Label) -> bool:
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


def per_device(tokens: Tokens, i: int) -> bool:
    """Whether "per GPU", "/device", "for evaluation" or the like is at token `i`."""
    return _PER_DEVICE.at(tokens, i) is not None


def unit_at(tokens: Tokens, i: int) -> tuple[str, int]:
    """The unit behind a number and where it ends: `samples`, `tokens`, ...; "" if none is said."""
    match = _UNIT.at(tokens, i)
    return (UNITS[tokens[match.places["unit"]].text], match.stop) if match is not None else ("", i)


def is_bare(tokens: Tokens, i: int) -> bool:
    """Whether a number that ends before token `i` counts samples: nothing behind it makes it steps, GPUs, a ratio, a range."""
    return bool(_BARE.at(tokens, i)) and not (text_at(tokens, i) in (",", "-", "/") and is_list(tokens, i - 1))


def is_list(tokens: Tokens, i: int) -> bool:
    """Whether the number at token `i` is one of several: `16, 32, 64`, `64 or 128`; not `128, 8 nodes`, `256, 4 (per device)`."""
    return bool(_LIST.at(tokens, i + 1)) and name_at(tokens, i + 3 + (text_at(tokens, i + 3) == "(")) is None
