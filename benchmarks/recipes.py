"""Folders of recipes to measure with, made of a few recipes in the styles of those that people keep."""

from __future__ import annotations

from pathlib import Path
from typing import Final

TRL: Final = """\
# Config for 2 nodes with GBS 128
model_name_or_path: acme/model-{number}
torch_dtype: bfloat16
attn_implementation: flash_attention_2
dataset_name: acme/dialogues
dataset_num_proc: 12
bf16: true
learning_rate: 2.0e-05
lr_scheduler_type: cosine
warmup_ratio: 0.03
max_length: 8192
packing: true
num_train_epochs: 2
eval_strategy: 'no'
logging_steps: 5
save_strategy: epoch
seed: {number}
output_dir: data/model-{number}
per_device_train_batch_size: 2
gradient_accumulation_steps: 4
"""
AXOLOTL: Final = """\
base_model: acme/model-{number}
model_type: AutoModelForCausalLM
strict: false

datasets:
  - path: acme/dialogues
    type: chat_template
    split: train[:90%]
  - path: acme/mathematics
    type: chat_template
    field_messages: turns
    message_property_mappings:
      role: speaker
      content: said
dataset_prepared_path: prepared/{number}
val_set_size: 0.02
output_dir: ./out/{number}

sequence_len: 4096
sample_packing: true
pad_to_sequence_len: true

adapter: lora
lora_r: 32
lora_alpha: 64
lora_dropout: 0.05
lora_target_modules:
  - q_proj
  - k_proj
  - v_proj
  - o_proj

micro_batch_size: 2  # for each GPU
gradient_accumulation_steps: 4
num_epochs: 3
optimizer: adamw_torch_fused
lr_scheduler: cosine
learning_rate: 0.0002
bf16: auto
tf32: false
gradient_checkpointing: true
logging_steps: 1
flash_attention: true
warmup_ratio: 0.1
evals_per_epoch: 4
saves_per_epoch: 1
weight_decay: 0.0
special_tokens:
  pad_token: "<|end_of_text|>"
"""
NEMO: Final = """\
# A model of 7 billion parameters on 16 nodes of 8 GPUs
name: gpt_{number}
restore_from_path: null
trainer:
  devices: 8
  num_nodes: 16
  accelerator: gpu
  precision: bf16
  logger: false
  enable_checkpointing: false
  max_epochs: null
  max_steps: 300000
  max_time: "05:23:30:00"
  log_every_n_steps: 10
  val_check_interval: 2000
  limit_val_batches: 50
  accumulate_grad_batches: 1
  gradient_clip_val: 1.0
exp_manager:
  explicit_log_dir: results/{number}
  name: gpt
  create_wandb_logger: false
  resume_if_exists: true
  checkpoint_callback_params:
    monitor: val_loss
    save_top_k: 10
    mode: min
    always_save_nemo: false
    model_parallel_size: 4
model:
  mcore_gpt: true
  micro_batch_size: 2
  global_batch_size: 2048
  rampup_batch_size: null
  tensor_model_parallel_size: 2
  pipeline_model_parallel_size: 2
  virtual_pipeline_model_parallel_size: null
  encoder_seq_length: 4096
  max_position_embeddings: 4096
  num_layers: 32
  hidden_size: 4096
  ffn_hidden_size: 10880
  num_attention_heads: 32
  init_method_std: 0.01
  hidden_dropout: 0.0
  attention_dropout: 0.0
  normalization: layernorm1p
  activation: fast-swiglu
  transformer_block_type: pre_ln
  tokenizer:
    library: sentencepiece
    type: null
    model: tokenizer/{number}.model
  optim:
    name: distributed_fused_adam
    lr: 1.2e-4
    weight_decay: 0.1
    betas:
    - 0.9
    - 0.95
    sched:
      name: CosineAnnealing
      warmup_steps: 500
      constant_steps: 0
      min_lr: 1.2e-5
  data:
    data_impl: mmap
    splits_string: 99990,8,2
    seq_length: 4096
    num_workers: 2
    dataloader_type: single
    data_prefix:
    - 0.6
    - data/books_{number}
    - 0.4
    - data/web_{number}
"""
TORCHTUNE: Final = """\
output_dir: /tmp/torchtune/{number}
tokenizer:
  _component_: torchtune.models.llama3.llama3_tokenizer
  path: /tmp/model-{number}/tokenizer.model
  max_seq_len: null
dataset:
  _component_: torchtune.datasets.alpaca_dataset
  packed: false
seed: null
shuffle: true
model:
  _component_: torchtune.models.llama3_1.llama3_1_8b
checkpointer:
  _component_: torchtune.training.FullModelHFCheckpointer
  checkpoint_dir: /tmp/model-{number}/
  checkpoint_files:
    filename_format: model-{{}}-of-{{}}.safetensors
    max_filename: "00004"
  recipe_checkpoint: null
  output_dir: ${{output_dir}}
  model_type: LLAMA3
resume_from_checkpoint: false
batch_size: 2
epochs: 1
optimizer:
  _component_: torch.optim.AdamW
  lr: 2e-5
  fused: true
loss:
  _component_: torchtune.modules.loss.LinearCrossEntropyLoss
max_steps_per_epoch: null
gradient_accumulation_steps: 8
compile: false
device: cuda
enable_activation_checkpointing: true
dtype: bf16
metric_logger:
  _component_: torchtune.training.metric_logging.DiskLogger
  log_dir: ${{output_dir}}/logs
log_every_n_steps: 1
"""
EACH: Final = {"trl": TRL, "axolotl": AXOLOTL, "nemo": NEMO, "torchtune": TORCHTUNE}


def make_recipes(folder: Path, number: int) -> None:
    """Write `number` recipes of each style below `folder`, a hundred to a folder."""
    for style, text in EACH.items():
        for each in range(number):
            path = folder / style / f"family-{each // 100}" / f"{style}-{each}.yaml"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.format(number=each), encoding="utf-8")
