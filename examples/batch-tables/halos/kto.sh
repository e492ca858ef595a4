#!/bin/bash
accelerate launch --num_processes 8 launch.py loss=kto model=llama train_datasets=[shp] test_datasets=[shp] exp_name=kto \
    ++model.batch_size=64 ++model.gradient_accumulation_steps=2
