"""Names and values of strangers: nothing in them is a command, a colour, a line or markup of its own."""

import json
import re
import tracemalloc
from xml.etree import ElementTree

import pytest

from pytest_gbs.formats import FormatOptions, find, names
from pytest_gbs.formats._escape import escape
from pytest_gbs.formats._json import dump
from pytest_gbs.formats._markdown import cell
from pytest_gbs.model.assumption import Assuming, Assumption
from pytest_gbs.model.location import Location, Source
from pytest_gbs.model.outcome import Finding, Related, Severity, Undetermined
from pytest_gbs.model.report import FileReport, Report, Role, Verdict

EVIL = "a\n::error file=x::forged\r\x1b[31m\u202egnp\ud800,b%0A|`<script>\u2028]]>&\ufffe@team"
PATH = f"recipes/{EVIL}.yaml"
TEXT = f"# {EVIL}\nper_device_train_batch_size: {EVIL}\n"
FINDING = Finding(
    "GBS101",
    f"comment says {EVIL}",
    Severity.ERROR,
    Location(PATH, 2, 10),
    EVIL,
    (Related(Location(PATH, 40, 60), EVIL),),
    (EVIL,),
    EVIL,
    (Assumption(Assuming.FILES_NEARBY, "gpus_per_node", 8, 3, EVIL), Assumption(Assuming.NOT_SET, EVIL)),
)
OPEN = Undetermined("GBS102", Location(PATH, 2, 3), EVIL, ("world_size",), EVIL)
FILE = FileReport(
    PATH,
    1,
    Role.RECIPE,
    "trl",
    Verdict.VIOLATED,
    (("GBS101", "violated"), ("GBS102", "undetermined")),
    (FINDING,),
    (OPEN,),
    assumptions=FINDING.assumptions,
)
BROKEN = FileReport(PATH, 1, Role.UNREADABLE, None, None, problem=EVIL)
REPORT = Report((FILE, BROKEN), {PATH: Source(PATH, TEXT)}, {}, EVIL)


@pytest.mark.parametrize("name", names())
def test_no_control_reaches_the_terminal(name: str) -> None:
    text = find(name).render(REPORT, FormatOptions(verbosity=1))
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2028\u2066-\u2069\ud800-\udfff\ufffe]", text)
    text.encode("utf-8")


@pytest.mark.parametrize("name", names())
def test_no_line_of_a_stranger_starts_a_workflow_command(name: str) -> None:
    forged = [
        line for line in find(name).render(REPORT, FormatOptions(verbosity=1)).splitlines() if line.lstrip().startswith("::error file=x")
    ]
    assert forged == []


def test_github_writes_one_command_for_one_finding() -> None:
    lines = find("github").render(REPORT, FormatOptions()).splitlines()
    assert len(lines) == 2
    command = re.fullmatch(r"::error file=([^:,]*),line=1,endLine=2,title=GBS101::(.*)", lines[0])
    assert command  # and no columns, since the place has two lines
    assert command[1].startswith(r"recipes/a\n%3A%3Aerror file=x%3A%3Aforged")
    # A per cent sign of the stranger's stays one.
    assert r"\ud800%2Cb%250A" in command[1]
    assert r"b%250A|" in command[2]


@pytest.mark.parametrize("name", ["json", "gitlab", "sarif"])
def test_json_stays_json_and_ascii(name: str) -> None:
    text = find(name).render(REPORT, FormatOptions())
    assert text.isascii()
    json.loads(text)


def test_json_of_many_findings_takes_little_more_than_its_text() -> None:
    value = [{"code": number, "at": [number]} for number in range(20_000)]
    tracemalloc.start()
    text = dump(value)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert json.loads(text) == value
    assert most < 4 * len(text)


def test_junit_stays_xml_with_a_case_for_each_rule() -> None:
    suite = ElementTree.fromstring(find("junit").render(REPORT, FormatOptions()).encode("utf-8"))
    assert len(suite.findall(".//testcase")) == 2
    assert len(suite.findall(".//failure")) == 1


def test_markdown_stays_a_table_of_one_row() -> None:
    text = find("markdown").render(REPORT, FormatOptions())
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) == 3
    assert all(len(re.findall(r"(?<!\\)\|", row)) == 5 for row in rows)
    assert "<script>" not in text
    assert "@team" not in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@team a@b.example @_x", r"@<!-- -->team a@<!-- -->b.example @<!-- -->\_x"),
        ("recipe #2 #1", r"recipe \#<!-- -->2 \#<!-- -->1"),
        ("https://x WWW.x a::b", "https:<!-- -->//x WWW<!-- -->.x a::b"),
        ("a.yaml @ run.sh # wwwx", r"a.yaml @ run.sh \# wwwx"),
    ],
)
def test_no_cell_of_markdown_mentions_or_leads_anywhere(text: str, expected: str) -> None:
    assert cell(text) == expected


def test_sarif_uris_hold_no_byte_that_means_something() -> None:
    run = json.loads(find("sarif").render(REPORT, FormatOptions()))["runs"][0]
    uri = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert re.fullmatch(r"[A-Za-z0-9._~/%-]+", uri)
    assert uri.startswith("recipes/a%0A%3A%3Aerror%20file%3Dx")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("recipes/größe-批量/sft.yaml", "recipes/größe-批量/sft.yaml", id="letters of all languages stay"),
        pytest.param("a b\u00a0c", "a b\u00a0c", id="spaces stay"),
        pytest.param("👩\u200d🚀", "👩\u200d🚀", id="joined emoji stay"),
        pytest.param("a\nb\r\tc", r"a\nb\r\tc", id="line breaks and tabs"),
        pytest.param("\x1b]8;;x\x07", r"\x1b]8;;x\x07", id="escape sequences"),
        pytest.param("\x9b1m", r"\x9b1m", id="C1 controls"),
        pytest.param("\u202e\u2066\u200f", r"\u202e\u2066\u200f", id="signs that turn the writing around"),
        pytest.param("\ud800", r"\ud800", id="lone surrogates"),
        pytest.param("\U000e0041", r"\U000e0041", id="invisible tags"),
    ],
)
def test_escape(text: str, expected: str) -> None:
    assert escape(text) == expected
