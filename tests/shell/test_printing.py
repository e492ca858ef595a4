"""Functions that only print are not read again at each call; all others are."""

import pytest

from tests.shell.reading import argv, commands, script

LOG = """\
_log() { local level="$1"; shift; local message="$*"
    if [[ -n "$message" ]]; then echo "$(date) [$level] $message" >&2; else echo ""; fi
}
log() { case "$LEVEL" in DEBUG) _log DEBUG "$@" ;; esac }
"""
CHANGES = {
    "a variable": "N=8; echo x",
    "a variable of a default": 'echo "${N:=8}"',
    "an exported variable": "export N=8; echo x",
    "a printed variable": "printf -v N 8; echo x",
    "a read variable": "echo x; read N",
    "arithmetic": "echo x; ((N++)); echo y",
    "a loop": "for N in 8; do echo x; done; echo y",
    "another function": "sets; echo x",
}


@pytest.mark.parametrize("body", CHANGES.values(), ids=CHANGES)
def test_a_function_that_changes_a_variable_is_read(body: str) -> None:
    (found,) = commands(f"N=\nsets() {{ N=8; }}\nf() {{ {body}; }}\nf\nfoo $N\n")
    assert argv(found) != ["foo"]


@pytest.mark.parametrize("body", ["echo x; foo a", "echo x | foo a", "echo $(foo a)", "$FOO a; echo x"])
def test_a_function_that_runs_a_program_is_read(body: str) -> None:
    assert [argv(each) for each in commands(f"FOO=foo\nf() {{ {body}; }}\nf\n")] == [["foo", "a"]]


def test_a_function_that_ends_the_script_is_read() -> None:
    assert commands("die() { echo x; exit 1; }\ndie\nfoo\n") == []


def test_a_function_that_asks_is_read() -> None:
    assert commands("N=4\nis() { echo x; [ $N = 8 ]; }\nif is; then foo; fi\n") == []


def test_a_function_that_writes_a_script_is_read() -> None:
    assert len(script("f() { echo foo > a.sh; }\nf\n").written) == 1


def test_a_function_that_calls_an_echo_of_the_script_is_read() -> None:
    (found,) = commands("N=\necho() { N=8; }\nf() { echo x; }\nf\nfoo $N\n")
    assert argv(found) == ["foo", "8"]


def test_what_only_prints_succeeds() -> None:
    (found,) = commands(f"{LOG}log a || exit 1\nlog b && foo 8\n")
    assert argv(found) == ["foo", "8"]
    assert not found.conditional


def test_calls_of_what_only_prints_cost_little() -> None:
    read = script(LOG + "log a b c\n" * 5_000 + "foo 8\n")
    assert read.stopped is None
    assert len(read.commands) == 1


def test_functions_that_print_and_double_are_read_to_the_end() -> None:
    text = "f0() { echo x; }\n" + "".join(f"f{n}() {{ f{n - 1}; f{n - 1}; }}\n" for n in range(1, 40)) + "f39\nfoo 8\n"
    assert [argv(each) for each in commands(text)] == [["foo", "8"]]
