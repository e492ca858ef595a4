"""Every command and format on a repository of a stranger: nothing that is printed is obeyed by a terminal or a CI system.

GitHub Actions obeys a line that starts with `::` behind any blanks; it and others obey `##[name]`, Azure Pipelines `##vso[name]`, TeamCity
`##teamcity[name]`, each of them anywhere in a line.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_gbs.cli import commands, main
from pytest_gbs.formats import names
from pytest_gbs.formats._escape import has_control_sequences, neutralize
from tests.git import Git

SIGNS = "\x1b]0;title\x07\x1b[2J\u202e\x85\u2028\x9b1m"
EVIL = f"::error title=X::d ##vso[task.complete]Y ##[error]Z ##teamcity[m] {SIGNS}"
LONG = " ".join(["word"] * 19)  # what comes behind it starts a line of its own
RECIPE = """\
# Config for 2 nodes of 8 x H100s with GBS 128 {evil}
model_name_or_path: my/model
dataset_name: my/data
max_length: 4096
per_device_train_batch_size: {micro}
gradient_accumulation_steps: {accumulation}
"{key}": "{evil}"
"""
FOLDERS = ("::error title=X::d", "##vso[task.setvariable variable=a]b", "##[set-output name=a]b", "  ::error::e", f"z{SIGNS}", "plain")
NAMES = (
    "::error::a.yaml",
    "a\n::error::b.yaml",
    "a\r::error::b.yaml",
    "a\x1b::b[c].yaml",
    "##vso[x]y.yaml",
    os.fsdecode(b"caf\xe9.yaml"),
    "-n.yaml",
    "ok.yaml",
)
OBEYED = re.compile(r"(?m)^\s*::|##\w*\[|[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def _printable(text: str) -> str:
    """What a line of a YAML file may hold of `text`."""
    return re.sub("[\x00-\x1f\x7f-\x9f\u2028]", "", text)


def _recipe(**sizes: object) -> str:
    values = {"micro": 4, "accumulation": 4, "evil": _printable(EVIL), "key": f"k{_printable(EVIL)}", **sizes}
    return RECIPE.format(**values)


def _script() -> str:
    launch = "accelerate launch --num_processes 4 train.py --config"
    return (
        f"# {EVIL}\nacc={EVIL!r}\n{launch} '::error title=X::d/a.yaml' \"$acc\"\n"
        f"{launch} ok.yaml --per_device_train_batch_size '::error::x'\n"
        f"{launch} ok.yaml --per_device_train_batch_size '{LONG} ::error::x ##[y]'\n"
    )


def _files() -> dict[str, str]:
    files = {f"{folder}/{name}": _recipe() for folder in FOLDERS for name in ("a.yaml", "b.yaml")}
    files |= {f"names/{name}": _recipe() for name in NAMES}
    files |= {name: _recipe() for name in NAMES}
    return files | {
        "values/micro.yaml": _recipe(micro=f'"{LONG} {_printable(EVIL)}"'),
        "values/twice.yaml": _recipe() + f'"k{_printable(EVIL)}": 2\n',
        "values/open.yaml": _recipe().replace("2 nodes of 8 x H100s", "2 nodes"),
        "values/safe.yaml": _recipe().replace("GBS 128", "GBS 256") + f"learning_rate: 1e-5\n::error::x: 1\n# {EVIL[:40]}\n",
        "values/ignored.yaml": _recipe().replace("\n", f"  # gbs: ignore[GBS101] {_printable(EVIL)}\n", 1),
        "values/unused.yaml": _recipe(accumulation=2).replace("\n", f"  # gbs: ignore[GBS101] {_printable(EVIL)}\n", 1),
        "values/broken.yaml": f"model_name_or_path: m\ndataset_name: d\nper_device_train_batch_size: [{EVIL}\n",
        "values/ds.json": json.dumps({"train_batch_size": 64, "train_micro_batch_size_per_gpu": EVIL, EVIL: EVIL}, ensure_ascii=False),
        "values/e.toml": f'["{_printable(EVIL)}"]\nmicro_batch_size = "x"\n',
        "scripts/::error::run.sh": _script(),
    }


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository of a stranger: two commits, and changes on disk."""
    folder = tmp_path_factory.mktemp("repository")
    git = Git(folder).init()
    git.commit(_files())
    assert main(["lock", str(folder)]) == 0
    git.commit(message=EVIL)
    git.commit({name: text.replace("gradient_accumulation_steps: 4", "gradient_accumulation_steps: 8") for name, text in _files().items()})
    return folder


@pytest.fixture(autouse=True)
def _here(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repository)
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)


CHECK = [["check", "--format", name, *flags] for name in names() for flags in ([], ["-v"], ["--strict=all"])]
SHOW = [["show", "--format", name, *flags] for name in ("text", "csv", "json", "jsonl", "markdown") for flags in ([], ["-v"])]
DIFF = [["diff", "--format", name, *revisions] for name in ("text", "json", "markdown") for revisions in (["HEAD~1"], ["HEAD~2", "HEAD"])]
SCALE = [
    ["scale", "--world-size", "8", *more, "--", "ok.yaml", "::error title=X::d/a.yaml", "-n.yaml", "values/open.yaml"]
    for more in (["--format", "json"], ["--format", "markdown"], ["--diff"], ["--diff", "--format", "json"])
]
OTHERS = [
    ["check", "--statistics"],
    ["check", "--statistics", "--format", "json"],
    ["check", "--output", EVIL],
    ["check", "--output", f"json:nowhere/{EVIL}"],
    ["check", "--show-files"],
    ["check", "--show-settings", "--exclude", EVIL.replace("[", "")],
    ["check", "--hook", "--", *NAMES],
    ["check", EVIL.replace("\0", "")],
    ["check", "--format", EVIL],
    ["check", f"--{EVIL}"],
    ["check", "--select", EVIL],
    ["check", "--config", EVIL],
    ["check", "--config", "values/e.toml"],
    ["check", "--launch", "::error title=X::d/a.yaml"],
    ["check", "--output-file", f"nowhere/{EVIL}"],
    ["check", "--changed-since", EVIL],
    ["check", "--changed-since", "HEAD~1"],
    ["check", "--allow-local-rules", EVIL],
    ["check", "--baseline", "values/ds.json"],
    ["check", "--add-ignore", "--diff"],
    ["fix", "--diff"],
    ["fix", "--fix-settings", "--diff"],
    ["fix", "--fix-declarations", "--diff"],
    ["lock", "--check"],
    ["plan", "--world-size", "8", "--from", "::error title=X::d/a.yaml"],
    ["plan", "--world-size", "8", "--from", "values/broken.yaml"],
    ["diff", EVIL],
    ["lsp", EVIL],
    ["report"],
    ["report", "--since", "HEAD~2"],
    ["report", "--since", EVIL],
    ["init", "--dry-run", EVIL],
    ["init", "--diff"],
    ["rule", EVIL],
    ["rule", "--all"],
    ["schema", EVIL],
    ["schema", "report"],
    ["rules"],
    ["completion", "bash"],
    ["completion", EVIL],
    ["frameworks"],
    ["debug", "."],
    [EVIL],
    [f"--{EVIL}"],
]


@pytest.mark.parametrize("arguments", [*CHECK, *SHOW, *DIFF, *SCALE, *OTHERS], ids=lambda arguments: ascii(" ".join(arguments))[1:60])
def test_nothing_that_is_printed_is_obeyed(arguments: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    code = main(arguments)
    out, err = capfd.readouterr()
    own = re.compile(r"::(error|warning|notice) (file=[^\n:,]*(,\w+=[^\n:,]*)*|title=gbs)::")
    out = re.sub(f"(?m)^{own.pattern}", "(own command)", out) if "github" in arguments else out
    issue = r"(?m)^##vso\[task\.logissue type=(error|warning);sourcepath=[^\n;\]]*(;\w+=[^\n;\]]*)*\]"
    out = re.sub(issue, "(own command)", out) if "azure" in arguments else out
    assert not OBEYED.search(out), ascii(OBEYED.findall(out))
    assert not OBEYED.search(err), ascii(OBEYED.findall(err))
    assert code in (0, 1, 2), code
    assert "internal error" not in err, err


def test_each_command_is_tried() -> None:
    assert {arguments[0] for arguments in (*CHECK, *SHOW, *DIFF, *SCALE, *OTHERS)} >= set(commands())


@pytest.mark.parametrize("arguments", [["check"], ["show"], ["check", "--format", "concise"]], ids=" ".join)
def test_with_colours_only_ours_are_there(arguments: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    main([*arguments, "--color", "always"])
    assert not OBEYED.search(re.sub(r"\x1b\[[0-9;]*m", "", capfd.readouterr().out))


def test_json_means_the_same(capfd: pytest.CaptureFixture[str]) -> None:
    main(["check", "--format", "json", "--", "##vso[task.setvariable variable=a]b"])
    paths = [file["path"] for file in json.loads(capfd.readouterr().out)["files"]]
    assert paths == ["##vso[task.setvariable variable=a]b/a.yaml", "##vso[task.setvariable variable=a]b/b.yaml"]


def test_a_patch_is_printed_byte_by_byte_or_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    stale = _recipe(accumulation=4, evil="", key="k")
    far = stale + "".join(f"# {number}\n" for number in range(9)) + f"# {_printable(EVIL)}\n"
    git = Git(tmp_path).init()
    files = {
        "far.yaml": far,
        "##vso[x]y/a.yaml": stale,
        "::error title=X::d/a.yaml": stale,
        "crlf.yaml": stale.replace("\n", "\r\n"),
        "near.yaml": stale.replace("model_name", "::error::x: 1\nmodel_name"),
        "turned.yaml": stale.replace("my/data", "my/\u202edata"),
    }
    git.commit(files)
    (tmp_path / "wide.yaml").write_bytes(stale.encode("utf-16"))
    monkeypatch.chdir(tmp_path)
    assert main(["fix", "--fix-declarations", "--diff"]) == 1
    out, err = capfdbinary.readouterr()
    assert err.decode().splitlines() == [
        "gbs: can't print a patch of near.yaml: it contains control characters or commands of CI systems; run without --diff to write it",
        "gbs: can't print a patch of turned.yaml: it contains control characters or commands of CI systems; run without --diff to write it",
        "gbs: can't print a patch of wide.yaml: it is UTF-16-LE, which git treats as binary; run without --diff to write it",
    ]
    assert not OBEYED.search(out.decode().replace("\r\n", "\n"))
    git.run("apply", "-", data=out)
    changed = git.run("diff", "--name-only", "-z").strip("\0").split("\0")
    assert changed == ["##vso[x]y/a.yaml", "::error title=X::d/a.yaml", "crlf.yaml", "far.yaml"]


OPTION, INI = ("--gbs-recipes", "."), ("-o", "gbs_recipes=.")


@pytest.mark.parametrize(
    ("asked", "flags"),
    [
        (OPTION, ["-v", "-rA"]),
        (OPTION, ["-vv", "--gbs-strict"]),
        (OPTION, ["-q", "--tb=line"]),
        (OPTION, ["--collect-only"]),
        (OPTION, ["-n", "1", "-v"]),
        (INI, ["-v", "-rA"]),
        (INI, ["--collect-only"]),
    ],
    ids=" ".join,
)
def test_nothing_that_pytest_prints_is_obeyed(asked: tuple[str, ...], flags: list[str], repository: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *asked, *flags]
    done = subprocess.run(command, cwd=repository, capture_output=True, timeout=300, check=False)
    out = (done.stdout + done.stderr).decode("utf-8", "surrogateescape").replace(str(repository), "")
    assert not OBEYED.search(out), ascii(OBEYED.findall(out))
    assert "error" not in out.splitlines()[-1]
    assert "INTERNALERROR" not in out
    assert done.returncode == (0 if "--collect-only" in flags else 1)


@pytest.mark.parametrize(
    "text",
    [
        "std::vector",
        "a/::b",
        "- ::x",
        "## [Unreleased]",
        "### a [b]",
        "#[x]",
        "# #[x]",
        "a\tb\n\n",
        "größe 批量 👩\u200d🚀",
        "\x1b[1;31merror\x1b[0m",
    ],
)
def test_what_has_no_effect_stays(text: str) -> None:
    assert neutralize(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("::error::x", r"\x3a:error::x", id="a command"),
        pytest.param("a\n \t\u3000::error::x\n", "a\n \t\u3000\\x3a:error::x\n", id="behind blanks"),
        pytest.param("\x1b[1m::error\x1b[0m", "\x1b[1m\\x3a:error\x1b[0m", id="in colour"),
        pytest.param("a ##[error]x", r"a #\x23[error]x", id="the older form"),
        pytest.param("###vso[a]##teamcity[b]", r"##\x23vso[a]#\x23teamcity[b]", id="of other systems"),
        pytest.param("a\r::error", r"a\r::error", id="an end of line that is none of ours"),
        pytest.param("\x1b]0;x\x07\x1b[2J\u202e\x85", r"\x1b]0;x\x07\x1b[2J\u202e\x85", id="controls"),
    ],
)
def test_what_somebody_obeys_is_written_out(text: str, expected: str) -> None:
    assert neutralize(text) == expected


def test_a_format_keeps_its_own_commands() -> None:
    assert neutralize("::error file=a::##[x]\x1b]", commands="::") == r"::error file=a::#\x23[x]\x1b]"
    assert neutralize("##vso[task.logissue]a\n::error::x\x1b]", commands="##") == "##vso[task.logissue]a\n\\x3a:error::x\\x1b]"


LINK = "\x1b]8;;https://pytest-gbs.readthedocs.io/en/stable/rules/gbs101/\x1b\\GBS101\x1b]8;;\x1b\\"


def test_links_to_the_manual_stay() -> None:
    assert neutralize(LINK) == LINK


@pytest.mark.parametrize("address", ["https://example.org/", "https://pytest-gbs.readthedocs.io.example.org/", "file:///etc/passwd"])
def test_other_links_are_written_out(address: str) -> None:
    assert neutralize(f"\x1b]8;;{address}\x1b\\x").startswith("\\x1b]8;;")


@pytest.mark.parametrize("text", [" a: b\n", "-a\r\n+b\r\n", "+\ufeff# x\n", "+::error::x\n", " # ## [x]\n"])
def test_a_patch_that_is_harmless(text: str) -> None:
    assert not has_control_sequences(text)


@pytest.mark.parametrize("text", [" ::error::x\n", " a\r::error::x\n", "+##vso[x]\n", "-\x1b[2J\n", " \u202ex\n", " \x85::x\n"])
def test_a_patch_that_is_obeyed(text: str) -> None:
    assert has_control_sequences(text)


@pytest.mark.parametrize(
    "text", ["\n" * 200_000, " " * 200_000, "#" * 200_000, "##" + "a" * 200_000, ("##" + "a" * 50) * 4_000, "::" * 100_000]
)
def test_long_text_is_read_once(text: str) -> None:
    neutralize(text)
    has_control_sequences(text)
