"""Scripts that are not read to their end: a finding, and no recipe that they may launch is verified. What launches nothing stays silent."""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from pytest_gbs import Given
from pytest_gbs.files.worktree import WorkTree
from pytest_gbs.model.errors import UsageError
from pytest_gbs.model.outcome import Finding, Severity
from pytest_gbs.model.report import Report, Role
from pytest_gbs.model.settings import Settings
from tests.cli.support import write
from tests.launches.building import file, recipe
from tests.support import check

posix = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")

LAUNCH = "torchrun --nproc_per_node 8 train.py --config sft.yaml"
# 4 x 8 x 8 = 256, where the recipe claims 128.
VIOLATING = f"{LAUNCH} --gradient_accumulation_steps 8\n"
# More statements and words than are read: 9 x 60 x 60 turns of three.
BUSY = "for i in {1..60}; do for j in {1..60}; do x=$i$j; y=$j$i; z=1; done; done\n" * 9
# More characters than are read, in few words.
LONG_LINES = f"# {'x' * 997}\n" * 1_001
FILES = " ".join(f"other{number}.yaml" for number in range(64))


def report_on(root: Path, files: Mapping[str, str | bytes], *targets: str, settings: Settings | None = None) -> Report:
    """The report on a repository with a recipe of 4 x 4 x 8 = 128, as it claims, and `files`."""
    write(root, {"sft.yaml": recipe(), **files})
    return check(WorkTree(root, named=frozenset(targets)), targets, settings or Settings(), Given())


def reported(report: Report) -> list[Finding]:
    """The findings, which no bug of ours may stand beside."""
    return list(report.findings())


def marked(ours: str, theirs: str) -> str:
    """What git leaves where two branches have changed the same lines."""
    return f"<<<<<<< HEAD\n{ours}=======\n{theirs}>>>>>>> newest\n"


SILENT = {
    "marks of a conflict where nothing is launched": {
        "build.sh": marked("make all\n", "make -j all\n"),
        "Makefile": marked("A=1\n", "A=2\n"),
    },
    "a document about conflicts": {"CONTRIBUTING.md": f"Then git says:\n\n```text\n{marked('a: 1', 'a: 2')}```\n```bash\n{LAUNCH}\n```\n"},
    "a line that only looks like a mark": {"run.sh": f"cat <<'E'\n<<<<<<< here\n=======\nE\n{LAUNCH}\n"},
    "a large data dump": {"dump.sh": "0123 abcd\n" * 200_000},
    "a large data dump in Markdown": {"dump.md": "0123 abcd\n" * 200_000},
    "large prose about training": {"guide.md": "how to accelerate training with torchrun and deepspeed\n" * 40_000},
    "a data dump above the limit of all files": {"dump.sh": "0123 abcd\n" * 600_000},
    "Markdown above the limit of all files": {"dump.md": "python can accelerate\n" * 300_000},
    "bytes that launch nothing": {"install.sh": b"#!/bin/sh\nexit 0\n" + bytes(range(256)) * 100},
    "a busy script that starts another": {"run.sh": f"{BUSY}bash setup.sh 1\n", "setup.sh": "apt install jq\n"},
    "a busy script that runs any program": {
        "run.sh": f"{BUSY}bash x.sh; python setup.py --file values.yaml\n",
        "values.yaml": "replicas: 2\n",
    },
    "a busy script that accelerates": {"run.sh": f"# accelerated by bash x.sh\n{BUSY}"},
    "a function that calls itself": {"run.sh": f"retry() {{ {LAUNCH}; retry; }}\nretry\n"},
    "scripts that start each other": {"a.sh": f"{LAUNCH}\nbash b.sh 1\n", "b.sh": "bash a.sh 1\n"},
    "a loop of many seeds": {"run.sh": f"for seed in {' '.join(map(str, range(100)))}; do {LAUNCH} --seed $seed; done\n"},
    "a long word that launches nothing": {"run.sh": f"{LAUNCH}\ncurl -d '{'x' * 30_000}' localhost\n"},
    "a folder that is called like a script": {"run.sh/notes.txt": "torchrun\n"},
    "a Latin-1 byte": {"run.sh": b"# caf\xe9\n" + LAUNCH.encode()},
    "many commands": {"run.sh": "mkdir -p out\n" * 1_999 + LAUNCH},
    "many launches": {"run.sh": f"{LAUNCH}\n" * 400},
    # Twelve times more characters than all scripts together may take in, of which only the name matters.
    "scripts that ask whether a large file is there": {
        "vocab.json": f'["{"x" * 990_000}"]\n',
        **{f"run{number:02}.sh": f"if [ -f vocab.json ]; then\n{LAUNCH}\nfi\n" for number in range(12)},
    },
}


IN_CONTAINER = "cd /app\ntorchrun --nproc_per_node 8 train.py --config configs/sft.yaml\n"
COPIES = "FROM x\nWORKDIR /app\n" + marked("COPY . .\n", "COPY src .\n")


def test_a_dockerfile_with_a_conflict_is_reported(tmp_path: Path) -> None:
    (finding,) = reported(report_on(tmp_path, {"run.sh": IN_CONTAINER, "Dockerfile": COPIES}))
    assert (
        finding.code == "GBS007"
        and "Dockerfile, which says what its container has, has a merge conflict marker in line 3" in finding.message
    )


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({"Dockerfile": COPIES}, id="no script"),
        pytest.param({"Dockerfile": COPIES, "run.sh": LAUNCH}, id="a script outside of it"),
        pytest.param({"Dockerfile": COPIES, "run.sh": "cd /app\nls configs/sft.yaml\n"}, id="a script that launches nothing"),
        pytest.param({"Dockerfile": "FROM x\nWORKDIR /app\nCOPY . .\n", "run.sh": IN_CONTAINER}, id="no conflict"),
    ],
)
def test_a_dockerfile_that_matters_to_nothing(files: dict[str, str], tmp_path: Path) -> None:
    assert reported(report_on(tmp_path, files)) == []


@pytest.mark.parametrize("files", SILENT.values(), ids=SILENT)
def test_what_launches_nothing_unseen_stays_silent(files: dict[str, str | bytes], tmp_path: Path) -> None:
    report = report_on(tmp_path, files)
    assert reported(report) == []
    assert file(report, "sft.yaml").verdict == "verified"


@posix
def test_a_link_that_leads_nowhere_launches_nothing(tmp_path: Path) -> None:
    (tmp_path / "run.sh").symlink_to("nowhere.sh")
    (tmp_path / "loop.sh").symlink_to("loop.sh")
    assert reported(report_on(tmp_path, {})) == []


ELSEWHERE = {
    "another recipe": {"run.sh": f"{BUSY}torchrun train.py --config dpo.yaml\n"},
    "names with variables that do not fit": {"run.sh": f"{BUSY}torchrun train.py --config conf/dpo-${{size}}.yaml $HOME/x\n"},
    "tests": {"tests/run.sh": f"{BUSY}{VIOLATING}"},
    "a document": {"README.md": f"```bash\n{BUSY}{VIOLATING}```\n"},
}


@pytest.mark.parametrize("files", ELSEWHERE.values(), ids=ELSEWHERE)
def test_a_recipe_that_it_does_not_launch_stays_verified(files: dict[str, str], tmp_path: Path) -> None:
    report = report_on(tmp_path, files)
    assert [finding.code for finding in reported(report)] == ["GBS007"] * ("tests/run.sh" not in files)
    assert file(report, "sft.yaml").verdict == "verified"


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        pytest.param(recipe(comment=""), "unclaimed", id="unclaimed"),
        pytest.param(recipe(accumulation=2), "violated", id="violated"),
    ],
)
def test_a_recipe_that_is_not_verified_stays_what_it_is(text: str, verdict: str, tmp_path: Path) -> None:
    report = report_on(tmp_path, {"sft.yaml": text, "run.sh": f"{BUSY}{VIOLATING}"})
    assert file(report, "sft.yaml").verdict == verdict


SILENCED = {
    "in both files": (
        {
            "sft.yaml": recipe().replace("\n", "  # gbs: ignore[GBS007] known\n", 1),
            "run.sh": f"# gbs: file-ignore[GBS007] known\n{BUSY}{VIOLATING}",
        },
        Settings(),
    ),
    "by the settings": ({"run.sh": f"{BUSY}{VIOLATING}"}, Settings(ignore=("GBS007",))),
    "by exclusion": ({"run.sh": f"{BUSY}{VIOLATING}"}, Settings(exclude=("run.sh",))),
}


@pytest.mark.parametrize(("files", "settings"), SILENCED.values(), ids=SILENCED)
def test_it_can_be_silenced(files: dict[str, str], settings: Settings, tmp_path: Path) -> None:
    report = report_on(tmp_path, files, settings=settings)
    assert reported(report) == []
    assert file(report, "sft.yaml").verdict == "verified"


def test_a_launch_behind_a_latin_1_byte_is_read(tmp_path: Path) -> None:
    text = b"# caf\xe9 \xc3\xa9\n" + VIOLATING.encode()
    (found,) = reported(report_on(tmp_path, {"run.sh": text}))
    assert (found.code, found.at.source) == ("GBS301", "run.sh")
    # The accumulation stands behind 9 characters of the comment, one of which is two bytes.
    assert (found.at.start, found.at.stop) == (len(text) - 1 - 2, len(text) - 1 - 1)


def test_a_recipe_whose_name_is_latin_1_is_found(tmp_path: Path) -> None:
    name = os.fsdecode(b"gr\xf6\xdfe.yaml")
    (tmp_path / name).write_text(recipe())
    script = VIOLATING.encode().replace(b"sft.yaml", b'"gr\xf6\xdfe.yaml"')
    report = report_on(tmp_path, {"run.sh": script})
    assert file(report, name).verdict == "violated"


@pytest.mark.parametrize("how", ["source launch.inc\n", "set -e; . ./launch.inc\n"])
@pytest.mark.parametrize("targets", [(), ("run.sh",), ("sft.yaml",)], ids=["all", "script", "recipe"])
def test_a_launch_in_a_sourced_file_is_read(how: str, targets: tuple[str, ...], tmp_path: Path) -> None:
    (found,) = reported(report_on(tmp_path, {"run.sh": how, "launch.inc": b"# caf\xe9\n" + VIOLATING.encode()}, *targets))
    assert found.code == "GBS301"


@pytest.mark.parametrize("number", [401, 1_001])
def test_a_launch_behind_many_commands_is_read(number: int, tmp_path: Path) -> None:
    (found,) = reported(report_on(tmp_path, {"run.sh": "mkdir -p out\n" * number + VIOLATING}))
    assert found.code == "GBS301"


@pytest.mark.parametrize("rest", [LONG_LINES, "# x\n" * 20_000, ": |\n" * 2_001], ids=["characters", "words", "pipes"])
def test_what_precedes_the_end_of_reading_is_checked(rest: str, tmp_path: Path) -> None:
    report = report_on(tmp_path, {"run.sh": VIOLATING + rest})
    assert sorted(finding.code for finding in reported(report)) == ["GBS007", "GBS301"]
    assert file(report, "sft.yaml").verdict == "violated"


OPTION = "--gradient_accumulation_steps ${2:-4}"
CHAIN = {f"step{number}.sh": f"bash step{number + 1}.sh ${{1}}\n" for number in range(1, 5)}
UNREAD: dict[str, tuple[dict[str, str | bytes], str]] = {
    "characters": ({"run.sh": LONG_LINES + VIOLATING}, "more than 1,000,000 characters"),
    "words": ({"run.sh": "# x\n" * 20_000 + VIOLATING}, "more than 50,000 words and signs"),
    "bytes": ({"run.sh": "\n" * 5_000_000 + VIOLATING}, "larger than 5,000,000 bytes; max-file-size in [tool.gbs] raises it"),
    "commands": ({"run.sh": "mkdir -p out\n" * 2_000 + VIOLATING}, "more than 2,000 commands"),
    "launches": ({"run.sh": f"{LAUNCH}\n" * 400 + VIOLATING}, "more than 400 launches"),
    "statements": ({"run.sh": BUSY + VIOLATING}, "more than 40,000 statements and words"),
    "a function above": ({"run.sh": f"go() {{ {VIOLATING}}}\n{BUSY}go\n"}, "more than 40,000 statements and words"),
    "turns": (
        {"run.sh": f"for r in sft.yaml {FILES}; do {VIOLATING.replace('sft.yaml', '$r').strip()}; done\n"},
        "a loop of more than 64 turns",
    ),
    "turns of a count": (
        {"run.sh": f"for ((i = 4; i < 99; i++)); do {LAUNCH} --gradient_accumulation_steps $i; done\n"},
        "a loop of more than 64 turns",
    ),
    "a word": ({"run.sh": f"{LAUNCH} --gradient_accumulation_steps={'0' * 20_000}8\n"}, "a word of more than 20,000 characters"),
    "brackets": ({"run.sh": "{ " * 50 + VIOLATING.strip() + "; }" * 50}, "statements nested more than 40 deep"),
    "wrappers": ({"run.sh": "env " * 12 + VIOLATING}, "a command behind more than 8 others"),
    "a shell": ({"run.sh": f"bash -c '#{' ' * 20_000}\n{VIOLATING}'"}, "a script of more than 20,000 characters within another"),
    "a NUL": ({"run.sh": b"# caf\0\n" + VIOLATING.encode()}, "not text: NUL at byte 5"),
    "NULs in a name": ({"run.sh": b"\ntor\0chrun t.py --config s\0ft.yaml"}, "not text: NUL at byte 4"),
    "a started script": (
        {
            "run.sh": "bash go.sh 60 8\n",
            "go.sh": f"for i in $(seq $1); do for j in $(seq $1); do {'x=$i; ' * 30}done; done\n{LAUNCH} {OPTION}\n",
        },
        "go.sh, which it starts, has more than 40,000 statements and words",
    ),
    "a started script with a number": (
        {"run.sh": f"{BUSY}bash go.sh 8\n", "go.sh": f"{LAUNCH} --gradient_accumulation_steps ${{1:-4}}\n"},
        "more than 40,000 statements and words",
    ),
    "many scripts": (
        {"run.sh": "".join(f"bash go.sh {number}\n" for number in range(201)), "go.sh": f"{LAUNCH} {OPTION}\n"},
        "more than 200 scripts",
    ),
    "scripts within scripts": (
        {"run.sh": "bash step1.sh 8\n", **CHAIN, "step5.sh": f"{LAUNCH} --gradient_accumulation_steps $1\n"},
        "scripts nested more than 3 deep",
    ),
    "a sourced file": (
        {"run.sh": f"source launch.inc\n# {LAUNCH}\n", "launch.inc": b"\0" + VIOLATING.encode()},
        "it sources launch.inc, not text: NUL at byte 0",
    ),
    "any program and a batch key": (
        {"run.sh": f"{BUSY}python train.py --config sft.yaml --gradient_accumulation_steps 8\n"},
        "more than 40,000 statements and words",
    ),
    "any program and a recipe": ({"run.sh": f"{BUSY}python train.py sft.yaml\n"}, "more than 40,000 statements and words"),
    "a name with variables": (
        {"run.sh": BUSY + VIOLATING.replace("sft.yaml", "$dir/${method}.yaml")},
        "more than 40,000 statements and words",
    ),
    "a name that is printed": (
        {"run.sh": BUSY + VIOLATING.replace("sft.yaml", '"$(method)".yaml')},
        "more than 40,000 statements and words",
    ),
    "a name without suffix": ({"run.sh": f"{BUSY}torchrun train.py --config-name=sft\n"}, "more than 40,000 statements and words"),
    "marks of a conflict": (
        {"run.sh": marked("GRAD=4\n", "GRAD=8\n") + LAUNCH + " --gradient_accumulation_steps $GRAD\n"},
        "merge conflict marker in line 1",
    ),
    "marks within a command": (
        {"run.sh": "torchrun \\\n" + marked("  --nproc_per_node 4 \\\n", "  --nproc_per_node 8 \\\n") + "  train.py --config sft.yaml\n"},
        "merge conflict marker in line 2",
    ),
    "marks in a Makefile": ({"Makefile": marked("N=4\n", "N=8\n") + f"all:\n\t{LAUNCH}\n"}, "merge conflict marker in line 1"),
    "marks in a sourced file": (
        {"run.sh": f"source .env\n{LAUNCH} --gradient_accumulation_steps $N\n", ".env": marked("N=4\n", "N=8\n")},
        "it sources .env, merge conflict marker in line 1",
    ),
    "a Makefile": ({"Makefile": f"all:\n\t{BUSY.replace(chr(10), chr(10) + chr(9))}{VIOLATING}"}, "more than 40,000 statements and words"),
}


@pytest.mark.parametrize(("files", "reason"), UNREAD.values(), ids=UNREAD)
def test_what_is_not_read_is_reported_and_its_recipe_is_not_verified(files: dict[str, str | bytes], reason: str, tmp_path: Path) -> None:
    report = report_on(tmp_path, files)
    script = next(iter(files))
    found = next(finding for finding in reported(report) if finding.code == "GBS007" and finding.at.source == script)
    assert found.severity == (Severity.INFO if reason.endswith((" launches", " 200 scripts")) else Severity.WARNING)
    assert f": {reason}; " in found.message
    assert file(report, "sft.yaml").verdict == "undetermined"
    assert reason in next(o.message for o in file(report, "sft.yaml").undetermined if o.message.startswith(script))


@pytest.mark.parametrize("targets", [("sft.yaml",), ("run.sh",), ("sft.yaml", "run.sh"), ()], ids=["recipe", "script", "both", "all"])
@pytest.mark.parametrize("text", [BUSY.encode() + VIOLATING.encode(), b"\0" + VIOLATING.encode()], ids=["partly", "wholly"])
def test_it_shows_whatever_is_named(text: bytes, targets: tuple[str, ...], tmp_path: Path) -> None:
    report = report_on(tmp_path, {"run.sh": text}, *targets)
    (found,) = reported(report)
    assert (found.code, found.at.source) == ("GBS007", "run.sh")
    if targets != ("run.sh",):
        assert file(report, "sft.yaml").verdict == "undetermined"


def test_a_script_that_is_its_own_recipe_is_not_verified(tmp_path: Path) -> None:
    flags = "--model_name_or_path m --per_device_train_batch_size 4 --gradient_accumulation_steps"
    alone = f"torchrun --nproc_per_node 8 trl/scripts/sft.py {flags}"
    claimed = f"# global batch size 128\n{alone} 4\n"
    assert file(report_on(tmp_path, {"run.sh": claimed}), "run.sh").verdict == "verified"
    assert file(report_on(tmp_path, {"run.sh": f"{claimed}{BUSY}{alone} 8\n"}), "run.sh").verdict == "warned"


NAMED = {
    "a NUL": ("run.sh", b"\0", "not text: NUL at byte 0"),
    "bytes": ("run.sh", b"data " * 1_000_001, "larger than 5,000,000 bytes"),
    "Markdown": ("README.md", b"data " * 1_000_001, "larger than 5,000,000 bytes"),
    "Markdown with a NUL": ("README.md", b"data\0", "not text: NUL at byte 4"),
}


@pytest.mark.parametrize(("path", "data", "reason"), NAMED.values(), ids=NAMED)
def test_a_script_that_is_named_is_never_no_file(path: str, data: bytes, reason: str, tmp_path: Path) -> None:
    assert reported(report_on(tmp_path, {path: data})) == []
    report = report_on(tmp_path, {}, path)
    (found,) = reported(report)
    assert (found.code, found.at.source, reason in found.message) == ("GBS007", path, True)
    assert file(report, path).role == Role.UNREADABLE


@pytest.mark.parametrize("path", ["train.py", "conf.d/env", "data.bin"])
def test_any_file_that_is_named_is_never_no_file(path: str, tmp_path: Path) -> None:
    (found,) = reported(report_on(tmp_path, {path: b"\0"}, path))
    assert (found.code, found.message) == ("GBS001", "not text: NUL at byte 0")


def test_a_missing_file_is_not_a_file(tmp_path: Path) -> None:
    for path in ("run.sh", "README.md", "other.txt"):
        with pytest.raises(UsageError, match="no file or folder"):
            report_on(tmp_path, {}, path)


def test_a_script_in_a_hidden_folder_is_read_when_it_is_named(tmp_path: Path) -> None:
    files = {".ci/run.sh": VIOLATING}
    assert reported(report_on(tmp_path, files)) == []
    (found,) = reported(report_on(tmp_path, files, ".ci/run.sh"))
    assert (found.code, found.at.source) == ("GBS301", ".ci/run.sh")


@posix
@pytest.mark.parametrize("name", ["run.sh", "README.md", "Makefile", "job.slurm"])
def test_a_named_pipe_called_like_a_script_is_reported(name: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / name)
    for targets in ((), (name,)):
        report = report_on(tmp_path, {}, *targets)
        (found,) = reported(report)
        assert (found.code, found.at.source) == ("GBS007", name)
        assert found.message == "not read: a named pipe, not a regular file; its launches are not checked"
    assert file(report_on(tmp_path, {}), "sft.yaml").verdict == "verified"


@posix
def test_a_link_that_leads_nowhere_is_reported_when_it_is_named(tmp_path: Path) -> None:
    (tmp_path / "run.sh").symlink_to("nowhere.sh")
    (found,) = reported(report_on(tmp_path, {}, "run.sh"))
    assert found.message.startswith("not read: a symbolic link that leads nowhere")


@posix
def test_a_script_outside_the_tree_is_reported_and_a_document_is_not(tmp_path: Path) -> None:
    (tmp_path / "outside.sh").write_text(VIOLATING)
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree/run.sh").symlink_to("../outside.sh")
    (tmp_path / "tree/README.md").symlink_to("../outside.sh")
    (found,) = reported(report_on(tmp_path / "tree", {}))
    assert (found.code, found.at.source) == ("GBS007", "run.sh")


def _deep(root: Path) -> None:
    """Make folders within each other whose path is longer than any system call takes: 21 of 200 letters each."""
    here = Path.cwd()
    os.chdir(root)
    try:
        for _ in range(21):
            Path("d" * 200).mkdir()
            os.chdir("d" * 200)
    finally:
        os.chdir(here)


@posix
def test_a_folder_that_can_not_be_listed_is_reported(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    _deep(tmp_path / "data")
    (found,) = reported(report := report_on(tmp_path, {}))
    assert found.code == "GBS007"
    assert found.at.source.startswith("data/ddd")
    assert found.message == "can't be listed: its name is too long; recipes and scripts in it are not checked"
    assert file(report, "sft.yaml").verdict == "verified"
    assert [finding.code for finding in reported(report_on(tmp_path, {}, "data/"))] == ["GBS007"]


@posix
def test_a_folder_that_was_not_asked_for_or_that_is_left_out_is_not_reported(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    _deep(tmp_path / "data")
    assert reported(report_on(tmp_path, {}, "sft.yaml")) == []
    assert reported(report_on(tmp_path, {"recipes/a.yaml": recipe()}, "recipes/")) == []
    assert reported(check(WorkTree(tmp_path, exclude=("data/",)), (), Settings(exclude=("data/",)), Given())) == []
    (tmp_path / ".gitignore").write_text("data/\n")
    (tmp_path / ".git").mkdir()
    assert reported(report_on(tmp_path, {})) == []


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_reported(tmp_path: Path) -> None:
    report_on(tmp_path, {"run.sh": LAUNCH, "closed/run.sh": LAUNCH})
    (tmp_path / "run.sh").chmod(0)
    (tmp_path / "closed").chmod(0)
    try:
        found = reported(check(WorkTree(tmp_path), (), Settings(), Given()))
        assert [(finding.at.source, finding.code) for finding in found] == [("closed/", "GBS007"), ("run.sh", "GBS007")]
    finally:
        (tmp_path / "closed").chmod(0o700)


def test_a_shared_limit_is_one_warning_and_notes_after_it(tmp_path: Path) -> None:
    """Scripts that start one of 15,000 assignments reach the limit of all scripts; those behind them repeat it."""
    big = "".join("a=1\n" for _ in range(15_000)) + "python prepare.py\n"
    starting = {f"run{number:02}.sh": f"bash big.sh 1\n{VIOLATING}" for number in range(40)}
    found = [finding for finding in reported(report_on(tmp_path, {"big.sh": big, **starting})) if finding.code == "GBS007"]
    assert [finding.severity for finding in found] == [Severity.WARNING, *[Severity.INFO] * (len(found) - 1)]
    assert len(found) > 1


# Each turn of the grid submits another job; where it is the last of the script, the turns that are not read are like those that were.
@pytest.mark.parametrize(
    ("behind", "severity"), [("echo done\n", "info"), (VIOLATING, "warning"), ("bash next.sh\n", "warning"), ("go 8\n", "warning")]
)
def test_further_turns_of_a_loop_are_a_note(behind: str, severity: str, tmp_path: Path) -> None:
    script = f"go() {{ {LAUNCH} --seed $1; }}\n{BUSY.splitlines()[0].replace('z=1', 'go $j')}\n{behind}"
    (found,) = (finding for finding in reported(report_on(tmp_path, {"run.sh": script, "next.sh": VIOLATING})) if finding.code == "GBS007")
    assert found.severity == severity


@pytest.mark.parametrize("name", ["guide.md", "docs/GUIDE.md"])
def test_a_document_with_too_much_is_a_note(tmp_path: Path, name: str) -> None:
    (found,) = (
        finding for finding in reported(report_on(tmp_path, {name: f"```bash\n{BUSY}{VIOLATING}```\n"})) if finding.code == "GBS007"
    )
    assert (found.severity, found.at.source) == (Severity.INFO, name)


PRINTED = f"```bash\n{LAUNCH}\n```\nIt prints:\n```bash\n{'A=(' * 10_000}\n```\n"


@pytest.mark.parametrize(
    ("behind", "told_of"),
    [
        pytest.param("Done.\n", [], id="nothing"),
        pytest.param(f"```bash\n{VIOLATING}```\n", ["GBS007"], id="a launch"),
        pytest.param("```bash\nbash next.sh\n```\n", ["GBS007"], id="a script"),
    ],
)
def test_what_a_document_prints_and_launches_nothing_behind_is_left_alone(behind: str, told_of: list[str], tmp_path: Path) -> None:
    report = report_on(tmp_path, {"README.md": PRINTED + behind, "next.sh": "echo done\n"})
    assert [finding.code for finding in reported(report)] == told_of


@pytest.mark.parametrize("stops", [f"{BUSY}{LAUNCH}", "A=(" * 10_000 + LAUNCH])
def test_a_block_of_a_document_that_launches_and_is_not_read_is_a_note(stops: str, tmp_path: Path) -> None:
    (found,) = reported(report_on(tmp_path, {"README.md": f"```bash\n{stops}\n```\n```bash\necho done\n```\n"}))
    assert (found.code, found.severity) == ("GBS007", Severity.INFO)


@pytest.mark.parametrize(
    ("name", "severity"), [("benchmarks/inference/sweep.sh", "info"), ("run_eval.sh", "info"), ("eval_training.sh", "warning")]
)
def test_a_script_that_evaluates_is_a_note(tmp_path: Path, name: str, severity: str) -> None:
    (found,) = (finding for finding in reported(report_on(tmp_path, {name: f"{BUSY}{VIOLATING}"})) if finding.code == "GBS007")
    assert found.severity == severity
