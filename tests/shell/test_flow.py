"""Branches, loops and functions: what certainly runs, what may run, and what is known behind them."""

import pytest

from pytest_gbs.model.command import Folder
from tests.shell.reading import argv, commands, lines, only, script

SILENT = {
    "comment": "# foo 1",
    "echoed": 'echo "foo 1"; printf "%s" "foo 1"',
    "heredoc-text": "cat <<EOF\nfoo 1\nEOF",
    "heredoc-comment": ": <<'X'\nfoo 1\nX",
    "function-not-called": "f() { foo 1; }",
    "never": "if false; then foo 1; fi",
    "other-branch": 'M=a\nif [ "$M" = b ]; then foo 1; else bar; fi',
    "other-case": "M=a\ncase $M in b|c) foo 1;; *) bar;; esac",
    "behind-exit": "bar\nexit 0\nfoo 1",
    "behind-exec": "exec bar\nfoo 1",
    "behind-return": "f() { return; foo 1; }\nf",
    "failed-test": "[ 1 = 2 ] && foo 1",
    "succeeded-test": "[[ 1 == 1 ]] || foo 1",
    "no-turn": 'A=()\nfor x in "${A[@]}"; do foo 1; done',
    "loop-that-ends": "I=3\nwhile [ $I -lt 3 ]; do foo 1; done",
    "in-quotes": "echo 'a\nfoo 1\n'",
}


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
def test_what_does_not_run_is_not_a_command(text: str) -> None:
    assert commands(text) == []


RUNS = {
    "plain": ("foo 1", ["1"]),
    "taken-branch": ('M=a\nif [ "$M" = a ]; then foo 1; else foo 2; fi', ["1"]),
    "elif": ("M=b\nif [[ $M == a* ]]; then foo 1; elif [[ $M == b* ]]; then foo 2; else foo 3; fi", ["2"]),
    "arithmetic-condition": ("N=3\nif (( N > 2 )); then foo 1; else foo 2; fi", ["1"]),
    "negated": ("if ! false; then foo 1; fi", ["1"]),
    "both": ('A=1\n[[ -n "$A" && $A -eq 1 ]] && foo 1', ["1"]),
    "brackets": ("V=1\nif [[ ! ( $V == 2 || $V == 3 ) ]]; then foo 1; else foo 2; fi", ["1"]),
    "is-set": ("V=1\nunset Q\nif [[ -v V && ! -v Q ]]; then foo 1; else foo 2; fi", ["1"]),
    "not-one-of-two": ('V=1\nif [ ! "$V" = 2 ]; then foo 1; else foo 2; fi', ["1"]),
    "words-of-test": ('V=1\nif test ! "$V" = 2 && test -n "$V" && test x; then foo 1; else foo 2; fi', ["1"]),
    "numbers-of-test": ('V=1\nif test "$V" -ge 2; then foo 1; else foo 2; fi', ["2"]),
    "test-of-nothing": ("if test; then foo 1; else foo 2; fi", ["2"]),
    "quoted-case": ("M=--n=4\ncase $M in '--n=*') foo 1;; \"--n\") foo 2;; --n=*) foo 3;; esac", ["3"]),
    "case-of-a-variable": ("M=b\nfor P in a b; do case $M in $P) foo $P;; esac; done", ["b"]),
    "case-in-a-loop": ("for M in a --b=1 c; do case $M in a) foo 1;; --b=*) foo 2;; 'c') foo 3;; *) foo 4;; esac; done", ["1", "2", "3"]),
    "taken-case": ("M=grpo\ncase $M in sft) foo 1;; g*) foo 2;; *) foo 3;; esac", ["2"]),
    "loop": ("for x in 1 2 4; do foo $x; done", ["1", "2", "4"]),
    "nested-loops": ("for x in a b; do for y in 1 2; do foo $x$y; done; done", ["a1", "a2", "b1", "b2"]),
    "loop-over-array": ('A=(1 2)\nfor x in "${A[@]}"; do foo $x; done', ["1", "2"]),
    "counting-loop": ("for ((i = 0; i < 3; i++)); do foo $((2 ** i)); done", ["1", "2", "4"]),
    "while": ("I=0\nwhile [ $I -lt 2 ]; do foo $I; I=$((I + 1)); done", ["0", "1"]),
    "until": ("I=0\nuntil (( I == 2 )); do foo $I; (( I++ )); done", ["0", "1"]),
    "break": ("for x in 1 2 3; do if [ $x = 2 ]; then break; fi; foo $x; done", ["1"]),
    "continue": ("for x in 1 2 3; do [ $x = 2 ] && continue; foo $x; done", ["1", "3"]),
    "function": ("f() { local n=$1; foo $n $2; }\nf 1 2 3\nf 4", ["1", "4"]),
    "function-keyword": ("function f { foo 1; }\nf", ["1"]),
    "function-with-all-its-arguments": ('f() { foo "$@"; }\nf 1 2', ["1"]),
    "local-is-local": ("A=1\nf() { local A=2; }\nf\nfoo $A", ["1"]),
    "global-is-global": ("A=1\nf() { A=2; }\nf\nfoo $A", ["2"]),
    "returned-early": ("f() { if true; then foo 1; return; fi; foo 2; }\nf\nfoo 3", ["1", "3"]),
    "option-loop": ("set -- --n 4\nwhile [[ $# -gt 0 ]]; do case $1 in --n) N=$2; shift 2;; esac; done\nfoo $N", ["4"]),
    "getopts": ('set -- -n 4 -x -m8 rest\nwhile getopts "n:m:x" o; do case $o in n) N=$OPTARG;; m) M=$OPTARG;; esac; done\n'
                'shift $((OPTIND - 1))\nfoo $N$M$1', ["48rest"]),
    "getopts-up-to-a-word": ('N=1\nset -- word -n 4\nwhile getopts n: o; do N=$OPTARG; done\nfoo $N', ["1"]),
    "expression": ('T=cifar_cls\nif [[ $T =~ pretrain ]]; then foo 1; fi\nif [[ $T =~ cifar ]]; then foo 2; fi', ["2"]),
    "or-exit": ("cd x || exit 1\nfoo 1", ["1"]),
    "and-chain": ("cd x && mkdir y && foo 1", ["1"]),
    "required": ('if [ -z "$1" ]; then echo usage; exit 1; fi\nfoo 1', ["1"]),
    "required-count": ("if [ $# -lt 1 ]; then echo usage; exit 1; fi\nfoo 1", ["1"]),
    "filled-in": ('I=""\nif [ -z "$I" ]; then echo "set I"; exit 1; fi\nfoo 1', ["1"]),
    "nothing-to-fill-in": ('I=""\nif [ -z "$I" ]; then echo done; exit 0; fi\nfoo 1', []),
    "refused": ('I="" J=a\nif [ -z "$I" ] && [ "$J" = a ]; then exit 1; fi\nfoo 1', []),
    "help": ('if [[ "${1:-}" == --help ]]; then echo usage; exit 0; fi\nfoo 1', ["1"]),
    "background": ("foo 1 &\nwait", ["1"]),
    "group": ("{ foo 1; } 2>&1 | tee log", ["1"]),
    "negated-command": ("! foo 1", ["1"]),
}  # fmt: skip


@pytest.mark.parametrize(("text", "wanted"), RUNS.values(), ids=RUNS)
def test_what_runs_is_a_command_each_time(text: str, wanted: list[str]) -> None:
    found = commands(text)
    assert [command.words[1].text for command in found] == wanted
    assert not any(command.conditional for command in found)


CONDITIONAL = {
    "environment": 'if [ "$MODE" = a ]; then foo 1; fi',
    "machine": "if [[ $(hostname) == gpu* ]]; then foo 1; fi",
    "both-branches": 'if [ "$MODE" = a ]; then foo 1; else bar; fi',
    "file": "[ -f x ] && foo 1",
    "or": "bar || foo 1",
    "case": "case $MODE in a) foo 1;; esac",
    "unknown-loop": "for x in $LIST; do foo 1; done",
    "unknown-while": "while read x; do foo 1; done",
    "not-by-default": 'if [ "${MODE:-a}" = b ]; then foo 1; fi',
    "behind-another-launch": 'if [ "$MODE" = a ]; then bar; exit; fi\nfoo 1',
}


@pytest.mark.parametrize("text", CONDITIONAL.values(), ids=CONDITIONAL)
def test_what_may_run_is_conditional(text: str) -> None:
    assert only(text).conditional


_UNKNOWN = '[[ "$A" -gt "$B" ]]'
VALUES = {
    "branches-agree": ('if [ "$M" = a ]; then N=1; else N=1; fi\nfoo $N', "1", False),
    "branches-differ-beside-an-unknown": ('if [ "$M" = a ]; then N=1$X; else N=2$X; fi\nfoo $N', None, False),
    "branches-disagree": ('if [ "$M" = a ]; then N=1; else N=2; fi\nfoo $N', None, False),
    "one-branch-assigns": ('N=1\nif [ "$M" = a ]; then N=2; fi\nfoo $N', None, False),
    "case-assigns": ("N=1\ncase $M in a) N=2;; esac\nfoo $N", None, False),
    "dead-branch": ('N=1\nif [ "$M" = a ]; then N=2; exit 1; fi\nfoo $N', "1", False),
    "default-branch": ('N=1\nif [ "${M:-a}" = b ]; then N=2; fi\nfoo $N', "1", True),
    "loop-assigns": ("N=1\nfor x in $LIST; do N=2; done\nfoo $N", None, False),
    "loop-counts": ("N=1\nfor x in $LIST; do foo $N; N=$((N * 2)); done", None, False),
    "option-loop": ("N=1\nwhile [[ $# -gt 0 ]]; do case $1 in --n) N=$2; shift 2;; esac; done\nfoo $N", "1", True),
    "default-and-unknown": (f'if [[ -n "${{M-}}" ]] && {_UNKNOWN}; then N=1; else N=2; fi\nfoo $N', "2", True),
    "unknown-and-default": (f'if {_UNKNOWN} && [[ -n "${{M-}}" ]]; then N=1; else N=2; fi\nfoo $N', "2", True),
    "unset-or-unknown": (f'if [[ -z "${{M-}}" ]] || {_UNKNOWN}; then N=2; else N=1; fi\nfoo $N', "2", True),
    "not-default-and-unknown": (f'if [[ -z "${{M-}}" ]] && {_UNKNOWN}; then N=1; else N=2; fi\nfoo $N', None, False),
    "given-or-else": ('if [ -n "$1" ]; then N=$1; else N=8; fi\nfoo $N', "8", True),
    **{
        f"option-loop-{name}": (f"N=1\nwhile {condition}; do case $1 in --n) N=$2; shift 2;; esac; done\nfoo $N", "1", True)
        for name, condition in {
            "arithmetic": "(( $# ))",
            "arithmetic-in-quotes": '(( "$#" ))',
            "arithmetic-greater": "(( $# >= 1 ))",
            "greater-as-text": "[[ $# > 0 ]]",
            "of-options": '[[ "$1" == --* ]]',
            "of-options-by-expression": '[[ "$1" =~ ^-- ]]',
        }.items()
    },
    "loop-while-no-option": ('N=1\nwhile [[ "$1" != --* ]]; do N=$2; shift; done\nfoo $N', None, False),
    "loop-while-a-word": ('N=1\nwhile [[ "$1" == big* ]]; do N=$2; shift; done\nfoo $N', None, False),
    "count-in-brackets": ("N=1\nwhile [ $# > 0 ]; do N=$2; shift; done\nfoo $N", None, False),
    "for-each-argument": ('N=1\nfor each in "$@"; do case $each in --n=*) N=${each#*=};; esac; done\nfoo $N', "1", True),
    "for-each-unknown": ("N=1\nfor each in $WORDS; do N=$each; done\nfoo $N", None, False),
    "required-is-not-empty": ('N=""\nwhile (( $# )); do N=$2; shift; done\nif [[ -z "$N" ]]; then exit 1; fi\nfoo $N', None, False),
    "filled-in": ('N=""\nif [[ -z "$N" ]]; then exit 1; fi\nfoo $N', None, False),
    "maybe-and": ("N=1\ngrep -q x y && N=2\nfoo $N", None, False),
    "test-and": ('N=1\n[ "$M" = a ] && N=2\nfoo $N', None, False),
    "getopts": ('N=1\nwhile getopts "n:" o; do case $o in n) N=$OPTARG;; esac; done\nfoo $N', "1", True),
    "getopts-of-unknown": (
        'N=1\nset -- -n 2 "-$(cat y)" 3\nwhile getopts "n:y:" o; do case $o in y) N=2;; esac; done\nfoo $N',
        None,
        False,
    ),
    "getopts-in-one-word": ('N=1\nset -- -xn 3\nwhile getopts "n:x" o; do case $o in n) N=2;; esac; done\nfoo $N', None, False),
    "expression-of-signs": ("N=1\nT=ab\nif [[ $T =~ ^a.$ ]]; then N=2; fi\nfoo $N", None, False),
    "broken-off": ("N=1\nfor x in 1 2 3; do if [ -f $x ]; then N=$x; break; fi; done\nfoo $N", None, False),
    "recursion": ("N=1\nf() { N=2; f; }\nf\nfoo $N", None, False),
}


@pytest.mark.parametrize(("text", "value", "default"), VALUES.values(), ids=VALUES)
def test_a_value_behind_branches_is_known_where_they_agree(text: str, value: str | None, default: bool) -> None:
    word = only(text).words[1]
    assert (word.text, word.default) == (value, default)


def test_an_unknown_loop_runs_once_with_its_pattern() -> None:
    word = only("for r in recipes/*.yaml; do foo $r; done").words[1]
    assert (word.text, word.parts[0].pattern) == (None, "recipes/*.yaml")


def test_a_function_exported_to_another_shell_is_called_there() -> None:
    assert argv(only("f() { foo 1; }\nexport -f f\nbash -c f")) == ["foo", "1"]


def test_a_sourced_file_sets_its_variables() -> None:
    found = script("cd scripts\nsource ./env.sh\nfoo $N", files={"scripts/env.sh": "N=8\n"}).commands
    assert argv(found[-1]) == ["foo", "8"]
    assert found[-1].words[1].value_at == ("scripts/env.sh", 2, 3, None)


@pytest.mark.parametrize("bound", ["N", "99"], ids=["unknown", "many"])
def test_what_a_loop_counts_is_unknown_in_all_of_its_turns(bound: str) -> None:
    found = commands(f"for ((i = 4; i < {bound}; i++)); do foo $i; done\nfoo $i")
    assert [argv(command) for command in found] == [["foo", None], ["foo", None]]


def test_a_file_that_cannot_be_had_sets_something_unknown() -> None:
    assert argv(only("N=8\nsource ./env.sh\nfoo $N $M")) == ["foo", "8", None]


# A file that the tree lacks may set anything, as the environment may: `${X:-8}` is what holds where neither does.
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("source .env\nfoo $M", None, id="nothing says what else"),
        pytest.param('source "$1"\nfoo ${M:-8}', None, id="it may be any file of the tree"),
        pytest.param("cd $X\nsource env.sh\nfoo ${M:-8}", None, id="from a folder that may be any"),
        pytest.param("source $X/common.sh\nfoo ${M:-8}", None, id="a folder that may be any"),
        pytest.param("source .env\nsource $X\nfoo ${M:-8}", None, id="and another that may be any"),
        pytest.param("source there.sh\nfoo ${M:-8}", "4", id="one that is there"),
        pytest.param("M=2\nsource .env\nfoo ${M:-8}", "2", id="set before"),
        pytest.param("source .env\nfoo ${M:-8}", "8", id="not there"),
        pytest.param("if [ -f .env ]; then source .env; fi\nfoo ${M:-8}", "8", id="if it is there"),
        pytest.param("source ~/.bashrc\nfoo ${M-8}", "8", id="of the user"),
        pytest.param("source $HOME/miniconda3/etc/profile.d/conda.sh\nfoo ${M:=8}", "8", id="sets up a shell"),
        pytest.param('source "$(conda info --base)/etc/profile.d/conda.sh"\nfoo ${M:-8}', "8", id="wherever it is"),
    ],
)
def test_a_file_that_is_not_there_leaves_what_the_script_says_otherwise(text: str, expected: str | None) -> None:
    found = script(text, files={"there.sh": "M=4\n"}).commands[-1]
    assert argv(found) == ["foo", expected]
    assert found.words[1].default == (expected == "8")


def test_a_number_is_grepped_from_a_recipe() -> None:
    text = lines("""
        CONFIG=recipes/a.yaml
        GA=$(grep 'gradient_accumulation_steps' $CONFIG | awk '{print $2}')
        if grep -qE '^\\s*use_vllm:\\s*true' "$CONFIG"; then V=1; else V=0; fi
        foo $GA $V
    """)
    found = script(text, files={"recipes/a.yaml": "use_vllm: true\ngradient_accumulation_steps: 4\n"}).commands
    assert argv(found[-1]) == ["foo", "4", "1"]


@pytest.mark.parametrize(
    ("text", "folder"),
    [("foo", ("", False)), ("cd a/b\nfoo", ("a/b", False)), ("cd a\ncd ..\nfoo", ("", False)), ("cd $X\nfoo", (None, False)),
     ("(cd a)\nfoo", ("", False)), ('cd "$(dirname "$0")/.."\nfoo', ("", True)), ("cd $(git rev-parse --show-toplevel)\nfoo", ("", True)),
     ('D=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)\ncd $D\nfoo', ("scripts", True)),
     ('D="$( cd -- "$( dirname -- "${BASH_SOURCE[0]}" )" &> /dev/null && pwd )"\ncd $D\nfoo', ("scripts", True)),
     ('D=`cd $(dirname $0); pwd`\ncd $D\nfoo', ("scripts", True)),
     ('D=$(CDPATH= builtin cd "${0%/*}"; pwd -P)\ncd $D\nfoo', ("scripts", True)),
     ('D=$(cd "$(dirname "$0")"; hostname)\ncd $D\nfoo', (None, False)), ('D=$(cd a; pwdx)\ncd $D\nfoo', (None, False)),
     ("cd a && cd -\nfoo", ("", False)), ("if [ ! -d a ]; then cd a && ./get.sh && cd -; fi\nfoo", ("", False)),
     ("cd a\ncd b\ncd -\ncd -\nfoo", ("a/b", False)), ("cd -\nfoo", (None, False)), ("(cd a)\ncd -\nfoo", (None, False)),
     ("pushd a\ncd b\npushd c\npopd\npopd\nfoo", ("", False)), ("popd\nfoo", (None, False)),
     ("if [ $X ]; then cd a; fi\ncd -\nfoo", (None, False)), ("cd ../a\nfoo", ("a", True)),
     ("cd ../..\nfoo", (None, False)), ("cd $X\ncd ..\nfoo", (None, False))],
    ids=["start", "below", "back", "unknown", "subshell", "own", "root", "absolute",
         "with dashes", "in backquotes", "by builtin", "another command", "not pwd",
         "there and back", "there and back if", "back twice", "back from nowhere", "back in a subshell", "pushed", "popped from nowhere",
         "back from one of two", "above", "outside", "above the unknown"],
)  # fmt: skip
def test_a_command_knows_its_folder(text: str, folder: tuple[str | None, bool]) -> None:
    found = [command for command in script(text, "scripts/run.sh").commands if command.words[0].text == "foo"]
    assert found[0].folder == Folder(*folder)


@pytest.mark.parametrize(
    ("text", "named"),
    [("foo $PWD/a.yaml", Folder("a.yaml", from_start=True)), ('foo "${ROOT:-$(pwd)}/a.yaml"', Folder("a.yaml", from_start=True)),
     ("R=$PWD\ncd b\nfoo $R/a.yaml", Folder("a.yaml", from_start=True)), ("cd b\nfoo $PWD/a.yaml", Folder("b/a.yaml", from_start=True)),
     ("cd /data\nfoo $PWD/a.yaml", Folder(None)), ("cd $X\nfoo $PWD/a.yaml", Folder(None)), ("R=${PWD%/*}\nfoo $R/a.yaml", Folder(None)),
     ('cd "$(dirname "$0")"\nfoo $PWD/a.yaml', Folder("scripts/a.yaml", rooted=True))],
    ids=["start", "default", "before a cd", "after a cd", "elsewhere", "unknown", "above", "own"],
)  # fmt: skip
def test_a_path_below_the_current_folder_is_known(text: str, named: Folder) -> None:
    found = [command for command in script(text, "scripts/run.sh").commands if command.words[0].text == "foo"]
    assert found[0].words[1].text is None
    assert found[0].words[1].path == named


def test_a_path_beside_the_script_is_known_from_the_root() -> None:
    text = 'DIR="$(dirname "$(realpath "$0")")"\nfoo --config "$DIR/../recipes/a.yaml"'
    (found,) = (command for command in script(text, "scripts/run.sh").commands if command.words[0].text == "foo")
    assert found.words[2].text is None
    assert found.words[2].path == Folder("recipes/a.yaml", rooted=True)


MAYBE = 'if [ -d "$D" ]; then {}; fi\nfoo {} a'


@pytest.mark.parametrize("added", ['A+=(--load "$D")', "A+=(--finetune)", 'A+=("$D")'])
def test_an_array_to_which_words_may_be_added_keeps_what_it_has(added: str) -> None:
    words = only("A=(--batch 4)\n" + MAYBE.format(added, '"${A[@]}"')).words
    assert [word.text for word in words] == ["foo", "--batch", "4", None, "a"]
    assert words[3].parts[0].many


@pytest.mark.parametrize("added", ['A="$A --load $D"', 'A+=" --finetune"'])
def test_a_text_to_which_words_may_be_added_keeps_what_it_has(added: str) -> None:
    words = only('A="--batch 4"\n' + MAYBE.format(added, "$A")).words
    assert [word.text for word in words] == ["foo", "--batch", "4", None, "a"]


@pytest.mark.parametrize(
    "added", ["A+=(--batch 8)", "A+=(--tensor-model-parallel-size $T)", "A+=(-n $T)", "A+=(model.layers=2)", "A=(--batch 8)", "A=()"]
)
def test_an_array_to_which_a_size_may_be_added_is_unknown(added: str) -> None:
    words = only("A=(--batch 4)\n" + MAYBE.format(added, '"${A[@]}"')).words
    assert [word.text for word in words] == ["foo", None, "a"]


@pytest.mark.parametrize("added", ['A="$A --batch $T"', 'A="$A-large"', 'A="$A 8"'])
def test_a_text_to_which_a_size_may_be_added_is_unknown(added: str) -> None:
    words = only('A="--batch 4"\n' + MAYBE.format(added, "$A")).words
    assert "4" not in [word.text for word in words]


def test_the_number_of_words_of_an_array_to_which_some_may_be_added_is_unknown() -> None:
    assert only("A=(1 2)\n" + MAYBE.format("A+=(--load)", "${#A[@]}")).words[1].text is None
