"""How many rows a batch has, and a checksum of them; for anything a loader yields, without importing a library."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final
from zlib import crc32

TAG: Final = "gbs_rows"
_COMPARED: Final = 64  # values of a row; enough to distinguish rows
_PREFERRED: Final = ("input_ids", "prompt_input_ids", "labels", "pixel_values", "input_values", "inputs")


class Tagged:
    """A collate function that also says how many rows it was given, where it makes a dictionary: a flattened batch does not show them.

    It is a class since worker processes pickle it.
    """

    def __init__(self, collate: Any) -> None:
        self.collate = collate

    def __call__(self, features: Sequence[Any]) -> Any:
        """The batch of `features`, with their fingerprints under `TAG` if it is a dictionary."""
        batch = self.collate(features)
        if hasattr(batch, "keys") and hasattr(batch, "__setitem__"):
            from torch import tensor

            batch[TAG] = tensor([fingerprint(feature) for feature in features])
        return batch


def take_rows(batch: Any) -> tuple[int, int]:
    """How many rows a batch has, and a number that differs where rows do, 0 if nothing can be compared; a tag is taken out of it."""
    if hasattr(batch, "keys") and TAG in batch:
        tag = batch.pop(TAG)
        return len(tag), _mixed(tag.tolist())
    if isinstance(batch, Sequence) and batch and isinstance(batch[0], (Mapping, str)):
        return len(batch), _mixed(map(fingerprint, batch))
    tensor = _tensor(batch)
    return (0, 0) if tensor is None else (int(tensor.shape[0]), fingerprint(tensor))


def fingerprint(value: Any) -> int:
    """A number that differs where `value` does, as far as it holds numbers and text; 0 if it holds none."""
    if isinstance(value, (int, float, str)):
        return crc32(repr(value).encode())
    if hasattr(value, "tolist"):
        flat = value.reshape(-1)
        return crc32(repr(flat[:: max(1, len(flat) // _COMPARED)].tolist()).encode())
    if hasattr(value, "keys"):
        return _mixed(fingerprint(value[key]) for key in sorted(value.keys(), key=str))
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        return crc32(repr(value[:_COMPARED]).encode()) if value and isinstance(value[0], (int, float)) else _mixed(map(fingerprint, value))
    return 0


def _mixed(numbers: Iterable[int]) -> int:
    """One number for several; 0 if all are."""
    mixed = 0
    for place, number in enumerate(numbers, start=1):
        mixed = (mixed + place * number) % (1 << 61)
    return mixed


def _tensor(batch: Any) -> Any:
    """The tensor of a batch that has a row for each sample, None if there is none."""
    if hasattr(batch, "shape"):
        return batch if len(batch.shape) else None
    if hasattr(batch, "keys"):
        names = [*(name for name in _PREFERRED if name in batch), *batch.keys()]
        found = (_tensor(batch[name]) for name in names)
    elif isinstance(batch, Sequence) and not isinstance(batch, (str, bytes)):
        found = (_tensor(each) for each in batch)
    else:
        return None
    return next((each for each in found if each is not None), None)
