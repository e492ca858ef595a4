"""What the key that a comment belongs to is about."""

from __future__ import annotations

from pytest_gbs.model.location import KeyPath
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.record import Final

_EVALUATION: Final = frozenset(("eval", "evaluation", "val", "valid", "validation", "test", "testing", "evaluate"))


_parts = lazy_pattern(r"[^a-z]+")


def _words(owner: KeyPath | None) -> list[str]:
    return _parts().split(str(owner[-1]).lower()) if owner else []


def is_evaluation(owner: KeyPath | None) -> bool:
    """Whether the key is about evaluation: `per_device_eval_batch_size`."""
    return not _EVALUATION.isdisjoint(_words(owner))


def is_batch(owner: KeyPath | None) -> bool:
    """Whether the key is a batch size or an accumulation of training."""
    words = _words(owner)
    return not is_evaluation(owner) and any(
        word.startswith("accum") or word in ("batch", "microbatch", "gbs", "mbs", "bs", "bsz", "batchsize", "minibatch") for word in words
    )


def is_global_batch(owner: KeyPath | None) -> bool:
    """Whether the key itself is the global batch size."""
    words = _words(owner)
    return ("global" in words and ("batch" in words or "bs" in words)) or "gbs" in words or ("total" in words and "batch" in words)


def is_accumulation(owner: KeyPath | None) -> bool:
    """Whether the key is the accumulation."""
    return any(word.startswith("accum") for word in _words(owner))
