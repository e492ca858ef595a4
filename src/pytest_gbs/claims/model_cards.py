"""The model cards that transformers writes: hyperparameters of one training, among them the total batch size and its factors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pytest_gbs.claims.documents import prose
from pytest_gbs.model.launch import ModelCard
from pytest_gbs.model.limits import LONGEST_PROSE
from pytest_gbs.model.location import Location, Source
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.quantity import Name, Origin, Quantity

# What the Trainer writes, and leaves out if it is one: transformers 4.57.1 modelcard.py (extract_hyperparameters_from_trainer).
_TOTAL: Final = "total_train_batch_size"
_FACTORS: Final = {
    "train_batch_size": Name.MICRO_BATCH_SIZE,
    "num_devices": Name.WORLD_SIZE,
    "gradient_accumulation_steps": Name.GRADIENT_ACCUMULATION_STEPS,
}
# Other trainers write the same list with other numbers in the product: "IPU" of huggingface/optimum-graphcore b8cd6e09 has replicas and
# device iterations that the list leaves out (modelcard.py:105-116, ipu_configuration.py:719-722); on TPUs, what a device is has changed.
_DISTRIBUTED: Final = "distributed_type"
_COUNTED_SO: Final = ("", "multi-GPU")

_entry = lazy_pattern(r"[-*] (\w+): ([\w-]{1,15})[ \t]*$")


def read_model_cards(source: Source) -> Iterator[ModelCard]:
    """Yield the lists of a model card that the Trainer writes, as far as they state a total and the batch of a device."""
    if _TOTAL not in source.text or len(source.text) > LONGEST_PROSE:
        return
    sizes: dict[str, Quantity] = {}
    kind = ""
    for place, line in (*prose(source, 0, len(source.text)), (len(source.text), "")):
        match = _entry().match(line)
        if match and match[1] == _DISTRIBUTED:
            kind = match[2]
        elif match and match[1] in (_TOTAL, *_FACTORS) and match[2].isdecimal():
            at = Location(source.path, place + match.start(2), place + match.end(2))
            name = _FACTORS.get(match[1], Name.GLOBAL_BATCH_SIZE)
            sizes[match[1]] = Quantity(name, int(match[2]), Origin.COMMENT, key=match[1], at=at)
        elif not line.startswith(("- ", "* ")):
            if _TOTAL in sizes and "train_batch_size" in sizes and kind in _COUNTED_SO:
                yield ModelCard(sizes[_TOTAL], tuple(sizes[name] for name in _FACTORS if name in sizes))
            sizes, kind = {}, ""
