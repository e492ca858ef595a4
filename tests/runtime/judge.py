"""Trains what `judged.py` lists for a number of processes, and prints as JSON how many samples each optimizer step consumed.

`judge.py PROCESSES FOLDER [NAME ...]`. Samples are counted where a model with gradients gets them. The line of the first process is
{name: {"epochs": [[samples of a step, ...], ...], "seen": [prompts of each generation]}} or {name: {"error": "..."}}.
"""

import json
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch
from transformers import TrainerCallback

from tests.runtime.commands import STARTS, command
from tests.runtime.counter import Counter
from tests.runtime.judged import JUDGED, Judged, flags
from tests.runtime.tiny import model_of, text, tokenizer

NAMES = {
    "sft": "SFT", "dpo": "DPO", "reward": "Reward", "kto": "KTO", "grpo": "GRPO", "rloo": "RLOO",
    "orpo": "ORPO", "cpo": "CPO", "online_dpo": "OnlineDPO",
}  # fmt: skip
EXPERIMENTAL = ("orpo", "cpo", "online_dpo")
PAIRS = ("dpo", "reward", "orpo", "cpo", "online_dpo")
QUIET = {"report_to": [], "use_cpu": True, "save_strategy": "no", "disable_tqdm": True, "logging_strategy": "no", "bf16": False}


class Steps(TrainerCallback):
    def __init__(self, counter: Counter) -> None:
        self.counter = counter

    def on_step_end(self, *_: Any, **__: Any) -> None:
        self.counter.stepped()

    def on_epoch_begin(self, *_: Any, **__: Any) -> None:
        self.counter.epochs.append([])


def rows_of(kind: str, many: int) -> Any:
    from datasets import Dataset

    texts = {**{key: ["prompt"] for key in ("grpo", "rloo", "online_dpo")}, "sft": ["text"], "kto": ["prompt", "completion"]}
    columns = texts.get(kind, ["prompt", "chosen", "rejected"])
    found: dict[str, list[Any]] = {name: [text(n * 3 + i, 6) for n in range(many)] for i, name in enumerate(columns)}
    if kind == "kto":
        found["label"] = [n % 2 == 0 for n in range(many)]
    return Dataset.from_dict(found)


class Tokens(torch.utils.data.Dataset):
    def __init__(self, many: int) -> None:
        self.many = many

    def __len__(self) -> int:
        return self.many

    def __getitem__(self, index: int) -> dict[str, list[int]]:
        if index >= self.many:
            raise IndexError(index)
        row = [(index * 7 + place) % 60 + 3 for place in range(8)]
        return {"input_ids": row, "labels": row, "attention_mask": [1] * len(row)}


class Stream(torch.utils.data.IterableDataset):
    def __init__(self, many: int) -> None:
        self.many = many

    def __iter__(self) -> Any:
        return map(Tokens(self.many).__getitem__, range(self.many))


def train(job: Judged, folder: str) -> Counter:
    counter = Counter(2 if job.kind in PAIRS else 1)
    model = model_of(job.kind)
    counter.watch(model)
    arguments = {"output_dir": folder, **job.recipe, **QUIET}
    streams = arguments.pop("streaming", arguments.pop("dataset_streaming", False))
    if job.kind == "trainer":
        from transformers import Trainer, TrainingArguments, default_data_collator

        data = (Stream if streams else Tokens)(job.rows)
        trainer: Any = Trainer(model=model, args=TrainingArguments(**arguments), train_dataset=data, data_collator=default_data_collator)
    else:
        module, name = import_module(f"trl.experimental.{job.kind}" if job.kind in EXPERIMENTAL else "trl"), NAMES[job.kind]
        more: dict[str, Any] = {"processing_class": tokenizer()}
        rows = rows_of(job.kind, job.rows)
        if name in ("GRPO", "RLOO", "OnlineDPO"):

            def reward(prompts: Any, completions: Any, **_: Any) -> list[float]:
                counter.seen.append(len(completions))
                return [float(number % 3) for number in range(len(completions))]

            more["reward_funcs"] = reward
        if name in ("DPO", "KTO"):
            more["ref_model"] = model_of(job.kind)
        config = getattr(module, f"{name}Config")(**arguments)
        rows = rows.to_iterable_dataset() if streams else rows
        trainer = getattr(module, f"{name}Trainer")(model=model, args=config, train_dataset=rows, **more)
    trainer.add_callback(Steps(counter))
    trainer.train()
    return counter


@contextmanager
def exported(**values: str) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(values)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def by_accelerate(job: Judged) -> dict[str, str]:
    """What `accelerate launch` passes to the processes that it starts, the flags of a configuration among it."""
    from accelerate.commands.launch import launch_command_parser
    from accelerate.utils.launch import prepare_deepspeed_cmd_env, prepare_multi_gpu_env

    words = [f"--num_processes={job.processes}", "--num_machines=1", "--mixed_precision=no", "--dynamo_backend=no", *flags(job), "train.py"]
    given = launch_command_parser().parse_args(words)
    given.deepspeed_fields_from_accelerate_config = ""  # it has no file
    reported = prepare_deepspeed_cmd_env(given)[1] if given.use_deepspeed else prepare_multi_gpu_env(given)
    return {name: value for name, value in reported.items() if name.startswith("ACCELERATE_")}


def accelerated(job: Judged, folder: str) -> Counter:
    with exported(**by_accelerate(job)):
        return loop(job, folder)


def loop(job: Judged, _: str) -> Counter:
    counter = Counter()
    model = torch.nn.Linear(4, 1)

    def count(module: torch.nn.Module, words: Any) -> None:
        counter.now += len(words[0])

    model.register_forward_pre_hook(count)
    data = torch.arange(job.rows * 4).float().reshape(job.rows, 4)
    names = {"model": model, "optimizer": torch.optim.SGD(model.parameters(), 1e-3), "data": data, "stepped": counter.stepped}
    exec(job.program, names)
    steps = sum(map(len, counter.epochs))
    assert getattr(names["model"], "global_steps", steps) == steps  # of an engine of DeepSpeed
    return counter


def fit(job: Judged, folder: str) -> Counter:
    import lightning

    counter = Counter()

    class Module(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(4, 1)

        def on_train_epoch_start(self) -> None:
            counter.epochs.append([])

        def training_step(self, rows: Any, _: int) -> Any:
            counter.now += len(rows)
            return self.layer(rows).mean()

        def on_before_optimizer_step(self, _: Any) -> None:
            counter.stepped()

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), 1e-3)

    data = torch.arange(job.rows * 4).float().reshape(job.rows, 4)
    with exported(**({"LOCAL_RANK": "0"} if "num_nodes" in job.program else {})):  # each process is a node of its own
        exec(job.program, {"module": Module(), "data": data, "folder": folder})
    return counter


def engine(job: Judged, folder: str) -> Counter:
    import deepspeed

    if not torch.distributed.is_initialized():
        alone = {"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0"}
        os.environ.update({} if "RANK" in os.environ else alone)
        deepspeed.init_distributed("gloo", verbose=False)
    return loop(job, folder)


KINDS = {"loop": accelerated, "torch": loop, "lightning": fit, "deepspeed": engine, **dict.fromkeys(STARTS, command)}


def main() -> None:
    from accelerate.state import AcceleratorState, GradientState, PartialState

    processes, folder, wanted = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
    found: dict[str, Any] = {}
    for job in JUDGED:
        if job.processes != processes or not (not wanted or job.name in wanted):
            continue
        torch.manual_seed(0)
        AcceleratorState._reset_state(reset_partial_state=True)
        PartialState(cpu=True)
        GradientState._reset_state()
        os.environ.pop("ACCELERATE_USE_DEEPSPEED", None)  # the Trainer leaves it there
        try:
            found[job.name] = KINDS.get(job.kind, train)(job, folder).reported()
        except Exception as error:
            found[job.name] = {"error": "".join(traceback.format_exception(error))[-1500:]}
        if int(os.environ.get("RANK", "0")) == 0:
            print(f"{job.name}: {found[job.name]}"[:1800], file=sys.stderr, flush=True)
    if int(os.environ.get("RANK", "0")) == 0:
        print("\n@@" + json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
