"""Scripts that loop, nest, double or break: read in bounded time, and nothing is made up."""

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_gbs.model.command import OtherFiles, Script
from pytest_gbs.model.location import Source
from pytest_gbs.shell import read_commands
from tests.shell.reading import argv, commands, script

HOSTILE = {
    "doubling": "A=aaaaaaaa\n" + "A=$A$A\n" * 100 + "foo $A",
    "doubling-array": "A=(a b)\n" + 'A=("${A[@]}" "${A[@]}")\n' * 60 + 'foo "${A[@]}"',
    "doubling-arguments": "set -- a b\n" + 'set -- "$@" "$@"\n' * 60 + 'foo "$@"',
    "loops": "".join(f"for a{i} in {{1..60}}; do\n" for i in range(12)) + "foo $a1\n" + "done\n" * 12,
    "endless": "while true; do X=$X$X; foo $X; done\n" * 20,
    "counting-for-ever": "for ((;;)); do foo; done",
    "unknown-loops": "while foo $X; do\n" * 20 + "foo $A; X=$Y\n" + "done\n" * 20,
    "recursion": "f() { f; f; }\nf\nfoo",
    "two-recursions": "f() { g $1$1; g; }\ng() { f $1$1; f; }\nf aaaa\nfoo",
    "function-tree": "".join(f"f{i}() {{ f{i + 1}; f{i + 1}; }}\n" for i in range(30)) + "f30() { foo; }\nf0",
    "eval-of-itself": 'X=\'eval "$X"\'\neval "$X"\nfoo',
    "shell-of-itself": 'export X=\'bash -c "$X"\'\nbash -c "$X"\nfoo',
    "brackets": "(" * 2000 + "foo" + ")" * 2000,
    "substitutions": "foo " + "$(" * 1500 + "x" + ")" * 1500,
    "expansions": "foo " + "${a:-" * 1500 + "x" + "}" * 1500,
    "arithmetic": "foo $((" + "(" * 2000 + "1" + ")" * 2000 + "))",
    "powers": "foo $((" + "9**" * 200 + "9))",
    "ifs": "if x; then\n" * 500 + "foo\n" + "fi\n" * 500,
    "chain": "a" + " && b" * 3000 + " && foo",
    "pattern": "A=" + "a" * 250 + "\n" + "foo ${A%%*a*a*a*a*a*a*a*a*b}\n" * 500,
    "cases": "A=" + "a" * 250 + "\ncase $A in\n" + "*a*a*a*a*a*a*b) foo;;\n" * 500 + "esac",
    "heredocs": "cat <<A\n" * 1000,
    "quotes": '"' * 5001,
    "backticks": "`" * 1001,
    "dollars": "$" * 5000,
    "exports": "".join(f"export V{i}=1; foo\n" for i in range(1500)),
    "long-range": "foo {1..9999999999} $(seq 1 99999999) {1..60}{1..60}",
    "huge-subscript": "A[999999999999]=1\nfoo ${A[@]}",
}


@pytest.mark.parametrize("path", ["run.sh", "Makefile", "README.md"])
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_it_ends_soon(text: str, path: str) -> None:
    wrapped = {"run.sh": text, "Makefile": "all:\n\t" + text.replace("\n", "\n\t"), "README.md": f"```bash\n{text}\n```\n"}[path]
    before = time.perf_counter()
    script(wrapped, path)
    assert time.perf_counter() - before < 60  # it ends; how fast is for the benchmarks


def test_make_variables_that_double_are_cut_off() -> None:
    text = "A = aaaaaaaa\n" + "A := $(A)$(A)\n" * 60 + "B = $(C)$(C)\nC = $(B)$(B)\nall:\n\tfoo $(A) $(B)\n"
    assert script(text, "Makefile").path == "Makefile"


def test_a_script_at_a_limit_is_read_to_its_end() -> None:
    assert script("foo\n" * 2_000).stopped is None
    assert script("foo\n" + f"# {'x' * 997}\n" * 999 + "bar").stopped is None
    assert script("foo\n" + "\n" * 49_990 + "bar").stopped is None
    assert script("{ " * 19 + "foo" + "; }" * 19).stopped is None
    assert script("for i in {1..64}; do foo $i; done").not_converted == ()
    # Like pretrain/scripts/v4-moe-ablation/exp1.sh of llm-jp/scripts at 0a70387: the data of a mixture, file by file.
    mixture = "".join(f'DATA="${{DATA}} {number} ${{ROOT}}/{"name" * 25}_{number}"\n' for number in range(150))
    assert script(f"DATA=\n{mixture}foo $DATA").stopped is None
    assert script("prose about torchrun\n" * 60_000, "README.md").stopped is None  # 1,260,000 characters, none of them a shell's


def test_a_function_that_calls_itself_was_read() -> None:
    assert script('f() { foo "$1"; f "$1" again; }\nf a').stopped is None


NESTED = "".join(f"f{i}() {{ f{i + 1}; }}\n" for i in range(12)) + "f12() { bar; }\n"
LONG = "# " + "x" * 20_000
LOOP = "for i in {1..60}; do for j in {1..60}; do x=$i$j; y=$j$i; z=1; done; done\n"
STOPS = {
    "commands": ("foo\n" * 2_001, "more than 2,000 commands", "foo", 2_001),
    "characters": ("foo\n" + f"# {'x' * 997}\n" * 1_000 + "bar\n", "more than 1,000,000 characters", "", 1_001),
    "words": ("foo\n" + "# x\n" * 20_000 + "bar\n", "more than 50,000 words and signs", "", 16_668),  # 2 + 3 x 16,666 = 50,000
    "line": ("foo\n" + "x" * 1_000_001, "more than 1,000,000 characters", "", 2),
    "steps": ("foo\n" + LOOP * 9 + "bar\n", "more than 40,000 statements and words", None, None),
    "braces": ("foo\n" + "{ " * 50 + "bar" + "; }" * 50 + "\nfoo", "statements nested more than 40 deep", None, 2),
    "brackets": ("foo\n" + "(" * 50 + "bar" + ")" * 50 + "\nfoo", "words nested more than 40 deep", None, 2),
    "functions": (NESTED + "foo\nf0\nfoo\n", "functions nested more than 8 deep", "f8", 8),
    "shells": ("foo\n" + "eval " * 12 + "bar", "shells nested more than 8 deep", "eval", 2),
    "wrappers": ("foo\n" + "env " * 12 + "bar\nfoo", "a command behind more than 8 others", "env " * 4 + "bar", 2),
    "argument": (f"foo\nbash -c '{LONG}\nbar'\nfoo", "a script of more than 20,000 characters within another", None, 2),
    "variable": (f"foo\nX='{LONG}\nbar'\neval \"$X\"\nfoo", "a script of more than 20,000 characters within another", None, 4),
    "heredoc": (f"foo\nbash <<EOF\n{LONG}\nbar\nEOF\nfoo", "a script of more than 20,000 characters within another", None, 2),
}


@pytest.mark.parametrize(("text", "reason", "where", "line"), STOPS.values(), ids=STOPS)
def test_a_script_that_is_not_read_to_its_end_says_why_and_where(text: str, reason: str, where: str | None, line: int | None) -> None:
    found = script(text)
    assert found.stopped is not None
    at = found.stopped.at
    assert found.stopped.reason == reason
    assert line is None or text[: at.start].count("\n") + 1 == line
    assert where is None or text[at.start : at.stop] == where
    assert found.commands[0].words[0].text == "foo"  # what stands before is kept
    assert "bar" not in [command.words[0].text for command in found.commands]


def test_loops_of_many_turns_are_reported() -> None:
    assert [name for name, _ in script(f"for x in {'a ' * 65}; do foo $x; done").not_converted] == ["x"]
    assert [name for name, _ in script("for ((i = 0; i < 65; i++)); do foo $i; done").not_converted] == ["i"]
    assert script("for x in $(ls); do foo $x; done\nwhile true; do foo; done").not_converted == ()


def test_files_that_can_not_be_sourced_are_reported() -> None:
    files = {"a.sh": Source("a.sh", "foo")}
    found = read_commands(Source("run.sh", "source a.sh\n. b.sh\n[ -f c.sh ]\nsource $X"), OtherFiles(files.get, files.__contains__))
    assert [(path, at.start) for path, at in found.unsourced] == [("b.sh", 14)]


def test_a_large_file_is_sourced() -> None:
    files = {"a.sh": Source("a.sh", f"# {'x' * 997}\n" * 50 + "N=8")}
    found = read_commands(Source("run.sh", "source a.sh\nfoo $N"), OtherFiles(files.get, files.__contains__))
    assert (argv(found.commands[0]), found.stopped) == (["foo", "8"], None)


def test_a_doubled_value_is_unknown() -> None:
    assert argv(commands(HOSTILE["doubling"])[0]) == ["foo", None]


BROKEN = {
    "quote": 'N=8\nfoo "$N\nbar\n',
    "if": 'if [ "$X" = 1 ]; then\nN=2\nfoo $N\n',
    "stray-done": "N=1\ndone\nfoo $N",
    "bracket": "foo $((1 + )) 2",
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_broken_syntax_gives_no_certain_number(text: str) -> None:
    for command in script(text).commands:
        certain = not command.conditional and command.words[0].text == "foo"
        assert not certain or None in argv(command) or text == BROKEN["stray-done"]


def check(found: Script, text: str) -> None:
    """Assert that every place of `found` is in the text."""
    for command in found.commands:
        for at in (command.at, *(word.at for word in command.words), *(word.value_at for word in command.words)):
            assert 0 <= at.start <= at.stop <= len(text)
        for word in command.words:
            assert word.text is None or word.text == "".join(part.text or "" for part in word.parts)
            assert word.path is not None


SIGNS = "(){}\"'`[]|;#$@*=<>_0\\\r\t\n é\U0001f600\ue000"
EXPANSIONS = ("$A", "${A:-1}", "$(", "$((", "))", "{{ x }}", "A=1", "A+=b", "<<EOF\n", "EOF\n", "\\\n", "[[", "]]", "&&", "||", ";;")
KEYWORDS = ("foo", "if", "then", "else", "fi", "for", "in", "do", "done", "while", "case", "esac", "bash -c ", "eval ", "export ", "f()")
PIECES = st.sampled_from([*SIGNS, *EXPANSIONS, *KEYWORDS])


@settings(max_examples=150, deadline=None)
@given(st.lists(PIECES, max_size=60).map("".join), st.sampled_from(["run.sh", "Makefile", "README.md"]))
def test_no_text_breaks_it(text: str, path: str) -> None:
    whole = f"```bash\n{text}\n```\n" if path == "README.md" else f"all:\n\t{text}" if path == "Makefile" else text
    check(script(whole, path), whole)


def test_every_script_of_this_checkout_is_read() -> None:
    root = Path(__file__).resolve().parents[2]
    for file in [*root.glob("docs/**/*.md"), *root.glob("*.md")]:
        text = file.read_text(encoding="utf-8")
        check(read_commands(Source(file.name, text)), text)


LEFT_EARLY = {
    "a function in a loop": "f() { for i in {1..60}; do foo $i; done; }\nwhile true; do\nfor j in {1..60}; do f; f; f; f; done\ndone",
    "a function in a loop of unknown turns": "f() { for i in {1..60}; do x=$i; done; }\nfor j in *; do f; f; f; f; f; f; f; f; f; f; done\n"
    * 60,
    "a shell in a loop": f"for i in {{1..60}}; do bash -c '{'x=1; ' * 900}'; done",
    "an eval in a loop in a function": f"f() {{ for i in {{1..60}}; do eval '{'x=1; ' * 900}'; done; }}\nfor i in {{1..60}}; do f; done",
    "a function that counts": "f() { for ((i=0; i<60; i++)); do x=$((x+i)); done; }\nfor ((j=0; j<60; j++)); do f; f; f; done\n" * 20,
}


@pytest.mark.parametrize("path", ["run.sh", "README.md"])
@pytest.mark.parametrize("text", LEFT_EARLY.values(), ids=LEFT_EARLY)
def test_reading_that_stops_within_something_ends_it(text: str, path: str) -> None:
    wrapped = {"run.sh": text, "README.md": f"```bash\n{text}\n```\n" * 2}[path]
    found = script(wrapped, path)
    assert not found.complete
    check(found, wrapped)


REFUSED = {
    "arrays within arrays": ("A=(" * 10_000, "syntax so broken that it takes too long to read"),
    "subscripts within arrays": ("A=([" * 10_000, "syntax so broken that it takes too long to read"),
    "brackets that close": (")" * 40_000, "syntax so broken that it takes too long to read"),
    "a pipeline without end": ("a|" * 20_000, "more than 2,000 pipes"),
    "words": ("a " * 60_000, "more than 50,000 words and signs"),
    "placeholders": ("{{ a }}" * 60_000, "more than 50,000 placeholders"),
}


# Of these the lines before are read; what is too much is counted before anything else is.
BEGUN = {
    "more than 2,000 pipes": "more than 2,000 pipes",
    "more than 50,000 words and signs": "more than 50,000 words and signs",
    "more than 50,000 placeholders": "more than 50,000 words and signs",
}


@pytest.mark.parametrize(("text", "reason"), REFUSED.values(), ids=REFUSED)
def test_syntax_that_costs_too_much_is_not_read(text: str, reason: str) -> None:
    before = time.perf_counter()
    found = script(f"foo\n{text}\n")
    assert time.perf_counter() - before < 20  # it took minutes, or all memory
    assert found.stopped is not None
    assert len(found.commands) == (reason in BEGUN)
    assert found.stopped.reason == BEGUN.get(reason, reason)


@pytest.mark.parametrize(("text", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_precedes_such_a_code_block_is_read(text: str, reason: str) -> None:
    found = script(f"```bash\nfoo\n```\n```bash\n{text}\n```\n```bash\nfoo\n```\n", "README.md")
    assert len(found.commands) == 1
    assert found.stopped is not None
    assert found.stopped.at.start > 20


def test_lines_of_a_code_block_are_bounded() -> None:
    found = script("```bash\n" + "\n" * 60_000 + "```\n", "README.md")
    assert found.stopped is not None
    assert found.stopped.reason == "more than 50,000 lines and placeholders in a code block"


AT_ONCE = {
    "equals signs": "a=" * 20_000,
    "assignments on one line": "a=1 " * 10_000,
    "names that count": f"(({'a' * 100_000}))",
    "names that count without end": f"(({'a' * 100_000}",
    "comments": "#\n" * 40_000,
    "comments with words": "# a b c\n" * 10_000,
    "folders": "cd a\n" * 9_000,
    "lists in braces": "foo {1..60} {1..60}\n" * 2_000,
    "blanks before a name": f"x=1{' ' * 50_000}y\n",
    "subscripts before a name": f"x=1{' a[' * 20_000}\n",
    "backslashes": "\\" * 40_000,
    "dashes behind grep": f"foo --config $c.yaml\ngrep{' -a' * 10_000}\ngrep -{'a' * 20_000}\n",
}


@pytest.mark.parametrize("text", AT_ONCE.values(), ids=AT_ONCE)
def test_a_script_costs_no_more_than_its_length(text: str) -> None:
    before = time.perf_counter()
    script(text)
    assert time.perf_counter() - before < 10  # it took minutes


CONTINUED = {
    "continued lines": "all:\n\tfoo \\\n" + "\t\\\n" * 100_000,
    "continued lines of nothing": "\\\n" * 200_000,
    "references": "A = x\nall:\n\tfoo " + "$(A) " * 60_000,
    "dollars": "all:\n\tfoo " + "$$ " * 60_000,
    "variables": "A = x\n" * 60_000,
}


@pytest.mark.parametrize("text", CONTINUED.values(), ids=CONTINUED)
def test_a_makefile_costs_no_more_than_its_length(text: str) -> None:
    before = time.perf_counter()
    script(text, "Makefile")
    assert time.perf_counter() - before < 10


def test_a_long_script_is_read_whole() -> None:
    found = script("".join(f"A=x{i}  # what it is\nfoo --a={i} | bar '$A'\n" for i in range(900)))
    assert found.complete
    assert len(found.commands) == 1_800


@pytest.mark.parametrize("sign", ["é", "日", "\U0001f600"])
def test_signs_of_several_bytes_are_read_whole_wherever_they_stand(sign: str) -> None:
    for blanks in range(240, 262):
        text = f"#{' ' * blanks}\nA='{sign * 200}'\nfoo \"$A\" {sign}\n"
        assert [argv(command) for command in script(text).commands] == [["foo", sign * 200, sign]]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from([*"()é日|A=[$\n", "A=(", "]] ", "<<A\n", "${a"]), max_size=30).map("".join), st.integers(20, 60))
def test_no_text_breaks_the_parser_where_it_is_stopped(text: str, times: int) -> None:
    check(script(text * times), text * times)


def test_each_command_pays_for_the_environment_it_is_given() -> None:
    exported = "".join(f"export A{i}=x\n" for i in range(2_000))
    found = script(exported + "foo\n" * 1_000)  # 1,000 commands of 2,000 variables each are two million words
    assert not found.complete
    assert len(found.commands) < 100
