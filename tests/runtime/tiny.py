"""Tiny models, their words and texts, made in memory."""

from typing import Any

from transformers import LlamaConfig, LlamaForCausalLM, LlamaForSequenceClassification, PreTrainedTokenizerFast

WORDS = [f"w{number}" for number in range(60)]
TINY = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "max_position_embeddings": 64}


def tokenizer() -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers

    vocabulary = {word: number for number, word in enumerate(["<pad>", "<eos>", "<unk>", *WORDS])}
    made = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=made, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>", padding_side="left")


def text(number: int, length: int) -> str:
    return " ".join(WORDS[(number * 7 + place) % len(WORDS)] for place in range(length + number % 5))


def model_of(kind: str) -> Any:
    config = LlamaConfig(vocab_size=63, pad_token_id=0, eos_token_id=1, bos_token_id=1, num_labels=1, **TINY)
    return (LlamaForSequenceClassification if kind == "reward" else LlamaForCausalLM)(config)
