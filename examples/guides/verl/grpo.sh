#!/bin/bash
# 1024 prompts per rollout, 4 updates of 256
python3 -m verl.trainer.main_ppo \
    algorithm.adv_estimator=grpo \
    data.train_files=math.parquet \
    data.train_batch_size=1024 \
    actor_rollout_ref.model.path=my-org/tiny-llm \
    actor_rollout_ref.actor.ppo_mini_batch_size=256 \
    actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=16 \
    actor_rollout_ref.rollout.n=5 \
    trainer.n_gpus_per_node=8 \
    trainer.nnodes=2
