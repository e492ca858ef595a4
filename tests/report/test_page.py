"""The page as text: what it shows, that it is whole, and that nothing of a stranger's is obeyed in it."""

import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.cli.support import GOOD, STALE, UNCLAIMED, Gbs, runner, write
from tests.git import Git

VOID = {"meta", "input", "wbr"}


@pytest.fixture
def gbs(capsys: pytest.CaptureFixture[str]) -> Gbs:
    """Run `gbs`."""
    return runner(capsys)


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository for a recipe or two, which is the current folder."""
    monkeypatch.chdir(tmp_path)
    Git(tmp_path).init()
    return tmp_path


class Outline(HTMLParser):
    """The elements of a page in order, each with its attributes and text; fails if they do not nest."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None], list[str]]] = []
        self.stack: list[list[str]] = []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        said: list[str] = []
        self.elements.append((tag, dict(attributes), said))
        if tag not in VOID:
            self.open.append(tag)
            self.stack.append(said)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        self.stack.pop()

    def handle_data(self, data: str) -> None:
        for said in self.stack:
            said.append(data)

    def texts(self, tag: str, **wanted: str) -> list[str]:
        """The texts of all elements called `tag` that have these attributes."""
        wanted = {name.rstrip("_").replace("_", "-"): value for name, value in wanted.items()}
        return ["".join(said) for name, has, said in self.elements if name == tag and wanted.items() <= has.items()]


def outline(gbs: Gbs, *arguments: str) -> Outline:
    said = gbs("report", *arguments)
    assert (said.code, said.err) == (0, "")
    return Outline(said.out)


def test_where_there_is_no_recipe_the_page_says_so(repo: Path, gbs: Gbs) -> None:
    write(repo, {"notes.yaml": "a: 1\n"})
    said = gbs("report")
    assert said.code == 3
    page = Outline(said.out)
    assert page.texts("h2") == []
    assert page.texts("p")[0] == "no recipe in 1 file"


def test_what_is_unknown_is_left_out_of_the_plot_and_has_no_number(repo: Path, gbs: Gbs) -> None:
    write(repo, {"a.yaml": UNCLAIMED})
    page = outline(gbs)
    assert page.texts("figure") == []
    assert page.texts("td", data_head="GPUs") == [""]
    assert page.texts("td", data_head="global batch") == ["8 x GPUs"]
    assert not any("data-value" in has for name, has, _ in page.elements if has.get("data-head") in ("GPUs", "global batch"))


def test_a_recipe_is_explained_number_by_number(repo: Path, gbs: Gbs) -> None:
    write(repo, {"sub/a.yaml": GOOD})
    page = outline(gbs, "sub")
    heads = ("verdict", "global batch", "GPUs", "micro", "accumulation", "data-parallel", "tokens per step", "claim", "framework")
    assert [page.texts("td", data_head=head) for head in heads] == [
        [each] for each in ("verified", "128", "16", "4", "2", "16", "524,288", "128", "TRL (SFT)")
    ]
    assert page.texts("a", href="#r0") == ["sub/a.yaml"]
    (block,) = page.texts("pre", id="r0")
    assert "= 4 x 2 x 16" in block
    assert "any number of GPUs; 128 only on 16" in block
    assert page.texts("nav") == []


def test_findings_come_with_their_excerpts(repo: Path, gbs: Gbs) -> None:
    write(repo, {"a.yaml": STALE})
    page = outline(gbs)
    assert page.texts("nav") == ["Findings (1)"]
    (finding,) = page.texts("pre", class_="error")
    assert finding == gbs("check", "-q").out.rstrip("\n")


def test_a_launch_is_shown_below_its_recipe(repo: Path, gbs: Gbs) -> None:
    run = "accelerate launch --num_processes 8 --num_machines 1 train.py a.yaml\n"
    write(repo, {"a.yaml": UNCLAIMED, "run.sh": run, "train.py": ""})
    page = outline(gbs)
    assert page.texts("th", scope="row") == ["a.yaml", "a.yaml (run.sh:1, accelerate launch)"]
    assert page.texts("td", data_head="global batch") == ["8 x GPUs", "64"]
    assert page.texts("td", data_head="verdict") == ["unclaimed", ""]
    assert page.texts("figcaption") == [
        "Larger dots stand for several recipes or launches; point at one for their names. "
        "Not drawn, since the batch or the GPUs are not known: 1."
    ]


def test_what_is_far_from_the_others_is_named_in_the_plot(repo: Path, gbs: Gbs) -> None:
    def of(nodes: int) -> str:
        return GOOD.replace("2 nodes", f"{nodes} nodes").replace("128", str(64 * nodes))

    write(repo, {"a.yaml": of(1), "b.yaml": of(1), "c.yaml": of(2), "d.yaml": of(7), "e.yaml": of(8)})
    page = outline(gbs)  # 64, 64, 128, 448, 512: the median is 128, and 1,024 would be eight times that
    assert page.texts("text", class_="median") == ["median 128"]
    assert page.texts("text", class_="far") == []
    write(repo, {"f.yaml": of(16), "c.yaml": of(1)})
    assert outline(gbs).texts("text", class_="far") == ["e.yaml", "f.yaml"]  # the median is 64: 512 is eight times that
    write(repo, {f"{number}.yaml": of(16 * number) for number in range(10, 20)})
    assert len(outline(gbs).texts("circle")) == 4 + 10


@pytest.mark.parametrize("name", ["<b>&amp;'\".yaml", "-->]]>.yaml", "::error::.yaml", "##vso[task].yaml", "javascript:alert(1).yaml"])
def test_a_stranger_writes_text_and_nothing_else(repo: Path, gbs: Gbs, name: str) -> None:
    evil = "</pre></script><script>alert(1)</script><style>*{}</style>"
    write(repo, {name: STALE + f"run_name: {evil}\n", "plain.yaml": GOOD})
    plain, page = outline(gbs, "plain.yaml"), outline(gbs)
    extra = {tag for tag, _, _ in page.elements} - {tag for tag, _, _ in plain.elements}
    assert extra <= {"nav", "a", "g", "rect", "pre"}
    assert len(page.texts("script")) == len(page.texts("style")) == 1
    assert not any(key.startswith("on") for _, has, _ in page.elements for key in has)


def test_nothing_is_fetched_and_only_our_own_script_runs(repo: Path, gbs: Gbs) -> None:
    write(repo, {"a.yaml": STALE})
    gbs("report", "-o", "page.html")
    text = (repo / "page.html").read_text(encoding="utf-8")
    page = Outline(text)
    assert not any(key in ("src", "style") or str(has[key]).startswith(("http", "//")) for _, has, _ in page.elements for key in has)
    assert "url(" not in text
    assert "@import" not in text
    (policy,) = [has["content"] or "" for _, has, _ in page.elements if has.get("http-equiv") == "Content-Security-Policy"]
    for kind in ("style", "script"):
        (content,) = re.findall(rf"<{kind}>(.*?)</{kind}>", text, re.S)
        assert f"{kind}-src 'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'" in policy
    assert gbs("report").out == text


def test_signs_that_turn_the_writing_around_are_written_out(repo: Path, gbs: Gbs) -> None:
    write(repo, {"a\u202elmay.yaml": UNCLAIMED})
    assert outline(gbs).texts("th", scope="row") == ["a\\u202elmay.yaml"]


class TestHistory:
    """The batch of recipes since a revision."""

    def test_a_revision_that_is_not_there(self, repo: Path, gbs: Gbs) -> None:
        Git(repo).commit({"a.yaml": GOOD})
        said = gbs("report", "--since", "nothing")
        assert (said.code, said.out) == (2, "")
        assert "no commit 'nothing'" in said.err

    def test_what_did_not_change_is_the_same(self, repo: Path, gbs: Gbs) -> None:
        git = Git(repo)
        git.commit({"a.yaml": GOOD})
        git.commit({"README.md": "more\n"})
        page = outline(gbs, "--since", "HEAD~1")
        assert page.texts("td", data_head="since HEAD~1") == ["same"]
        assert page.texts("path") == []

    def test_each_change_is_a_step(self, repo: Path, gbs: Gbs) -> None:
        git = Git(repo)
        first = git.commit({"a.yaml": GOOD})
        git.commit({"a.yaml": STALE})
        git.commit({"b.yaml": UNCLAIMED})
        git.write({"a.yaml": GOOD.replace("steps: 2", "steps: 8")})
        page = outline(gbs, "--since", first)
        assert page.texts("span", class_="steps") == ["128 → 256 → 512", "8 x GPUs"]
        days = re.findall(r"\d{4}-\d\d-\d\d|now", page.texts("title")[-2])
        assert len(days) == 3
        assert days[-1] == "now"
        lines = [has["d"] or "" for name, has, _ in page.elements if name == "path"]
        # Four states from the left edge at 3 to the right one at 117: one at 128 (the bottom, 21), two at 256, one at 512 (the top, 3).
        assert lines[0] == "M3.0 21.0H31.5L31.5 12.0H60.0L60.0 12.0H88.5L88.5 3.0H117.0"
        assert lines[1] == "M60.0 12.0H88.5L88.5 12.0H117.0"

    def test_of_many_commits_some_are_looked_at(self, repo: Path, gbs: Gbs) -> None:
        git = Git(repo)
        first = git.commit({"a.yaml": GOOD})
        for number in range(60):
            git.commit({"log.txt": f"{number}\n"})
        git.commit({"a.yaml": STALE})
        page = outline(gbs, "--since", first)
        assert page.texts("span", class_="steps") == ["128 → 256"]
        (line,) = [has["d"] or "" for name, has, _ in page.elements if name == "path"]
        assert line.count("H") == 41
