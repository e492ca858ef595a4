"""Configurations that real trainers run, so that what they consume can be compared with what `gbs show` says.

A recipe is the keys of a YAML file (of a loop on accelerate: the flags of its launcher), a program the text of a Python file (of
torchtune: the name of its recipe).
Each is launched on `processes` processes of one machine.
"""

from typing import Any, Final, NamedTuple

TINY_LLAMA: Final = {
    "vocab_size": 63, "num_layers": 1, "num_heads": 2, "num_kv_heads": 2, "embed_dim": 16, "max_seq_len": 64, "rope_base": 10000,
}  # fmt: skip


class Judged(NamedTuple):
    """One training: `kind` is the trainer, `rows` is how long its data set is."""

    name: str
    kind: str
    processes: int
    recipe: dict[str, Any]
    rows: int = 96
    program: str = ""


def flags(job: Judged) -> list[str]:
    """The flags of `accelerate launch` that start a loop."""
    return [f"--{name}" if value is True else f"--{name}={value}" for name, value in job.recipe.items()]


def _batch(micro: int, steps: int, **more: Any) -> dict[str, Any]:
    return {"per_device_train_batch_size": micro, "gradient_accumulation_steps": steps, **({"max_steps": 3} | more)}


def _trainer(name: str, processes: int, micro: int, steps: int, rows: int = 96, **more: Any) -> Judged:
    return Judged(f"trainer: {name}", "trainer", processes, _batch(micro, steps, **more), rows)


_EPOCHS: Final[dict[str, Any]] = {"max_steps": -1}
_SPLIT: Final[dict[str, Any]] = {"accelerator_config": {"split_batches": True}}
_DISPATCH: Final[dict[str, Any]] = {"accelerator_config": {"dispatch_batches": True, "split_batches": False}}

_AUTO: Final[dict[str, Any]] = {
    "deepspeed": {
        "train_batch_size": "auto", "train_micro_batch_size_per_gpu": "auto", "gradient_accumulation_steps": "auto",
        "zero_optimization": {"stage": 2}, "zero_allow_untested_optimizer": True,
    },
}  # fmt: skip

_LOOP: Final = """\
from accelerate import Accelerator
{imports}from torch.utils.data import DataLoader

accelerator = Accelerator({given})
model, optimizer, loader = accelerator.prepare(model, optimizer, DataLoader(data, batch_size={micro}))
for rows in loader:
    with accelerator.accumulate(model):
        accelerator.backward(model(rows).mean())
        optimizer.step()
        optimizer.zero_grad()
    stepped(accelerator.sync_gradients)
"""
_PLUGIN: Final = "from accelerate.utils import GradientAccumulationPlugin\n"
_PLUGGED: Final = "gradient_accumulation_plugin=GradientAccumulationPlugin"
_TWO: Final = "gradient_accumulation_steps=2"
_OWN_LOOP: Final = """\
from accelerate import Accelerator
from torch.utils.data import DataLoader

accelerator = Accelerator()
model, optimizer, loader = accelerator.prepare(model, optimizer, DataLoader(data, batch_size={micro}, drop_last=True))
for step, rows in enumerate(loader):
    accelerator.backward(model(rows).mean() / {steps})
    if (step + 1) % {steps} == 0:
        optimizer.step()
        optimizer.zero_grad()
    stepped((step + 1) % {steps} == 0)
"""
_LIGHTNING: Final = """\
import lightning
from torch.utils.data import DataLoader

trainer = lightning.Trainer(
    accelerator="cpu", {given}, default_root_dir=folder,
    logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
)
trainer.fit(module, DataLoader(data, batch_size={micro}{more}))
"""
_ENGINE: Final = """\
import deepspeed

config = {config}
engine, _, loader, _ = deepspeed.initialize(model=model, optimizer=optimizer, training_data=list(data), config=config)
for rows in loader:
    engine.backward(engine(rows).mean())
    stepped(engine.is_gradient_accumulation_boundary())
    engine.step()
"""


_DDP: Final = """\
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

model = DistributedDataParallel(model)
loader = DataLoader(data, batch_size={micro}, sampler=DistributedSampler(data){more})
for step, rows in enumerate(loader):
    (model(rows).mean() / {steps}).backward()
    if (step + 1) % {steps} == 0:
        optimizer.step()
        optimizer.zero_grad()
    stepped((step + 1) % {steps} == 0)
"""
# Micro batch, and the program's loader, loop and condition for a step.
_FREE_LOOP: Final = """\
from accelerate import Accelerator
from torch.utils.data import BatchSampler, DataLoader, RandomSampler

accelerator = Accelerator()
model, optimizer, loader = accelerator.prepare(model, optimizer, {loader})
for step, rows in enumerate(loader):
    accelerator.backward(model(rows).mean() / {steps})
    if {when}:
        optimizer.step()
        optimizer.zero_grad()
    stepped({when})
"""
_ENGINE_LOADER: Final = """\
import deepspeed
from torch.utils.data import DataLoader, DistributedSampler

config = {config}
engine, _, _, _ = deepspeed.initialize(model=model, optimizer=optimizer, config=config)
sampler = DistributedSampler(data, shuffle=False)
loader = DataLoader(data, batch_size=engine.train_micro_batch_size_per_gpu(), sampler=sampler)
for rows in loader:
    engine.backward(engine(rows).mean())
    stepped(engine.is_gradient_accumulation_boundary())
    engine.step()
"""


_SHARED: Final = """\
import os
import torch.distributed as dist
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

{sizes}
model = {wrapper}(model)
loader = DataLoader(data, batch_size=micro, sampler=DistributedSampler(data))
for step, rows in enumerate(loader):
    (model(rows).mean() / steps).backward()
    if (step + 1) % steps == 0:
        optimizer.step()
        optimizer.zero_grad()
    stepped((step + 1) % steps == 0)
"""
# As in accelerate's examples: what does not fit into a GPU is accumulated.
_FITTED: Final = """\
from accelerate import Accelerator
from torch.utils.data import DataLoader

MAX_GPU_BATCH_SIZE = 4
batch_size = {total}
steps = 1
if batch_size > MAX_GPU_BATCH_SIZE:
    steps = batch_size // MAX_GPU_BATCH_SIZE
    batch_size = MAX_GPU_BATCH_SIZE
accelerator = Accelerator()
model, optimizer, loader = accelerator.prepare(model, optimizer, DataLoader(data, batch_size=batch_size, shuffle=True))
for step, rows in enumerate(loader):
    accelerator.backward(model(rows).mean() / steps)
    if (step + 1) % steps == 0:
        optimizer.step()
        optimizer.zero_grad()
    stepped((step + 1) % steps == 0)
"""
_FABRIC: Final = """\
from lightning.fabric import Fabric
from torch.utils.data import DataLoader

fabric = Fabric(accelerator="cpu", devices=2, strategy="ddp")
fabric.launch()
model, optimizer = fabric.setup(model, optimizer)
loader = fabric.setup_dataloaders(DataLoader(data, batch_size=3))
for step, rows in enumerate(loader):
    accumulating = (step + 1) % 2 != 0
    with fabric.no_backward_sync(model, enabled=accumulating):
        fabric.backward(model(rows).mean() / 2)
    if not accumulating:
        optimizer.step()
        optimizer.zero_grad()
    stepped(not accumulating)
"""
_DATA_MODULE: Final = """\
import lightning
from torch.utils.data import DataLoader

class Rows(lightning.LightningDataModule):
    def __init__(self, batch_size=4):
        super().__init__()
        self.batch_size = batch_size

    def train_dataloader(self):
        return DataLoader(data, batch_size=self.batch_size, shuffle=True)

trainer = lightning.Trainer(
    accelerator="cpu", devices=2, strategy="ddp", accumulate_grad_batches=3, max_epochs=1, default_root_dir=folder,
    logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
)
trainer.fit(module, datamodule=Rows(batch_size=2))
"""


def _shared(name: str, sizes: str, processes: int = 2, wrapper: str = "DistributedDataParallel") -> Judged:
    return Judged(f"torch: {name}", "torch", processes, {}, 48, _SHARED.format(sizes=sizes, wrapper=wrapper))


def _free(name: str, processes: int, steps: int, loader: str, when: str, rows: int = 48) -> Judged:
    return Judged(f"loop: {name}", "loop", processes, {}, rows, _FREE_LOOP.format(loader=loader, steps=steps, when=when))


_FIT: Final = """\
from sentence_transformers import losses
from torch.utils.data import DataLoader

loader = DataLoader(examples, shuffle=True, batch_size={micro})
model.fit(train_objectives=[(loader, losses.MultipleNegativesRankingLoss(model))], epochs=1, show_progress_bar=False, output_path=folder)
"""
_SENTENCES: Final = """\
from sentence_transformers import SentenceTransformerTrainer, SentenceTransformerTrainingArguments, losses

args = SentenceTransformerTrainingArguments(
    output_dir=folder, per_device_train_batch_size={micro}, gradient_accumulation_steps={steps}, num_train_epochs=1,
    report_to=[], use_cpu=True, save_strategy="no", disable_tqdm=True,
)
SentenceTransformerTrainer(model=model, args=args, train_dataset=rows, loss=losses.MultipleNegativesRankingLoss(model)).train()
"""


def _sentences(name: str, processes: int, program: str, rows: int = 48) -> Judged:
    return Judged(f"sentence-transformers: {name}", "sentence_transformers", processes, {}, rows, program)


def _ddp(name: str, processes: int, micro: int, steps: int, rows: int = 48, more: str = "") -> Judged:
    return Judged(f"torch: {name}", "torch", processes, {}, rows, _DDP.format(micro=micro, steps=steps, more=more))


def _loop(name: str, processes: int, micro: int, steps: int, rows: int = 48, options: str = "") -> Judged:
    more = f", dataloader_config=DataLoaderConfiguration({options})" if options else ""
    imports = "from accelerate import DataLoaderConfiguration\n" if options else ""
    return _made(name, processes, micro, f"gradient_accumulation_steps={steps}{more}", rows, imports)


def _made(name: str, processes: int, micro: int, given: str, rows: int = 48, imports: str = "", **flags: Any) -> Judged:
    """A loop whose Accelerator is made with `given`, started with `flags` of `accelerate launch`."""
    return Judged(f"loop: {name}", "loop", processes, flags, rows, _LOOP.format(micro=micro, given=given, imports=imports))


def _lightning(name: str, processes: int, micro: int, steps: int, rows: int = 48, more: str = "", **trainer: int) -> Judged:
    given = {"devices": processes, "accumulate_grad_batches": steps, "max_epochs": 1, **trainer}
    text = _LIGHTNING.format(given=", ".join(f"{key}={value}" for key, value in given.items()), micro=micro, more=more)
    return Judged(f"lightning: {name}", "lightning", processes, {**trainer}, rows, text)


def _deepspeed(name: str, processes: int, rows: int = 48, zero: int = 0, program: str = _ENGINE, **sizes: int | bool) -> Judged:
    config = {**sizes, "zero_optimization": {"stage": zero}, "zero_allow_untested_optimizer": True}
    return Judged(f"deepspeed: {name}", "deepspeed", processes, config, rows, program.format(config=config))


def _trl(kind: str, name: str, processes: int, micro: int, steps: int, **more: Any) -> Judged:
    length = {"max_completion_length": 4} if kind in ("grpo", "rloo") else {"max_length": 32}
    length |= {"max_new_tokens": 4} if kind == "online_dpo" else {}
    return Judged(f"{kind}: {name}", kind, processes, _batch(micro, steps, **({"max_steps": 2} | length | more)))


_OF_TORCHTUNE: Final[dict[str, Any]] = {
    "model": {"_component_": "torchtune.models.llama3.llama3", **TINY_LLAMA},
    "tokenizer": {"_component_": "tests.runtime.commands.Words"},
    "optimizer": {"_component_": "torch.optim.SGD", "lr": 0.1},
    "loss": {"_component_": "torchtune.modules.loss.CEWithChunkedOutputLoss"},
    "optimizer_in_bwd": False, "device": "cpu", "dtype": "fp32", "seed": 1, "shuffle": True, "resume_from_checkpoint": False,
    "enable_activation_checkpointing": False, "enable_activation_offloading": False, "compile": False,
}  # fmt: skip


def _litgpt(name: str, processes: int, batch: int, micro: int, rows: int = 48, **train: Any) -> Judged:
    sizes = {"global_batch_size": batch, "micro_batch_size": micro, "lr_warmup_steps": 1, "epochs": 1, "save_interval": 1000, **train}
    recipe = {"devices": processes, "train": sizes, "eval": {"interval": 1000, "max_iters": 1, "final_validation": False}}
    return Judged(f"litgpt: {name}", "litgpt", processes, recipe, rows)


def _torchtune(name: str, processes: int, micro: int, steps: int, rows: int = 48, recipe: str = "full_finetune_distributed") -> Judged:
    data = {"dataset": {"_component_": "tests.runtime.commands.Rows", "many": rows}}
    sizes = {"batch_size": micro, "gradient_accumulation_steps": steps, "epochs": 1, "max_steps_per_epoch": None}
    return Judged(f"torchtune: {name}", "torchtune", processes, {**_OF_TORCHTUNE, **data, **sizes}, rows, recipe)


def _axolotl(name: str, micro: int, steps: int, rows: int = 48, **more: Any) -> Judged:
    sizes = {"micro_batch_size": micro, "gradient_accumulation_steps": steps, "num_epochs": 1, "learning_rate": 1e-3, "sequence_len": 64}
    # On several processes it hands each model to a GPU.
    kept = {"optimizer": "adamw_torch", "bf16": False, "val_set_size": 0, "save_strategy": "no"}
    return Judged(f"axolotl: {name}", "axolotl", 1, {**sizes, **kept, **more}, rows)


def _llamafactory(name: str, processes: int, micro: int, steps: int, rows: int = 48, **more: Any) -> Judged:
    kept = {"stage": "sft", "do_train": True, "finetuning_type": "full", "template": "default", "dataset": "rows", "cutoff_len": 64}
    quiet = {"save_strategy": "no", "report_to": "none", "num_train_epochs": 1.0}
    recipe = {**kept, "per_device_train_batch_size": micro, "gradient_accumulation_steps": steps, **quiet, **more}
    return Judged(f"llamafactory: {name}", "llamafactory", processes, recipe, rows)


JUDGED: Final = (
    _trainer("1 x 1", 1, 1, 1),
    _trainer("2 x 4", 1, 2, 4),
    _trainer("3 x 2", 1, 3, 2),
    _trainer("5 x 3, an epoch with a partial step", 1, 5, 3, 37, **_EPOCHS, num_train_epochs=2),
    _trainer("4 x 2, the last batch dropped", 1, 4, 2, 22, **_EPOCHS, num_train_epochs=2, dataloader_drop_last=True),
    _trainer("grouped by length", 1, 2, 2, train_sampling_strategy="group_by_length"),
    _trainer("in order", 1, 2, 2, train_sampling_strategy="sequential"),
    _trainer("more steps than an epoch", 1, 4, 2, 16, max_steps=5),
    _trainer("workers", 1, 2, 3, dataloader_num_workers=1),
    _trainer("split on one process", 1, 4, 2, **_SPLIT),
    _trainer("average over tokens off", 1, 2, 2, average_tokens_across_devices=False),
    _trainer("2 x 4 on 2", 2, 2, 4),
    _trainer("1 x 3 on 2", 2, 1, 3),
    _trainer("3 x 1 on 2", 2, 3, 1),
    _trainer("split on 2", 2, 4, 2, **_SPLIT),
    _trainer("split on 2, no accumulation", 2, 6, 1, **_SPLIT),
    _trainer("dispatched on 2", 2, 2, 2, **_DISPATCH),
    _trainer("uneven batches allowed on 2", 2, 2, 2, 24, **_EPOCHS, num_train_epochs=1, accelerator_config={"even_batches": False}),
    _trainer("a partial step on 2", 2, 2, 3, 50, **_EPOCHS, num_train_epochs=2),
    _trainer("the last batch dropped on 2", 2, 4, 2, 44, **_EPOCHS, num_train_epochs=1, dataloader_drop_last=True),
    _trainer("grouped by length on 2", 2, 2, 2, train_sampling_strategy="group_by_length"),
    _trainer("2 x 2 on 4", 4, 2, 2),
    _trainer("split on 4", 4, 8, 2, **_SPLIT),
    _trainer("dispatched on 4", 4, 1, 2, **_DISPATCH),
    _trainer("split and dispatched on 2", 2, 4, 2, accelerator_config={"split_batches": True, "dispatch_batches": True}),
    _trainer("accumulation longer than an epoch", 1, 2, 8, 6, **_EPOCHS, num_train_epochs=2),
    _trainer("accumulation longer than an epoch on 2", 2, 2, 8, 12, **_EPOCHS, num_train_epochs=2),
    _trainer("streamed", 1, 2, 3, streaming=True),
    _trainer("streamed on 2", 2, 2, 3, streaming=True),
    _trainer("streamed and split on 2", 2, 4, 2, streaming=True, **_SPLIT),
    _trainer("DeepSpeed on 2, all auto", 2, 2, 2, **_AUTO),
    _trainer("DeepSpeed on 2, a partial step", 2, 2, 3, 50, **_EPOCHS, num_train_epochs=2, **_AUTO),
    _trl("sft", "2 x 2", 1, 2, 2),
    _trl("sft", "2 x 2, no padding", 1, 2, 2, padding_free=True, max_length=None),
    _trl("sft", "2 x 2 on 2, no padding", 2, 2, 2, padding_free=True, max_length=None),
    _trl("sft", "3 x 2, streamed", 1, 3, 2, dataset_streaming=True),
    _trl("sft", "2 x 3 on 2, streamed", 2, 2, 3, dataset_streaming=True),
    _trl("sft", "2 x 2 on 2, an epoch", 2, 2, 2, **_EPOCHS, num_train_epochs=1),
    _trl("sft", "4 x 1, packed", 1, 4, 1, packing=True, packing_strategy="wrapped", max_length=16),
    _trl("sft", "2 x 2 on 2", 2, 2, 2),
    _trl("sft", "1 x 4 on 2, completions only", 2, 1, 4, completion_only_loss=False),
    _trl("dpo", "2 x 2", 1, 2, 2),
    _trl("dpo", "1 x 3", 1, 1, 3),
    _trl("dpo", "1 x 2 on 2", 2, 1, 2),
    _trl("dpo", "2 x 1 on 2", 2, 2, 1),
    _trl("reward", "2 x 2", 1, 2, 2),
    _trl("reward", "2 x 2 on 2", 2, 2, 2),
    _trl("kto", "2 x 2", 1, 2, 2),
    _trl("kto", "2 x 1 on 2", 2, 2, 1),
    _trl("grpo", "4 x 1 in groups of 4", 1, 4, 1, num_generations=4),
    _trl("grpo", "2 x 4 in groups of 4", 1, 2, 4, num_generations=4),
    _trl("grpo", "4 x 2, a generation of 16", 1, 4, 2, num_generations=4, generation_batch_size=16),
    _trl("grpo", "4 x 2, a generation for each pass", 1, 4, 2, num_generations=2, steps_per_generation=1),
    _trl("grpo", "2 x 2, two iterations", 1, 2, 2, num_generations=2, num_iterations=2),
    _trl("grpo", "4 x 1 on 2 in groups of 8", 2, 4, 1, num_generations=8),
    _trl("grpo", "2 x 2 on 2 in groups of 4", 2, 2, 2, num_generations=4),
    _trl("rloo", "4 x 2 in groups of 2", 1, 4, 2, num_generations=2, beta=0.0),
    _trl("rloo", "2 x 2 on 2 in groups of 4", 2, 2, 2, num_generations=4, beta=0.0),
    _trl("rloo", "2 x 2, two iterations", 1, 2, 2, num_generations=2, num_iterations=2, beta=0.0),
    _trl("rloo", "2 x 1, a generation of 8", 1, 2, 1, num_generations=4, steps_per_generation=4, beta=0.0),
    _trl("grpo", "2 x 2, a generation of 16", 1, 2, 2, num_generations=4, steps_per_generation=8),
    _trl("grpo", "2 x 1 on 2, a generation of 16, two iterations", 2, 2, 1, num_generations=4, steps_per_generation=4, num_iterations=2),
    _trl("grpo", "2 x 2 on 4 in groups of 8", 4, 2, 2, num_generations=8),
    _trl("orpo", "2 x 2", 1, 2, 2),
    _trl("orpo", "2 x 2 on 2", 2, 2, 2),
    _trl("cpo", "2 x 2", 1, 2, 2),
    _trl("cpo", "1 x 3 on 2", 2, 1, 3),
    _trl("online_dpo", "2 x 2", 1, 2, 2),
    _trl("online_dpo", "1 x 2 on 2", 2, 1, 2),
    _trl("kto", "2 x 3 on 2", 2, 2, 3),
    _trl("dpo", "2 x 2 on 4", 4, 2, 2),
    _trl("dpo", "3 x 2, no padding", 1, 3, 2, padding_free=True, max_length=None),
    _loop("2 x 4", 1, 2, 4),
    _loop("3 x 2, a partial step", 1, 3, 2, 20),
    _loop("split on one process", 1, 4, 2, options="split_batches=True"),
    _loop("2 x 4 on 2", 2, 2, 4),
    _loop("split on 2", 2, 4, 2, options="split_batches=True"),
    _loop("dispatched on 2", 2, 2, 2, options="dispatch_batches=True"),
    Judged("loop: its own steps", "loop", 1, {}, 48, _OWN_LOOP.format(micro=3, steps=4)),
    Judged("loop: its own steps on 2", "loop", 2, {}, 48, _OWN_LOOP.format(micro=2, steps=3)),
    _loop("2 x 2 on 2, a partial step", 2, 2, 2, 27),
    _loop("2 x 2 on 4", 4, 2, 2),
    _loop("split and dispatched on 2", 2, 4, 2, options="split_batches=True, dispatch_batches=True"),
    _loop("uneven batches allowed on 2", 2, 2, 3, 27, options="even_batches=False"),
    _made("a plug-in on 2", 2, 2, "gradient_accumulation_plugin=GradientAccumulationPlugin(num_steps=3)", 48, _PLUGIN),
    _made("DeepSpeed on 2, the launcher's steps", 2, 2, "", use_deepspeed=True, gradient_accumulation_steps=4),
    _made("DeepSpeed on 2, other steps", 2, 2, _TWO, use_deepspeed=True, gradient_accumulation_steps=4),
    _made("DeepSpeed on 2, its own steps", 2, 2, _TWO, use_deepspeed=True),
    _made("a flag for DeepSpeed alone on 2", 2, 2, _TWO, gradient_accumulation_steps=4),
    _lightning("2 x 4", 1, 2, 4),
    _lightning("2 x 3 on 2 nodes", 2, 2, 3, devices=1, num_nodes=2),
    _lightning("2 x 2, steps given", 1, 2, 2, max_steps=3),
    _lightning("accumulation longer than an epoch", 1, 2, 8, 6),
    _lightning("3 x 1, a partial batch", 1, 3, 1, 20),
    _lightning("4 x 3, the last batch dropped", 1, 4, 3, 50, ", drop_last=True"),
    _lightning("2 x 4 on 2", 2, 2, 4),
    _lightning("1 x 2 on 2", 2, 1, 2),
    _lightning("2 x 2 on 2, a partial step", 2, 2, 2, 21),
    _lightning("2 x 2 on 4", 4, 2, 2),
    _deepspeed("micro 2 x 4", 1, train_micro_batch_size_per_gpu=2, gradient_accumulation_steps=4),
    _deepspeed("batch 6 of micro 2", 1, train_batch_size=6, train_micro_batch_size_per_gpu=2),
    _deepspeed("batch 8 in 4 steps", 1, train_batch_size=8, gradient_accumulation_steps=4),
    _deepspeed("batch 5 alone, a partial batch", 1, 23, train_batch_size=5),
    _deepspeed("micro 3 alone, the last batch dropped", 1, 23, train_micro_batch_size_per_gpu=3, dataloader_drop_last=True),
    _deepspeed("micro 2 x 3 on 2", 2, train_micro_batch_size_per_gpu=2, gradient_accumulation_steps=3),
    _deepspeed("batch 16 of micro 2 on 2", 2, train_batch_size=16, train_micro_batch_size_per_gpu=2),
    _deepspeed("batch 12 in 2 steps on 2", 2, train_batch_size=12, gradient_accumulation_steps=2),
    _deepspeed("batch 10 alone on 2", 2, 40, train_batch_size=10),
    _deepspeed("micro 1 x 4 on 2, ZeRO 1", 2, zero=1, train_micro_batch_size_per_gpu=1, gradient_accumulation_steps=4),
    _deepspeed("micro 2 x 2 on 2, ZeRO 2", 2, zero=2, train_micro_batch_size_per_gpu=2, gradient_accumulation_steps=2),
    _deepspeed("micro 2 x 2 on 2, a partial batch", 2, 21, train_micro_batch_size_per_gpu=2, gradient_accumulation_steps=2),
    _deepspeed("all three on 4", 4, train_batch_size=16, train_micro_batch_size_per_gpu=2, gradient_accumulation_steps=2),
    _deepspeed("batch 24 of micro 3 on 4, ZeRO 2", 4, zero=2, train_batch_size=24, train_micro_batch_size_per_gpu=3),
    _deepspeed("batch 8 alone on 4", 4, train_batch_size=8),
    _litgpt("batch 8 of micro 2", 1, 8, 2),
    _litgpt("batch 7 of micro 2, rounded down", 1, 7, 2),
    _litgpt("batch 6 of micro 3, steps given", 1, 6, 3, max_steps=3, epochs=2),
    _litgpt("batch 8 of micro 2 on 2", 2, 8, 2, 44),
    _litgpt("batch 9 of micro 2 on 2, rounded down", 2, 9, 2),
    _litgpt("batch 4 of micro 1 on 2", 2, 4, 1),
    _torchtune("2 x 3", 1, 2, 3, 25, "full_finetune_single_device"),
    _torchtune("3 x 1", 1, 3, 1, 24, "full_finetune_single_device"),
    _torchtune("2 x 3 on 2", 2, 2, 3, 30),
    _torchtune("4 x 1 on 2", 2, 4, 1),
    _torchtune("1 x 4 on 2", 2, 1, 4),
    _axolotl("2 x 3", 2, 3),
    _axolotl("4 x 1, a partial step", 4, 1, 30),
    _axolotl("3 x 2, steps given", 3, 2, max_steps=2),
    _llamafactory("2 x 3", 1, 2, 3),
    _llamafactory("4 x 1, a partial step", 1, 4, 1, 30),
    _llamafactory("3 x 2, steps given", 1, 3, 2, max_steps=2),
    _llamafactory("2 x 2 on 2", 2, 2, 2),
    _llamafactory("1 x 4 on 2", 2, 1, 4),
    _sentences("fit, 6", 1, _FIT.format(micro=6)),
    _sentences("4 x 3", 1, _SENTENCES.format(micro=4, steps=3)),
    _llamafactory("DPO, 2 x 3", 1, 2, 3, stage="dpo", pref_loss="orpo"),
    _llamafactory("DPO, 2 x 2 on 2", 2, 2, 2, stage="dpo", pref_loss="simpo"),
    _llamafactory("reward, 1 x 4", 1, 1, 4, stage="rm"),
    _llamafactory("pre-training, packed", 1, 2, 2, stage="pt", packing=True, max_steps=2),
    _llamafactory("packed on 2", 2, 2, 1, packing=True, max_steps=2),
    _llamafactory("the last batch dropped on 2", 2, 2, 2, 31, dataloader_drop_last=True),
    _axolotl("2 x 2, packed", 2, 2, 96, sample_packing=True, pad_to_sequence_len=True, max_steps=2, flash_attention=False),
    _axolotl("1 x 4, packed", 1, 4, 96, sample_packing=True, pad_to_sequence_len=True, max_steps=2),
    _axolotl("grouped by length, the last batch dropped", 3, 2, 46, group_by_length=True, dataloader_drop_last=True),
    _trainer("steps of the accumulation plug-in", 1, 2, 1, accelerator_config={"gradient_accumulation_kwargs": {"num_steps": 4}}),
    _trainer("each batch synchronised on 2", 2, 2, 3, accelerator_config={"gradient_accumulation_kwargs": {"sync_each_batch": True}}),
    _trainer("streamed on 2, a share for each", 2, 2, 2, streaming=True, accelerator_config={"dispatch_batches": False}),
    _trainer("streamed on 4 and split", 4, 8, 1, streaming=True, **_SPLIT),
    _trainer("split on 2, a partial step", 2, 4, 2, 27, **_EPOCHS, num_train_epochs=1, **_SPLIT),
    _trainer("dispatched on 2, a partial step", 2, 2, 3, 31, **_EPOCHS, num_train_epochs=1, **_DISPATCH),
    _trainer("the last batch dropped on 4", 4, 2, 2, 61, **_EPOCHS, num_train_epochs=2, dataloader_drop_last=True),
    _trainer("average over tokens off on 2", 2, 1, 3, average_tokens_across_devices=False),
    _trainer(
        "DeepSpeed on 2, numbers",
        2,
        2,
        3,
        deepspeed={
            "train_batch_size": 12,
            "train_micro_batch_size_per_gpu": 2,
            "gradient_accumulation_steps": 3,
            "zero_optimization": {"stage": 1},
            "zero_allow_untested_optimizer": True,
        },
    ),
    Judged("trainer: its own defaults", "trainer", 1, {"max_steps": 2}),
    _trl("sft", "2 x 3 on 2, packed", 2, 2, 3, packing=True, packing_strategy="wrapped", max_length=8),
    _trl("sft", "4 x 2 on 2, split", 2, 4, 2, **_SPLIT),
    _trl("sft", "2 x 2 on 2, DeepSpeed", 2, 2, 2, **_AUTO),
    _trl("sft", "3 x 2, the last batch dropped", 1, 3, 2, **_EPOCHS, num_train_epochs=2, dataloader_drop_last=True),
    _trl("dpo", "2 x 2, reference computed before", 1, 2, 2, precompute_ref_log_probs=True),
    _trl("dpo", "2 x 3 on 2, an epoch", 2, 2, 3, **_EPOCHS, num_train_epochs=1),
    _trl("dpo", "4 x 1 on 2, split", 2, 4, 1, **_SPLIT),
    _trl("kto", "1 x 4, a loss without pairs", 1, 1, 4, loss_type="apo_zero_unpaired"),
    _trl("kto", "2 x 2, reference computed before", 1, 2, 2, precompute_ref_log_probs=True),
    _trl("reward", "1 x 4 on 2, the last batch dropped", 2, 1, 4, dataloader_drop_last=True),
    _trl("grpo", "4 x 2 on 2, split", 2, 4, 2, num_generations=4, **_SPLIT),
    _trl("grpo", "2 x 3 in groups of 3, three iterations", 1, 2, 3, num_generations=3, num_iterations=3),
    _trl("grpo", "1 x 8 in groups of 8, tokens as one", 1, 1, 8, num_generations=8, loss_type="dapo", shuffle_dataset=False),
    _trl("rloo", "1 x 4 on 2, a generation of 16", 2, 1, 4, num_generations=4, generation_batch_size=16, beta=0.0),
    _made("a plug-in that goes on over the end", 1, 3, f"{_PLUGGED}(num_steps=2, sync_with_dataloader=False)", 20, _PLUGIN),
    _made("a plug-in that goes on over the end on 2", 2, 2, f"{_PLUGGED}(num_steps=3, sync_with_dataloader=False)", 40, _PLUGIN),
    _loop("uneven batches allowed on 4", 4, 2, 2, 40, options="even_batches=False"),
    _loop("split on 2, a partial step", 2, 4, 2, 27, options="split_batches=True"),
    _ddp("2 x 3 on 2", 2, 2, 3),
    _ddp("3 x 2 on 4", 4, 3, 2),
    _ddp("2 x 2 on 2, the last batch dropped", 2, 2, 2, 31, ", drop_last=True"),
    _free("a step at the end too", 1, 4, "DataLoader(data, batch_size=3)", "(step + 1) % 4 == 0 or step == len(loader) - 1", 32),
    _free(
        "batches of a sampler on 2",
        2,
        2,
        "DataLoader(data, batch_sampler=BatchSampler(RandomSampler(data), 3, True))",
        "(step + 1) % 2 == 0",
    ),
    _lightning("each process its whole data on 2", 2, 2, 2, use_distributed_sampler=False),
    _lightning("some batches of an epoch", 1, 2, 2, limit_train_batches=7),
    _lightning("4 x 1 on 2, the last batch dropped", 2, 4, 1, 30, ", drop_last=True"),
    _lightning("2 x 3, two epochs with a partial step", 1, 2, 3, 20, max_epochs=2),
    _deepspeed("micro 3 alone on 4", 4, train_micro_batch_size_per_gpu=3),
    _deepspeed("all three on 2", 2, train_batch_size=24, train_micro_batch_size_per_gpu=3, gradient_accumulation_steps=4),
    _deepspeed("8 steps of batch 8 on 1", 1, train_batch_size=8, gradient_accumulation_steps=8),
    _deepspeed("its own loader on 2", 2, program=_ENGINE_LOADER, train_batch_size=12, train_micro_batch_size_per_gpu=2),
    _trainer("a batch that may shrink", 1, 2, 4, auto_find_batch_size=True),
    _trainer("epochs and steps", 1, 2, 4, max_steps=3, num_train_epochs=5),
    _trainer("DeepSpeed on 2, ZeRO 3", 2, 2, 2, deepspeed={**_AUTO["deepspeed"], "zero_optimization": {"stage": 3}}),
    _trainer("split on 2, the last batch dropped", 2, 4, 2, 30, **_EPOCHS, num_train_epochs=1, dataloader_drop_last=True, **_SPLIT),
    _trainer("recomputed, with noise and Adafactor", 1, 2, 2, gradient_checkpointing=True, neftune_noise_alpha=5, optim="adafactor"),
    _trl("grpo", "4 x 2, an epoch", 1, 4, 2, **_EPOCHS, num_train_epochs=1, num_generations=4)._replace(rows=12),
    _trl("grpo", "2 x 2 on 2, an epoch", 2, 2, 2, **_EPOCHS, num_train_epochs=1, num_generations=4)._replace(rows=12),
    _trl("rloo", "2 x 2 on 2, an epoch", 2, 2, 2, **_EPOCHS, num_train_epochs=1, num_generations=2, beta=0.0)._replace(rows=12),
    _trl("kto", "2 x 3 on 2, an epoch", 2, 2, 3, **_EPOCHS, num_train_epochs=1)._replace(rows=50),
    _trl("reward", "3 x 2, an epoch", 1, 3, 2, **_EPOCHS, num_train_epochs=1)._replace(rows=40),
    _trl("orpo", "5 x 2, an epoch", 1, 5, 2, **_EPOCHS, num_train_epochs=1)._replace(rows=48),
    _trl("cpo", "2 x 2 on 2, an epoch", 2, 2, 2, **_EPOCHS, num_train_epochs=1)._replace(rows=44),
    _trl("online_dpo", "4 x 2, an epoch", 1, 4, 2, **_EPOCHS, num_train_epochs=1)._replace(rows=24),
    Judged("loop: fitted", "loop", 1, {}, 48, _FITTED.format(total=16)),
    Judged("loop: fitted on 2", "loop", 2, {}, 48, _FITTED.format(total=8)),
    _free(
        "a total shared on 2",
        2,
        3,
        "DataLoader(data, batch_size=16 // accelerator.num_processes, drop_last=True)",
        "(step + 1) % 3 == 0",
        96,
    ),
    _shared("a total shared on 2", "micro = 16 // dist.get_world_size()\nsteps = 1"),
    _shared("steps shared on 2", "micro, steps = 2, 8\nsteps //= int(os.environ['WORLD_SIZE'])"),
    _shared("steps of a total on 4", "world = int(os.environ['WORLD_SIZE'])\nmicro = 2\nsteps = 16 // (micro * world)", 4),
    _shared("FSDP on 2", "micro, steps = 3, 2", wrapper="fully_shard"),
    Judged("torch: Fabric on 2", "torch", 2, {}, 48, _FABRIC),
    Judged("lightning: a data module on 2", "lightning", 2, {}, 48, _DATA_MODULE),
    _deepspeed("micro 2 x 2 on 2, ZeRO 3", 2, zero=3, train_micro_batch_size_per_gpu=2, gradient_accumulation_steps=2),
)
