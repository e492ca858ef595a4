"""GBS311 finds files that a launch names and that are not there, GBS312 flags that never reach a launch."""

from pathlib import Path

import pytest

from tests.launches.building import checked, recipe

FILES = {
    "recipes/qwen/sft.yaml": recipe(comment=""),
    "recipes/qwen/dpo.yaml": "a: 1\n",
    "acc/zero3_bf16.yaml": "distributed_type: MULTI_GPU\nnum_processes: 8\nmixed_precision: bf16\n",
    "scripts/train.py": "from trl import TrlParser\n",
    "scripts/sample.py": "import torch\n",
}
LAUNCH = "accelerate launch --config_file acc/{acc}.yaml scripts/train.py --config recipes/qwen/{name}.yaml {more}\n"


BY_VARIABLE = "torchrun scripts/train.py --config ${C}\n"


def messages(folder: Path, script: str, files: dict[str, str] | None = None, name: str = "run.sh") -> list[str]:
    report = checked(folder, {**FILES, **(files or {}), name: script})
    return [finding.message for finding in report.findings() if finding.code in ("GBS311", "GBS312")]


def launch(name: str = "sft", acc: str = "zero3_bf16", more: str = "") -> str:
    return LAUNCH.format(name=name, acc=acc, more=more)


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(launch(), id="all there"),
        pytest.param(launch("$1"), id="a variable"),
        pytest.param(launch("<name>"), id="a placeholder"),
        pytest.param(launch("my_config"), id="the reader's own"),
        pytest.param("sed s/8/4/ recipes/qwen/sft.yaml > recipes/qwen/four.yaml\n" + launch("four"), id="made by the script"),
        pytest.param("cp /data/x.yaml recipes/qwen/four.yaml\n" + launch("four"), id="copied by the script"),
        pytest.param("cd $WORK\n" + launch("stf"), id="from a folder that is not known"),
        pytest.param("torchrun train.py --config ../recipes/qwen/stf.yaml\n", id="nothing shows where it starts"),
        pytest.param(launch(more="--output_config outputs/run.yaml"), id="a folder that is not there"),
        pytest.param(launch(more="--config-name gone.yaml"), id="a name in a folder of the program's own"),
        pytest.param(launch(more="--data /data/x.yaml --other ~/y.yaml --third ../z.yaml"), id="outside"),
        pytest.param("torchrun run_train.py --config recipes/qwen/sft.yaml\n", id="a program of another repository"),
        pytest.param("# " + launch("gone"), id="a comment"),
        pytest.param('C=recipes/qwen/four.yaml\nsed s/8/4/ recipes/qwen/sft.yaml > "${C}"\n' + BY_VARIABLE, id="made by a variable's name"),
        pytest.param("python scripts/sample.py --config recipes/qwen/four.yaml\n", id="a program that does not train"),
        pytest.param("${PYTHON} scripts/run.py --config recipes/qwen/sft.yaml\n", id="an unknown one that does not train"),
    ],
)
def test_nothing_is_missing(script: str, tmp_path: Path) -> None:
    assert messages(tmp_path, script) == []


def test_what_gitignore_leaves_out_need_not_be_there(tmp_path: Path) -> None:
    assert messages(tmp_path, launch("local"), {".gitignore": "local.yaml\n"}) == []
    assert messages(tmp_path, launch("local"), {".gitignore": "", "recipes/.gitignore": "/qwen/*.yaml\n"}) == []


def test_documents_are_not_judged(tmp_path: Path) -> None:
    assert messages(tmp_path, f"```sh\n{launch('stf')}```\n", name="README.md") == []


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        (launch("sftt"), "recipes/qwen/sftt.yaml, which is not in the repository; did you mean sft.yaml?"),
        (
            launch().replace(" recipes/", " rrecipes/"),
            "rrecipes/qwen/sft.yaml, which is not in the repository; did you mean recipes/qwen/sft.yaml?",
        ),
        (launch("kto"), "recipes/qwen/kto.yaml, which is not in the repository"),
        (launch(acc="zero3"), "acc/zero3.yaml, which is not in the repository; did you mean zero3_bf16.yaml?"),
        (launch().replace("train.py", "sft.py"), "scripts/sft.py, which is not in the repository"),
        (launch("${NAME}").replace("acc", "NAME=kto; acc", 1), "recipes/qwen/kto.yaml, which is not in the repository"),
    ],
)
def test_a_missing_file_is_found(script: str, expected: str, tmp_path: Path) -> None:
    assert [message.removeprefix("this launch names ") for message in messages(tmp_path, script)] == [expected]


@pytest.mark.parametrize(
    "script",
    [
        "# --flags\ntorchrun scripts/train.py \\\n  --a 1 \\\n  --b 2\n",
        "torchrun scripts/train.py --a 1\n# --b 2\n#  --c\n",
        "torchrun scripts/train.py --a 1 \\\n  # the end\necho done\n",
        "torchrun scripts/train.py --a 1 \\\n  `#--b 2` `#--c` \\\n  --d 3 \\\n  --e\n",
        "echo hello \\\n  # not a launch\n  --flag 1\n",
        'torchrun scripts/train.py --a 1\nMORE="${MORE:-} --b 2"\nbash -c "${MORE} upload"\n',
        "torchrun scripts/train.py --a 1 \\\n  # the end\n --\n",
    ],
)
def test_flags_that_are_passed(script: str, tmp_path: Path) -> None:
    assert messages(tmp_path, script) == []


@pytest.mark.parametrize(
    ("between", "why"),
    [
        ("\\\n  # why\n", "a comment behind it"),
        ("\\\n\n", "an empty line behind it"),
        ("\\  \n", "a blank behind its backslash"),
        ("\n", "no backslash at its end"),
    ],
)
def test_flags_that_are_not(between: str, why: str, tmp_path: Path) -> None:
    script = f"torchrun scripts/train.py --a 1 {between}  --b 2 --c=3 \\\n  # more\n  --d\n"
    assert messages(tmp_path, script) == [f"--b and 2 more flags are not passed to this launch: its line has {why}"]


def test_flags_of_another_file_are_shown_where_the_launch_lost_them(tmp_path: Path) -> None:
    script = "source args.sh\ntorchrun scripts/train.py --a 1\n  ${ARGS[@]} \\\n  --c 3\n"
    (finding,) = checked(tmp_path, {**FILES, "args.sh": "ARGS=(\n  --b 2\n)\n", "run.sh": script}).findings()
    assert finding.at.source == "run.sh"
    assert script[finding.at.start : finding.at.stop].startswith("${ARGS[@]}")


def test_the_name_is_shown_where_it_is_written(tmp_path: Path) -> None:
    by_variable = "C=recipes/qwen/stf.yaml\n" + BY_VARIABLE
    (finding,) = checked(tmp_path, {**FILES, "run.sh": by_variable}).findings()
    (name,) = finding.related
    assert by_variable[finding.at.start : finding.at.stop] == "${C}"
    assert by_variable[name.at.start : name.at.stop] == "recipes/qwen/stf.yaml"
    assert finding.holds == "name sft.yaml, or commit the file"


def test_a_name_in_the_command_itself_is_shown_once(tmp_path: Path) -> None:
    (finding,) = checked(tmp_path, {**FILES, "run.sh": launch("stf")}).findings()
    assert finding.related == ()
