"""Scripts, launcher files and recipes made to be expensive or to break a reader: each ends, and the recipe beside it is reported."""

from pathlib import Path

import pytest

from tests.launches.building import accelerate, checked, recipe

_RUN = "torchrun --nproc_per_node=8 train.py --config recipe.yaml\n"


def _sums(letters: str, many: int) -> str:
    pairs = zip(letters, letters[1:] + "1", strict=True)
    return "".join(f'{name}="{"+".join([inner] * many)}"\n' for name, inner in pairs)


def _brackets(letters: str, deep: int) -> str:
    pairs = zip(letters, letters[1:] + "1", strict=True)
    return "".join(f'{name}="{"(" * deep}{inner}{")" * deep}"\n' for name, inner in pairs)


_LOOPS = "for i in $(seq 60); do for j in $(seq 60); do x=$((i+j)); done; done\n"


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({"run.sh": f'bash "" train.sh\n{_RUN}'}, id="an empty name of a script"),
        pytest.param(
            {"run.sh": "torchrun train.py --config ${x0}a${x1}a${x2}a${x3}a${x4}a${x5}b.yaml\n", f"{'a' * 150}.yaml": "a: 1\n"},
            id="a name of unknown parts",
        ),
        pytest.param({"run.sh": f"{'if true; then ' * 3000}\n{_RUN}"}, id="branches without end"),
        pytest.param({"a.yaml": accelerate(8).replace("num_processes: 8", f"num_processes: {'9' * 5000}")}, id="a long number"),
        pytest.param({"a.yaml": accelerate(8).replace("num_processes: 8", f"num_processes: '{'9' * 5000}'")}, id="a long text"),
    ],
)
def test_it_ends_and_the_recipe_is_verified(files: dict[str, str], tmp_path: Path) -> None:
    report = checked(tmp_path, {"recipe.yaml": recipe(), **files})
    assert report.internal == ()
    assert [file.verdict for file in report.files if file.path == "recipe.yaml"] == ["verified"]


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({"run.sh": f")\n# {'a[' * 40_000}\nif (\n{_RUN}"}, id="broken subscripts"),
        pytest.param({"run.sh": f"{_sums('abcd', 200)}N=$((a))\n{_RUN}"}, id="sums of sums of sums"),
        pytest.param({"run.sh": f"{_brackets('abcdefgh', 38)}N=$((a))\n{_RUN}"}, id="brackets within names within brackets"),
        pytest.param(
            {"run.sh": "".join(f"bash other.sh {i}\n" for i in range(300)), "other.sh": f"{_RUN}{_LOOPS * 20}"}, id="scripts start scripts"
        ),
    ],
)
def test_it_ends_and_what_was_not_read_is_reported(files: dict[str, str], tmp_path: Path) -> None:
    report = checked(tmp_path, {"recipe.yaml": recipe(), **files})
    assert report.internal == ()
    assert [file.verdict for file in report.files if file.path == "recipe.yaml"] == ["undetermined"]
    assert {finding.at.source for finding in report.findings() if finding.code == "GBS007"} == files.keys()


def test_a_key_written_ten_thousand_times_is_reported_twenty_times(tmp_path: Path) -> None:
    report = checked(tmp_path, {"recipe.yaml": recipe() + "per_device_train_batch_size: 4\n" * 10_000})
    assert report.internal == ()
    assert [finding.code for file in report.files for finding in file.findings] == ["GBS002"] * 20


def test_documents_behind_the_five_hundredth_are_reported_as_unread(tmp_path: Path) -> None:
    report = checked(tmp_path, {"recipe.yaml": "---\n".join([recipe()] * 502)})
    assert sum(file.verdict == "verified" for file in report.files) == 500
    (unread,) = (file for file in report.files if file.problem)
    assert "more than 500 documents" in unread.problem
