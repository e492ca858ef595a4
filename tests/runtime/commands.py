"""Frameworks that a command starts: each trains the file of a configuration through what its command calls, on tiny models and rows.

Samples are counted where an embedding with gradients gets them, steps where an optimizer of torch makes one, whatever wraps these.
"""

import json
import os
import runpy
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
import yaml
from torch.nn.modules.module import register_module_forward_pre_hook
from torch.optim.optimizer import register_optimizer_step_post_hook

from tests.runtime.counter import Counter
from tests.runtime.judged import TINY_LLAMA, Judged
from tests.runtime.tiny import model_of, text, tokenizer

PAIRS = ("dpo", "rm")  # stages of LLaMA-Factory


@contextmanager
def counted(counter: Counter) -> Iterator[None]:
    """Count what any model and any optimizer does; all trainings share one process group, which can't be made twice."""

    def embeds(module: torch.nn.Module, words: Any) -> None:
        if isinstance(module, torch.nn.Embedding) and module.training and torch.is_grad_enabled():
            counter.now += len(words[0])

    group = torch.distributed
    make, end = group.init_process_group, group.destroy_process_group
    group.init_process_group = lambda *words, **named: group.is_initialized() or make(*words, **named)
    group.destroy_process_group = lambda *_: None
    hooks = (register_module_forward_pre_hook(embeds), register_optimizer_step_post_hook(lambda *_: counter.stepped()))
    try:
        yield
    finally:
        group.init_process_group, group.destroy_process_group = make, end
        for hook in hooks:
            hook.remove()


def written(job: Judged, folder: Path, **here: Any) -> str:
    """The configuration as a file, with what only this machine knows."""
    path = folder / "recipe.yaml"
    path.write_text(yaml.safe_dump({**job.recipe, **here}, sort_keys=False))
    return str(path)


def stored(folder: Path) -> Path:
    """A folder with a model and its tokenizer."""
    place = folder / "model"
    tokenizer().save_pretrained(place)
    model_of("sft").save_pretrained(place)
    return place


def answers(path: Path, many: int) -> None:
    """Write questions with answers, of different lengths, the better of two among them."""
    rows = ({"instruction": text(n, 3), "input": "", "output": text(n + 1, 4), "worse": text(n + 2, 3)} for n in range(many))
    path.write_text(json.dumps(list(rows)))


def by_litgpt(job: Judged, folder: Path) -> None:
    """`litgpt finetune_full MODEL --config FILE`; its FSDP wants GPUs, so that DDP takes its place."""
    from litgpt.__main__ import main
    from litgpt.finetune import full
    from litgpt.model import GPT, Config

    config = {"name": "tiny", "block_size": 64, "n_layer": 1, "n_head": 2, "n_embd": 16, "vocab_size": 63, "padded_vocab_size": 64}
    model = stored(folder)
    (model / "model_config.yaml").write_text(yaml.safe_dump(config))
    torch.save(GPT(Config(**config)).state_dict(), model / "lit_model.pth")
    (folder / "rows").mkdir(exist_ok=True)
    answers(folder / "rows/train.json", job.rows)
    answers(folder / "rows/val.json", 4)
    data = {"class_path": "litgpt.data.JSON", "init_args": {"json_path": str(folder / "rows"), "num_workers": 0}}
    full.FSDPStrategy = lambda **_: "ddp"
    file = written(job, folder, out_dir=str(folder / "out"), data=data, precision="32-true")
    sys.argv = ["litgpt", "finetune_full", str(model), "--config", file]
    main()


def by_torchtune(job: Judged, folder: Path) -> None:
    """`tune run RECIPE --config FILE`; what it asks of the memory of GPUs is left out."""
    from torchtune import training
    from torchtune.models.llama3 import llama3

    model = folder / "model"
    model.mkdir(exist_ok=True)
    torch.save(llama3(**TINY_LLAMA).state_dict(), model / "tiny.pt")
    checkpointer = {
        "_component_": "torchtune.training.FullModelTorchTuneCheckpointer", "checkpoint_dir": str(model), "checkpoint_files": ["tiny.pt"],
        "model_type": "LLAMA3", "output_dir": str(folder / "out"), "recipe_checkpoint": None,
    }  # fmt: skip
    logger = {"_component_": "torchtune.training.metric_logging.DiskLogger", "log_dir": str(folder / "logs")}
    here = {"checkpointer": checkpointer, "metric_logger": logger, "output_dir": str(folder / "out")}
    recipes = Path(str(find_spec("torchtune").submodule_search_locations[0])).parent / "recipes"  # type: ignore[union-attr,index]
    for name in ("get_memory_stats", "log_memory_stats", "cleanup_before_training"):
        setattr(training, name, lambda *_, **__: {})
    sys.argv = ["tune", "--config", written(job, folder, **here)]
    runpy.run_path(str(recipes / f"{job.program}.py"), run_name="__main__")


class Words:
    """A tokenizer as torchtune's recipes use one."""

    pad_id = 0


class Rows(torch.utils.data.Dataset):
    """Tokens as torchtune's recipes read them."""

    def __init__(self, tokenizer: Any, many: int) -> None:
        self.many = many

    def __len__(self) -> int:
        return self.many

    def __getitem__(self, index: int) -> dict[str, list[int]]:
        row = [(index * 7 + place) % 60 + 3 for place in range(6 + index % 3)]
        return {"tokens": row, "labels": row}


def by_axolotl(job: Judged, folder: Path) -> None:
    """`axolotl train FILE`."""
    from axolotl.cli.train import do_cli

    answers(folder / "rows.json", job.rows)
    data = [{"path": str(folder / "rows.json"), "ds_type": "json", "type": "alpaca"}]
    here = {"datasets": data, "output_dir": str(folder / "out"), "dataset_prepared_path": str(folder / "prepared")}
    sys.argv = ["axolotl"]
    do_cli(config=written(job, folder, base_model=str(stored(folder)), **here))


def by_llamafactory(job: Judged, folder: Path) -> None:
    """`llamafactory-cli train FILE`."""
    from llamafactory.train.tuner import run_exp

    answers(folder / "rows.json", job.rows)
    pairs = {"ranking": True, "columns": {"prompt": "instruction", "query": "input", "chosen": "output", "rejected": "worse"}}
    rows = {"file_name": "rows.json", **(pairs if job.recipe["stage"] in PAIRS else {})}
    (folder / "dataset_info.json").write_text(json.dumps({"rows": rows}))
    here = {"model_name_or_path": str(stored(folder)), "dataset_dir": str(folder), "output_dir": str(folder / "out"), "use_cpu": True}
    sys.argv = ["llamafactory-cli", written(job, folder, **here)]
    run_exp()


def by_sentence_transformers(job: Judged, folder: Path) -> None:
    """A program of sentence-transformers or SetFit, with a tiny model and pairs of sentences."""
    from datasets import Dataset
    from sentence_transformers import InputExample, SentenceTransformer, models

    parts = models.Transformer(str(stored(folder)), max_seq_length=16)
    model = SentenceTransformer(modules=[parts, models.Pooling(parts.get_embedding_dimension())], device="cpu")
    pairs = [(text(n, 3), text(n + 1, 3)) for n in range(job.rows)]
    names = {
        "model": model, "folder": str(folder), "examples": [InputExample(texts=pair) for pair in pairs],
        "rows": Dataset.from_dict({"anchor": [one for one, _ in pairs], "positive": [other for _, other in pairs]}),
    }  # fmt: skip
    exec(job.program, names)


STARTS = {
    "sentence_transformers": by_sentence_transformers,
    "litgpt": by_litgpt,
    "torchtune": by_torchtune,
    "axolotl": by_axolotl,
    "llamafactory": by_llamafactory,
}


def command(job: Judged, folder: str) -> Counter:
    """What one process of a training consumed."""
    counter = Counter(2 if job.recipe.get("stage") in PAIRS or job.kind == "sentence_transformers" else 1)
    place = Path(folder, os.environ.get("RANK", "0"), job.name.replace(" ", "-"))
    place.mkdir(parents=True, exist_ok=True)
    with counted(counter), suppress(SystemExit):
        STARTS[job.kind](job, place)
    return counter
