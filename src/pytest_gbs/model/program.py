"""The program that a launch runs, as far as its name and its file say whose it is."""

from __future__ import annotations

import re

from pytest_gbs.model.record import Final, NamedTuple


class Program(NamedTuple):
    """A program: its name as a path (`trl/scripts/dpo`, also for `trl.scripts.dpo`; `trl/dpo` for a command), and what it imports.

    `imports` are the dotted names that its file takes from modules (`trl.DPOTrainer`). It is `alone` if no file says what it
    trains, so that a framework is recognised only if the program is one of its own or imports it. `path` is its file in the tree, ""
    if that is not known: the versions that it runs with are stated there, rather than where the script lies that launches it.
    """

    name: str = ""
    imports: frozenset[str] = frozenset()
    alone: bool = False
    path: str = ""

    def is_of(self, programs: tuple[str, ...], uses: tuple[str, ...]) -> bool:
        """Whether its name holds one of `programs`, step by step, or it imports one of `uses`."""
        return any(f"/{each}/" in f"/{self.name}/" for each in programs) or any(
            _is_from(name, each) for name in self.imports for each in uses
        )


NO_PROGRAM: Final = Program()


def _is_from(name: str, wanted: str) -> bool:
    """Whether `name` is `wanted`, lies in it, or is the same thing of a module further within (`trl.trainer.DPOTrainer`)."""
    if name == wanted or name.startswith(f"{wanted}."):
        return True
    package, dot, thing = wanted.rpartition(".")
    return bool(dot) and name.startswith(f"{package}.") and name.endswith(f".{thing}")


# Words in the name of a program that runs a model and trains none, and parts of words of one that trains all the same.
_SCORES: Final = frozenset(
    (
        *("eval", "evaluate", "evaluation", "generate", "generation", "infer", "inference", "predict", "score", "logprobs"),
        *("decode", "convert", "conversion", "checker", "quantize", "quantization", "merge", "export", "sample", "samples", "sampling"),
    )
)
SCORING_COMMANDS: Final = _SCORES | {"test", "validate"}
_TRAINS: Final = ("train", "tun", "learn")
# Words in the name of a program that gets data, models or a machine ready for a training, or looks at what came of one.
_PREPARES: Final = frozenset(
    (
        *("prepare", "preparation", "preprocess", "preprocessing", "tokenize", "tokenization", "download", "fetch", "upload", "setup"),
        *("check", "verify", "plot", "visualize", "analyze", "summarize"),
    )
)
_DATA: Final = ("data", "dataset", "datasets")


def only_scores(name: str, folder: str = "") -> bool:
    """Whether a program, by its name or its folder's, runs or converts a model and does not train (`run_eval.py`, `inference`)."""
    name = name.lower()
    return not _SCORES.isdisjoint(re.split(r"[._-]", f"{folder}.{name}".lower())) and not any(part in name for part in _TRAINS)


def only_prepares(name: str) -> bool:
    """Whether a program, by its name, gets something ready for a training and does not train (`preprocess`, `build_dataset`)."""
    words = re.split(r"[._-]", name.lower())
    made = len(words) > 1 and words[-1] in _DATA
    return (made or not _PREPARES.isdisjoint(words)) and not any(part in name.lower() for part in _TRAINS)


def is_to_train(name: str) -> bool:
    """Whether a program, by its name, trains (`train`, `dist_train_v2`) or may do anything (`main`): what else reads settings does not."""
    return name in ("main", "run") or any(part in name.lower() for part in _TRAINS)
