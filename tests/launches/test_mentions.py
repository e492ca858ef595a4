"""What a text may name and may launch, asked of scripts that were not read to their end."""

import time

import pytest

from pytest_gbs.files.words import LAUNCHING
from pytest_gbs.launches.mentions import NameIndex, has_batch_key, programs, train
from pytest_gbs.launches.programs import command_words

NAMES = ["a.yaml", "7b_sft.yaml", "70b_sft.yaml", "my recipe.yaml", "config.json", "größe.yaml"]


def test_the_words_of_every_launcher_are_known() -> None:
    assert set(command_words()) <= set(LAUNCHING)


@pytest.mark.parametrize(
    "text", ["", "we accelerated it", "deepspeed_config and my_torchrun", "pythonic", "trlx", "per_device_train_batch_size: 4"]
)
def test_no_program(text: str) -> None:
    assert programs(text) == frozenset()


@pytest.mark.parametrize("text", ["python3 setup.py", "srun hostname", "uv run pytest", "composer install", "swift build"])
def test_programs_that_run_anything_need_not_train(text: str) -> None:
    assert len(programs(text)) == 1
    assert not train(programs(text))


@pytest.mark.parametrize(
    "text", ["torchrun train.py", "/opt/bin/torchrun", "accelerate launch", "python3 -m torch.distributed.run", "sft @run.toml"]
)
def test_programs_that_train(text: str) -> None:
    assert train(programs(text))


def test_batch_keys() -> None:
    assert has_batch_key("x --per_device_train_batch_size 4")
    assert has_batch_key("srun x --nproc_per_node=8")
    assert not has_batch_key("x --lr 4")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("a yaml b.yaml aa.yaml a.yml", []),
        ("train.py conf/a.yaml", ["a.yaml"]),
        ("--config=conf/a.yaml", ["a.yaml"]),
        ("read a.yaml.", ["a.yaml"]),
        ("'conf/my recipe.yaml'", ["my recipe.yaml"]),
        ("größe.yaml", ["größe.yaml"]),
        ("${dir}/a.yaml", ["a.yaml"]),
    ],
)
def test_a_name_that_is_in_a_text(text: str, expected: list[str]) -> None:
    assert NameIndex(NAMES).named(text) == set(expected)


@pytest.mark.parametrize("text", ["--config=$X -config x", "cd config/", "train.sh config/$X", "config=$X"])
def test_an_option_a_folder_or_a_key_is_not_a_name_without_a_suffix(text: str) -> None:
    assert NameIndex(["config"]).named(text, bare=True) == frozenset()


@pytest.mark.parametrize("text", ["--config-name config", "train.sh config", "a=conf/config", "'config'"])
def test_a_value_may_be_a_name_without_a_suffix(text: str) -> None:
    assert NameIndex(["config"]).named(text, bare=True) == {"config"}


ALL_YAML = [name for name in NAMES if name.endswith(".yaml")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a.yaml", []),
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
def test_a_name_with_variables_in_it(text: str, expected: list[str]) -> None:
    assert NameIndex(NAMES).fitting(text) == set(expected)


def test_more_names_with_variables_than_are_looked_at_may_be_any() -> None:
    names = [f"{number}.yaml" for number in range(300)]
    assert "other.json" not in NameIndex([*names, "other.json"]).fitting(" ".join(f"{number}$x" for number in range(199)))
    assert "other.json" in NameIndex([*names, "other.json"]).fitting(" ".join(f"{number}$x" for number in range(201)))


@pytest.mark.parametrize("piece", ["$", "${", "a$b/", "ab ", "`.a ", "$a.y", "x" * 100, "a.yaml "])
def test_it_ends_soon(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    start = time.perf_counter()
    names = NameIndex(f"{number}x.yaml" for number in range(2_000))
    names.named(text)
    names.fitting(text)
    programs(text)
    assert time.perf_counter() - start < 30  # it ends; how fast is for the benchmarks
