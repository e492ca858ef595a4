#!/bin/bash
# effective batch size 128 on 8 GPUs
accelerate launch --num_processes 8 -m trl.scripts.sft --config sft.yaml
