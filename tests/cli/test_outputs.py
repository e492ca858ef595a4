"""Several formats in one run, links, statistics and the schemas of what is written."""

import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from tests.cli.support import GOOD, STALE, Gbs, write


@pytest.fixture
def stale(repo: Path) -> Path:
    """A repository with one finding."""
    write(repo, {"sft.yaml": STALE})
    return repo


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        pytest.param(("--output", "sarif"), "--output takes FORMAT:FILE, as in sarif:gbs.sarif, not 'sarif'", id="no file"),
        pytest.param(("--output", "sarif:"), "--output takes FORMAT:FILE, as in sarif:gbs.sarif, not 'sarif:'", id="an empty name"),
        pytest.param(
            ("--output", "sraif:a"), "no format 'sraif'; did you mean sarif? the formats are azure, concise, csv", id="no such format"
        ),
        pytest.param(("--output", "json:a", "--output", "csv:a"), "--output: two formats can't go to one file", id="one file"),
        pytest.param(
            ("--output", "json:a", "--output-file", "a"), "--output: two formats can't go to one file", id="one file, another flag"
        ),
        pytest.param(("--output", "json:-"), "--output writes to files: --format json writes to standard output", id="no file but a dash"),
        pytest.param(("--output", "json:no/a"), "can't write ", id="no such folder"),
        pytest.param(
            ("--statistics", "--format", "sarif"), "gbs check --statistics has no format 'sarif'; there are text, json", id="statistics"
        ),
    ],
)
def test_what_cannot_be_written(flags: tuple[str, ...], said: str, stale: Path, gbs: Gbs) -> None:
    found = gbs("check", *flags)
    assert (found.code, found.err.startswith(f"gbs: {said}")) == (2, True), found.err
    assert [path.name for path in stale.iterdir() if path.is_file()] == ["sft.yaml"]


@pytest.mark.parametrize("command", ["check", "show", "report", "debug"])
def test_a_dash_is_standard_output(command: str, stale: Path, gbs: Gbs) -> None:
    assert gbs(command, "--output-file", "-") == gbs(command)
    assert [path.name for path in stale.iterdir() if path.is_file()] == ["sft.yaml"]


@pytest.mark.parametrize("command", ["check --output-file gbs.lock", "check --output json:gbs.lock", "show --output-file gbs.lock"])
def test_no_report_replaces_the_lock(command: str, stale: Path, gbs: Gbs) -> None:
    assert gbs("lock").code == 0
    before = (stale / "gbs.lock").read_bytes()
    found = gbs(*command.split())
    assert (found.code, "a lock; nothing was written" in found.err) == (2, True)
    assert (stale / "gbs.lock").read_bytes() == before


def test_several_formats_in_one_run(stale: Path, gbs: Gbs) -> None:
    text = gbs("check")
    (stale / ".out").mkdir()
    files = {name: stale / ".out" / f"out.{name}" for name in ("sarif", "gitlab", "github", "azure", "junit", "jsonl", "text")}
    files["json"] = stale / ".out" / "a:b.json"
    found = gbs("check", *(word for name, path in files.items() for word in ("--output", f"{name}:.out/{path.name}")))
    assert found == text
    for name, path in files.items():
        assert path.read_text(encoding="utf-8") == gbs("check", "--format", name).out
    assert json.loads(files["sarif"].read_text())["runs"][0]["tool"]["driver"]["rules"][5]["help"]["text"]


def test_a_file_that_is_there_is_replaced_in_one_go_and_a_link_followed(stale: Path, gbs: Gbs) -> None:
    (stale / "real.json").write_text("x" * 10_000)
    (stale / "out.json").symlink_to("real.json")
    gbs("check", "--output", "json:out.json")
    assert json.loads((stale / "real.json").read_text())["version"] == 1
    assert (stale / "out.json").is_symlink()


def test_a_device_is_written_to(stale: Path) -> None:
    command = [sys.executable, "-m", "pytest_gbs", "check", "-q", "--output", "concise:/dev/stderr", "--output-file", os.devnull]
    done = subprocess.run(command, cwd=stale, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.startswith("sft.yaml:1:")) == (1, "", True), done.stderr


def test_geometry_in_several_formats(stale: Path, gbs: Gbs) -> None:
    text = gbs("show")
    assert gbs("show", "--output", "csv:a.csv", "--output", "jsonl:a.jsonl") == text
    head, row = (stale / "a.csv").read_text().splitlines()
    assert dict(zip(head.split(","), row.split(","), strict=True)) == {
        "path": "sft.yaml",
        "document": "1",
        "framework": "TRL (SFT)",
        "launch": "",
        "verdict": "violated",
        "unit": "samples",
        "global_batch_size": "256",
        "micro_batch_size": "4",
        "gradient_accumulation_steps": "4",
        "data_parallel_size": "16",
        "world_size": "16",
        "tokens_per_step": "1048576",
    }
    (line,) = (stale / "a.jsonl").read_text().splitlines()
    assert [json.loads(line)] == json.loads(gbs("show", "--format", "json").out)["recipes"]
    assert (
        gbs("show", "--output", "sarif:a").err == "gbs: gbs show has no format 'sarif'; its formats are csv, json, jsonl, markdown, text\n"
    )


SCALE = ("scale", "sft.yaml", "--diff", "--format", "json")


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("report", ("check", "--statistics", "--format", "json")),
        ("plan", ("plan", "--global-batch-size", "64", "--world-size", "8", "--format", "json")),
        ("plan", ("plan", "--global-batch-size", "64", "--world-size", "12", "--tensor-parallel-size", "2", "--format", "json")),
        ("plan", ("plan", "--from", "sft.yaml", "--world-size", "8", "--sequence-length", "1024", "--format", "json")),
        ("scale", (*SCALE, "--nodes", "1")),
        ("scale", (*SCALE, "--nodes", "2")),
        ("scale", (*SCALE, "--world-size", "12")),
        ("rules", ("rules", "--format", "json")),
        ("rules", ("rule", "stale-declaration", "--format", "json")),
        ("frameworks", ("frameworks", "--format", "json")),
    ],
)
def test_json_is_what_its_schema_describes(name: str, command: tuple[str, ...], repo: Path, gbs: Gbs) -> None:
    write(repo, {"sft.yaml": GOOD, "stale.yaml": STALE})
    schema = json.loads(gbs("schema", name).out)
    text = gbs(*command).out
    jsonschema.Draft202012Validator(schema).validate(json.loads(text[text.index("\n{" if text.startswith("diff ") else text[0]) :]))


def test_a_line_is_one_of_the_findings(stale: Path, gbs: Gbs) -> None:
    (line,) = gbs("check", "--format", "jsonl").out.splitlines()
    assert json.loads(line) == json.loads(gbs("check", "--format", "json").out)["files"][0]["findings"][0]


@pytest.mark.parametrize("name", ["settings", "framework", "report", "plan", "scale", "rules", "frameworks"])
def test_a_schema_is_fit_for_a_catalogue(name: str, gbs: Gbs) -> None:
    schema = json.loads(gbs("schema", name).out)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$id"].endswith(f"/schemas/{name}.schema.json")
    assert schema["title"]
    assert schema["description"]
    validator = jsonschema.Draft202012Validator(schema)
    for example in schema.get("examples", ()):
        validator.validate(example)
    for key, value in schema.get("properties", {}).items() if name == "settings" else ():
        assert "examples" in value
        for example in (*value["examples"], *([value["default"]] if "default" in value else [])):
            validator.validate({key: example})


KNOWN = {"TERM": "xterm-kitty"}


@pytest.mark.parametrize(
    ("environment", "linked"),
    [
        pytest.param({"TERM": "xterm-256color"}, False, id="nothing is known of it"),
        pytest.param({**KNOWN, "CI": "true"}, False, id="CI"),
        pytest.param({**KNOWN, "TMUX": "/tmp/tmux-0/default,1,0"}, False, id="tmux"),
        pytest.param({**KNOWN, "NO_COLOR": "1"}, False, id="no colours"),
        pytest.param({"TERM": "xterm-256color", "VTE_VERSION": "4999"}, False, id="an old VTE"),
        pytest.param({"TERM": "dumb", "VTE_VERSION": "7200"}, False, id="dumb"),
        pytest.param(KNOWN, True, id="kitty"),
        pytest.param({"TERM": "xterm-256color", "VTE_VERSION": "7200"}, True, id="VTE"),
        pytest.param({"TERM": "xterm-256color", "TERM_PROGRAM": "vscode"}, True, id="vscode"),
    ],
)
def test_codes_are_links_on_terminals_that_have_them(environment: dict[str, str], linked: bool, stale: Path) -> None:
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "pytest_gbs", "check", "-q"]
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    subprocess.run(command, cwd=stale, stdin=subprocess.DEVNULL, stdout=theirs, env={**kept, **environment}, check=False, timeout=60)
    os.close(theirs)
    said = os.read(ours, 100_000).decode()
    os.close(ours)
    link = "\x1b]8;;https://pytest-gbs.readthedocs.io/en/stable/rules/gbs101/\x1b\\"
    assert "GBS101" in said
    assert (link in said, "\x1b]8" in said) == (linked, linked)


@pytest.mark.parametrize("flags", [(), ("--color", "always"), ("--output-file", "out.txt")])
def test_no_links_in_pipes_and_files(flags: tuple[str, ...], stale: Path, gbs: Gbs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-kitty")
    out = gbs("check", *flags).out + ((stale / "out.txt").read_text() if "--output-file" in flags else "")
    assert "GBS101" in out
    assert "\x1b]8" not in out
