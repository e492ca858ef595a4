"""Text for another shell with unescaped quotes: bash reads less than people mean, and what they mean is marked."""

import pytest

from tests.shell.reading import argv, commands, lines, word_of, written

LOOP = lines("""
    export LR=1
    srun bash -c "
    for i in 1 2; do
        echo "Round \\$i of training..."
        foo --lr ${LR} --name "run \\$i"
    done
    "
    """)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('bash -c "foo 1"', id="in order"),
        pytest.param('bash -c "foo \\"1\\""', id="escaped"),
        pytest.param('bash -c "foo "1""', id="bare quotes that change nothing"),
        pytest.param('bash -c "if true; then echo "start"\nfoo 1\nfi"', id="bare quotes without a blank between them"),
        pytest.param('bash -c "foo 1" "a" "b"', id="arguments in quotes"),
        pytest.param('bash -c "foo $(echo "1")"', id="quotes of a substitution"),
        pytest.param('ssh host "foo 1" "; bar"', id="two texts for a host"),
        pytest.param('ssh host "if true; then echo "at start"\nfoo 1\nfi"', id="ssh, which joins its words"),
        pytest.param('eval "foo "1""', id="eval, which joins its words"),
        pytest.param("bash -c 'foo \"1\"'", id="double quotes in single ones"),
        pytest.param('bash <<EOF\nfoo "1"\nEOF', id="heredoc"),
    ],
)
def test_quotes_in_order_mean_what_bash_reads(text: str) -> None:
    (command,) = commands(text)
    assert argv(command)[:2] == ["foo", "1"]
    assert command.meant is False


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('bash -c "for i in 1; do foo 1" "; done; ("', id="no syntax either way"),
        pytest.param('bash -c "if true; then echo " x " foo"', id="no end anywhere"),
        pytest.param('bash -c "if true; then foo 1', id="no closing quote"),
    ],
)
def test_text_that_is_not_syntax_to_its_last_quote_is_not_meant(text: str) -> None:
    assert [command for command in commands(text) if command.meant] == []


MEANT = {
    "bash": 'bash -c "for i in 1; do echo "hello you"; foo 1; done"',
    "srun": 'srun -N 2 bash -c "if true; then echo "at start"\nfoo 1\nfi"',
    "wrap": 'sbatch --wrap="if true; then echo "at start"\nfoo 1\nfi"',
    "wrap-word": 'sbatch --wrap "if true; then echo "at start"\nfoo 1\nfi"',
    "substitution": 'bash -c "if [ $(echo "1") = 1 ]; then echo "at start"\nfoo 1\nfi"',
    "function": 'run() { bash -c "if true; then echo "at start"\nfoo $1\nfi"; }\nrun 1',
    "heredoc": 'bash <<\'EOF\'\nbash -c "if true; then echo "at start"\nfoo 1\nfi"\nEOF',
    "ä": 'bash -c "if true; then echo "für alle"\nfoo 1\nfi"',
}


@pytest.mark.parametrize("text", MEANT.values(), ids=MEANT)
def test_text_that_ends_too_early_for_bash_is_read_to_its_last_quote(text: str) -> None:
    (command,) = commands(text)
    assert argv(command) == ["foo", "1"]
    assert command.meant is True


def test_what_is_meant_expands_as_in_quotes() -> None:
    found = commands(LOOP)
    assert [argv(command) for command in found] == [["foo", "--lr", "1", "--name", f"run {i}"] for i in "12"]
    assert [wrapper.name for wrapper in found[0].wrappers] == ["srun", "bash"]


def test_what_is_meant_is_located_where_it_is_written() -> None:
    command = commands(LOOP)[0]
    assert written(LOOP, command.words[0].at) == "foo"
    assert written(LOOP, word_of(command, "--lr").at) == "${LR}"
    assert written(LOOP, word_of(command, "--lr").value_at) == "1"
    assert written(LOOP, command.at) == 'foo --lr ${LR} --name "run \\$i"'


def test_commands_behind_the_text_are_those_of_bash() -> None:
    first, second = commands(f"{LOOP}\nfoo --last")[1:]
    assert (first.meant, second.meant) == (True, False)


def test_a_thousand_quotes_are_soon_given_up() -> None:
    text = 'bash -c "if true; then ' + 'echo "x" ' * 5_000 + '"\nfoo 1'
    assert [argv(command) for command in commands(text)] == [["foo", "1"]]
