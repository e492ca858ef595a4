"""Hardware as people write it in prose: `8 nodes x 8 GPUs`, `4x8 GB200`, `1 node of 8 x H100s (80GB)`, `8 GPUs/node`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from pytest_gbs.arithmetic.admissible import GPUS_PER_NODE
from pytest_gbs.claims.grammars._hardware_words import HARDWARE, devices_at
from pytest_gbs.claims.grammars._shapes import Notation
from pytest_gbs.claims.grammars._sizes import exact_count, is_value, name_at
from pytest_gbs.claims.grammars._tokens import NUMBER, Tokens, text_at
from pytest_gbs.claims.grammars.words import COUNTED, SINGLE, is_chip, words
from pytest_gbs.model.quantity import Name
from pytest_gbs.model.record import Final, NamedTuple

_LABELS: Final = words("number num n total of nr # world gpus devices accelerators nodes machines nnodes")
# One of these holds two GPUs, as programs count: `8x MI250X` may be 8 or 16 of them.
_OF_TWO: Final = words("mi250 mi250x mi250s")
_USUAL: Final = 8
# What may be between nodes and their GPUs and links them to nothing, and what may link them to all GPUs together.
_LOOSE: Final = words(", -")
_TOGETHER: Final = words("with w / having")

_shape: Final = Notation(
    HARDWARE,
    LINK=words("of with w x * @ by each having has have contain containing - , node"),
    NUMBER_OF=words("number num n total of nr #"),
    GPUS=words("gpus devices accelerators"),
    SINGLE=SINGLE,
    # Words that may be in front of `4x8 GPUs`; behind others it may be a product of something else.
    FRAME=words(
        "for on with across using use uses need needs require requires over assuming assumes assume target is total all by set to expects"
        " expect whole than of have has at a an the these if ( :"
    ),
    # Of them those behind which two numbers are nodes and the GPUs of each, also with blanks between: `on 2 x 8 GPUs`.
    PLACE=words("on across over for using use uses need needs require requires assuming assume assumes"),
    FACTOR="[~NODE|DEVICE|CHIP|SIGN | )]",
    LIST="[,|or|- NUMBER !DEVICES]",  # `Nodes: 4, 8`, not `Nodes: 4, 8 GPUs`
    END="[$ | &)|,|.|:|;]",
)

# Sizes whose name comes first: `number of gpus: 256`, `world_size=8`, `Nodes: 4`, `GPUs per node: 8`.
_LABELLED: Final = (
    (Name.WORLD_SIZE, _shape("NUMBER_OF* world [size =|:? | =|:] COUNT")),
    (Name.GPUS_PER_NODE, _shape("NUMBER_OF* GPUS per|/ NODE =|: COUNT")),
    (Name.WORLD_SIZE, _shape("NUMBER_OF* GPUS =|: COUNT")),
    (Name.NUM_NODES, _shape("NUMBER_OF* nodes|machines|nnodes =|: COUNT")),
)
# The name ends a product, all of which equals something: `micro * num_gpus = 128`, `4 * 2 nodes = 8`.
_ENDS_PRODUCT: Final = _shape("OPERATOR NUMBER|NUMBER_OF|worker* @")
# What equals something is in front of the GPUs: `total batch for all used GPUs = 64`.
_ENDS_PHRASE: Final = _shape("all|across|over used|available|visible|the|your|these* @ GPUS|nodes|machines|nnodes")
_GOES_ON: Final = _shape("!DEVICES OPERATOR|NODE | LIST")
# Behind the nodes, which are one factor of several with names: `num_nodes=2 x GA 3 x 8 GPUs`.
_NEXT_FACTOR: Final = _shape("NODE =|: COUNT @ TIMES COUNT?")

_NODES: Final = _shape("ANY MAKER|CHIP* NODE")
_NODE_DEVICES: Final = _shape("node @ DEVICES")  # "all 8 node GPUs" are GPUs
_LINKED: Final = _shape("COUNT ANY LINK")
# The GPUs on each of the nodes in front: `of 8 GPUs`, `x 8`, `w/ 8 GPUs each`.
_ON_EACH: Final = _shape("[LINK | <w /]* gpus:FEW [devices:DEVICES each:EACH? | END]")
# `2 x 8 nodes` may be 16 nodes; behind a name they are a factor of their own: `4 per GPU x 8 nodes`.
_MULTIPLIED: Final = _shape("AMOUNT OPERATOR @")
# The total behind `8 nodes x 8 H100-80GB`, or behind `... on GB200 NVL72`.
_EQUALS: Final = _shape("[MAKER|CHIP|on|(|) | SIZE]* sign:=|-> gpus:COUNT DEVICES")

# Nodes and the GPUs of each: `2x8xH100 nodes`, `2 8xH100 nodes`; `on 2 x 8 GPUs`; `4 x 8 GB200`; `4x8 GPUs`.
_GRID: Final = _shape("DIGITS times:[tight:[&TIGHT TIMES] | TIMES]? gpus:FEW DEVICES node:NODE?")
_LATER: Final = _shape("FACTOR OPERATOR @")
_PLACED: Final = _shape("PLACE @")
_FRAMED: Final = _shape("^ | FRAME @")
_WORKS_OUT: Final = _shape("OPERATOR|=")

_DEVICES: Final = _shape("ANY DEVICES")
_DEVICE_BATCH: Final = _shape("device @ batch")  # `2 device batch size x 8 GPUs`
_SETTING: Final = _shape("=|: COUNT")  # `accumulation 16 * gpus_per_node=8`
_EACH: Final = _shape("EACH?")
_OF_NODE: Final = _shape("NODE")
# `each node has 8 GPUs`, `per node: 4 GPUs`, `(each node): 1 judge + 3 = 4 GPUs`.
_UNDER_EACH: Final = _shape("each|every NODE has | [^ | (|on|in|for] per|each|every NODE )? : ~:|;|.* @")
_ALL: Final = _shape("total|all | [^ | ~NUMBER] = @")  # not the list behind `GBS 48 = 8 GPUs, ...`
_IN_ALL: Final = _shape("total|across|over|altogether | in total")
_ONE_NODE: Final = _shape("SINGLE | single|one NODE @")
_WITH_TOTAL: Final = _shape("NODE (|=|, gpus:COUNT DEVICES")
_FEWER_RUN: Final = _shape("COUNT DEVICE|CHIP on|of|in a|an|the|our|my|one|single?")  # "2 GPUs on a 4-GPU node"


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


@lru_cache(maxsize=8)  # each claim of a statement asks for it
def hardware(tokens: Tokens) -> tuple[StatedHardware, ...]:
    """The hardware that a statement names, in order."""
    found: list[StatedHardware] = []
    i = 0
    while i < len(tokens):
        kind, text = tokens[i].kind, tokens[i].text
        if text == "single" or ((kind == NUMBER or text in COUNTED) and exact_count(tokens, i) is not None):
            read = _nodes(tokens, i) or _grid(tokens, i) or _devices_stated(tokens, i)
        elif text in _LABELS:
            read = _labelled(tokens, i)
        else:
            i += 1
            continue
        found.extend(stated for stated in read if not any(token.text in _OF_TWO for token in tokens[stated.at : stated.stop]))
        i = max([i + 1, *(stated.stop for stated in read)])
    return tuple(_settled(tokens, found))


def alternatives(tokens: Tokens) -> dict[int, int]:
    """Where hardware is one of several choices, `2 for 2 GPUs, 4 for 1 GPU`: the token of each one's number for that of its hardware."""
    fors = [i for i in range(1, len(tokens) - 1) if tokens[i].text == "for" and tokens[i - 1].kind == tokens[i + 1].kind == NUMBER]
    return {i + 1: i - 1 for i in fors} if len(fors) > 1 else {}


def machines_at(tokens: Tokens, i: int) -> list[StatedHardware]:
    """The nodes at token `i` and the GPUs on each of them (`4 nodes of 8 GPUs`), as two factors; [] if not both are there."""
    found = _nodes(tokens, i) if _LINKED.at(tokens, i) else []
    return found[:2] if len(found) > 1 else []


def _count(tokens: Tokens, i: int) -> int:
    """The count at token `i`, where there is one; one for "single"."""
    return exact_count(tokens, i) or 1


def _labelled(tokens: Tokens, i: int) -> list[StatedHardware]:
    """A size whose name comes first."""
    name, match = next(((name, match) for name, label in _LABELLED if (match := label.at(tokens, i))), ("", None))
    if match is None or _ENDS_PHRASE.at(tokens, i):
        return []
    stop = match.stop
    if not (name == Name.NUM_NODES and _is_factor(tokens, stop)) and (_ENDS_PRODUCT.at(tokens, i) or _GOES_ON.at(tokens, stop)):
        return []
    value = _count(tokens, stop - 1)
    ambiguous = name == Name.WORLD_SIZE and value in GPUS_PER_NODE and all(token.text != "world" for token in tokens[i:stop])
    return [StatedHardware(name, value, stop - 1, i, stop, ambiguous)]


def _is_factor(tokens: Tokens, i: int) -> bool:
    """Whether the nodes named in front of token `i` are one factor of several with names."""
    times = _NEXT_FACTOR.at(tokens, i)
    return times is not None and (name_at(tokens, times.stop) is not None or devices_at(tokens, times.stop) is not None)


def _nodes(tokens: Tokens, i: int) -> list[StatedHardware]:
    """`N nodes` with the GPUs on each, where they are said: `4 nodes of 8 GPUs`, `2 nodes x 4 GB200`, `8 nodes x 8`."""
    match = _NODES.at(tokens, i)
    if match is None:
        return []
    nodes = StatedHardware(Name.NUM_NODES, _count(tokens, i), i, i, match.stop, alone=tokens[i].text in ("single", "one"))
    if nodes.value > 1 and _NODE_DEVICES.at(tokens, match.stop):
        return []
    per_node = _per_node(tokens, nodes)
    if per_node:
        return [nodes._replace(alone=False), *per_node]
    return [] if _MULTIPLIED.at(tokens, i) and not is_value(tokens, i - 2) else [nodes]


def _per_node(tokens: Tokens, nodes: StatedHardware) -> list[StatedHardware]:
    """The GPUs on each of `nodes` that are linked to them, with their total: `of 8 GPUs`, `x 8`, `with 8 GPUs each = 32 GPUs`."""
    match = _ON_EACH.at(tokens, nodes.stop)
    if match is None:
        return []
    at, stop = match.places["gpus"], match.stop
    count, links = _count(tokens, at), {token.text for token in tokens[nodes.stop : at]}
    each = "each" in match.places or "each" in links
    # "2 nodes with 16 GPUs" have them in all, rather.
    together = "devices" in match.places and not each and count > _USUAL and links <= _TOGETHER and count % nodes.value == 0
    if together or not (each or links - _LOOSE):
        return []
    return [StatedHardware(Name.GPUS_PER_NODE, count, at, nodes.first, stop), *_equals(tokens, stop)]


def _equals(tokens: Tokens, i: int) -> list[StatedHardware]:
    """The total behind nodes and the GPUs of each that end in front of token `i`: `= 64 GPUs`."""
    match = _EQUALS.at(tokens, i)
    if match is None:
        return []
    at = match.places["gpus"]
    return [StatedHardware(Name.WORLD_SIZE, _count(tokens, at), at, match.places["sign"], match.stop)]


def _grid(tokens: Tokens, i: int) -> list[StatedHardware]:
    """Nodes and GPUs per node from two numbers at token `i`."""
    match = _GRID.at(tokens, i)
    if match is None or _LATER.at(tokens, i) or is_value(tokens, i):
        return []  # `accumulation of 2 x 16xH100`
    at, stop, of_nodes = match.places["gpus"], match.stop, "node" in match.places
    if not of_nodes:
        plain = "tight" in match.places or any(is_chip(token.text) for token in tokens[at + 1 : stop])
        if "times" not in match.places or not (_PLACED.at(tokens, i) or (plain and _FRAMED.at(tokens, i))):
            return []
    nodes, per_node, total = _count(tokens, i), _count(tokens, at), _equals(tokens, stop)
    if not of_nodes and not total and _works_out_a_batch(tokens, i, stop, nodes * per_node):
        return []
    return [StatedHardware(Name.NUM_NODES, nodes, i, i, stop), StatedHardware(Name.GPUS_PER_NODE, per_node, at, i, stop), *total]


def _works_out_a_batch(tokens: Tokens, i: int, stop: int, product: int) -> bool:
    """Whether tokens `i` to `stop` are a part of arithmetic that gives a batch: `8 x 4 H100s = 32 batch`, `batch 32 (8 x 4 H100s)`."""
    in_brackets = i > 1 and tokens[i - 1].text == "("
    return bool(_WORKS_OUT.at(tokens, stop)) or (in_brackets and product in (exact_count(tokens, i - 2), exact_count(tokens, stop + 2)))


def _devices_stated(tokens: Tokens, i: int) -> list[StatedHardware]:
    """`N GPUs`, by what follows: `8 GPUs per node`, an `8xH100 node`, `256 GPUs across 32 nodes`."""
    match = _DEVICES.at(tokens, i)
    if match is None or (is_chip(tokens[i].text) and text_at(tokens, i + 1) not in ("x", "*")):
        return []  # `4090 GPUs`, `3090 24GB GPU`: a model, no count
    count, stop = _count(tokens, i), match.stop
    each = _EACH.at(tokens, stop)
    behind = each.stop if each is not None else stop
    if (count > 1 and _DEVICE_BATCH.at(tokens, stop)) or (text_at(tokens, i + 1) in ("x", "*") and _SETTING.at(tokens, behind)):
        return []
    if behind == stop and _OF_NODE.at(tokens, stop):
        return _node_of(tokens, i, count, stop)
    if behind > stop or _UNDER_EACH.at(tokens, i):
        return [StatedHardware(Name.GPUS_PER_NODE, count, i, i, behind)] if count in GPUS_PER_NODE else []
    alone = tokens[i].text in ("single", "one")
    total = _ALL.at(tokens, i) or _IN_ALL.at(tokens, stop)
    ambiguous = not total and not alone and count in GPUS_PER_NODE
    return [StatedHardware(Name.WORLD_SIZE, count, i, i, stop, ambiguous, alone)]


def _node_of(tokens: Tokens, i: int, count: int, stop: int) -> list[StatedHardware]:
    """What `8xH100 node` says: GPUs per node; or `32 x H100 nodes`, which may as well count nodes, with the total behind it."""
    if tokens[stop].text.endswith("s"):
        match = _WITH_TOTAL.at(tokens, stop)
        total = _count(tokens, match.places["gpus"]) if match is not None else 0
        return [StatedHardware(Name.NUM_NODES, count, i, i, stop + 1)] if total > count and total % count == 0 else []
    if count not in GPUS_PER_NODE or _is_where_fewer_run(tokens, i, count):
        return []
    per_node = StatedHardware(Name.GPUS_PER_NODE, count, i, i, stop + 1)
    return [per_node, *([StatedHardware(Name.NUM_NODES, 1, i, i, stop + 1)] if _ONE_NODE.at(tokens, i) else [])]


def _is_where_fewer_run(tokens: Tokens, i: int, count: int) -> bool:
    """Whether the node with `count` GPUs at token `i` is where fewer of them run."""
    matches = (_FEWER_RUN.at(tokens, i - back) for back in (3, 4))
    return any(match is not None and match.stop == i and _count(tokens, match.first) < count for match in matches)


def _settled(tokens: Tokens, found: list[StatedHardware]) -> Iterator[StatedHardware]:
    """Yield what was found but alternatives; a total that is nodes times GPUs per node is no longer ambiguous."""
    nodes = max((stated.value for stated in found if stated.name == Name.NUM_NODES), default=0)
    per_node = {stated.value for stated in found if stated.name == Name.GPUS_PER_NODE}
    choices = {i for i in range(len(found) - 1) if _are_alternatives(tokens, found[i], found[i + 1])}
    for i, stated in enumerate(found):
        if i in choices or i - 1 in choices or _repeats(tokens, stated):
            continue
        total = stated.ambiguous and nodes and any(stated.value == nodes * each for each in per_node)
        yield stated._replace(ambiguous=False) if total else stated


def _are_alternatives(tokens: Tokens, one: StatedHardware, other: StatedHardware) -> bool:
    """Whether two sizes stand for each other: `2xB200 / 8xH100`, `8 or 16 GPUs`."""
    between = [token.text for token in tokens[one.stop : other.first]]
    return one.name == other.name and one.value != other.value and between in (["/"], ["or"], ["and"], [",", "or"], ["|"])


def _repeats(tokens: Tokens, stated: StatedHardware) -> bool:
    """Whether the number is stated for that hardware only: `8 for 8xH100`, `4 is suitable for 4 GPUs`."""
    if text_at(tokens, stated.first - 1) != "for":
        return False
    return any(exact_count(tokens, i) == stated.value for i in range(max(0, stated.first - 4), stated.first - 1))
