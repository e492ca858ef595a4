#!/bin/bash
#SBATCH --nodes=4
GPUS_PER_NODE=8
TP=4
PP=2
# global batch size 256 = 2 micro x 32 accumulation x 4 data-parallel
torchrun --nproc_per_node $GPUS_PER_NODE --nnodes 4 pretrain_gpt.py \
    --tensor-model-parallel-size $TP \
    --pipeline-model-parallel-size $PP \
    --micro-batch-size 2 \
    --global-batch-size 256 \
    --num-layers 32 --hidden-size 4096 --num-attention-heads 32 \
    --seq-length 4096 --train-iters 100000
