"""A loop over arguments that users can set otherwise: each clause of its `case` may be taken, and most of them do the same."""

import pytest

from tests.shell.reading import argv, only, paid

GIVEN = " ".join(f"--o{number} {number}" for number in range(12))


def _loop(clauses: int) -> str:
    cases = "".join(f'--o{number}) MORE+=("--o{number}" "$2"); shift 2;;\n' for number in range(clauses))
    return f'MORE=()\nset -- ${{GIVEN:-{GIVEN}}}\nwhile [[ $# -gt 0 ]]; do\ncase "$1" in\n{cases}esac\ndone\nfoo "${{MORE[@]}}"\n'


def test_each_argument_is_taken_as_it_is_by_default() -> None:
    found = only(_loop(12))
    assert argv(found) == ["foo", *GIVEN.split()]
    assert all(part.default for word in found.words[1:] for part in word.parts)


def test_clauses_that_are_not_taken_cost_next_to_nothing() -> None:
    assert paid(_loop(200)) < 4 * paid(_loop(12))


SET = {
    "by another clause": ("N=4\ncase ${M:-a} in a) shift;; b) N=8;; esac", "4", True),
    "by another clause before": ("N=4\ncase ${M:-a} in b) N=8;; a) shift;; esac", "4", True),
    "to the same": ("case ${M:-a} in a) N=4;; *) N=4;; esac", "4", False),
    "to the same, if at all": ("case ${M:-a} in a) N=4;; b) N=4;; esac", "4", True),
    "by none": ("N=4\ncase ${M:-a} in a) K=1;; b) K=2;; esac", "4", False),
    "by a clause where all others end the script": ("N=4\ncase ${M:-a} in a) exit;; *) N=8;; esac", "8", False),
    "by one of two where another ends the script": ("N=4\ncase ${M:-a} in a) exit;; b) N=8;; esac", None, False),
    "by any clause": ("case ${M:-a} in b) N=8;; c) N=4;; *) N=2;; esac", "2", True),
    "without a clause that is taken": ("N=2\ncase ${M:-a} in b) N=8;; c) N=4;; esac", "2", True),
    "by an expansion": ("case ${M:-a} in a) N=4;; b) K=${N:=8};; esac", "4", True),
}


@pytest.mark.parametrize(("text", "value", "default"), SET.values(), ids=SET)
def test_what_another_clause_sets_is_known_as_a_default(text: str, value: str | None, default: bool) -> None:
    (word,) = only(f"{text}\nfoo $N\n").words[1:]
    assert (word.text, any(part.default for part in word.parts)) == (value, default)


def _nested(depth: int) -> str:
    loops = "".join(f"while read L{number}; do\n" for number in range(depth))
    return f"{loops}N=$L0\nfoo $N\n{'done' if depth == 1 else 'done;' * depth}\n"


def test_a_loop_within_loops_costs_no_multiple_of_each() -> None:
    assert paid(_nested(8)) < 3 * paid(_nested(5))
    assert argv(only(_nested(3))) == ["foo", None]
