"""Settings, locks and baselines of a stranger, and what `gbs fix` writes in odd encodings and places."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.support import write
from tests.hostile.texts import numbered
from tests.hostile.watched import GOOD, run, run_beside_good, run_calmly

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no links, no getrusage")

STALE = GOOD.replace("steps: 4", "steps: 8")
ENTRY = '{"path": "good.yaml", "rule": "GBS101", "key": "", "count": 1}'
LOCKED = '"good.yaml" = { global_batch_size = 128, unit = "samples", per_gpu = 16 }\n'


SETTINGS = {
    "rules that are none": "[severity]\n" + numbered("GBS9# = 'error'\n", 5_000),
    "one mistake again and again": "select = [" + "'G*'," * 20_000 + "]\n",
    "a key of 190,000 letters": "a" * 190_000 + " = 1\n",
    "a version of 50,000 parts": f"[versions]\ntrl = '{'1.' * 50_000}1'\n",
    "hardware of 10^30": f"[[hardware]]\npaths = ['**']\nworld-size = 1{'0' * 30}\n",
    "expectations of brackets": f"[[expect]]\npaths = ['{'[' * 500}']\nglobal_batch_size = 1\n",
    "controls": 'exclude = ["\\u001b[2J", "\\u202e", "a\\nb"]\n[versions]\n"\\u001b]0;x" = "1"\n',
    "a framework that leads outside": "frameworks = ['../../etc/passwd', '/etc/shadow']\n",
    "frameworks in a circle": "[frameworks.a]\nlike = 'b'\n[frameworks.b]\nlike = 'a'\n",
    "a broken table": "[versions\nselect = 1\n",
}
LOCKS: dict[str, str | bytes] = {
    "one recipe again and again": f"version = 1\n{LOCKED * 20_000}",
    "a version of 30 digits": f"version = 1{'0' * 30}\n",
    "marks of a conflict": "<<<<<<< HEAD\nversion = 1\n=======\nversion = 2\n>>>>>>> x\n",
    "NUL": b"\0" * 100_000,
    "sizes below nothing": f"version = 1\n{LOCKED.replace('128', '-128')}",
}
HARMLESS_LOCKS: dict[str, str | bytes] = {
    "names of lines and controls": "version = 1\n" + LOCKED + "".join(LOCKED.replace("good", each) for each in ("\\u001b", "a\\nb")),
    "40,000 recipes": "version = 1\n" + LOCKED + numbered(LOCKED.replace("good", "g#"), 40_000),
    "UTF-16": f"version = 1\n{LOCKED}".encode("utf-16"),
}  # fmt: skip
BASELINES: dict[str, str | bytes] = {
    "depth": '{"version": 1, "findings": ' + "[" * 100_000 + "}",
    "another kind": '{"version": "1", "findings": {"path": 7}}',
    "a number": "7",
    "nothing": "",
    "what is no number": '{"version": NaN, "findings": [' + ENTRY.replace(": 1}", ": Infinity}") + "]}",
    "a count beyond all": '{"version": 1, "findings": [' + ENTRY.replace(": 1}", ": 1e309}") + "]}",
}
ENCODINGS: dict[str, Callable[[str], bytes]] = {
    "UTF-16": lambda text: text.encode("utf-16"),
    "UTF-16 without a mark": lambda text: text.encode("utf-16-be"),
    "UTF-32": lambda text: text.encode("utf-32"),
    "a mark of UTF-8": lambda text: b"\xef\xbb\xbf" + text.encode(),
    "CR LF": lambda text: text.replace("\n", "\r\n").encode(),
    "CR": lambda text: text.replace("\n", "\r").encode(),
    "NEL": lambda text: text.replace("\n", "\x85").encode(),
    "several line ends": lambda text: text.replace("\n", "\r\n", 2).encode(),
    "no line end at the end": lambda text: text.rstrip("\n").encode(),
    "wide signs": lambda text: f"# \U0001f600\u202e \u2028 \x85\n{text}".encode(),
    "wide signs in UTF-16": lambda text: f"# \U0001f600 \u4e2d\n{text}".encode("utf-16"),
}
REFUSED: dict[str, Callable[[str], bytes]] = {
    "Latin-1": lambda text: f"# gr\xf6\xdfe\n{text}".encode("latin-1"),
    "NUL": lambda text: text.encode() + b"\0",
    "half a sign": lambda text: text.encode("utf-16")[:-1],
    "two marks": lambda text: b"\xef\xbb\xbf\xef\xbb\xbf" + text.encode(),
    "a form feed": lambda text: text.replace("\n", "\x0c\n", 1).encode(),
    "tabs": lambda text: text.replace(": ", ":\t").encode(),
}


@pytest.mark.parametrize("text", SETTINGS.values(), ids=SETTINGS)
def test_settings_are_refused_in_a_few_lines(text: str, tmp_path: Path) -> None:
    found = run_beside_good(tmp_path, {"gbs.toml": text}, "check", ".")
    assert (found.code, found.out) == (2, "")
    lines = found.err.strip().splitlines()
    assert 1 <= len(lines) <= 21 and max(map(len, lines)) < 2_100
    assert not any(sign in found.err for sign in "\x1b\u202e")


def test_patterns_that_match_nothing_are_reported_in_a_few_lines(tmp_path: Path) -> None:
    found = run_beside_good(tmp_path, {"gbs.toml": "[per-file-ignores]\n" + numbered("'a#*' = ['ALL']\n", 900)}, "check", ".")
    assert found.code == 0
    assert found.err.strip().splitlines()[20:] == ["gbs: and 880 more"]


@pytest.mark.parametrize("text", LOCKS.values(), ids=LOCKS)
def test_a_lock_is_refused(text: str | bytes, tmp_path: Path) -> None:
    found = run_beside_good(tmp_path, {"gbs.lock": text}, "check", ".")
    assert (found.code, found.out) == (2, "")


@pytest.mark.parametrize("text", HARMLESS_LOCKS.values(), ids=HARMLESS_LOCKS)
def test_a_lock_of_other_recipes_too(text: str | bytes, tmp_path: Path) -> None:
    found = run_beside_good(tmp_path, {"gbs.lock": text})
    assert (found.code, "verified     good.yaml" in found.out) == (0, True)


@pytest.mark.parametrize("text", BASELINES.values(), ids=BASELINES)
def test_a_baseline_is_refused(text: str | bytes, tmp_path: Path) -> None:
    found = run_beside_good(tmp_path, {"b.json": text}, "check", "--baseline", "b.json", ".")
    assert found.code == 2
    assert len(found.err.strip().splitlines()) == 1


@pytest.mark.parametrize("encode", ENCODINGS.values(), ids=ENCODINGS)
def test_a_fix_keeps_encoding_and_line_ends(encode: Callable[[str], bytes], tmp_path: Path) -> None:
    write(tmp_path, {"a.yaml": encode(STALE)})
    found = run(tmp_path, "fix", "--fix-settings", ".")
    assert found.code == 0
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a.yaml", encode(GOOD))]


@pytest.mark.parametrize("encode", REFUSED.values(), ids=REFUSED)
def test_a_fix_leaves_what_is_not_text(encode: Callable[[str], bytes], tmp_path: Path) -> None:
    write(tmp_path, {"a.yaml": encode(STALE)})
    found = run_calmly(tmp_path, "fix", "--fix-settings", ".")
    assert found.code in (1, 3)
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a.yaml", encode(STALE))]


def test_a_fix_writes_nothing_outside(tmp_path: Path) -> None:
    write(tmp_path, {"out.yaml": STALE, "repo/good.yaml": GOOD})
    (tmp_path / "repo" / "a.yaml").symlink_to("../out.yaml")
    found = run_calmly(tmp_path / "repo", "fix", "--fix-settings", ".")
    assert found.code == 0
    assert (tmp_path / "out.yaml").read_text() == STALE


def test_a_fix_of_a_link_fixes_what_it_leads_to(tmp_path: Path) -> None:
    write(tmp_path, {"b.yaml": STALE})
    (tmp_path / "b.yaml").chmod(0o640)
    (tmp_path / "a.yaml").symlink_to("b.yaml")
    assert run(tmp_path, "fix", "--fix-settings", ".").code == 0
    assert (tmp_path / "a.yaml").is_symlink() and (tmp_path / "b.yaml").read_text() == GOOD
    assert (tmp_path / "b.yaml").stat().st_mode & 0o777 == 0o640
