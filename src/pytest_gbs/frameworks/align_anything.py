"""align-anything: batch sizes per device under `train_cfgs`, one DeepSpeed rank for each GPU, and trainers that use them differently.

AA is commit 3f9decc of PKU-Alignment/align-anything (0.0.1.dev0); `AA utils/tools.py:273` is a line of its folder align_anything, `TT` is
AA trainers/text_to_text. ACC is commit 16cb6eb8 of huggingface/accelerate, `ACC optimizer.py:162` a line of src/accelerate.

A trainer reads the one file that stands at its own place in the package (AA utils/tools.py:189-207) and takes bare keys on its command
line, so that no command names a recipe. Its steps, and with them `eval_interval`, are forward passes, not optimizer steps.
"""

from __future__ import annotations

from pytest_gbs.core.equation import Equation, world
from pytest_gbs.core.framework import (
    LENIENT,
    Arguments,
    Condition,
    Constraint,
    Framework,
    Reading,
    Recognition,
    Requirement,
    Row,
    Treatment,
)
from pytest_gbs.core.location import KeyPath
from pytest_gbs.core.quantity import FACTORS, Name
from pytest_gbs.core.typed import Final
from pytest_gbs.frameworks._dotted import dotted, key

_PREPARES: Final = "AA utils/tools.py:273-288 (prepare_ds_train_cfgs: micro batch x world size x accumulation)"
_LOADS: Final = "AA trainers/base/supervised_trainer.py:104-109, 152-160; datasets/any_to_text/combine.py:87-122"
_PROMPTS: Final = "AA trainers/base/rl_trainer.py:106-111"
_SPLITS: Final = "TT/ppo.py:245-259, 442-446 (rollout, train: a forward pass for each micro batch of the prompts)"
_WHOLE: Final = "TT/ppo.py:172-182 (init_check)"

# int() takes "8" and 8.0 and cuts 8.5; the steps of an epoch are worked out from the number as it stands.
_SIZE: Final = Reading(
    quoted=Treatment.ACCEPTS,
    whole_float=Treatment.ACCEPTS,
    fraction=Treatment.AUTO,
    boolean=Treatment.AUTO,
    why="align-anything converts it with int(), and DeepSpeed wants it above 0",
)
_STEPS: Final = _SIZE._replace(quoted=Treatment.STOPS, why="the number of batches is divided by it, and DeepSpeed wants it above 0")
_SPLIT: Final = _STEPS._replace(why="the prompts of a device are divided by it")
_COUNT: Final = Reading(boolean=Treatment.AUTO, why="each prompt is repeated so many times")
_OTHER: Final = LENIENT._replace(quoted=Treatment.ACCEPTS, whole_float=Treatment.ACCEPTS, null=Treatment.UNSET)

_CONFIG: Final = key("train_cfgs.ds_cfgs")
_TRAIN: Final = key("train_cfgs.per_device_train_batch_size")
_PROMPT: Final = key("train_cfgs.per_device_prompt_batch_size")
_ACCUMULATES: Final = key("train_cfgs.gradient_accumulation_steps")
_GROUP: Final = key("train_cfgs.num_generations")
_SAMPLES: Final = key("train_cfgs.n_samples_per_prompt")

_MICRO: Final = Row(_TRAIN, Name.MICRO_BATCH_SIZE, None, _SIZE, f"{_PREPARES}; {_LOADS}")
_ACCUMULATION: Final = Row(
    _ACCUMULATES, Name.GRADIENT_ACCUMULATION_STEPS, None, _STEPS, f"{_PREPARES}; AA trainers/base/supervised_trainer.py:236-238"
)
_EVALUATION: Final = tuple(
    Row(key(f"train_cfgs.{word}"), Name.EVAL_MICRO_BATCH_SIZE, None, _OTHER, source)
    for word, source in (
        ("per_device_eval_batch_size", "AA trainers/base/supervised_trainer.py:183-188, 224-229"),
        ("per_device_val_batch_size", "AA trainers/text_video_to_action/sft.py:267-280"),
    )
)
_PER_PASS: Final = Row(_TRAIN, Name.MICRO_BATCH_SIZE, None, _SPLIT, _SPLITS)
_PER_ROLLOUT: Final = Row(_PROMPT, Name.RANK_ROLLOUT_SIZE, None, _SPLIT, _PROMPTS, "prompts")

_RANKS: Final = (
    world("DeepSpeed edaa7221 launcher/launch.py:170-189"),
    Equation(Name.DATA_PARALLEL_SIZE, (Name.WORLD_SIZE,), source=f"{_PREPARES}; DistributedSampler in {_LOADS}"),
)
_ROLLOUT: Final = Equation(
    Name.PROMPTS_PER_ROLLOUT, (Name.RANK_ROLLOUT_SIZE, Name.DATA_PARALLEL_SIZE), unit="prompts", source=f"{_PROMPTS} (DistributedSampler)"
)


def _batch(unit: str, source: str, factors: tuple[str, ...] = FACTORS) -> Equation:
    return Equation(Name.GLOBAL_BATCH_SIZE, factors, unit=unit, source=source)


def _evaluation(micro: str, unit: str, source: str) -> Equation:
    return Equation(Name.EVAL_GLOBAL_BATCH_SIZE, (micro, Name.WORLD_SIZE), unit=unit, source=source)


def _groups(source: str) -> tuple[Equation, ...]:
    """Return how completions follow from prompts, each of which has several in the same forward pass."""
    return (
        Equation(Name.PROMPTS_PER_STEP, FACTORS, unit="prompts", source=source),
        _batch("completions", source, (Name.PROMPTS_PER_STEP, Name.NUM_GENERATIONS)),
    )


def _divides(prompts: str, micro: str, source: str) -> Constraint:
    label = "per_device_prompt_batch_size must be a multiple of per_device_train_batch_size"
    return Constraint("GBS202", (prompts,), (micro,), label=label, source=source)


def _table(
    title: str,
    unit: str,
    rows: tuple[Row, ...],
    equations: tuple[Equation, ...],
    source: str,
    *,
    one_of: tuple[tuple[KeyPath, ...], ...] = (),
    none_of: tuple[KeyPath, ...] = (),
    constraints: tuple[Constraint, ...] = (),
    needed: tuple[KeyPath, ...] = (_TRAIN, _ACCUMULATES),
    assumed: tuple[tuple[str, int], ...] = (),
) -> Framework:
    return Framework(
        name="align-anything",
        title=f"align-anything ({title})",
        recognition=Recognition(one_of=((_CONFIG,), (_TRAIN, _PROMPT, _ACCUMULATES), *one_of), none_of=none_of),
        unit=unit,
        rows=rows,
        equations=(*_RANKS, *equations),
        constraints=constraints,
        requirements=tuple(
            Requirement((each,), f"align-anything reads {each[-1]} without a default and stops", source="AA utils/tools.py:78-94, 278-279")
            for each in needed
        ),
        assumed=assumed,
        also=frozenset(("per_device_eval_batch_size", "per_device_kl_batch_size", "vae_encode_batch_size")),
        names=dotted("logger_cfgs.log_run_name"),
        sequences_per_sample=2 if unit == "pairs" else 1,
        version="align-anything 3f9decc",
        source=source,
        arguments=Arguments.NONE,
    )


# Keys that the losses on preferences read (TT/dpo.py, rm.py, kto.py; text_to_image/dpo_diffusion.py), and those of diffusion models.
_PREFERENCES: Final = dotted("train_cfgs.scale_coeff train_cfgs.regularization train_cfgs.beta_coeff train_cfgs.per_device_kl_batch_size")
_DIFFUSION: Final = dotted("train_cfgs.freeze_unet train_cfgs.lora_unet")
_VISION: Final = dotted("train_cfgs.freeze_vision_tower")
_COSTS: Final = dotted("train_cfgs.lambda_init")
_VLLM: Final = dotted("vllm_cfgs")

_STEPPED: Final = f"{_PREPARES}; TT/sft.py:100-104 (an engine's step for each batch of the DataLoader)"
_PAIRED: Final = f"{_PREPARES}; AA datasets/text_to_text/preference.py:179-184 (2 x B sequences); TT/dpo.py, rm.py (train_step)"
# Nothing calls Accelerator.accumulate, which alone makes optimizer.step() wait: the accumulation divides the loss and is no factor.
_UNWAITED: Final = (
    "AA trainers/text_to_image/sft_diffusion.py:129-139, dpo_diffusion.py (train_step); ACC state.py:1259; optimizer.py:162; "
    "accelerator.py:1229-1236, 2838-2840"
)
_EACH_PASS: Final = ((Name.GRADIENT_ACCUMULATION_STEPS, 1),)
_TURNED: Final = "TT/grpo.py:212-226, 257-324, 355-359 (one pass and one step over all completions of a device's prompts)"
_REPEATS: Final = "TT/multi_ppo.py:253-275, 463-467"
_SHARED: Final = "TT/ppo_vllm.py:202-220, 314-333, 395-412 (all ranks train on the same rollout, which rank 0 broadcasts)"
_UNSPLIT: Final = "AA trainers/text_image_to_text/saferlhf.py:343-430 (rollout: all prompts of a device in one pass)"
_GENERATES: Final = "AA trainers/base/rl_trainer.py:164-169, 289-309"

_WHOLE_PROMPTS: Final = (
    Row(_PROMPT, Name.MICRO_BATCH_SIZE, None, _SPLIT, _PROMPTS, "prompts"),
    Row(_TRAIN, Name.FIXED_MICRO_BATCH_SIZE, None, _SPLIT, _WHOLE),
)
_EVALUATES: Final = _evaluation(Name.MICRO_BATCH_SIZE, "prompts", _GENERATES)
_EVALUATES_FIXED: Final = _evaluation(Name.FIXED_MICRO_BATCH_SIZE, "prompts", _GENERATES)
_RL: Final = (_TRAIN, _PROMPT, _ACCUMULATES)
_ROLLS_OUT: Final = (_PER_PASS, _PER_ROLLOUT, _ACCUMULATION)
_HELD: Final = _evaluation(Name.EVAL_MICRO_BATCH_SIZE, "samples", "AA trainers/base/supervised_trainer.py:183-188; TT/sft.py:182-213")
_HELD_PAIRS: Final = _HELD._replace(unit="pairs", source="AA trainers/base/supervised_trainer.py:183-188; TT/rm.py (eval)")

FRAMEWORKS = (
    _table(
        "SFT",
        "samples",
        (_MICRO, _ACCUMULATION, *_EVALUATION),
        (_batch("samples", _STEPPED), _HELD),
        _STEPPED,
        none_of=(*_PREFERENCES, *_DIFFUSION, _PROMPT),
    ),
    _table(
        "preferences",
        "pairs",
        (_MICRO, _ACCUMULATION, *_EVALUATION),
        (_batch("pairs", _PAIRED), _HELD_PAIRS),
        _PAIRED,
        one_of=(_PREFERENCES,),
        none_of=(*_DIFFUSION, _PROMPT),
    ),
    _table(
        "diffusion",
        "samples",
        (_MICRO,),
        (_batch("samples", _UNWAITED),),
        _UNWAITED,
        assumed=_EACH_PASS,
        one_of=(_DIFFUSION,),
        none_of=(*_PREFERENCES, _PROMPT),
    ),
    _table(
        "diffusion, preferences",
        "pairs",
        (_MICRO,),
        (_batch("pairs", _UNWAITED),),
        _UNWAITED,
        assumed=_EACH_PASS,
        one_of=(_DIFFUSION, _PREFERENCES),
        none_of=(_PROMPT,),
    ),
    _table(
        "PPO",
        "completions",
        _ROLLS_OUT,
        (_batch("completions", _SPLITS), _ROLLOUT, _EVALUATES),
        _SPLITS,
        one_of=((_PROMPT,),),
        none_of=(_GROUP, _SAMPLES, *_VISION, *_COSTS, *_VLLM),
        constraints=(_divides(Name.RANK_ROLLOUT_SIZE, Name.MICRO_BATCH_SIZE, _WHOLE),),
        needed=_RL,
    ),
    _table(
        "PPO on images",
        "completions",
        (
            Row(_TRAIN, Name.FIXED_MICRO_BATCH_SIZE, None, _SPLIT, _WHOLE),
            # Some of its trainers split the prompts of a device into micro batches and some do not: one prompt is one either way.
            _PER_PASS._replace(
                when=(Condition(_PROMPT, (1,)),),
                source=f"{_SPLITS}, by trainers/text_image_to_text_image/ppo.py:49; trainers/text_image_to_text/ppo.py:207-268 has none",
            ),
            _PER_ROLLOUT,
            _ACCUMULATION,
        ),
        (_batch("completions", _SPLITS), _ROLLOUT, _EVALUATES_FIXED),
        _SPLITS,
        one_of=((_PROMPT,), _VISION),
        none_of=(_GROUP, _SAMPLES, *_COSTS, *_VLLM),
        constraints=(_divides(Name.RANK_ROLLOUT_SIZE, Name.FIXED_MICRO_BATCH_SIZE, _WHOLE),),
        needed=_RL,
    ),
    _table(
        "Safe RLHF-V",
        "completions",
        (*_WHOLE_PROMPTS, _ACCUMULATION),
        (_batch("completions", _UNSPLIT), _EVALUATES_FIXED),
        _UNSPLIT,
        one_of=((_PROMPT,), _COSTS),
        constraints=(_divides(Name.MICRO_BATCH_SIZE, Name.FIXED_MICRO_BATCH_SIZE, _WHOLE),),
        needed=_RL,
    ),
    _table(
        "PPO, several samples",
        "completions",
        (*_ROLLS_OUT, Row(_SAMPLES, Name.NUM_GENERATIONS, None, _COUNT, _REPEATS)),
        (*_groups(_REPEATS), _ROLLOUT, _EVALUATES),
        _REPEATS,
        one_of=((_PROMPT,), (_SAMPLES,)),
        none_of=(_GROUP, *_COSTS, *_VLLM),
        constraints=(
            _divides(Name.RANK_ROLLOUT_SIZE, Name.MICRO_BATCH_SIZE, "TT/multi_ppo.py:180-190 (init_check)"),
            Constraint(
                "GBS205",
                (Name.NUM_GENERATIONS,),
                at_least=2,
                when=(Condition(key("train_cfgs.advantage_estimator"), ("rloo", "reinforce_baseline", "group_norm")),),
                label="this advantage_estimator compares several samples of a prompt",
                source="TT/multi_ppo.py:98-101 (assert)",
            ),
        ),
        needed=_RL,
    ),
    _table(
        "PPO with vLLM",
        "completions",
        (_PER_PASS, Row(_PROMPT, Name.PROMPTS_PER_ROLLOUT, None, _SPLIT, _SHARED, "prompts"), _ACCUMULATION),
        (_batch("completions", _SHARED, (Name.MICRO_BATCH_SIZE, Name.GRADIENT_ACCUMULATION_STEPS)),),
        _SHARED,
        one_of=((_PROMPT,), _VLLM),
        none_of=(_GROUP, _SAMPLES, *_COSTS),
        constraints=(_divides(Name.PROMPTS_PER_ROLLOUT, Name.MICRO_BATCH_SIZE, _WHOLE),),
        needed=_RL,
    ),
    _table(
        "GRPO",
        "completions",
        (
            *_WHOLE_PROMPTS,
            # With a second data set the engine accumulates twice as long, and no step of the trainer is on it (TT/grpo.py:167-170).
            # It clears the gradients before each pass (TT/grpo.py:322), which ZeRO 2 and 3 keep elsewhere and stage 0 does not.
            _ACCUMULATION._replace(
                when=(Condition(key("data_cfgs.ptx_datasets"), (None,)), Condition(_CONFIG, ("ds_z0_config.json",), negated=True)),
                source=f"{_ACCUMULATION.source}; TT/grpo.py:165-170, 322-324; DeepSpeed edaa7221 runtime/engine.py:3316-3321 (zero_grad)",
            ),
            Row(_GROUP, Name.NUM_GENERATIONS, None, _COUNT, "TT/grpo.py:72-74, 223"),
        ),
        (*_groups(_TURNED), _EVALUATES_FIXED),
        _TURNED,
        one_of=((_PROMPT,), (_GROUP,)),
        constraints=(_divides(Name.MICRO_BATCH_SIZE, Name.FIXED_MICRO_BATCH_SIZE, "TT/grpo.py:76-83 (init_check)"),),
        needed=(*_RL, _GROUP),
    ),
)
