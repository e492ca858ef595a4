"""Recipes that are functions of Python files (torchtitan, NeMo 2, OLMo-core), their batches worked out by hand."""

from pathlib import Path

import pytest

from pytest_gbs.files.worktree import WorkTree
from pytest_gbs.model.hardware import CommandLineHardware
from pytest_gbs.model.quantity import Name
from pytest_gbs.model.report import FileReport
from pytest_gbs.model.settings import Settings
from tests.support import check


def files(folder: Path, text: str, world: int | None = None) -> tuple[FileReport, ...]:
    (folder / "config_registry.py").write_text(text, encoding="utf-8")
    return check(WorkTree(folder), (), Settings(), CommandLineHardware(world_size=world), keep_runs=True).files


def size(file: FileReport, name: str) -> int | None:
    return file.runs[0].geometry.value(name)


TITAN = """\
from torchtitan.config import ParallelismConfig, TrainingConfig
from torchtitan.trainer import Trainer


def small() -> Trainer.Config:
    return Trainer.Config(
        training=TrainingConfig({training}),
        parallelism=ParallelismConfig({parallel}),
    )
"""
DERIVED = """\


def large() -> Trainer.Config:
    config = small()
    config.model_spec = build("8B")
    config.training.{key} = {value}
    return config
"""


@pytest.mark.parametrize(
    ("training", "parallel", "accumulation", "batch"),
    [
        ("local_batch_size=2", "", 1, 16),  # 2 x 8
        ("local_batch_size=2", "tensor_parallel_degree=2", 1, 8),  # 2 x (8 / 2)
        ("local_batch_size=2, global_batch_size=64", "pipeline_parallel_degree=2", 8, 64),  # 64 / (2 x 4)
        ("num_tokens_per_microbatch_per_dp_rank=4096", "", 1, 32_768),  # 4,096 x 8
        ("num_tokens_per_microbatch_per_dp_rank=4096", "pipeline_parallel_degree=2, num_pp_microbatches=4", 1, 65_536),  # 4,096 x 4 x 4
        ("num_tokens_per_microbatch_per_dp_rank=4096", "num_pp_microbatches=4", 1, 32_768),  # without a pipeline it is ignored
        ("num_tokens_per_microbatch_per_dp_rank=4096, num_tokens_per_train_step=131_072", "", 4, 131_072),
    ],
)
def test_the_batch_of_a_function_of_torchtitan(training: str, parallel: str, accumulation: int, batch: int, tmp_path: Path) -> None:
    (found,) = files(tmp_path, TITAN.format(training=training, parallel=parallel), 8)
    assert (found.framework, found.findings) == ("torchtitan", ())
    assert (size(found, Name.GRADIENT_ACCUMULATION_STEPS), size(found, Name.GLOBAL_BATCH_SIZE)) == (accumulation, batch)


def test_a_function_starts_from_another(tmp_path: Path) -> None:
    text = TITAN.format(training="local_batch_size=2", parallel="tensor_parallel_degree=4")
    small, large = files(tmp_path, text + DERIVED.format(key="local_batch_size", value=6), 8)
    assert [size(each, Name.GLOBAL_BATCH_SIZE) for each in (small, large)] == [4, 12]  # 2 x 8 / 4 and 6 x 8 / 4


@pytest.mark.parametrize("parallel", ["**degrees", "tensor_parallel_degree=count()"])
def test_degrees_that_the_text_does_not_fix_leave_the_batch_open(parallel: str, tmp_path: Path) -> None:
    (found,) = files(tmp_path, TITAN.format(training="local_batch_size=2", parallel=parallel), 8)
    assert size(found, Name.MICRO_BATCH_SIZE) == 2
    assert size(found, Name.GLOBAL_BATCH_SIZE) is None


OWN = """

class Own({base}):
    def __post_init__(self) -> None:
        {sets}


def own() -> Trainer.Config:
    config = Own(training=TrainingConfig(num_tokens_per_microbatch_per_dp_rank=4096), parallelism=ParallelismConfig({parallel}))
    return config
"""
TOKENS = "num_tokens_per_microbatch_per_dp_rank=4096"


@pytest.mark.parametrize(
    ("base", "sets", "parallel"),
    [
        pytest.param("object", "pass", "", id="a class of nothing"),
        pytest.param("Trainer.Config", "self.parallelism.tensor_parallel_degree = 2", "", id="it sets a degree"),
        pytest.param("Trainer.Config", "pass", "**degrees", id="degrees from elsewhere"),
    ],
)
def test_a_class_of_the_file_that_may_set_degrees_leaves_the_batch_open(base: str, sets: str, parallel: str, tmp_path: Path) -> None:
    text = TITAN.format(training=TOKENS, parallel="") + OWN.format(base=base, sets=sets, parallel=parallel)
    _, own = files(tmp_path, text, 8)
    assert size(own, Name.GLOBAL_BATCH_SIZE) is None


def test_attributes_of_what_is_not_seen_leave_the_batch_open(tmp_path: Path) -> None:
    lines = "config = imported()\n    config.training.num_tokens_per_microbatch_per_dp_rank = 4096\n    config.parallelism.steps = 1\n"
    text = TITAN.format(training=TOKENS, parallel="") + f"\n\ndef other():\n    {lines}    return config\n"
    _, other = files(tmp_path, text, 8)
    assert (size(other, Name.MICRO_BATCH_SIZE), size(other, Name.GLOBAL_BATCH_SIZE)) == (4096, None)


@pytest.mark.parametrize(("parallel", "batch"), [("", 32_768), ("tensor_parallel_degree=2", 16_384)])  # 4,096 x 8, 4,096 x 8 / 2
def test_a_class_of_the_file_that_is_made_from_the_library(parallel: str, batch: int, tmp_path: Path) -> None:
    text = TITAN.format(training=TOKENS, parallel="") + OWN.format(
        base="Trainer.Config", sets="self.optimizer = align(self)", parallel=parallel
    )
    _, own = files(tmp_path, text, 8)
    assert (own.findings, size(own, Name.GLOBAL_BATCH_SIZE)) == ((), batch)


def test_a_global_batch_that_does_not_hold_whole_local_batches(tmp_path: Path) -> None:
    (found,) = files(tmp_path, TITAN.format(training="local_batch_size=16, global_batch_size=64", parallel=""), 8)
    assert [each.code for each in found.findings] == ["GBS202"]  # 64 / (16 x 8)


def test_a_function_without_a_library_is_not_a_recipe(tmp_path: Path) -> None:
    text = TITAN.format(training="local_batch_size=3, global_batch_size=64", parallel="").replace("torchtitan", "mine")
    assert not any(each.framework for each in files(tmp_path, text, 8))


NEMO = """\
import nemo_run as run
from nemo import lightning as nl
from nemo.collections import llm


def trainer(tensor_parallelism: int = 2, context_parallelism: int = 1, num_nodes: int = 1, num_gpus_per_node: int = 8):
    strategy = run.Config(
        nl.MegatronStrategy,
        tensor_model_parallel_size=tensor_parallelism,
        pipeline_model_parallel_size=2,
        context_parallel_size=context_parallelism,
    )
    return run.Config(nl.Trainer, devices=num_gpus_per_node, num_nodes=num_nodes, strategy=strategy)


@run.cli.factory(target=llm.pretrain, name="small")
def pretrain_recipe(num_nodes: int = {nodes}, num_gpus_per_node: int = 8, performance_mode: bool = False):
    \"\"\"Pre-training.

    Examples:
        >>> recipe = pretrain_recipe(num_nodes=5)
    \"\"\"
    recipe = run.Partial(
        llm.pretrain,
        trainer=trainer(num_nodes=num_nodes, num_gpus_per_node=num_gpus_per_node),
        data=run.Config(llm.MockDataModule, seq_length=8192, global_batch_size={batch}, micro_batch_size=2),
    )
    if performance_mode:
        recipe = faster(recipe)
    return recipe


def faster(recipe):
    recipe.trainer.callbacks = []
    return recipe
"""


def test_a_factory_of_nemo(tmp_path: Path) -> None:
    (found,) = files(tmp_path, NEMO.format(nodes=2, batch=64))
    assert (found.framework, found.findings) == ("nemo", ())
    assert size(found, Name.DATA_PARALLEL_SIZE) == 4  # 16 / (2 x 2)
    assert size(found, Name.GRADIENT_ACCUMULATION_STEPS) == 8  # 64 / (2 x 4)


def test_a_factory_whose_nodes_do_not_divide_its_batch(tmp_path: Path) -> None:
    (found,) = files(tmp_path, NEMO.format(nodes=2, batch=36))
    assert [each.code for each in found.findings] == ["GBS202"]  # 36 / (2 x 4)


def test_one_node_is_what_a_factory_has_until_it_is_called(tmp_path: Path) -> None:
    (found,) = files(tmp_path, NEMO.format(nodes=1, batch=34))
    assert found.findings == ()
    assert size(found, Name.WORLD_SIZE) is None


BY_ARGUMENTS = """\
import nemo_run as run
from nemo.collections import llm
from scripts.performance.helpers import set_primary_perf_configs

def recipe():
    recipe = llm.llama31_70b.pretrain_recipe({made})
    recipe.data.micro_batch_size = 1
    recipe.data.global_batch_size = 64
    {more}
    return recipe
"""
PERFORMANCE = "recipe = set_primary_perf_configs(recipe, 'pre_train', mbs=2, gbs={}, tp_size=2, pp_size=1, cp_size=1, {})"


@pytest.mark.parametrize(
    ("made", "more", "world", "accumulation"),
    [
        pytest.param("num_nodes=4, num_gpus_per_node=8", "pass", 32, None, id="parallel sizes are those of a recipe that is not here"),
        pytest.param(
            "num_nodes=4, num_gpus_per_node=8, tensor_parallelism=2, pipeline_parallelism=2, context_parallelism=1",
            "pass",
            32,
            8,
            id="given",
        ),  # 64 / (32 / 4)
        pytest.param("num_nodes=4", "pass", None, None, id="GPUs of a node are not given"),
        pytest.param("num_nodes=4, num_gpus_per_node=8", "recipe.trainer.num_nodes = 2", 16, None, id="set again"),
        pytest.param("", PERFORMANCE.format(64, "num_nodes=2, num_gpus_per_node=4"), 8, 8, id="64 / (2 x 8 / 2)"),
        pytest.param("", PERFORMANCE.format(64, "**more"), None, None, id="spread"),
        pytest.param("num_nodes=int(input()), num_gpus_per_node=8", "pass", None, None, id="computed"),
    ],
)
def test_what_the_arguments_of_a_function_of_nemo_set(
    tmp_path: Path, made: str, more: str, world: int | None, accumulation: int | None
) -> None:
    (found,) = files(tmp_path, BY_ARGUMENTS.format(made=made, more=more))
    assert (found.framework, found.findings, size(found, Name.GLOBAL_BATCH_SIZE)) == ("nemo", (), 64)
    assert (size(found, Name.WORLD_SIZE), size(found, Name.GRADIENT_ACCUMULATION_STEPS)) == (world, accumulation)


def test_a_batch_that_the_arguments_make_impossible(tmp_path: Path) -> None:
    (found,) = files(tmp_path, BY_ARGUMENTS.format(made="", more=PERFORMANCE.format(36, "num_nodes=2, num_gpus_per_node=4")))
    assert [each.code for each in found.findings] == ["GBS202"]  # 36 / (2 x 8 / 2)


OLMO = """\
import argparse

from olmo_core.data import NumpyDataLoaderConfig
from olmo_core.script_utils import ExperimentConfig
from olmo_core.train.train_module import TransformerTrainModuleConfig


def build_config(opts: argparse.Namespace, overrides: list[str]) -> ExperimentConfig:
    train_module = TransformerTrainModuleConfig(rank_microbatch_size=2 * 4096)
    {change}
    return ExperimentConfig(
        train_module=train_module,
        data_loader=NumpyDataLoaderConfig(global_batch_size=512 * 4096),
    ).merge(overrides)
"""


def test_an_experiment_of_olmo_core_counts_tokens(tmp_path: Path) -> None:
    (found,) = files(tmp_path, OLMO.format(change=""), 64)
    assert (found.framework, found.findings) == ("olmo-core", ())
    assert size(found, Name.GLOBAL_BATCH_SIZE) == 2_097_152
    assert size(found, Name.GRADIENT_ACCUMULATION_STEPS) == 4  # 512 / (2 x 64)


def test_a_micro_batch_that_depends_on_the_machine_is_unknown(tmp_path: Path) -> None:
    change = "if get_world_size() >= 1024:\n        train_module.rank_microbatch_size //= 2"
    (found,) = files(tmp_path, OLMO.format(change=change), 64)
    assert (size(found, Name.GLOBAL_BATCH_SIZE), size(found, Name.MICRO_BATCH_SIZE)) == (2_097_152, None)
