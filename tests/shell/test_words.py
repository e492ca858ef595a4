"""Words: quotes, variables, arrays, defaults, arithmetic, each as bash itself has it."""

import shutil
import subprocess

import pytest

from tests.shell.reading import argv, only, written

KNOWN = {
    "plain": ("foo --a 1 b", ["--a", "1", "b"]),
    "line-continuation": ("foo --a \\\n  1 \\\n  b", ["--a", "1", "b"]),
    "continued-within-a-word": ("A=1; B=2\nfoo --a=\\\n$A,\\\n$B/c,\\\nx \\\n  --b=3 \\\n4", ["--a=1,2/c,x", "--b=3", "4"]),
    "continued-within-a-name": ("fo\\\no 1", ["1"]),
    "continued-in-an-array": ("A=(1\\\n2 \n3)\nfoo ${A[@]}", ["12", "3"]),
    "double-quotes": ('foo "a  b" ""', ["a  b", ""]),
    "single-quotes": ("foo 'a $X' '\"'", ["a $X", '"']),
    "escaped-blank": ("foo a\\ b \\$X", ["a b", "$X"]),
    "escape-in-quotes": ('foo "a\\"b" "\\$X" "a\\nb"', ['a"b', "$X", "a\\nb"]),
    "concatenated": ("foo a'b c'\"d e\"f", ["ab cd ef"]),
    "comment-behind": ("foo a # b", ["a"]),
    "comment-ends-command": ("foo a \\\n  # --b 1 \\\n  --c 2", ["a"]),
    "comment-in-backquotes": ("foo --a 1 \\\n  `#--b 2` \\\n  `#--c` `#--d é` \\\n  --e 3", ["--a", "1", "--e", "3"]),
    "comment-in-backquotes-right-before-the-end-of-a-line": ("foo --a 1 `# why `\\\n  --b 2", ["--a", "1", "--b", "2"]),
    "comment-in-backquotes-at-the-end": ("foo --a 1 `# why`", ["--a", "1"]),
    "hash-within-word": ("foo a#b", ["a#b"]),
    "variable": ("N=8\nfoo --n $N --m=${N}x", ["--n", "8", "--m=8x"]),
    "two-variables-in-a-word": ("A=1; B=2; C=3\nfoo r/$A/$B/c_$C.yaml $A.$B.out", ["r/1/2/c_3.yaml", "1.2.out"]),
    "assigned-from-several": ("A=1; B=2\nX=$A/$B/c\nfoo $X", ["1/2/c"]),
    "variable-on-a-continued-line": (
        'A="--x 1"\nB=2\nexport C="--b $B \\\n  $A \\\n  --c 3"\nfoo $C',
        ["--b", "2", "--x", "1", "--c", "3"],
    ),
    "output-on-a-continued-line": ('B=2\nC="$B \\\n  `echo 3`/x \\\n  $(echo 4) \\\n ${B}"\nfoo $C', ["2", "3/x", "4", "2"]),
    "exported-from-several": ("A=1; B=2\nexport X=$A/$B/c\nfoo $X", ["1/2/c"]),
    "two-assignments-then-command": ("A=1 B=2\nfoo $A $B", ["1", "2"]),
    "quoted-two-variables": ('A="1 2"; B=3\nfoo "$A $B"', ["1 2 3"]),
    "splits-unquoted": ('A="--x 1"\nfoo $A', ["--x", "1"]),
    "splits-in-the-middle": ('A="b c"\nfoo a${A}d', ["ab", "cd"]),
    "quoted-stays": ('A="--x 1"\nfoo "$A"', ["--x 1"]),
    "empty-unquoted-vanishes": ("A=\nfoo a $A b", ["a", "b"]),
    "empty-quoted-stays": ('A=\nfoo a "$A" b', ["a", "", "b"]),
    "appended": ("A=1\nA+=2\nfoo $A", ["12"]),
    "array": ('A=(--x 1 "y z")\nfoo "${A[@]}"', ["--x", "1", "y z"]),
    "array-comment": ("A=(--x 1 # --x 2\n --y 2)\nfoo ${A[@]}", ["--x", "1", "--y", "2"]),
    "array-appended": ('A=(a)\nA+=(b "c d")\nfoo "${A[@]}"', ["a", "b", "c d"]),
    "array-glued": ('A=(a b c)\nfoo "x${A[@]}y"', ["xa", "b", "cy"]),
    "array-joined": ('A=(a b)\nfoo "${A[*]}"', ["a b"]),
    "array-item": ("A=(a b c)\nI=1\nfoo ${A[0]} ${A[I]} ${A[-1]} $A", ["a", "b", "c", "a"]),
    "array-item-set": ('A=(a b)\nA[1]=x\nA[2]=y\nfoo "${A[@]}"', ["a", "x", "y"]),
    "array-slice": ('A=(a b c d)\nfoo "${A[@]:1:2}" "${A[@]:3}"', ["b", "c", "d"]),
    "array-empty": ('A=()\nfoo "${A[@]}" x', ["x"]),
    "array-length": ("A=(a b c)\nfoo ${#A[@]}", ["3"]),
    "associative": ("declare -A A=([a]=1 [b]=2)\nK=b\nfoo ${A[a]} ${A[$K]}", ["1", "2"]),
    "length": ("A=abc\nfoo ${#A}", ["3"]),
    "suffix": ("A=4x2x1\nfoo ${A%x*} ${A%%x*} ${A%z}", ["4x2", "4", "4x2x1"]),
    "prefix": ("A=a/b/c\nfoo ${A#*/} ${A##*/}", ["b/c", "c"]),
    "replaced": ("A=a-b-c\nfoo ${A/-/_} ${A//-/_} ${A/-}", ["a_b-c", "a_b_c", "ab-c"]),
    "substring": ("A=abcdef\nfoo ${A:2} ${A:1:3}", ["cdef", "bcd"]),
    "case-changed": ("A=aBc\nfoo ${A^^} ${A,,} ${A^}", ["ABC", "abc", "ABc"]),
    "default-not-needed": ("A=1\nfoo ${A:-2} ${A-2}", ["1", "1"]),
    "default-for-empty": ("A=\nfoo ${A:-2} x${A-2}", ["2", "x"]),
    "default-with-nested-parentheses": ("foo ${A:-$((64 / (4*8)))} ${B:-$(( 3 * (2) ))}", ["2", "6"]),
    "default-with-nested-parentheses-and-a-variable": ('N=2\nA=${A:-$((64 / (4*$N)))}\nfoo "${A}"', ["8"]),
    "default-nested": ("A=\nB=3\nfoo ${A:-${B:-4}} ${A:-$((B * 2))} ${A:-$(expr 1 + 2)}", ["3", "6", "3"]),
    "alternate": ("A=1\nB=\nfoo ${A:+--x} ${B:+--y} z", ["--x", "z"]),
    "assigned-default": ("unset A\n: ${A:=5}\nfoo $A", ["5"]),
    "indirect": ("A=B\nB=7\nfoo ${!A}", ["7"]),
    "arithmetic": ("N=4\nfoo $((N * 8)) $(( (N + 1) / 2 )) $((-7 / 2)) $((-7 % 3)) $((2 ** 5))", ["32", "2", "-3", "-1", "32"]),
    "arithmetic-dollar": ("N=4\nfoo $(($N*${N}))", ["16"]),
    "arithmetic-octal": ("foo $((010))", ["8"]),
    "arithmetic-choice": ("N=4\nfoo $((N > 3 ? 10 : 20))", ["10"]),
    "arithmetic-of-expression": ("N='2 + 3'\nfoo $((N * 2))", ["10"]),
    "counting": ("((N = 1 + 1))\n((N++))\nlet M=N*2\nfoo $N $M", ["3", "6"]),
    "expr": ("foo $(expr 3 \\* 4) `expr 7 / 2`", ["12", "3"]),
    "echoed": ('A=3\nfoo $(echo $A) "$(echo a b)"', ["3", "a b"]),
    "basename": ("foo $(basename a/b.yaml .yaml) $(dirname a/b.yaml)", ["b", "a"]),
    "echoed-on-one-line": ("foo $(echo -n 4) $(echo -4) $(echo 4 -e)", ["4", "-4", "4", "-e"]),
    "pipeline": ("A=0,1,2,3\nfoo $(echo $A | tr ',' '\\n' | wc -l)", ["4"]),
    "fields-counted": ("A=6,7\nfoo $(echo $A | awk -F, '{print NF}') $(echo $A | awk -F ',' '{ print NF }')", ["2", "2"]),
    "fields-counted-at-blanks": ("foo $(echo ' a  b c' | awk '{print NF}')", ["3"]),
    "field-behind-a-sign": ("foo $(echo a:4:b | awk -F: '{print $2}')", ["4"]),
    "sequence": ("foo $(seq 3) {1..3} a{b,c}d", ["1", "2", "3", "1", "2", "3", "abd", "acd"]),
    "sequence-down": ("foo {3..1} {7..1..3}", ["3", "2", "1", "7", "4", "1"]),
    "heredoc-to-variable": ("read -r -d '' C <<EOF\ntrain \\\n  --micro 4\nEOF\nfoo $C", ["train", "--micro", "4"]),
    "herestring-to-array": ('A="0,1,2"\nIFS=, read -ra B <<< "$A"\nfoo ${#B[@]} ${B[2]}', ["3", "2"]),
    "arguments-set": ('set -- a "b c"\nfoo "$@" $# $1', ["a", "b c", "2", "a"]),
    "options-set": ('set -- a\nset -euo pipefail\nset -euox pipefail\nset +o errexit\nfoo "$@"', ["a"]),
    "options-and-arguments-set": ("set -euox pipefail b c\nfoo $1 $#", ["b", "2"]),
    "reassigned": ("A=1\nA=$((A * 2))\nfoo $A", ["2"]),
    "subshell-forgets": ("A=1\n(A=2)\nfoo $A", ["1"]),
    "pipeline-forgets": ("A=1\necho x | A=2\nfoo $A", ["1"]),
    "unset": ("A=1\nunset A\nfoo a$A", ["a"]),
    "redirected": ("foo a > /dev/null 2>&1", ["a"]),
    "redirected-in-the-middle": ("foo a > /dev/null b", ["a", "b"]),
}


@pytest.mark.parametrize(("text", "wanted"), KNOWN.values(), ids=KNOWN)
def test_words_are_those_of_bash(text: str, wanted: list[str]) -> None:
    assert argv(only(text))[1:] == wanted


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
@pytest.mark.parametrize(("text", "wanted"), KNOWN.values(), ids=KNOWN)
def test_bash_says_so_itself(text: str, wanted: list[str]) -> None:
    telling = 'foo() { printf "%s\\0" "$@" >&3; }\n'
    done = subprocess.run(["bash", "-c", "exec 3>&1 1>&2\n" + telling + text], capture_output=True, text=True, env={}, check=False)
    assert done.stdout.split("\0")[:-1] == wanted


UNKNOWN = {
    "which-nothing": "foo $(which)",
    "which-of-a-path": "foo $(which ./train)",
    "type": "foo $(type torchrun)",
    "environment": "foo $NNODES",
    "environment-quoted": 'foo "$NNODES"',
    "argument": "foo $1",
    "arguments": 'foo "$@"',
    "count-of-arguments": "foo $#",
    "substitution": "foo $(nproc)",
    "backticks": "foo `nproc`",
    "devices": "N=$(nvidia-smi -L | wc -l)\nfoo $N",
    "arithmetic": "foo $((NNODES * 8))",
    "through-a-variable": "A=$NNODES\nfoo $A",
    "shifted-past-unknown": "set -- $(cat list) 2\nshift\nfoo $1",
    "echo-with-escapes": "foo $(echo -e 4)",
    "echo-with-escapes-on-one-line": "foo $(echo -ne 4)",
    "translated-sets": "A=ab\nfoo $(echo $A | tr ab c)",
    "shifted-away": "set -- $X\nfoo $1",
    "division-by-zero": "foo $((1 / 0))",
    "overflow": "foo $((2 ** 64))",
    "not-octal": "foo $((08))",
    "ansi": "foo $'a\\tb'",
    "hexadecimal": "foo $((0x10))",
    "another-base": "foo $((2#101))",
    "logical-or": "N=4\nfoo $((N == 3 || N == 4))",
    "cut": "foo $(echo a,b | cut -d, -f2)",
    "read": "read A\nfoo $A",
    "random": "foo $RANDOM",
    "part-of-unknown": "foo ${NNODES%x}",
    "quoted-replacement": "foo \"./log/${MODEL/'/'/_}-1\"",
    "quoted-replacement-of-all": "A=${MODEL//'-'/}\nfoo $A",
    "length-of-unknown": "foo ${#NNODES}",
    "printf-v": "printf -v A %s 3\nfoo $A",
    "glob": "foo *.yaml",
    "not-exported": "A=1\nbash -c 'foo $A'",
}


@pytest.mark.parametrize("text", UNKNOWN.values(), ids=UNKNOWN)
def test_what_depends_on_the_machine_is_unknown(text: str) -> None:
    (word,) = only(text).words[1:]
    assert word.text is None
    assert word.unknowns


# liziniu/ReMax, training_scripts/llama2/run_llama2_7b.sh: tree-sitter-bash 0.25.1 reads nothing of such a script.
def test_a_replacement_in_quotes_leaves_the_rest_of_a_script() -> None:
    text = "MODEL=a/b\nOUT=\"./log-${MODEL/'/'/_}-$SEED\"\nfoo --steps 4 --out $OUT\n"
    assert argv(only(text)) == ["foo", "--steps", "4", "--out", None]


def test_an_unknown_part_leaves_the_rest_known() -> None:
    (word,) = only("foo recipes/$MODEL/config.yaml").words[1:]
    assert [part.text for part in word.parts] == ["recipes/", None, "/config.yaml"]
    assert word.unknowns == ("MODEL",)
    assert word.starts_with == "recipes/"


@pytest.mark.parametrize(
    ("text", "value"),
    [("foo ${N:-8}", "8"), ("foo ${1:-8}", "8"), (": ${N:=8}\nfoo $N", "8"), ("N=${N:-8}\nfoo $((N * 2))", "16"),
     ('if [ -z "$N" ]; then N=8; fi\nfoo $N', "8"), ('[ -z "$N" ] && N=8\nfoo $N', "8"), ("N=${1:-}\nN=${N:-8}\nfoo $N", "8")],
    ids=["default", "argument", "assigned", "computed", "if", "and", "twice"],
)  # fmt: skip
def test_a_default_is_known_and_marked(text: str, value: str) -> None:
    word = only(text).words[1]
    assert (word.text, word.default) == (value, True)


@pytest.mark.parametrize("text", ["N=8\nfoo $N", "N=8\nfoo ${N:-4}", "foo 8"], ids=["assigned", "default-not-used", "literal"])
def test_what_the_script_fixes_is_not_a_default(text: str) -> None:
    word = only(text).words[1]
    assert (word.text, word.default) == ("8", False)


PLACES = {
    "literal": ("foo 8", "8", "8"),
    "option": ("foo --n=8", "--n=8", "--n=8"),
    "variable": ("N=8\nfoo $N", "8", "$N"),
    "quoted": ('N="8"\nfoo "$N"', "8", '"$N"'),
    "through-two": ("N=8\nM=$N\nfoo $M", "8", "$M"),
    "default": ("N=${N:-8}\nfoo $N", "8", "$N"),
    "computed": ("N=8\nfoo $((N * 2))", "$((N * 2))", "$((N * 2))"),
    "computed-before": ("N=$((4 * 2))\nfoo $N", "$((4 * 2))", "$N"),
    "in-a-string": ('C="foo $N --x 8"\n$C', "foo", "foo"),
    "array": ("A=(8)\nfoo ${A[@]}", "8", "${A[@]}"),
    "array-of-two": ("A=(8 9)\nfoo ${A[@]}", "8", "8"),
    "suffix-off": ("N=8x2\nfoo ${N%x2}", "8", "${N%x2}"),
}


@pytest.mark.parametrize(("text", "value", "use"), PLACES.values(), ids=PLACES)
def test_a_word_knows_where_its_value_is(text: str, value: str, use: str) -> None:
    command = only(text)
    word = command.words[0] if text.startswith("C=") else command.words[1]
    assert written(text, word.value_at) == value
    assert written(text, word.at) == use


def test_the_value_behind_an_equals_sign_has_its_own_place() -> None:
    text = "GA=16\nfoo --ga=$GA"
    word = only(text).words[1].after(len("--ga="))
    assert (word.text, written(text, word.value_at), word.value_at.start) == ("16", "16", 3)


def test_places_count_characters_not_bytes() -> None:
    text = "# größe 😀\nN=8\nfoo ü $N"
    word = only(text).words[2]
    assert written(text, word.value_at) == "8"
    assert written(text, word.at) == "$N"


@pytest.mark.parametrize("looked_up", ["$(which swift)", "`which swift`", "$(command -v swift)", "$(type -P swift)"])
def test_a_program_that_is_looked_up_is_in_some_folder(looked_up: str) -> None:
    (word,) = only(f"foo {looked_up}").words[1:]
    assert [part.text for part in word.parts] == [None, "/swift"]


@pytest.mark.parametrize(("text", "behind"), [("--ga=8", "8"), ('"--ga=8"', "8"), ("--ga=", ""), ("--ga=${N:-8}", "8")])
def test_the_parts_of_a_word_make_its_text(text: str, behind: str) -> None:
    whole = only(f"foo {text}").words[1]
    value = whole.after(len("--ga="))
    assert (
        ["".join(part.text or "" for part in word.parts) for word in (whole, value)]
        == [f"--ga={behind}", behind]
        == [whole.text, value.text]
    )
    assert all(written(f"foo {text}", part.at) == part.text for word in (whole, value) for part in word.parts if part.exact)
