"""Copies of frameworks in a repository: which one a recipe runs with, and that its source decides what it checks."""

from pathlib import Path

import pytest

from pytest_gbs.model.quantity import Name
from pytest_gbs.model.rule import Example
from tests.launches.building import checked
from tools.examples import check_example

# One rank has 64 prompts x 1 completion, and micro batches of 24 do not fill it.
RECIPE = """\
data: {train_batch_size: 512, max_prompt_length: 512}
actor_rollout_ref:
  actor: {ppo_mini_batch_size: 512, ppo_micro_batch_size_per_gpu: 24}
  rollout: {n: 1}
trainer: {n_gpus_per_node: 8, nnodes: 1}
"""
WORKERS = "verl/workers/fsdp_workers.py"
CHECKS = """\
            if self.config.actor.ppo_micro_batch_size_per_gpu is not None:
                assert self.config.actor.ppo_mini_batch_size % self.config.actor.ppo_micro_batch_size_per_gpu == 0
"""
# Before, the assertion was one of those about the micro batch of all ranks.
OLDER = """\
            if self.config.actor.ppo_micro_batch_size is not None:
                assert self.config.actor.ppo_mini_batch_size % self.config.actor.ppo_micro_batch_size_per_gpu == 0
"""
NANOTRON = """\
general: {project: p, run: r}
parallelism: {dp: 1, tp: 2, pp: 1, expert_parallel_size: 2}
tokens: {micro_batch_size: 2, batch_accumulation_per_replica: 1, sequence_length: 64, train_steps: 10}
"""
NANOTRON_LAUNCH = "torchrun --nproc_per_node=4 run_train.py --config-file moe.yaml\n"
EXPERTS = "num_gpus_per_model = tensor_parallel_size * pipeline_parallel_size * expert_parallel_size\n"
NO_EXPERTS = "assert (tensor_parallel_size * pipeline_parallel_size * context_parallel_size * data_parallel_size) == world_size\n"


def found(folder: Path, recipe: str, *files: tuple[str, str]) -> list[tuple[str, str, str]]:
    """The code, the severity and the end of the message of each error and warning."""
    report = check_example(Example((("run/moe.yaml", recipe), *files)), folder)
    reported = [each for file in report.files for each in file.findings if each.severity in ("error", "warning")]
    return [(each.code, each.severity, each.message.rpartition("; ")[2]) for each in reported]


@pytest.mark.parametrize(
    "copies",
    [
        pytest.param([("verl/version/version", "0.2.0.dev"), (WORKERS, OLDER)], id="an older source"),
        pytest.param(
            [("third_party/verl/version/version", "0.7.0"), ("verl/version/version", "0.3"), (WORKERS, OLDER)], id="the higher of two"
        ),
        pytest.param(
            [("run/verl/version/version", "0.2"), (f"run/{WORKERS}", OLDER), ("verl/version/version", "0.7.0"), (WORKERS, CHECKS)],
            id="the nearer",
        ),
        pytest.param([("requirements.txt", "verl==0.7.0\n"), ("verl/version/version", "0.2"), (WORKERS, OLDER)], id="a pin beside it"),
    ],
)
def test_a_check_that_the_copy_does_not_make_is_not_a_finding(copies: list[tuple[str, str]], tmp_path: Path) -> None:
    assert not [each for each in found(tmp_path, RECIPE, *copies) if each[1] == "error"]


def test_a_check_that_the_source_of_the_copy_makes_is_an_error_whatever_its_version(tmp_path: Path) -> None:
    files = (("verl/version/version", "0.2.0.dev"), (WORKERS, CHECKS))
    assert found(tmp_path, RECIPE, *files) == [("GBS202", "error", "verl stops at start")]


TRAINER = "per_device_train_batch_size: 4\nlearning_rate: 0.1\noutput_dir: out\ndeepspeed: ds_config.json\n"
NO_BATCH = ("ds_config.json", '{"zero_optimization": {"stage": 2}}')
OF_TRANSFORMERS = "src/transformers/__init__.py"


@pytest.mark.parametrize(
    ("file", "text", "wanted"),
    [
        pytest.param(OF_TRANSFORMERS, '__version__ = "4.4.2"\n', [], id="a copy that fills the batch in"),
        pytest.param("requirements.txt", "transformers==4.5.1\n", [], id="a release that fills it in"),
        pytest.param(OF_TRANSFORMERS, '__version__ = "4.6.0"\n', ["GBS305"], id="a copy that does not"),
        pytest.param(OF_TRANSFORMERS, '__version__ = "5.0.0.dev0"\n', ["GBS305"], id="a copy between two releases"),
        pytest.param("requirements.txt", "transformers>=4.4\n", ["GBS305"], id="a range up to now"),
    ],
)
def test_a_trainer_that_writes_the_batch_into_the_deepspeed_configuration(file: str, text: str, wanted: list[str], tmp_path: Path) -> None:
    assert [code for code, _, _ in found(tmp_path, TRAINER, (f"run/{NO_BATCH[0]}", NO_BATCH[1]), (file, text))] == wanted


def test_a_check_that_a_comment_switches_off_is_none(tmp_path: Path) -> None:
    files = (("verl/version/version", "0.7.0"), (WORKERS, CHECKS.replace("if ", "# if ").replace("assert ", "# assert ")))
    assert not [each for each in found(tmp_path, RECIPE, *files) if each[1] == "error"]


def test_white_space_does_not_count(tmp_path: Path) -> None:
    spread = CHECKS.replace("is not None", "is\n not None")
    assert len(found(tmp_path, RECIPE, ("verl/version/version", "0.2.0.dev"), (WORKERS, spread))) == 1


def test_a_copy_without_the_file_that_checks_leaves_doubt(tmp_path: Path) -> None:
    expected = [("GBS202", "warning", "verl stops at start (the copy in this repository may not check this)")]
    assert found(tmp_path, RECIPE, ("verl/version/version", "0.7.0")) == expected


def test_what_only_some_versions_check_is_a_warning_that_says_so(tmp_path: Path) -> None:
    expected = [("GBS202", "warning", "verl stops at start (before 0.4 it does not check this)")]
    assert found(tmp_path, RECIPE, ("requirements.txt", "verl>=0.2\n")) == expected


def test_the_newest_version_is_meant_if_nothing_names_one(tmp_path: Path) -> None:
    assert found(tmp_path, RECIPE) == [("GBS202", "error", "verl stops at start (since verl 0.4)")]


@pytest.mark.parametrize(("pin", "expected"), [("==0.3", []), (">=0.2", ["warning"]), (">=0.4", ["error"]), ("==0.7.0", ["error"])])
def test_a_pin_decides_if_there_is_no_copy(pin: str, expected: list[str], tmp_path: Path) -> None:
    assert [severity for _, severity, _ in found(tmp_path, RECIPE, ("requirements.txt", f"verl{pin}\n"))] == expected


def test_the_settings_say_more_than_a_copy(tmp_path: Path) -> None:
    files = (("gbs.toml", '[versions]\nverl = "0.7.0"\n'), ("verl/version/version", "0.2"), (WORKERS, OLDER))
    assert [severity for _, severity, _ in found(tmp_path, RECIPE, *files)] == ["error"]


@pytest.mark.parametrize(
    ("source", "gpus", "expected"),
    [(EXPERTS, 4, []), (NO_EXPERTS, 2, []), (EXPERTS, 2, ["error"]), (NO_EXPERTS, 4, ["error"]), (None, 4, [])],
    ids=str,
)
def test_experts_are_counted_as_the_copy_does(source: str | None, gpus: int, expected: list[str], tmp_path: Path) -> None:
    launch = ("run/launch.sh", NANOTRON_LAUNCH.replace("=4", f"={gpus}"))
    version = ("src/nanotron/__init__.py", '__version__ = "0.4"\n')
    copy = [version] if source is None else [version, ("src/nanotron/parallel/context.py", source)]
    assert [severity for code, severity, _ in found(tmp_path, NANOTRON, launch, *copy) if code == "GBS203"] == expected


# 2 x 8 GPUs = 16 does not divide 24, which Megatron-LM then makes 16; its check of the evaluation batch refuses it all the same.
DECREASES = "--micro-batch-size 2 --global-batch-size 24 --decrease-batch-size-if-needed"
# 8 GPUs / (tensor 2 x context 2) leave 2 data-parallel ranks for 4 experts; by themselves they have 8 / (tensor 2 x 4).
SHARES_EXPERTS = (
    "--micro-batch-size 1 --global-batch-size 16 --tensor-model-parallel-size 2 --context-parallel-size 2"
    " --num-experts 8 --expert-model-parallel-size 4"
)
# 12 GPUs do not divide among 2 tensor ranks x 4 experts; their 6 data-parallel ranks do not divide among 4 experts either.
TORN = "--micro-batch-size 1 --global-batch-size 12 --tensor-model-parallel-size 2 --num-experts 8 --expert-model-parallel-size 4"
OF_MEGATRON = "Megatron-LM/megatron"
CHECKS_EVALUATION = "    assert args.eval_global_batch_size % (args.eval_micro_batch_size * args.data_parallel_size) == 0, \\\n"
CHECKS_EXPERTS = "is not divisible by expert_tensor_model_pipeline_parallel size"


def megatron(folder: Path, flags: str, *files: tuple[str, str], gpus: int = 8) -> list[tuple[str, str]]:
    """Severity and end of the message of what is wrong with a launch of Megatron-LM with `flags`."""
    words = f"{flags} --num-layers 2 --hidden-size 64 --seq-length 64 --train-iters 1000"
    script = ("run.sh", f"torchrun --nproc_per_node {gpus} Megatron-LM/pretrain_gpt.py {words}\n")
    report = check_example(Example((script, *files)), folder)
    reported = [each for file in report.files for each in file.findings if each.severity in ("error", "warning")]
    return [(each.severity, each.message.rpartition("; ")[2]) for each in reported]


def package(minor: int) -> tuple[str, str]:
    """The file in which a copy of Megatron Core says its version."""
    return f"{OF_MEGATRON}/core/package_info.py", f"# a comment\n\nMAJOR = 0\nMINOR = {minor}\nPATCH = 0\nPRE_RELEASE = ''\n"


@pytest.mark.parametrize(
    "files",
    [
        pytest.param([package(14), (f"{OF_MEGATRON}/training/arguments.py", "def validate_args(args):\n    pass\n")], id="a copy"),
        pytest.param(
            [package(18), (f"{OF_MEGATRON}/training/arguments.py", "def validate_args(args):\n    pass\n")], id="before a release"
        ),
        pytest.param([(f"{OF_MEGATRON}/arguments.py", "def parse_args():\n    pass\n")], id="an old copy without a version"),
        pytest.param([("requirements.txt", "megatron-core==0.14.0\n")], id="a pin"),
    ],
)
def test_megatron_before_it_checked_the_evaluation(files: list[tuple[str, str]], tmp_path: Path) -> None:
    assert megatron(tmp_path, DECREASES, *files) == []


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        pytest.param([], ("error", "Megatron-LM stops at start (since megatron-core 0.18)"), id="nothing says which version"),
        pytest.param(
            [package(18), (f"{OF_MEGATRON}/training/arguments.py", CHECKS_EVALUATION)], ("error", "Megatron-LM stops at start"), id="a copy"
        ),
        pytest.param([("requirements.txt", "megatron-core==0.18.0\n")], ("error", "Megatron-LM stops at start"), id="a pin"),
        pytest.param(
            [("requirements.txt", "megatron-core>=0.14\n")],
            ("warning", "Megatron-LM stops at start (before 0.18 it does not check this)"),
            id="a range",
        ),
        pytest.param(
            [("requirements.txt", "megatron-core==0.14\n"), ("setup.py", "install_requires=['megatron-core==0.18']\n")],
            ("warning", "Megatron-LM stops at start (before 0.18 it does not check this)"),
            id="files that contradict each other",
        ),
    ],
)
def test_megatron_checks_the_evaluation(files: list[tuple[str, str]], expected: tuple[str, str], tmp_path: Path) -> None:
    assert megatron(tmp_path, DECREASES, *files) == [expected]


@pytest.mark.parametrize(
    ("flags", "gpus", "files", "expected"),
    [
        pytest.param(SHARES_EXPERTS, 8, [], [], id="now"),
        pytest.param(SHARES_EXPERTS, 8, [("requirements.txt", "megatron-core==0.10.0\n")], [], id="since 0.10"),
        pytest.param(SHARES_EXPERTS, 8, [("requirements.txt", "megatron-core==0.9.0\n")], ["error"], id="before 0.10"),
        pytest.param(SHARES_EXPERTS, 8, [package(9), (f"{OF_MEGATRON}/core/parallel_state.py", "")], ["error"], id="a copy before 0.10"),
        pytest.param(
            SHARES_EXPERTS, 8, [package(12), (f"{OF_MEGATRON}/core/parallel_state.py", CHECKS_EXPERTS)], [], id="a copy since 0.10"
        ),
        pytest.param(TORN, 12, [package(12), (f"{OF_MEGATRON}/core/parallel_state.py", CHECKS_EXPERTS)], ["error"], id="torn in a copy"),
        pytest.param(TORN, 12, [], ["error"], id="torn"),
    ],
)
def test_experts_of_megatron_have_ranks_of_their_own(
    flags: str, gpus: int, files: list[tuple[str, str]], expected: list[str], tmp_path: Path
) -> None:
    assert [severity for severity, _ in megatron(tmp_path, flags, *files, gpus=gpus)] == expected


# 2 prompts x 1 completion are one micro batch of 2, for 8 ranks.
SMALL_ROLLOUT = """\
python -m openrlhf.cli.train_ppo_ray --pretrain my/model --actor_num_gpus_per_node 8 --rollout_batch_size 2 --n_samples_per_prompt 1 \\
  --micro_rollout_batch_size 2 --train_batch_size 128 --micro_train_batch_size 2
"""
PPO = "openrlhf/cli/train_ppo_ray.py"
ASSERTS = "    ), 'The number of sample batches must be greater than or equal to the effective number of actor processes.'\n"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        pytest.param([(PPO, "def train(args):\n    pass\n")], [], id="a copy that does not check it"),
        pytest.param([("requirements.txt", "openrlhf==0.7.1\n")], [], id="before 0.7.2"),
        pytest.param([(PPO, ASSERTS)], ["OpenRLHF stops at start"], id="a copy that does"),
        pytest.param([("requirements.txt", "openrlhf==0.8.5\n")], ["OpenRLHF stops at start"], id="a pin"),
        pytest.param([], ["OpenRLHF stops at start (since openrlhf 0.7.2)"], id="nothing says which version"),
    ],
)
def test_rollouts_of_openrlhf_are_checked_since(files: list[tuple[str, str]], expected: list[str], tmp_path: Path) -> None:
    report = check_example(Example((("run.sh", SMALL_ROLLOUT), *files)), tmp_path)
    reported = [each.message.rpartition("; ")[2] for file in report.files for each in file.findings if each.severity == "error"]
    assert reported == expected


OF_ALL_RANKS = """\
data: {train_batch_size: 1024, max_prompt_length: 512}
actor_rollout_ref:
  actor: {ppo_mini_batch_size: 256, ppo_micro_batch_size: 128}
  rollout: {n: 5}
trainer: {n_gpus_per_node: 8, nnodes: 1}
"""
IN_PROMPTS = "            self.config.actor.ppo_micro_batch_size *= self.config.rollout.n\n"


# 128 / 8 ranks = 16, which were prompts of 5 completions each before 0.2.
@pytest.mark.parametrize(
    ("copies", "expected"),
    [
        pytest.param([], 16, id="no copy"),
        pytest.param([("verl/version/version", "0.4.0"), (WORKERS, CHECKS)], 16, id="a later copy"),
        pytest.param([("verl/version/version", "0.1"), (WORKERS, IN_PROMPTS)], 80, id="a copy that counts prompts"),
    ],
)
def test_the_micro_batch_is_what_the_copy_makes_of_it(copies: list[tuple[str, str]], expected: int, tmp_path: Path) -> None:
    report = checked(tmp_path, {"run/grpo.yaml": OF_ALL_RANKS, **dict(copies)})
    (run,) = (run for file in report.files for run in file.runs)
    assert run.geometry.value(Name.MICRO_BATCH_SIZE) == expected
    assert run.geometry.global_batch_size == 1280


KTO = "model_name_or_path: a/b\ndataset_name: c/d\ndesirable_weight: 1.0\nper_device_train_batch_size: 1\ngradient_accumulation_steps: 8\n"


@pytest.mark.parametrize(
    ("requirements", "expected"),
    [
        pytest.param("trl==0.11.4\n", [], id="TRL before 0.12"),
        pytest.param(
            "transformers==4.41.1\ntrl @ git+https://github.com/huggingface/trl.git\n", [], id="transformers too old for TRL 0.12"
        ),
        pytest.param("trl>=0.9\n", [("warning", "TRL stops at start (before 0.12 it does not check this)")], id="either"),
        pytest.param("trl==0.12.0\n", [("error", "TRL stops at start")], id="TRL 0.12"),
        pytest.param("transformers>=4.41\n", [("error", "TRL stops at start")], id="transformers of any version"),
    ],
)
def test_a_micro_batch_of_one_is_refused_by_kto_since(requirements: str, expected: list[tuple[str, str]], tmp_path: Path) -> None:
    report = check_example(Example((("kto.yaml", KTO), ("requirements.txt", requirements))), tmp_path)
    reported = [(each.severity, each.message.rpartition("; ")[2]) for file in report.files for each in file.findings]
    assert reported == expected


SUBMODULE = '[submodule "trl"]\n\tpath = lib/trl\n\turl = https://github.com/huggingface/trl\n'


# As verl is of XiaofengLin7/debunking-sft-generalization at 077d4cf, whose scripts are older than what verl 0.4 checks.
@pytest.mark.parametrize(
    ("requirements", "expected"),
    [
        pytest.param("torch\n", [("warning", "TRL stops at start (before 0.12 it does not check this)")], id="of any version"),
        pytest.param("trl==0.12.0\n", [("error", "TRL stops at start")], id="a version that is installed"),
        pytest.param("trl==0.11.4\n", [], id="an old version that is installed"),
    ],
)
def test_a_submodule_may_be_older_than_a_check(requirements: str, expected: list[tuple[str, str]], tmp_path: Path) -> None:
    files = (("run/kto.yaml", KTO), ("requirements.txt", requirements), (".gitmodules", SUBMODULE))
    report = check_example(Example(files), tmp_path)
    assert [(each.severity, each.message.rpartition("; ")[2]) for file in report.files for each in file.findings] == expected


# rohanbalkondekar/axolotl at 8c16e19, examples/falcon/config-7b.yml: axolotl 0.3.0 divides batch_size, 0.4.1 fills in 1 first.
AXOLOTL = "base_model: my/model\nsequence_len: 2048\nmicro_batch_size: 1\nbatch_size: 4\nnum_epochs: 3\nlearning_rate: 0.0002\n"
DIVIDES = """\
    cfg.gradient_accumulation_steps = cfg.gradient_accumulation_steps or (
        cfg.batch_size // cfg.micro_batch_size
    )
"""


@pytest.mark.parametrize(
    ("files", "steps", "expected"),
    [
        pytest.param([("src/axolotl/utils/config.py", DIVIDES)], None, [], id="a copy without a schema"),
        pytest.param([("requirements.txt", "axolotl==0.4.0\n")], None, [], id="a pin without a schema"),
        pytest.param([("src/axolotl/utils/config/__init__.py", DIVIDES)], 1, ["GBS421"], id="a copy with a schema"),
        pytest.param([("requirements.txt", "axolotl==0.5.0\n")], 1, ["GBS421"], id="a pin with a schema"),
        pytest.param([], 1, ["GBS421"], id="no version"),
    ],
)
def test_a_total_batch_is_divided_before_there_is_a_schema(
    files: list[tuple[str, str]], steps: int | None, expected: list[str], tmp_path: Path
) -> None:
    report = checked(tmp_path, {"run/falcon.yml": AXOLOTL, **dict(files)})
    (run,) = (run for file in report.files for run in file.runs)
    assert run.geometry.value(Name.GRADIENT_ACCUMULATION_STEPS) == steps
    assert [each.code for file in report.files for each in file.findings] == expected
