"""The words of hardware: counts, GPUs with their model and memory, "per node"."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_gbs.arithmetic.admissible import MOST_GPUS
from pytest_gbs.claims.grammars._sizes import count_at
from pytest_gbs.claims.grammars._tokens import NUMBER, SIGN, WORD, WordToken, text_at
from pytest_gbs.claims.grammars.words import DEVICES, NODES, is_chip, words
from pytest_gbs.model.record import Final

MAKERS: Final = words("nvidia amd ascend geforce tesla sxm sxm4 sxm5 pcie nvl nvl72 hbm3 dgx hgx")
OPERATORS: Final = ("x", "*", "/", "//")


def exact_count(tokens: Sequence[WordToken], i: int) -> int | None:
    """The count at token `i`: exact, at most the largest cluster, and not "8+" (which is a minimum)."""
    found = count_at(tokens, i, spelt=True)
    if found is None or len(found.holds) != 1 or found.holds[0].low != found.holds[0].high or found.value > MOST_GPUS:
        return None
    is_pronoun = tokens[i].text == "one" and text_at(tokens, i - 1) in ("this", "that")
    return None if is_pronoun or text_at(tokens, i + 1) in ("+", "%", "->") else found.value


def count_or_single(tokens: Sequence[WordToken], i: int) -> int | None:
    """The count at token `i`, one for "single"."""
    return 1 if text_at(tokens, i) == "single" else exact_count(tokens, i)


def devices_at(tokens: Sequence[WordToken], i: int) -> tuple[int, bool] | None:
    """Where the words for GPUs end that start at token `i` (`x NVIDIA A100 80GB GPUs`); None if there are none."""
    j = i + 1 if text_at(tokens, i) in ("x", "*") else i
    chip = device = False
    while j < len(tokens):
        text = tokens[j].text
        if is_chip(text):
            chip = True
        elif text in DEVICES:
            device = True
        elif not (text in MAKERS or memory(tokens, j)) and not (text == "-" and chip):
            break
        j += 2 if tokens[j].kind == NUMBER and not is_chip(text) else 1
        if device:
            break
    if chip and not device and _is_factor(tokens, j - 1):
        return None
    return (j, chip) if chip or device else None


def _is_factor(tokens: Sequence[WordToken], j: int) -> bool:
    """Whether token `j` is a number that arithmetic goes on behind (`1*3090*2 = 6180`), rather than a model of that number."""
    goes_on = text_at(tokens, j + 1) in (*OPERATORS, "=") and count_at(tokens, j + 2) is not None
    return tokens[j].kind == NUMBER and goes_on and text_at(tokens, j + 3) not in (*DEVICES, *NODES)


def memory(tokens: Sequence[WordToken], j: int) -> bool:
    """Whether token `j` is the memory of a GPU: `80GB`, `80 GB`, `40gb`."""
    text = tokens[j].text
    if tokens[j].kind == NUMBER:
        return text_at(tokens, j + 1) in ("gb", "gib") and not is_chip(text)
    return tokens[j].kind == WORD and text[:1].isdigit() and text.rstrip("gib").isdigit()


def number_at(tokens: Sequence[WordToken], i: int) -> int | None:
    """The number at token `i`, unless it is the memory or the model of a GPU."""
    if i < 0 or memory(tokens, i) or (i > 0 and is_chip(tokens[i].text)):
        return None
    found = count_at(tokens, i, spelt=True)
    return found.value if found is not None else None


def each_node(tokens: Sequence[WordToken], i: int) -> int:
    """How many tokens from `i` on say that each node is meant: "per node", "/node", "on each node", "x 3 nodes"; 0 if none do."""
    text = text_at(tokens, i)
    if text == "each":
        return 2 if text_at(tokens, i + 1) in NODES else 1
    if text in ("per", "/"):
        chip = text == "per" and is_chip(text_at(tokens, i + 1))
        return 2 + chip if text_at(tokens, i + 1 + chip) in NODES else 0
    if text in ("x", "*"):
        return int(exact_count(tokens, i + 1) is not None and text_at(tokens, i + 2) in NODES)
    if text in ("fill", "fills"):
        return 3 if text_at(tokens, i + 1) in ("a", "each", "every", "one") and text_at(tokens, i + 2) in NODES else 0
    if text in ("on", "in", "a") and text_at(tokens, i + 1) in ("each", "every", "node"):
        return 3 if text_at(tokens, i + 2) in NODES else 2 if text == "a" else 0
    return 0


def under_each_node(tokens: Sequence[WordToken], i: int) -> bool:
    """Whether what is in front says that token `i` counts for each node: `per node: 4 GPUs`, `(each node): 1 judge + 3 = 4 GPUs`."""
    colon = i - 1
    while colon > 1 and text_at(tokens, colon) not in (":", ";", "."):
        colon -= 1
    node = colon - 1 - (text_at(tokens, colon - 1) == ")")
    if text_at(tokens, colon) != ":" or node < 1 or text_at(tokens, node) not in NODES:
        return False
    each = node - 1
    return text_at(tokens, each) in ("per", "each", "every") and (each == 0 or text_at(tokens, each - 1) in ("(", "on", "in", "for"))


def is_end(tokens: Sequence[WordToken], i: int) -> bool:
    """Whether nothing that could be counted is at token `i`."""
    return i >= len(tokens) or (tokens[i].kind == SIGN and tokens[i].text in (")", ",", ".", ":", ";"))


def in_product(tokens: Sequence[WordToken], i: int) -> bool:
    """Whether token `i` is a later factor of a product."""
    before = text_at(tokens, i - 2)
    if i < 2 or tokens[i - 1].text not in OPERATORS or before in NODES or before in DEVICES or is_chip(before):
        return False
    return tokens[i - 2].kind != SIGN or before == ")"


def next_is_list(tokens: Sequence[WordToken], i: int) -> bool:
    """Whether another number follows at token `i`, of nothing else: `Nodes: 4, 8`, not `Nodes: 4, 8 GPUs`."""
    if text_at(tokens, i) not in (",", "or", "-") or i + 1 >= len(tokens) or tokens[i + 1].kind != NUMBER:
        return False
    return devices_at(tokens, i + 2) is None
