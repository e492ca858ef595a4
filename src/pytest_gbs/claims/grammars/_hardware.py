"""Hardware as people write it in prose: `8 nodes x 8 GPUs`, `4x8 GB200`, `1 node of 8 x H100s (80GB)`, `8 GPUs/node`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from pytest_gbs.arithmetic.admissible import GPUS_PER_NODE
from pytest_gbs.claims.grammars._hardware_words import (
    MAKERS,
    OPERATORS,
    count_or_single,
    devices_at,
    each_node,
    exact_count,
    in_product,
    is_end,
    memory,
    next_is_list,
    under_each_node,
)
from pytest_gbs.claims.grammars._sizes import is_value, name_at
from pytest_gbs.claims.grammars._tokens import NUMBER, WORD, WordToken, past, text_at
from pytest_gbs.claims.grammars.words import COUNTED, NODES, SINGLE, is_chip, words
from pytest_gbs.model.quantity import Name
from pytest_gbs.model.record import Final, NamedTuple

_OF: Final = words("of with w x * @ by each having has contain containing - , node")
# Words that may be in front of `4x8 GPUs`; behind others it may be a product of something else.
_FRAMES: Final = words(
    "for on with across using use uses need needs require requires over assuming assumes assume target is total all by set to expects"
    " expect whole than of have has at a an the these if ( :"
)
# Of them those behind which two numbers are nodes and the GPUs of each, also with blanks between: `on 2 x 8 GPUs`.
_PLACES: Final = words("on across over for using use uses need needs require requires assuming assume assumes")
_BEFORE_TOTAL: Final = MAKERS | words("on ( )")
_IN_ALL: Final = words("total across over altogether")
_ARTICLES: Final = words("a an the our my one single")
_USUAL: Final = 8
_NUMBER_OF: Final = words("number num n total of nr #")
_COUNTED_WITH: Final = _NUMBER_OF | {"worker"}
_COUNTS: Final = frozenset((*COUNTED, "single"))
_USED: Final = words("used available visible the your these")
_EVERY: Final = words("all across over")
_LABELS: Final = _NUMBER_OF | words("world gpus devices accelerators nodes machines nnodes")
# One of these holds two GPUs, as programs count: `8x MI250X` may be 8 or 16 of them.
_OF_TWO: Final = words("mi250 mi250x mi250s")


class StatedHardware(NamedTuple):
    """A size of hardware in a statement: tokens `first` to `stop` (excluded) state it, token `at` is its number.

    `ambiguous`: "N GPUs", in all or on each node. `alone`: "a single GPU", which says little unless a batch is stated with it.
    """

    name: str
    value: int
    at: int
    first: int
    stop: int
    ambiguous: bool = False
    alone: bool = False


def hardware(tokens: Sequence[WordToken]) -> tuple[StatedHardware, ...]:
    """The hardware that a statement names, in order."""
    return _hardware(tuple(tokens))


@lru_cache(maxsize=8)  # each claim of a statement asks for it
def _hardware(tokens: tuple[WordToken, ...]) -> tuple[StatedHardware, ...]:
    found: list[StatedHardware] = []
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
        found.extend(stated for stated in read if not any(token.text in _OF_TWO for token in tokens[stated.at : stated.stop]))
        i = max([i + 1, *(stated.stop for stated in read)])
    return tuple(_settled(tokens, found))


def alternatives(tokens: Sequence[WordToken]) -> dict[int, int]:
    """Where hardware is one of several choices, `2 for 2 GPUs, 4 for 1 GPU`: the token of each one's number for that of its hardware."""
    fors = [i for i in range(1, len(tokens) - 1) if tokens[i].text == "for" and tokens[i - 1].kind == tokens[i + 1].kind == NUMBER]
    return {i + 1: i - 1 for i in fors} if len(fors) > 1 else {}


def _labelled(tokens: Sequence[WordToken], i: int) -> list[StatedHardware]:
    """A size whose name comes first: `number of gpus: 256`, `world_size=8`, `Nodes: 4`, `GPUs per node: 8`."""
    j = past(tokens, i, _NUMBER_OF)
    word = text_at(tokens, j)
    factor = _is_factor(tokens, j)
    if _ends_a_product(tokens, i) and not factor:
        return []
    if word == "world":
        name, j = Name.WORLD_SIZE, j + (2 if text_at(tokens, j + 1) == "size" else 1)
    elif j == i and _ends_a_phrase(tokens, i):
        return []
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
    value = exact_count(tokens, j)
    goes_on = text_at(tokens, j + 1) in OPERATORS and devices_at(tokens, j + 1) is None
    if value is None or (goes_on and not factor):
        return []
    if devices_at(tokens, j + 1) is None and (text_at(tokens, j + 1) in NODES or next_is_list(tokens, j + 1)):
        return []
    return [StatedHardware(name, value, j, i, j + 1, ambiguous=name == Name.WORLD_SIZE and word != "world" and value in GPUS_PER_NODE)]


def _is_factor(tokens: Sequence[WordToken], i: int) -> bool:
    """Whether the nodes named at token `i` are one factor of several with names: `num_nodes=2 x GA 3 x 8 GPUs`."""
    if text_at(tokens, i) not in NODES or text_at(tokens, i + 3) not in ("x", "*"):
        return False
    named = i + 4 + (exact_count(tokens, i + 4) is not None)
    return name_at(tokens, named) is not None or devices_at(tokens, named) is not None


def _ends_a_product(tokens: Sequence[WordToken], i: int) -> bool:
    """Whether a product ends with the label at `i`, so that all of it equals something: `micro * num_gpus = 128`, `4 * 2 nodes = 8`."""
    before = i - 1
    while text_at(tokens, before) in _COUNTED_WITH or (before > 0 and tokens[before].kind == NUMBER):
        before -= 1
    return text_at(tokens, before) in OPERATORS


def _ends_a_phrase(tokens: Sequence[WordToken], i: int) -> bool:
    """Whether the `GPUs` at `i` are all of them, so that what equals something is before: `total batch for all used GPUs = 64`."""
    before = past(tokens, i - 1, _USED, -1)
    return text_at(tokens, before) in _EVERY


def machines_at(tokens: Sequence[WordToken], i: int) -> list[StatedHardware]:
    """The nodes at token `i` and the GPUs on each of them (`4 nodes of 8 GPUs`), as two factors; [] if not both are there."""
    found = _nodes(tokens, i) if text_at(tokens, i + 2) in _OF else []
    return found[:2] if len(found) > 1 else []


def _nodes(tokens: Sequence[WordToken], i: int) -> list[StatedHardware]:
    """`N nodes` with the GPUs on each, where they are said: `4 nodes of 8 GPUs`, `2 nodes x 4 GB200`, `8 nodes x 8`."""
    nodes = count_or_single(tokens, i)
    if nodes is None:
        return []
    j = i + 1
    while text_at(tokens, j) in MAKERS or is_chip(text_at(tokens, j)):
        j += 1
    if text_at(tokens, j) not in NODES:
        return []
    if text_at(tokens, j) == "node" and nodes > 1 and devices_at(tokens, j + 1) is not None:
        return []  # "all 8 node GPUs" are GPUs
    alone = tokens[i].kind == WORD and tokens[i].text in ("single", "one")
    found = [StatedHardware(Name.NUM_NODES, nodes, i, i, j + 1, alone=alone)]
    per_node = _per_node(tokens, i, j + 1, nodes)
    if per_node:
        return [found[0]._replace(alone=False), *per_node]
    # `2 x 8 nodes` may be 16 nodes; behind a name they are a factor of their own: `4 per GPU x 8 nodes`.
    unnamed = in_product(tokens, i) and tokens[i - 2].kind == NUMBER and not is_value(tokens, i - 2)
    return [] if unnamed else found


def _per_node(tokens: Sequence[WordToken], first: int, k: int, nodes: int) -> list[StatedHardware]:
    """The GPUs on each of `nodes` nodes that are linked to them from token `k` on: `of 8 GPUs`, `x 8`, `with 8 GPUs each`."""
    links: set[str] = set()
    while text_at(tokens, k) in _OF or (text_at(tokens, k) == "/" and tokens[k - 1].text == "w"):
        links.add(tokens[k].text)
        k += 1
    count = exact_count(tokens, k)
    if count is None or count not in GPUS_PER_NODE:
        return []
    devices = devices_at(tokens, k + 1)
    linked = bool(links - {",", "-"})
    if devices is None:
        return (
            [StatedHardware(Name.GPUS_PER_NODE, count, k, first, k + 1), *_equals(tokens, k + 1)]
            if linked and is_end(tokens, k + 1)
            else []
        )
    stop = devices[0] + each_node(tokens, devices[0])
    each = stop > devices[0] or "each" in links
    # "2 nodes with 16 GPUs" have them in all, rather.
    total = not each and count > _USUAL and links <= {"with", "w", "/", "having"} and count % nodes == 0
    if total or not (linked or each):
        return []
    return [StatedHardware(Name.GPUS_PER_NODE, count, k, first, stop), *_equals(tokens, stop)]


def _equals(tokens: Sequence[WordToken], i: int) -> list[StatedHardware]:
    """The total behind `8 nodes x 8 H100-80GB = 64 GPUs`, or behind `... on GB200 NVL72 = 512 GPUs`."""
    while (text := text_at(tokens, i)) in _BEFORE_TOTAL or is_chip(text) or (text and memory(tokens, i)):
        i += 1
    if text_at(tokens, i) not in ("=", "->"):
        return []
    total, devices = exact_count(tokens, i + 1), devices_at(tokens, i + 2)
    return [StatedHardware(Name.WORLD_SIZE, total, i + 1, i, devices[0])] if total is not None and devices is not None else []


def _grid(tokens: Sequence[WordToken], i: int) -> list[StatedHardware]:
    """Nodes and GPUs per node from `4x8 GB200`, `2x8xH100 nodes`, `2 8xH100 nodes`."""
    nodes = exact_count(tokens, i)
    if nodes is None or tokens[i].kind != NUMBER or in_product(tokens, i):
        return []
    j = i + 2 if text_at(tokens, i + 1) in ("x", "*") else i + 1
    per_node = exact_count(tokens, j)
    devices = devices_at(tokens, j + 1) if per_node in GPUS_PER_NODE and per_node is not None else None
    if devices is None or per_node is None or is_chip(tokens[j].text):
        return []
    of_nodes = text_at(tokens, devices[0]) in NODES
    close = j == i + 2 and tokens[i + 1].start == tokens[i].stop and tokens[j].start == tokens[i + 1].stop
    framed = i == 0 or tokens[i - 1].text in _FRAMES
    placed = text_at(tokens, i - 1) in _PLACES
    if not (of_nodes if j == i + 1 else of_nodes or placed or (framed and (close or devices[1]))):
        return []
    if is_value(tokens, i):
        return []  # `accumulation of 2 x 16xH100`
    stop = devices[0] + of_nodes
    total = _equals(tokens, stop)
    if not of_nodes and not total and _works_out_a_batch(tokens, i, stop, nodes * per_node):
        return []
    return [StatedHardware(Name.NUM_NODES, nodes, i, i, stop), StatedHardware(Name.GPUS_PER_NODE, per_node, j, i, stop), *total]


def _works_out_a_batch(tokens: Sequence[WordToken], i: int, stop: int, product: int) -> bool:
    """Whether tokens `i` to `stop` are a part of arithmetic that gives a batch: `8 x 4 H100s = 32 batch`, `batch 32 (8 x 4 H100s)`."""
    if text_at(tokens, stop) in (*OPERATORS, "="):
        return True
    results = (i - 2, stop + 2) if text_at(tokens, i - 1) == "(" else ()
    return any(exact_count(tokens, at) == product for at in results if 0 <= at < len(tokens))


def _devices_stated(tokens: Sequence[WordToken], i: int) -> list[StatedHardware]:
    """`N GPUs`, by what follows: `8 GPUs per node`, an `8xH100 node`, `256 GPUs across 32 nodes`."""
    count = count_or_single(tokens, i)
    if count is None:
        return []
    devices = devices_at(tokens, i + 1)
    if devices is None or (is_chip(tokens[i].text) and text_at(tokens, i + 1) not in ("x", "*")):
        return []  # `4090 GPUs`, `3090 24GB GPU`: a model, no count
    stop = devices[0]
    if count > 1 and text_at(tokens, stop - 1) == "device" and text_at(tokens, stop) == "batch":
        return []  # `2 device batch size x 8 GPUs`
    each = each_node(tokens, stop)
    if (
        text_at(tokens, i + 1) in ("x", "*")
        and text_at(tokens, stop + each) in ("=", ":")
        and exact_count(tokens, stop + each + 1) is not None
    ):
        return []  # `accumulation 16 * gpus_per_node=8`
    if each:
        return [StatedHardware(Name.GPUS_PER_NODE, count, i, i, stop + each)] if count in GPUS_PER_NODE else []
    if text_at(tokens, stop) in NODES:
        return _node_of(tokens, i, count, stop)
    of_each = text_at(tokens, i - 1) == "has" and text_at(tokens, i - 2) in NODES and text_at(tokens, i - 3) in ("each", "every")
    if of_each or under_each_node(tokens, i):
        return [StatedHardware(Name.GPUS_PER_NODE, count, i, i, stop)] if count in GPUS_PER_NODE else []
    alone = tokens[i].kind == WORD and count == 1
    before, behind = text_at(tokens, i - 1), text_at(tokens, stop)
    worked_out = before == "=" and tokens[i - 2].kind != NUMBER  # not the list behind `GBS 48 = 8 GPUs, ...`
    total = worked_out or before in ("total", "all") or behind in _IN_ALL or (behind, text_at(tokens, stop + 1)) == ("in", "total")
    return [StatedHardware(Name.WORLD_SIZE, count, i, i, stop, ambiguous=not total and not alone and count in GPUS_PER_NODE, alone=alone)]


def _node_of(tokens: Sequence[WordToken], i: int, count: int, stop: int) -> list[StatedHardware]:
    """What `8xH100 node` says: GPUs per node; or `32 x H100 nodes`, which may as well count nodes, with the total behind it."""
    if not tokens[stop].text.endswith("s"):
        single = text_at(tokens, i - 1) in SINGLE or (text_at(tokens, i - 1) in NODES and text_at(tokens, i - 2) in ("single", "one"))
        per_node = StatedHardware(Name.GPUS_PER_NODE, count, i, i, stop + 1)
        if _is_where_fewer_run(tokens, i, count):
            return []
        return [per_node, *([StatedHardware(Name.NUM_NODES, 1, i, i, stop + 1)] if single else [])] if count in GPUS_PER_NODE else []
    total = exact_count(tokens, stop + 2) if text_at(tokens, stop + 1) in ("(", "=", ",") else None
    if total is not None and total > count and total % count == 0 and devices_at(tokens, stop + 3) is not None:
        return [StatedHardware(Name.NUM_NODES, count, i, i, stop + 1)]
    return []


def _is_where_fewer_run(tokens: Sequence[WordToken], i: int, count: int) -> bool:
    """Whether the node with `count` GPUs at token `i` is where fewer of them run: "2 GPUs on a 4-GPU node"."""
    j = i - 1 if text_at(tokens, i - 1) in _ARTICLES else i
    fewer = exact_count(tokens, j - 3) if j > 2 and text_at(tokens, j - 1) in ("on", "of", "in") else None
    devices = devices_at(tokens, j - 2)
    return fewer is not None and fewer < count and devices is not None and devices[0] == j - 1


def _settled(tokens: Sequence[WordToken], found: list[StatedHardware]) -> Iterator[StatedHardware]:
    """Yield what was found but alternatives; a total that is nodes times GPUs per node is no longer ambiguous."""
    nodes = max((stated.value for stated in found if stated.name == Name.NUM_NODES), default=0)
    per_node = {stated.value for stated in found if stated.name == Name.GPUS_PER_NODE}
    choices = {i for i in range(len(found) - 1) if _are_alternatives(tokens, found[i], found[i + 1])}
    for i, stated in enumerate(found):
        if i in choices or i - 1 in choices or _repeats(tokens, stated):
            continue
        total = stated.ambiguous and nodes and any(stated.value == nodes * each for each in per_node)
        yield stated._replace(ambiguous=False) if total else stated


def _are_alternatives(tokens: Sequence[WordToken], one: StatedHardware, other: StatedHardware) -> bool:
    """Whether two sizes stand for each other: `2xB200 / 8xH100`, `8 or 16 GPUs`."""
    between = [token.text for token in tokens[one.stop : other.first]]
    return one.name == other.name and one.value != other.value and between in (["/"], ["or"], ["and"], [",", "or"], ["|"])


def _repeats(tokens: Sequence[WordToken], stated: StatedHardware) -> bool:
    """Whether the number is stated for that hardware only: `8 for 8xH100`, `4 is suitable for 4 GPUs`."""
    if text_at(tokens, stated.first - 1) != "for":
        return False
    return any(exact_count(tokens, i) == stated.value for i in range(max(0, stated.first - 4), stated.first - 1))
