from trl import GRPOConfig, GRPOTrainer


def main(dataset, rewards):
    args = GRPOConfig(
        output_dir="data/grpo",
        num_generations=8,
        per_device_train_batch_size=8,
        gradient_accumulation_steps=4,  # 32 prompts per step: GBS 256 on 8 GPUs
        learning_rate=1e-6,
    )
    GRPOTrainer(model="my-org/tiny-llm", args=args, reward_funcs=rewards, train_dataset=dataset).train()
