#!/bin/bash
axolotl train lora.yaml --num-processes 4
