"""Hardware as people write it in prose: `8 nodes x 8 GPUs`, `4x8 GB200`, `1 node of 8 x H100s (80GB)`, `8 GPUs/node`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from pytest_gbs.core.admissible import GPUS_PER_NODE, MOST_GPUS
from pytest_gbs.core.quantity import Name
from pytest_gbs.declarations._sizes import count_at
from pytest_gbs.declarations._tokens import NUMBER, SIGN, WORD, Token, text_at
from pytest_gbs.declarations.words import COUNTED, DEVICES, NODES, SINGLE, is_chip, words

_OF: Final = words("of with w x * @ by each having has contain containing - , node")
_MAKERS: Final = words("nvidia amd geforce tesla sxm sxm4 sxm5 pcie nvl nvl72 hbm3 dgx hgx")
# Words that may stand in front of `4x8 GPUs`; behind others it may be a product of something else.
_FRAMES: Final = words(
    "for on with across using use uses need needs require requires over assuming assumes assume target is total all by set to expects"
    " expect whole than of have has at a an the these if ( :"
)
_NUMBER_OF: Final = words("number num n total of nr #")
_COUNTS: Final = frozenset((*COUNTED, "single"))
_LABELS: Final = _NUMBER_OF | words("world gpus devices accelerators nodes machines nnodes")
_OPERATORS: Final = ("x", "*", "/", "//")


class Stated(NamedTuple):
    """A size of hardware in a statement: tokens `first` to `stop` (excluded) state it, token `at` is its number.

    `ambiguous`: "N GPUs", in all or on each node. `lone`: "a single GPU", which says little unless a batch is stated with it.
    """

    name: str
    value: int
    at: int
    first: int
    stop: int
    ambiguous: bool = False
    lone: bool = False


class _Devices(NamedTuple):
    stop: int
    chip: bool


def hardware(tokens: Sequence[Token]) -> tuple[Stated, ...]:
    """Return the hardware that a statement names, in order."""
    found: list[Stated] = []
    i = 0
    while i < len(tokens):
        kind, text = tokens[i].kind, tokens[i].text
        if kind == NUMBER or text in _COUNTS:
            read = _nodes(tokens, i) or _grid(tokens, i) or _devices_stated(tokens, i)
        elif text in _LABELS:
            read = _labelled(tokens, i)
        else:
            i += 1
            continue
        found.extend(read)
        i = max([i + 1, *(stated.stop for stated in read)])
    return tuple(_settled(tokens, found))


def _count(tokens: Sequence[Token], i: int) -> int | None:
    """Return the count at token `i`: exact, at most the largest cluster, and not "8+" (which is a minimum)."""
    found = count_at(tokens, i, spelt=True)
    if found is None or len(found.holds) != 1 or found.holds[0].low != found.holds[0].high or found.value > MOST_GPUS:
        return None
    if text_at(tokens, i + 1) in ("+", "%", "->") or (
        tokens[i].kind == WORD and tokens[i].text in ("one",) and text_at(tokens, i - 1) in ("this", "that")
    ):
        return None
    return found.value


def _single(tokens: Sequence[Token], i: int) -> int | None:
    return 1 if text_at(tokens, i) == "single" else _count(tokens, i)


def _devices(tokens: Sequence[Token], i: int) -> _Devices | None:
    """Return where the words for GPUs end that start at token `i` (`x NVIDIA A100 80GB GPUs`); None where there are none."""
    j = i + 1 if text_at(tokens, i) in ("x", "*") else i
    chip = device = False
    while j < len(tokens):
        text = tokens[j].text
        if is_chip(text):
            chip = True
        elif text in DEVICES:
            device = True
        elif not (text in _MAKERS or _memory(tokens, j)) and not (text == "-" and chip):
            break
        j += 2 if tokens[j].kind == NUMBER and not is_chip(text) else 1
        if device:
            break
    return _Devices(j, chip) if chip or device else None


def _memory(tokens: Sequence[Token], j: int) -> bool:
    """Return whether token `j` is the memory of a GPU: `80GB`, `80 GB`, `40gb`."""
    text = tokens[j].text
    if tokens[j].kind == NUMBER:
        return text_at(tokens, j + 1) in ("gb", "gib") and not is_chip(text)
    return tokens[j].kind == WORD and text[:1].isdigit() and text.rstrip("gib").isdigit()


def _labelled(tokens: Sequence[Token], i: int) -> list[Stated]:
    """Return a size whose name stands first: `number of gpus: 256`, `world_size=8`, `Nodes: 4`, `GPUs per node: 8`."""
    j = i
    while text_at(tokens, j) in _NUMBER_OF:
        j += 1
    word = text_at(tokens, j)
    if word == "world":
        name, j = Name.WORLD_SIZE, j + (2 if text_at(tokens, j + 1) == "size" else 1)
    elif word in ("gpus", "devices", "accelerators"):
        name, j = Name.WORLD_SIZE, j + 1
        if text_at(tokens, j) in ("per", "/") and text_at(tokens, j + 1) in NODES:
            name, j = Name.GPUS_PER_NODE, j + 2
    elif word in ("nodes", "machines", "nnodes"):
        name, j = Name.NUM_NODES, j + 1
    else:
        return []
    if text_at(tokens, j) in ("=", ":"):
        j += 1
    elif not (word == "world" and tokens[j - 1].text == "size"):
        return []
    value = _count(tokens, j)
    if value is None or (text_at(tokens, j + 1) in _OPERATORS and _devices(tokens, j + 1) is None):
        return []
    if _devices(tokens, j + 1) is None and (text_at(tokens, j + 1) in NODES or _next_is_list(tokens, j + 1)):
        return []
    return [Stated(name, value, j, i, j + 1, ambiguous=name == Name.WORLD_SIZE and word != "world" and value in GPUS_PER_NODE)]


def _next_is_list(tokens: Sequence[Token], i: int) -> bool:
    return text_at(tokens, i) in (",", "or", "-") and i + 1 < len(tokens) and tokens[i + 1].kind == NUMBER


def _nodes(tokens: Sequence[Token], i: int) -> list[Stated]:
    """Return `N nodes` with the GPUs on each, where they are said: `4 nodes of 8 GPUs`, `2 nodes x 4 GB200`, `8 nodes x 8`."""
    nodes = _single(tokens, i)
    if nodes is None or _in_product(tokens, i):
        return []
    j = i + 1
    while text_at(tokens, j) in _MAKERS or is_chip(text_at(tokens, j)):
        j += 1
    if text_at(tokens, j) not in NODES:
        return []
    lone = tokens[i].kind == WORD and tokens[i].text in ("single", "one")
    found = [Stated(Name.NUM_NODES, nodes, i, i, j + 1, lone=lone)]
    k, linked = j + 1, False
    while text_at(tokens, k) in _OF or (text_at(tokens, k) == "/" and tokens[k - 1].text == "w"):
        linked, k = linked or tokens[k].text not in (",", "-"), k + 1
    per_node = _count(tokens, k)
    if per_node not in GPUS_PER_NODE or per_node is None:
        return found
    devices = _devices(tokens, k + 1)
    if (devices is not None and (linked or _each(tokens, devices.stop))) or (devices is None and linked and _is_end(tokens, k + 1)):
        stop = devices.stop if devices else k + 1
        return [found[0]._replace(lone=False), Stated(Name.GPUS_PER_NODE, per_node, k, i, stop), *_equals(tokens, stop)]
    return found


def _is_end(tokens: Sequence[Token], i: int) -> bool:
    return i >= len(tokens) or (tokens[i].kind == SIGN and tokens[i].text in (")", ",", ".", ":", ";"))


def _equals(tokens: Sequence[Token], i: int) -> list[Stated]:
    """Return the total behind `8 nodes x 8 H100-80GB = 64 GPUs`, or behind `... on GB200 NVL72 = 512 GPUs`."""
    while i < len(tokens) and (
        tokens[i].text in ("on", "(", ")") or tokens[i].text in _MAKERS or is_chip(tokens[i].text) or _memory(tokens, i)
    ):
        i += 1
    if text_at(tokens, i) not in ("=", "->"):
        return []
    total, devices = _count(tokens, i + 1), _devices(tokens, i + 2)
    return [Stated(Name.WORLD_SIZE, total, i + 1, i, devices.stop)] if total is not None and devices is not None else []


def _grid(tokens: Sequence[Token], i: int) -> list[Stated]:
    """Return nodes and GPUs per node from `4x8 GB200`, `2x8xH100 nodes`, `2 8xH100 nodes`."""
    nodes = _count(tokens, i)
    if nodes is None or tokens[i].kind != NUMBER or _in_product(tokens, i):
        return []
    j = i + 2 if text_at(tokens, i + 1) in ("x", "*") else i + 1
    per_node = _count(tokens, j)
    devices = _devices(tokens, j + 1) if per_node in GPUS_PER_NODE and per_node is not None else None
    if devices is None or per_node is None or is_chip(tokens[j].text):
        return []
    of_nodes = text_at(tokens, devices.stop) in NODES
    close = text_at(tokens, i + 1) == "x" and tokens[i + 1].start == tokens[i].stop and tokens[j].start == tokens[i + 1].stop
    framed = i == 0 or tokens[i - 1].text in _FRAMES
    if not (of_nodes if j == i + 1 else of_nodes or (framed and (close or devices.chip))):
        return []
    stop = devices.stop + of_nodes
    return [Stated(Name.NUM_NODES, nodes, i, i, stop), Stated(Name.GPUS_PER_NODE, per_node, j, i, stop), *_equals(tokens, stop)]


def _in_product(tokens: Sequence[Token], i: int) -> bool:
    """Return whether token `i` is a later factor of a product."""
    before = text_at(tokens, i - 2)
    return (
        i > 1
        and tokens[i - 1].text in _OPERATORS
        and (tokens[i - 2].kind != SIGN or before == ")")
        and before not in NODES
        and before not in DEVICES
    )


def _each(tokens: Sequence[Token], i: int) -> int:
    """Return how many tokens from `i` on say that each node is meant: "per node", "/node", "on each node", "each"; 0 where none do."""
    text = text_at(tokens, i)
    if text == "each":
        return 2 if text_at(tokens, i + 1) in NODES else 1
    if text in ("per", "/"):
        return 2 if text_at(tokens, i + 1) in NODES else 0
    if text in ("on", "in", "a") and text_at(tokens, i + 1) in ("each", "every", "node"):
        return 3 if text_at(tokens, i + 2) in NODES else 2 if text == "a" else 0
    return 0


def _devices_stated(tokens: Sequence[Token], i: int) -> list[Stated]:
    """Return `N GPUs`, by what follows: `8 GPUs per node`, an `8xH100 node`, `256 GPUs across 32 nodes`."""
    count = _single(tokens, i)
    if count is None:
        return []
    devices = _devices(tokens, i + 1)
    if devices is None or (
        tokens[i].kind == NUMBER and is_chip(tokens[i].text) and devices.stop == i + 2 and text_at(tokens, i + 1) in DEVICES and count > 999
    ):
        return []
    stop = devices.stop
    if each := _each(tokens, stop):
        return [Stated(Name.GPUS_PER_NODE, count, i, i, stop + each)] if count in GPUS_PER_NODE else []
    if text_at(tokens, stop) in NODES:
        return _node_of(tokens, i, count, stop)
    lone = tokens[i].kind == WORD and count == 1
    total = (
        text_at(tokens, i - 1) in ("total", "=", "all")
        or text_at(tokens, stop) in ("total", "across", "over", "altogether")
        or text_at(tokens, stop + 1) == "total"
    )
    return [Stated(Name.WORLD_SIZE, count, i, i, stop, ambiguous=not total and not lone and count in GPUS_PER_NODE, lone=lone)]


def _node_of(tokens: Sequence[Token], i: int, count: int, stop: int) -> list[Stated]:
    """Return what `8xH100 node` says: GPUs per node; or `32 x H100 nodes`, which may as well count nodes, with the total behind it."""
    if not tokens[stop].text.endswith("s"):
        single = text_at(tokens, i - 1) in SINGLE or (text_at(tokens, i - 1) in NODES and text_at(tokens, i - 2) in ("single", "one"))
        per_node = Stated(Name.GPUS_PER_NODE, count, i, i, stop + 1)
        return [per_node, *([Stated(Name.NUM_NODES, 1, i, i, stop + 1)] if single else [])] if count in GPUS_PER_NODE else []
    total = _count(tokens, stop + 2) if text_at(tokens, stop + 1) in ("(", "=", ",") else None
    if total is not None and total > count and total % count == 0 and _devices(tokens, stop + 3) is not None:
        return [Stated(Name.NUM_NODES, count, i, i, stop + 1)]
    return []


def _settled(tokens: Sequence[Token], found: list[Stated]) -> Iterator[Stated]:
    """Yield what was found but alternatives; a total that is nodes times GPUs per node is no longer ambiguous."""
    nodes = max((stated.value for stated in found if stated.name == Name.NUM_NODES), default=0)
    per_node = {stated.value for stated in found if stated.name == Name.GPUS_PER_NODE}
    choices = {i for i in range(len(found) - 1) if _are_alternatives(tokens, found[i], found[i + 1])}
    for i, stated in enumerate(found):
        if i in choices or i - 1 in choices or _repeats(tokens, stated):
            continue
        total = stated.ambiguous and nodes and any(stated.value == nodes * each for each in per_node)
        yield stated._replace(ambiguous=False) if total else stated


def _are_alternatives(tokens: Sequence[Token], one: Stated, other: Stated) -> bool:
    """Return whether two sizes stand for each other: `2xB200 / 8xH100`, `8 or 16 GPUs`."""
    between = [token.text for token in tokens[one.stop : other.first]]
    return one.name == other.name and one.value != other.value and between in (["/"], ["or"], ["and"], [",", "or"], ["|"])


def _repeats(tokens: Sequence[Token], stated: Stated) -> bool:
    """Return whether the number is told for that hardware only: `8 for 8xH100`, `4 is suitable for 4 GPUs`."""
    if text_at(tokens, stated.first - 1) != "for":
        return False
    return any(_count(tokens, i) == stated.value for i in range(max(0, stated.first - 4), stated.first - 1))
