"""What a text may name and may launch, asked of scripts that were not read to their end."""

import time
from collections.abc import Sequence

import pytest

from pytest_gbs.files.words import LAUNCHING
from pytest_gbs.launches.programs import command_words
from pytest_gbs.launches.unread_scripts import UnreadScripts
from tests.support import in_memory

NAMES = ["alpha.yaml", "7b_sft.yaml", "70b_sft.yaml", "config.json", "größe.yaml"]
ALL_YAML = [name for name in NAMES if name.endswith(".yaml")]


def scripts(text: str, names: Sequence[str] = ()) -> UnreadScripts:
    """The script `run.sh`, which nothing was read of, beside configurations."""
    return UnreadScripts(in_memory({"run.sh": text, **dict.fromkeys(names, "")}), names, ["run.sh"])


def named(text: str, names: Sequence[str]) -> list[str]:
    """Those of the configurations `names` that a script may name."""
    found = scripts(text, names)
    return [name for name in names if found.may_name("run.sh", name)]


def test_the_words_of_every_launcher_are_known() -> None:
    assert set(command_words()) <= set(LAUNCHING)


@pytest.mark.parametrize(
    "text", ["", "we accelerated it", "deepspeed_config and my_torchrun", "pythonic", "trlx", "per_device_train_batch_size: 4"]
)
def test_no_program(text: str) -> None:
    assert not scripts(text).launches(text)


@pytest.mark.parametrize("text", ["python3 setup.py", "srun hostname", "uv run pytest", "composer install", "swift build", "srun x --lr 4"])
def test_programs_that_run_anything_need_not_train(text: str) -> None:
    assert scripts(text).launches(text) and not scripts(text).may_launch("run.sh")


@pytest.mark.parametrize("text", ["torchrun train.py", "/opt/bin/torchrun", "accelerate launch", "python3 -m torch.distributed.run"])
@pytest.mark.parametrize("more", ["", " sft @run.toml"])
def test_programs_that_train(text: str, more: str) -> None:
    assert scripts(text + more).may_launch("run.sh")


@pytest.mark.parametrize("text", ["python x --per_device_train_batch_size 4", "srun x --nproc_per_node=8"])
def test_any_program_may_train_beside_a_batch_key(text: str) -> None:
    assert scripts(text).may_launch("run.sh")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("b yaml b.yaml aalpha.yaml alpha.yml", []),
        ("train.py conf/alpha.yaml", ["alpha.yaml"]),
        ("--config=conf/alpha.yaml", ["alpha.yaml"]),
        ("read alpha.yaml.", ["alpha.yaml"]),
        ("größe.yaml", ["größe.yaml"]),
        ("${dir}/alpha.yaml", ["alpha.yaml"]),
        ("$X ${X} conf/$X $dir/b.yaml", []),
        ("--lr=$LR out_$NAME", []),
        ("conf/${size}_sft.yaml", ["7b_sft.yaml", "70b_sft.yaml"]),
        ('"$dir"/"7${x}.yaml"', ["7b_sft.yaml", "70b_sft.yaml"]),
        ("--config=${a/b/c}_sft.yaml", ["7b_sft.yaml", "70b_sft.yaml"]),
        ("${a:-${b}}_sft.yaml", ["7b_sft.yaml", "70b_sft.yaml"]),
        ("conf/$X.yaml", ALL_YAML),
        ("conf/$(basename x).yaml", ALL_YAML),
        ('"$(basename x)".yaml', ALL_YAML),
        ("`basename x`.yaml", ALL_YAML),
        (" ".join(f"${{x{number}}}{name}.yaml" for number in range(300) for name in ("", "b_sft", "_sft")), ALL_YAML),
    ],
)
def test_a_name_that_is_in_a_text(text: str, expected: list[str]) -> None:
    assert named(text, NAMES) == expected


@pytest.mark.parametrize("text", ["--config=$X -config x", "cd config/", "train.sh config/$X", "config=$X"])
def test_an_option_a_folder_or_a_key_is_not_a_name_without_a_suffix(text: str) -> None:
    assert named(text, ["config.json"]) == []


@pytest.mark.parametrize("text", ["--config-name config", "train.sh config", "a=conf/config", "'config'"])
def test_a_value_may_be_a_name_without_a_suffix(text: str) -> None:
    assert named(text, ["config.json"]) == ["config.json"]


def test_more_names_with_variables_than_are_looked_at_may_be_any() -> None:
    names = [*(f"{number}.yaml" for number in range(300)), "other.json"]
    assert "other.json" not in named(" ".join(f"{number}$x" for number in range(199)), names)
    assert "other.json" in named(" ".join(f"{number}$x" for number in range(201)), names)


@pytest.mark.parametrize("piece", ["$", "${", "$(", "a$b/", "ab ", "`.a ", "$a.y", "x" * 100, "a.yaml "])
def test_it_ends_soon(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    start = time.perf_counter()
    named(text, [f"{number}x.yaml" for number in range(2_000)])
    assert time.perf_counter() - start < 30  # it ends; how fast is for the benchmarks
