"""fairseq2: each rank reads so many batches for a step; a batch is a number of examples, or is filled up to a number of tokens.

FS is commit 027bdebc of facebookresearch/fairseq2; `FS recipe/config.py:323` is a line of src/fairseq2/, `FS recipes/lm/sft/config.py:126`
of the recipes beside it. A file is merged into the recipe's own defaults, which is why these differ from table to table.
"""

from __future__ import annotations

from pytest_gbs.core.equation import Equation, world
from pytest_gbs.core.framework import Arguments, Condition, Constraint, Framework, Loader, Reading, Recognition, Row, Treatment
from pytest_gbs.core.quantity import FACTORS, Name
from pytest_gbs.core.typed import Final
from pytest_gbs.frameworks._dotted import dotted, key

# What a batch of one rank holds at most, and the longest sequence that is trained on.
_TOKENS: Final = "tokens_per_micro_batch"
_LONGEST: Final = "longest_sequence"
# Steps between checkpoints that are never deleted, and between validations, whether or not there is anything to validate on.
_KEPT: Final = "kept_checkpoint_steps"
_VALIDATED: Final = "validation_steps"

# int() takes what is no whole number yet: "8" is 8, true is 1 and 8.5 becomes 8.
_SIZE: Final = Reading(
    quoted=Treatment.ACCEPTS,
    whole_float=Treatment.ACCEPTS,
    fraction=Treatment.AUTO,
    boolean=Treatment.ACCEPTS,
    why="fairseq2 converts it with int() and takes no less than 1 (FS utils/structured.py:138-149)",
)
_OPTIONAL: Final = _SIZE._replace(null=Treatment.UNSET)
_NEVER: Final = _SIZE._replace(null=Treatment.AUTO)
_LENGTH: Final = _SIZE._replace(zero=Treatment.NO_STEPS, negative=Treatment.NO_STEPS, why="longer examples are dropped, and all are longer")
_PACKED: Final = _SIZE._replace(
    zero=Treatment.STOPS_LATE, negative=Treatment.STOPS_LATE, why="a packed row without a token can't be trained on"
)

_STEP: Final = "FS datasets/data_reader.py:116-124; FS trainer.py:561-617 (a step after num_batches batches of each rank)"
_GANGS: Final = "FS gang.py:938-945 (create_parallel_gangs); FS recipe/internal/gang.py:75-81"
_CHECKS: Final = "FS recipe/config.py:422-551 (RegimeSection.validate)"
_BUCKETS: Final = "FS data/data_pipeline.py:665-688 (create_bucket_sizes); FS recipes/lm/sft/dataset.py:261-275"

_BATCH: Final = key("dataset.batch_size")
_FILLED: Final = Condition(_BATCH, (None,))
_COUNTED: Final = _FILLED._replace(negated=True)


def _interval(word: str, name: str, default: int | None, source: str) -> Row:
    return Row(key(f"regime.{word}"), name, default, _NEVER, source)


def _shared(accumulation: int | None, steps: tuple[int | None, ...], source: str) -> tuple[Row, ...]:
    """Return what all recipes have; `steps` are the defaults of training, saving, keeping, validating and publishing."""
    trained, saved, kept, validated, published = steps
    batches = key("trainer.grad_accumulation.num_batches")
    return (
        Row(batches, Name.GRADIENT_ACCUMULATION_STEPS, accumulation, _SIZE, f"FS recipe/config.py:323-334; {source}"),
        Row(key("gang.tensor_parallel_size"), Name.TENSOR_PARALLEL_SIZE, 1, _SIZE, "FS recipe/config.py:218-230"),
        _interval("num_steps", Name.MAX_STEPS, trained, source),
        _interval("checkpoint_every_n_steps", Name.SAVE_STEPS, saved, source),
        _interval("keep_checkpoint_every_n_steps", _KEPT, kept, source),
        _interval("validate_every_n_steps", _VALIDATED, validated, source),
        _interval("publish_metrics_every_n_steps", Name.LOGGING_STEPS, published, source),
    )


_WORLD: Final = (
    world("FS world_info.py:34-81 (WORLD_SIZE of the launcher)"),
    Equation(Name.DATA_PARALLEL_SIZE, (Name.WORLD_SIZE,), (Name.TENSOR_PARALLEL_SIZE,), source=_GANGS),
)


def _batch(unit: str) -> Equation:
    return Equation(Name.GLOBAL_BATCH_SIZE, FACTORS, unit=unit, source=_STEP)


def _set(word: str, default: int | None) -> Condition:
    """Return the condition that an interval is not switched off: null takes the place of the recipe's default."""
    return Condition(key(f"regime.{word}"), (None,), negated=True, default=default)


def _intervals(steps: tuple[int | None, ...]) -> tuple[Constraint, ...]:
    """Return which intervals must be multiples of each other."""
    _, saved, kept, validated, published = steps
    saves, keeps = _set("checkpoint_every_n_steps", saved), _set("keep_checkpoint_every_n_steps", kept)
    validates, publishes = _set("validate_every_n_steps", validated), _set("publish_metrics_every_n_steps", published)
    best = _set("keep_best_n_checkpoints", None)
    return (
        Constraint("GBS208", (_VALIDATED,), (Name.LOGGING_STEPS,), when=(validates, publishes), label="validation", source=_CHECKS),
        Constraint("GBS208", (Name.SAVE_STEPS,), (Name.LOGGING_STEPS,), when=(saves, publishes), label="checkpoints", source=_CHECKS),
        Constraint("GBS208", (Name.SAVE_STEPS,), (_VALIDATED,), when=(saves, validates, best), label="best checkpoints", source=_CHECKS),
        Constraint("GBS208", (_KEPT,), (Name.SAVE_STEPS,), when=(keeps, saves), label="kept checkpoints", source=_CHECKS),
    )


# No other framework has a section `regime`.
_REGIME: Final = dotted(
    """regime.num_steps regime.num_data_epochs regime.validate_every_n_steps regime.checkpoint_every_n_steps
    regime.checkpoint_every_n_data_epochs regime.publish_metrics_every_n_steps"""
)
# Before 0.5 the accumulation was `trainer.gradient_accumulation`, and preferences and rewards had a `criterion`.
_EARLIER: Final = dotted("trainer.gradient_accumulation criterion")
_OF_SPEECH: Final = dotted("dataset.max_audio_len dataset.max_num_elements trainer.freeze_encoder_for_n_steps")
_OF_DIALOGUES: Final = dotted(
    "dataset.chat_mode dataset.config_overrides.sources.train dataset.source_encode_mode dataset.target_encode_mode"
)

_LM_STEPS: Final = (48_000, 1000, 4000, 4000, 10)
_OPEN_STEPS: Final = (None, None, None, None, None)
_SFT: Final = "FS recipes/lm/sft/config.py"
_TRAIN: Final = "FS recipes/lm/train/config.py"
_WAV2VEC2: Final = "FS recipes/wav2vec2/asr/config.py:78-117, recipes/wav2vec2/ssl/config.py:50-83"
# The recipe for pretraining has nothing to validate on (FS recipes/lm/train/recipe.py:76).
_VALIDATES: Final = Condition(key("dataset.valid_split"), (None,), negated=True)

_TUNING: Final = Framework(
    name="fairseq2",
    title="fairseq2 (SFT)",
    recognition=Recognition(one_of=(_OF_DIALOGUES, _REGIME), none_of=(*_OF_SPEECH, *_EARLIER, key("dataset.sync_ranks"))),
    unit="samples",
    rows=(
        Row(_BATCH, Name.MICRO_BATCH_SIZE, None, _OPTIONAL, f"{_SFT}:126-130; FS recipes/lm/sft/recipe.py:71-74, dataset.py:286"),
        Row(key("dataset.max_seq_len"), Name.SEQUENCE_LENGTH, 8192, _LENGTH, f"{_SFT}:120-121", when=(_COUNTED,)),
        Row(key("dataset.max_seq_len"), _LONGEST, 8192, _SIZE, f"{_SFT}:120-121", when=(_FILLED,)),
        Row(key("dataset.max_num_tokens"), _TOKENS, 16_384, _SIZE, f"{_SFT}:123", when=(_FILLED,)),
        *_shared(1, _LM_STEPS, f"{_SFT}:60-93"),
        _interval("validate_every_n_steps", Name.EVAL_STEPS, 4000, f"{_SFT}:85; FS recipes/lm/sft/recipe.py:101")._replace(
            when=(_VALIDATES,)
        ),
    ),
    equations=(
        *_WORLD,
        _batch("samples"),
        # As many examples as fit: what they are in number nobody knows before.
        Equation(
            Name.TOKENS_PER_STEP,
            (_TOKENS, Name.GRADIENT_ACCUMULATION_STEPS, Name.DATA_PARALLEL_SIZE),
            unit="tokens",
            source=f"at most: {_BUCKETS}; {_STEP}",
        ),
    ),
    constraints=(
        Constraint("GBS202", (_TOKENS,), (_LONGEST,), when=(_FILLED,), label="max_num_tokens and max_seq_len", source=_BUCKETS),
        *_intervals(_LM_STEPS),
    ),
    names=dotted("common.metric_recorders.wandb.run_name"),
    loader=Loader.YAML12,
    version="fairseq2 0.9.0.dev0 (027bdebc)",
    source=f"{_STEP}; {_GANGS}; FS utils/yaml.py:36 (ruamel.yaml, YAML 1.2)",
    arguments=Arguments.PAIRS,
    package="fairseq2",
)

_PRETRAINING: Final = _TUNING._replace(
    title="fairseq2 (pretraining)",
    recognition=Recognition(
        one_of=(dotted("dataset.max_num_tokens dataset.family dataset.sync_ranks"), _REGIME),
        none_of=(*_OF_DIALOGUES, *_OF_SPEECH, *_EARLIER),
        when=(Condition(key("dataset.family"), ("lm_train",)), Condition(key("dataset.sync_ranks"), (True, False))),
    ),
    unit="tokens",
    rows=(
        Row(
            key("dataset.max_num_tokens"),
            Name.MICRO_BATCH_SIZE,
            16_384,
            _PACKED,
            f"{_TRAIN}:102; FS recipes/lm/train/dataset.py:102 (packed rows of one token more); FS datasets/batch.py:162-163",
            "tokens",
        ),
        *_shared(1, _LM_STEPS, f"{_TRAIN}:53-86"),
    ),
    equations=(
        *_WORLD,
        _batch("tokens"),
        Equation(Name.TOKENS_PER_STEP, (Name.GLOBAL_BATCH_SIZE,), unit="tokens", source="FS recipes/lm/train/dataset.py:102 (pack)"),
    ),
    constraints=_intervals(_LM_STEPS),
)

_SPEECH: Final = _TUNING._replace(
    title="fairseq2 (speech)",
    recognition=Recognition(one_of=(_OF_SPEECH, _REGIME), none_of=(*_OF_DIALOGUES, *_EARLIER)),
    # Batches are filled up to a length of audio, and 4 or 1 of them make a step: the recipe for wav2vec2 that reads the file says so.
    rows=(
        *_shared(None, _OPEN_STEPS, _WAV2VEC2),
        _interval("validate_every_n_steps", Name.EVAL_STEPS, None, _WAV2VEC2)._replace(when=(_VALIDATES._replace(default="valid"),)),
    ),
    equations=_WORLD,
    constraints=_intervals(_OPEN_STEPS),
)

FRAMEWORKS = (_TUNING, _PRETRAINING, _SPEECH)
