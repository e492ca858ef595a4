"""A training of a few rows on the CPU, by one of several libraries: `job.py LIBRARY ROWS [NAME=VALUE ...]`.

Prints how many optimizer steps it made, and what stopped it.
"""

import sys
from typing import Any

import torch

from pytest_gbs.runtime import GlobalBatchError, expect_global_batch_size, watch

LIBRARY, ROWS = sys.argv[1], int(sys.argv[2])
ASKED = dict(word.split("=") for word in sys.argv[3:])
MICRO, ACCUMULATION = 2, 4
EXPECTED = expect_global_batch_size(ROWS, micro=MICRO)
DATA = torch.arange(64 * 8).reshape(64, 8)


class Tokens(torch.utils.data.Dataset):
    def __len__(self) -> int:
        return len(DATA)

    def __getitem__(self, index: int) -> dict[str, list[int]]:
        row = DATA[index].tolist()
        return {"input_ids": row, "labels": row, "attention_mask": [1] * len(row)}


def of_transformers() -> tuple[Any, Any]:
    """A Trainer of transformers, as a function that trains and one that counts its steps."""
    from transformers import DataCollatorWithFlattening, LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments, default_data_collator

    from pytest_gbs.runtime.transformers import GlobalBatchCallback

    tiny = {"vocab_size": 512, "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    arguments = TrainingArguments(
        output_dir=ASKED["folder"],
        per_device_train_batch_size=MICRO,
        gradient_accumulation_steps=ACCUMULATION,
        max_steps=2,
        report_to=[],
        use_cpu=True,
        save_strategy="no",
        disable_tqdm=True,
        dataloader_num_workers=int(ASKED.get("workers", 0)),
        accelerator_config={name: True for name in ("split_batches", "dispatch_batches") if name in ASKED},
    )
    trainer = Trainer(
        model=LlamaForCausalLM(LlamaConfig(**tiny)),
        args=arguments,
        train_dataset=Tokens(),
        data_collator=DataCollatorWithFlattening() if "flat" in ASKED else default_data_collator,
        callbacks=[GlobalBatchCallback(EXPECTED, warn="warn" in ASKED, record=ASKED.get("record"))],
    )
    return trainer.train, lambda: trainer.state.global_step


def of_lightning() -> tuple[Any, Any]:
    """A Trainer of Lightning."""
    import lightning

    from pytest_gbs.runtime.lightning import GlobalBatchCallback

    class Module(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(8, 1)

        def training_step(self, batch: Any, _: int) -> Any:
            return self.layer(batch.float()).mean()

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), 1e-3)

    trainer = lightning.Trainer(
        accelerator="cpu",
        devices=int(ASKED.get("devices", 1)),
        max_steps=2,
        accumulate_grad_batches=ACCUMULATION,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        use_distributed_sampler="same_rows" not in ASKED,
        callbacks=[GlobalBatchCallback(EXPECTED)],
    )
    return lambda: trainer.fit(Module(), torch.utils.data.DataLoader(DATA, batch_size=MICRO)), lambda: trainer.global_step


def of_accelerate() -> tuple[Any, Any]:
    """A loop of one's own with accelerate."""
    from accelerate import Accelerator

    accelerator = Accelerator(gradient_accumulation_steps=ACCUMULATION, cpu=True)
    model = torch.nn.Linear(8, 1)
    loader = torch.utils.data.DataLoader(DATA.float(), batch_size=MICRO)
    model, optimizer, loader = accelerator.prepare(model, torch.optim.SGD(model.parameters(), 1e-3), loader)
    steps = 0

    def train() -> None:
        nonlocal steps
        for batch in watch(EXPECTED, loader, optimizer):
            with accelerator.accumulate(model):
                accelerator.backward(model(batch).mean())
                optimizer.step()
                optimizer.zero_grad()
            steps += accelerator.sync_gradients

    return train, lambda: steps


def of_deepspeed() -> tuple[Any, Any]:
    """An engine of DeepSpeed, which makes its steps within backward."""
    import deepspeed

    deepspeed.init_distributed("gloo", verbose=False)
    model = torch.nn.Linear(8, 1)
    sizes = {"train_micro_batch_size_per_gpu": MICRO, "gradient_accumulation_steps": ACCUMULATION}
    settings = {**sizes, "zero_optimization": {"stage": int(ASKED.get("stage", 0))}, "zero_allow_untested_optimizer": True}
    optimizer = torch.optim.SGD(model.parameters(), 1e-3)
    engine, _, loader, _ = deepspeed.initialize(model=model, optimizer=optimizer, training_data=list(DATA.float()), config=settings)

    def train() -> None:
        for batch in watch(EXPECTED, loader, engine):
            engine.backward(engine(batch).mean())
            engine.step()

    return train, lambda: engine.global_steps


def of_torch() -> tuple[Any, Any]:
    """A loop of one's own with nothing else."""
    model = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), 1e-3)
    steps = 0

    def train() -> None:
        nonlocal steps
        loader = torch.utils.data.DataLoader(DATA.float(), batch_size=MICRO)
        for number, batch in enumerate(watch(EXPECTED, loader, optimizer), start=1):
            model(batch).mean().backward()
            if number % ACCUMULATION == 0:
                optimizer.step()
                steps += 1

    return train, lambda: steps


def main() -> None:
    train, steps = globals()[f"of_{LIBRARY}"]()
    stopped = ""
    try:
        train()
    except GlobalBatchError as error:
        stopped = str(error)
    print(f"\nsteps {steps()} {stopped.splitlines()[:1]}", flush=True)


if __name__ == "__main__":
    main()
