"""The words of hardware: counts, GPUs with their model and memory, "per node"."""

from __future__ import annotations

from pytest_gbs.claims.grammars._shapes import Notation
from pytest_gbs.claims.grammars._sizes import count_at
from pytest_gbs.claims.grammars._tokens import NUMBER, WORD, Tokens, text_at
from pytest_gbs.claims.grammars.words import CHIPS, DEVICES, NODES, is_chip, words
from pytest_gbs.model.record import Final

HARDWARE: Final = Notation(
    NODE=NODES,
    DEVICE=DEVICES,
    CHIP=CHIPS,
    MAKER=words("nvidia amd ascend geforce tesla sxm sxm4 sxm5 pcie nvl nvl72 hbm3 dgx hgx"),
    TIMES=("x", "*"),
    OPERATOR=("x", "*", "/", "//"),
    SIZE="[MEMORY | AMOUNT gb|gib]",  # of the memory of a GPU: `80GB`, `80 GB`
    # GPUs with what they are called: `GPUs`, `NVIDIA A100 80GB GPUs`, `x H100-80GB`.
    DEVICES="[DEVICE | &GPU_WORD TIMES? [MAKER | SIZE]* [CHIP [CHIP|MAKER|- | SIZE]* [DEVICE | !GOES_ON] | DEVICE]]",
    GPU_WORD="TIMES|MAKER|CHIP|MEMORY|AMOUNT",
    # Behind a number, which is then no model of that number: `1*3090*2 = 6180`.
    GOES_ON="[<NUMBER OPERATOR|= COUNTED !DEVICE|NODE]",
    # Each node is meant.
    EACH="""[
        each NODE? | per CHIP? NODE | / NODE | TIMES &[COUNT NODE] | fill|fills a|each|every|one NODE
        | on|in|a each|every|node NODE | a each|every|node
    ]""",
)
_DEVICES: Final = HARDWARE("DEVICES")
_EACH_NODE: Final = HARDWARE("EACH")


def devices_at(tokens: Tokens, i: int) -> int | None:
    """Where the words for GPUs end that start at token `i`; None if there are none."""
    found = _DEVICES.at(tokens, i)
    return found.stop if found is not None else None


def memory(tokens: Tokens, j: int) -> bool:
    """Whether token `j` is the memory of a GPU: `80GB`, `80 GB`, `40gb`."""
    text = tokens[j].text
    if tokens[j].kind == NUMBER:
        return text_at(tokens, j + 1) in ("gb", "gib") and not is_chip(text)
    return tokens[j].kind == WORD and text[:1].isdigit() and text.rstrip("gib").isdigit()


def number_at(tokens: Tokens, i: int) -> int | None:
    """The number at token `i`, unless it is the memory or the model of a GPU."""
    if i < 0 or memory(tokens, i) or (i > 0 and is_chip(tokens[i].text)):
        return None
    found = count_at(tokens, i, spelt=True)
    return found.value if found is not None else None


def each_node(tokens: Tokens, i: int) -> bool:
    """Whether token `i` and those behind it say that each node is meant: "per node", "/node", "on each node", "x 3 nodes"."""
    return _EACH_NODE.at(tokens, i) is not None
