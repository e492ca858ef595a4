"""Files that set a batch size and belong to no framework that gbs knows, for `gbs check -v` and `gbs init`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from pytest_gbs.claims.grammars.words import words
from pytest_gbs.model.digits import whole_number
from pytest_gbs.model.document import CONFIGURATIONS, Document, Mapping, Node, Scalar, Sequence
from pytest_gbs.model.limits import MOST_DIGITS, MOST_RECIPE_KEYS
from pytest_gbs.model.location import KeyPath, Source, Tree, dotted
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.model.report import Report, Role
from pytest_gbs.readers import read

# Keys that set the batch of a training run, whatever the framework.
BATCHES: Final = words(
    """
    per_device_train_batch_size per_device_batch_size per_gpu_train_batch_size train_batch_size_per_gpu batch_size_per_gpu
    batch_size_per_device batch_size_per_rank micro_batch_size micro_batch_size_per_gpu train_micro_batch_size_per_gpu
    micro_train_batch_size device_train_microbatch_size device_batch_size local_batch_size mini_batch_size train_batch_size batch_size
    global_batch_size global_train_batch_size total_batch_size effective_batch_size
    """
)
# Keys that set how many micro batches make an optimizer step.
ACCUMULATIONS: Final = words(
    """
    gradient_accumulation_steps gradient_accumulation gradient_accumulation_step grad_accumulation_steps grad_accum_steps grad_accum
    accumulate_grad_batches accumulation_steps accum_steps accum_iter gradient_accum_steps gradient_accum grad_accumulation grad_acc_steps
    grad_acc accumulate_steps accumulation accum acc_steps grad_accum_iters
    """
)
# A file that trains has one of these keys too.
_LEARNS: Final = words(
    """
    learning_rate lr max_lr optimizer optim lr_scheduler lr_scheduler_type scheduler weight_decay warmup_steps warmup_ratio epochs
    num_epochs max_epochs num_train_epochs max_steps max_train_steps train_steps total_steps train_iters
    """
)
# What evaluates, generates or serves, and what a run wrote about itself.
OTHERWISE: Final = words(
    """
    eval evals evaluation evaluate valid validation test infer inference generate generation predict prediction serve serving server
    deploy deployment benchmark benchmarks results log_history best_metric
    """
)


class UnknownTrainer(NamedTuple):
    """A file that sets a batch size: its path, the key with its number, its line, from 1, and the key of its accumulation."""

    path: str
    key: KeyPath
    number: int
    line: int
    accumulation: KeyPath | None = None

    @property
    def words(self) -> str:
        """What it does, for people."""
        return f"sets a batch size, framework unknown: {dotted(self.key)} {self.number:,}, line {self.line}"


def unknown_trainers(report: Report, tree: Tree) -> Iterator[UnknownTrainer]:
    """Yield the configurations among the files of `report` that train with a framework that gbs does not know, in its order.

    Each is read again; only those are parsed whose text has one of the keys.
    """
    known = {file.path for file in report.files if file.role != Role.NEITHER}
    for path in dict.fromkeys(file.path for file in report.files):
        if path in known or not path.endswith(CONFIGURATIONS) or not OTHERWISE.isdisjoint(re.split(r"[/._-]", path.lower())):
            continue
        source = tree.read(path)
        found = _first(source) if isinstance(source, Source) and any(key in source.text for key in BATCHES) else None
        if found is not None:
            yield found


def with_unknown_trainers(report: Report, tree: Tree) -> Report:
    """`report` with the batch size in the `problem` of each of these files."""
    words = {found.path: found.words for found in unknown_trainers(report, tree)}
    return (
        report._replace(files=tuple(file._replace(problem=words.get(file.path, file.problem)) for file in report.files))
        if words
        else report
    )


def _first(source: Source) -> UnknownTrainer | None:
    """The first batch size that `source` trains with, None if there is none."""
    return next((found for each in read(source) if isinstance(each, Document) and (found := _batch(each)) is not None), None)


def _batch(document: Document) -> UnknownTrainer | None:
    settings = list(islice(_settings(document), MOST_RECIPE_KEYS + 1))
    names = {key[-1] for key, _ in settings}
    if names.isdisjoint(BATCHES) or names.isdisjoint(_LEARNS) or not names.isdisjoint(("log_history", "best_metric")):
        return None
    if len(settings) > MOST_RECIPE_KEYS:
        return None
    for key, node in settings:
        number = whole_number(node.text, MOST_DIGITS) if key[-1] in BATCHES and isinstance(node, Scalar) and node.plain else None
        if number and OTHERWISE.isdisjoint(re.split(r"[._]", dotted(key))):
            line = document.source.text.count("\n", 0, node.start) + 1
            accumulation = next((key for key, _ in settings if key[-1] in ACCUMULATIONS), None)
            return UnknownTrainer(document.source.path, key, number, line, accumulation)
    return None


def _settings(document: Document) -> Iterator[tuple[KeyPath, Node]]:
    """Yield each key of `document` with its value, and those of the mappings in its lists, as `tasks.*.batch_size`."""
    for key, (_, node) in document.keyed.items():
        yield key, node
        for item in node.items if isinstance(node, Sequence) else ():
            for name, value in item.entries if isinstance(item, Mapping) else ():
                if isinstance(name, Scalar):
                    yield (*key, "*", name.text), value
