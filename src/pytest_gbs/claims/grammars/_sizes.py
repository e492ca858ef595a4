"""The sizes of the batch equation as people name them in a formula, and the words that name the batch itself."""

from __future__ import annotations

from functools import cache, lru_cache

from pytest_gbs.arithmetic.admissible import MOST_GPUS
from pytest_gbs.claims.grammars._tokens import NUMBER, SIGN, WORD, Tokens, text_at
from pytest_gbs.claims.grammars.words import APPROXIMATELY, COUNTED, Numeral, is_chip, number, words
from pytest_gbs.model.declaration import Interval
from pytest_gbs.model.quantity import FACTORS, RANK_FACTORS, Name
from pytest_gbs.model.record import Final, NamedTuple

_CALLED: Final = {
    Name.MICRO_BATCH_SIZE: (
        "micro batch size,micro batch,microbatch size,microbatch,micro bs,micro,mbs,lbs,local batch size,local batch,local bs,local"
        ",per device batch size,per device train batch size,per device train bs,per device batch,per device bs,per device"
        ",per device micro batch size,per gpu batch size,per gpu train batch size,per gpu batch,per gpu bs,per gpu"
        ",per gpu micro batch size,per rank batch size,device batch size,device train batch size,device train microbatch size"
        ",batch size per gpu,batch size per device,batch size per rank,batch per gpu,batch per device,bs per gpu,bs per device"
        ",samples per gpu,samples per device,micro batch size per gpu,train micro batch size per gpu"
    ),
    Name.GRADIENT_ACCUMULATION_STEPS: (
        "gradient accumulation steps,gradient accumulation step,gradient accumulation,gradient accumulations,gradient accum"
        ",gradient accum steps,gradient acc steps,grad accumulation steps,grad accumulation,grad accum steps,grad accum,grad accums"
        ",grad acc,grad acc steps,accumulation steps,accumulation,accum steps,accum,acc,acc steps,accumulate steps,accumulate"
        ",accumulate grad batches,gradaccum,gradacc,batch accumulation per replica,batch accumulation,ga,gas,ga steps"
    ),
    Name.DATA_PARALLEL_SIZE: (
        "dp,dp size,dp world size,dp ranks,dp rank,dp degree,dp replicas,data parallel size,data parallel,data parallel ranks"
        ",data parallel world size,data parallelism,data parallel degree"
    ),
    Name.WORLD_SIZE: (
        "gpus,gpu,num gpus,n gpus,num gpu,number of gpus,total gpus,world size,world,devices,num devices,number of devices,ranks"
        ",num ranks,processes,num processes,number of processes,nproc,nprocs,cards,accelerators,npus,workers,num workers"
    ),
    Name.NUM_NODES: "nodes,node,num nodes,n nodes,nnodes,number of nodes,machines,num machines,number of machines,machine,hosts,num hosts",
    Name.GPUS_PER_NODE: (
        "gpus per node,gpu per node,gpus each,num gpus per node,n gpus per node,number of gpus per node,gpus per machine"
        ",devices per node,nproc per node,processes per node,ranks per node"
    ),
    Name.TENSOR_PARALLEL_SIZE: "tp,tp size,tensor parallel size,tensor parallel,tensor model parallel size",
    Name.PIPELINE_PARALLEL_SIZE: "pp,pp size,pipeline parallel size,pipeline parallel,pipeline model parallel size",
    Name.CONTEXT_PARALLEL_SIZE: "cp,cp size,context parallel size,context parallel",
    Name.SEQUENCE_PARALLEL_SIZE: "sp,sp size,sequence parallel size,sequence parallel",
    # Experts are shared among the ranks that are data-parallel: they neither multiply a batch nor divide it.
    Name.EXPERT_PARALLEL_SIZE: "ep,ep size,expert parallel size,expert model parallel size",
    Name.SEQUENCE_LENGTH: (
        "sequence length,seq length,seq len,seqlen,seq,max length,max seq length,max seq len,context length,max sequence length,context"
        ",block size,tokens per sequence,tokens per sample"
    ),
    Name.PROMPTS_PER_ROLLOUT: "num prompts per step,prompts per step,unique prompts per step",
    Name.NUM_GENERATIONS: (
        "num generations,num generations per prompt"
        ",generations,samples per prompt,rollouts per prompt,completions per prompt,group size,generations per prompt"
    ),
}
_LONGEST: Final = 6
# Names too short or too common to name a size in prose, outside a formula.
_COMMON: Final = "micro,local,per device,per gpu,ga,gas,acc,acc steps,accumulate,world,workers,num workers,seq,context,group size"
_ONLY_IN_FORMULAS: Final = frozenset(_COMMON.split(","))


@cache
def _names() -> dict[str, str]:
    return {called: name for name, calling in _CALLED.items() for called in calling.split(",")}


@cache
def _first_words() -> frozenset[str]:
    return frozenset(name.partition(" ")[0] for name in _names())


def size_called(words: str) -> str | None:
    """The size of which `words`, in lower case and with single spaces, are a name in prose; None if they are none."""
    return None if words in _ONLY_IN_FORMULAS else _names().get(words)


class SizeName(NamedTuple):
    """A run of tokens, up to `stop` (excluded), that names a size."""

    name: str
    stop: int
    common: bool = False  # a word that names a size in formulas only


def name_at(tokens: Tokens, i: int) -> SizeName | None:
    """The size that the words from token `i` on name, by the longest name."""
    if i >= len(tokens) or tokens[i].kind != WORD:
        return None
    if tokens[i].text not in _first_words():
        return _chips(tokens, i) if is_chip(tokens[i].text) else None
    names = _names()
    called: list[str] = []
    best: SizeName | None = None
    for j in range(i, min(i + _LONGEST, len(tokens))):
        if tokens[j].kind != WORD:
            break
        called.append(tokens[j].text)
        name = " ".join(called)
        if name in names:
            best = SizeName(names[name], j + 1, name in _ONLY_IN_FORMULAS)
    return best


def _chips(tokens: Tokens, i: int) -> SizeName:
    """The GPU model at token `i` as a name of GPUs: `H100 80GB GPUs`."""
    stop = i + 1
    while stop < len(tokens) and (tokens[stop].text in ("gpu", "gpus") or _is_memory(tokens[stop].text)):
        stop += 1
    return SizeName(Name.WORLD_SIZE, stop)


def _is_memory(text: str) -> bool:
    return text[:1].isdigit() and text.rstrip("gib").isdigit() and text[-1:] in "gb"


def count_at(tokens: Tokens, i: int, spelt: bool = False) -> Numeral | None:
    """The positive number at token `i`; also one that is spelt out, where `spelt`."""
    if i >= len(tokens):
        return None
    token = tokens[i]
    if token.kind == NUMBER:
        found = number(token.text, i > 0 and tokens[i - 1].text in APPROXIMATELY)
        return found if found is not None and found.value > 0 else None
    return number(token.text) if spelt and token.text in COUNTED else None


def exact_at(tokens: Tokens, i: int) -> int | None:
    """The positive number at token `i`, unless that is an approximate one."""
    found = count_at(tokens, i) if i >= 0 else None
    return found.value if found is not None and found.holds == (Interval(found.value, found.value),) else None


def exact_count(tokens: Tokens, i: int) -> int | None:
    """The count at token `i`: exact, at most the largest cluster, and not "8+" (which is a minimum)."""
    found = count_at(tokens, i, spelt=True)
    if found is None or len(found.holds) != 1 or found.holds[0].low != found.holds[0].high or found.value > MOST_GPUS:
        return None
    is_pronoun = tokens[i].text == "one" and text_at(tokens, i - 1) in ("this", "that")
    return None if is_pronoun or text_at(tokens, i + 1) in ("+", "%", "->") else found.value


class StatedSize(NamedTuple):
    """A size that a statement names with its number, which is token `at`."""

    name: str
    value: int
    at: int


_BETWEEN: Final = ("=", ":", "of", "is", "(")
_BESIDE: Final = frozenset(
    (
        *(*FACTORS, Name.TENSOR_PARALLEL_SIZE),
        *(Name.PIPELINE_PARALLEL_SIZE, Name.CONTEXT_PARALLEL_SIZE, Name.SEQUENCE_PARALLEL_SIZE),
    )
)


@lru_cache(maxsize=8)  # each claim of a statement asks for it
def settings(tokens: Tokens) -> tuple[StatedSize, ...]:
    """The sizes beside the hardware that prose names with their number: `local_batch_size=8`, `dp8`, `2 accumulation steps`."""
    found: list[StatedSize] = []
    i = 0
    while i < len(tokens):
        named = name_at(tokens, i)
        if named is None:
            counted = _counted(tokens, i)
            if counted is not None:
                found.append(counted)
            i += 1
            continue
        at = named.stop + (named.stop < len(tokens) and tokens[named.stop].text in _BETWEEN)
        value = None if _is_remark(tokens, at) or _has_its_number(tokens, i) else exact_at(tokens, at)
        if value is not None and named.name in _BESIDE and not named.common and not _goes_on(tokens, at + 1) and not _is_factor(tokens, i):
            found.append(StatedSize(named.name, value, at))
        # The number belongs to this name, whatever follows: `micro 1 accum 2`.
        i = at + 1 if value is not None else named.stop
    return tuple(found)


def is_value(tokens: Tokens, i: int) -> bool:
    """Whether the number at token `i` belongs to the name of a size in front of it: `accumulation of 2`, `mbs=4`, `gpus_per_node=8`."""
    stop = i - (i > 0 and tokens[i - 1].text in _BETWEEN)
    named = (name_at(tokens, j) for j in range(max(0, stop - _LONGEST), stop))
    names = (*_BESIDE, Name.GPUS_PER_NODE)
    return any(each is not None and each.stop == stop and each.name in names for each in named)


def _is_remark(tokens: Tokens, i: int) -> bool:
    """Whether the number at token `i` starts a remark on something else than the name in front: `x 1 accum (16 GPUs)`."""
    behind = name_at(tokens, i + 1)
    return tokens[i - 1].text == "(" and behind is not None and behind.name not in _BESIDE


def _is_factor(tokens: Tokens, i: int) -> bool:
    return i > 0 and tokens[i - 1].text in ("x", "*", "/", "//")


def _has_its_number(tokens: Tokens, i: int) -> bool:
    """Whether the name at token `i` is that of the factor in front of it, so that a number behind is another: `x 8 accum = 128`."""
    return i > 1 and tokens[i - 1].kind == NUMBER and _is_factor(tokens, i - 1)


def _counted(tokens: Tokens, i: int) -> StatedSize | None:
    """The size whose number is in front of its name, after a sign or a linking word: `4 per device`, `2 accumulation steps`."""
    value = exact_at(tokens, i)
    named = name_at(tokens, i + 1) if value is not None else None
    if value is None or named is None or named.name not in RANK_FACTORS:
        return None
    if tokens[i + 1].text not in _COUNTED or _is_factor(tokens, i):
        return None
    linked = i == 0 or tokens[i - 1].text in _LINKED
    behind = tokens[named.stop].text if named.stop < len(tokens) else ""
    return StatedSize(named.name, value, i) if linked and behind not in ("=", ":", "(") else None


_COUNTED: Final = words("per accumulation gradient grad accum")
_LINKED: Final = words(", ( ; : . + with and at using plus by of over ->")


def _goes_on(tokens: Tokens, i: int) -> bool:
    """Whether a number is not a value of its own: a formula, a change, a range."""
    if i >= len(tokens) or tokens[i].kind != SIGN:
        return False
    return tokens[i].text in ("/", "//", "+") or (tokens[i].text == "->" and i + 1 < len(tokens) and tokens[i + 1].kind == NUMBER)
