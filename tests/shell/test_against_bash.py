"""Generated scripts, run by bash and read by us: the same commands with the same words, all of them known."""

import shutil
import subprocess
from random import Random

import pytest

from tests.shell.reading import argv, commands

_TELLING = 'exec 3>&1 1>&2 2>/dev/null\nfoo() { printf "%s\\0" foo "$@" >&3; printf "\\n" >&3; }\n'
_START = 'A=1; B=2x4; C="3 5"; N=; G=7; X=(a "b c"); Y=(); set -- p "q r"\n'
_NAMES = ("A", "B", "C", "N", "G")
_NUMBERS = ("1", "2", "3", "8", "16")


class Writer:
    """Writes scripts out of a small vocabulary in which nothing depends on a machine."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def pick(self, choices: tuple[str, ...]) -> str:
        """One of `choices`, its names and numbers filled in."""
        text = self.random.choice(choices)
        while "@V" in text or "@N" in text or "@A" in text:
            text = text.replace("@V", self.random.choice(_NAMES), 1).replace("@N", self.random.choice(_NUMBERS), 1)
            text = text.replace("@A", self.random.choice("XY"), 1)
        return text

    def word(self) -> str:
        """A word."""
        return self.pick((
            "$@V", "${@V}", '"$@V"', "${@V:-@N}", "${@V:+@N}", "${@V%x*}", "${@V#*x}", "${@V/x/-}", "${#@V}", "$((@N + @N * 2))", "@N",
            "$(echo @N)", "${@V:0:1}", '"a $@V b"', "p/$@V/q_$@V.y", '"${@A[@]}"', "${@A[0]}", "${#@A[@]}", "'s $@V'", '"$@"', "$1",
            "${2:-z}", "$#", "--k=$@V", '--k="$@V"', "$(expr @N + @N)", "$((@N / @N))",
        ))  # fmt: skip

    def condition(self) -> str:
        """A condition."""
        return self.pick((
            '[ "$@V" = "@N" ]', "[[ $@V == @N* ]]", '[[ -n "$@V" ]]', '[ -z "$@V" ]', "true", "false", "(( @N > @N ))", "[ @N -lt @N ]",
            '! [ "$@V" = x ]', '[[ -n "$@V" && "$@V" != @N ]]', "[ $# -gt 0 ]", '[ -n "$@V" ] || [ -z "$1" ]',
            "(( $# ))", '[[ "$1" == -* ]]',
        ))  # fmt: skip

    def simple(self) -> str:
        """A statement of one line."""
        word, other = self.word(), self.word()
        return self.pick((
            f"@V={word}", "@V+=@N", f"@A=({word} {other})", f"@A+=({word})", f"foo {word} {other}", f"foo {word}",
            "export @V", "unset @V", f"{self.condition()} && @V=@N", f"{self.condition()} || @V=@N", "@V=1 @V=2",
            "set -- @N @N", f"export @V={word}",
            'M="foo $@V --x"; eval "$M"', 'M="foo $@V --x"; $M', f"({self.pick(('@V=@N', 'foo $@V'))})",
            "for ((i=0; i<2; i++)); do foo $i; done",
        ))  # fmt: skip

    def statement(self, depth: int) -> str:
        """A statement of any kind."""
        if depth > 2 or self.random.random() < 0.5:
            return self.simple()
        body, other = self.body(depth + 1), self.body(depth + 1)
        return self.pick((
            f"if {self.condition()}; then\n{body}\nelif {self.condition()}; then\n{other}\nelse\n{self.simple()}\nfi",
            f"if {self.condition()}; then\n{body}\nfi",
            f"for @V in @N {self.word()} @N; do\n{body}\n{self.condition()} && {self.pick(('break', 'continue'))}\n{self.simple()}\ndone",
            f'case "$@V" in\n@N|@N*) {self.simple()};;\n*x*) {self.simple()};;\n*) {self.simple()};;\nesac',
            f"f() {{ local @V=@N; {self.simple()}; {self.condition()} && return; {self.simple()}; }}\nf {self.word()} @N",
            "N=0\nwhile [ $N -lt @N ]; do N=$((N+1)); foo $N; done",
        ))  # fmt: skip

    def body(self, depth: int) -> str:
        """Some statements."""
        return "\n".join(self.statement(depth) for _ in range(self.random.randrange(1, 4)))


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
@pytest.mark.parametrize("seed", range(120))
def test_a_script_runs_as_bash_runs_it(seed: int) -> None:
    writer = Writer(seed)
    text = _START + "\n".join(writer.body(0) for _ in range(3)) + "\nfoo end $A $B $N $1\n"
    done = subprocess.run(["bash", "-c", _TELLING + text], capture_output=True, env={"PATH": "/usr/bin:/bin"}, timeout=20, check=False)
    wanted = [line.split("\0")[:-1] for line in done.stdout.decode().split("\n")[:-1]]
    found = commands(text)
    assert [argv(command) for command in found] == wanted
    assert not any(command.conditional for command in found)
