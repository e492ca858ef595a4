"""Files of variables: sourced, exported as words, handed to containers."""

import pytest

from tests.shell.reading import only, script

ENV = "A=1\nexport B='x y'  # two words\n# D=3\nC=\"$A\"\nE=\nF=a#b\n"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("export $(cat other.env)\nfoo $A\n", id="not there"),
        pytest.param("export $(python make.py)\nfoo $A\n", id="printed by a program"),
        pytest.param("export $(cat .env; echo A=2)\nfoo $A\n", id="more than the file"),
        pytest.param("export $(cut -d= -f1 .env)\nfoo $A\n", id="parts of its lines"),
    ],
)
def test_what_is_exported_is_unknown(text: str) -> None:
    command = script(text, files={".env": ENV}).commands[-1]
    assert [word.text for word in command.words] == ["foo", None]
    assert not any(part.default for part in command.words[1].parts)  # something may have set it


@pytest.mark.parametrize(
    "text",
    [
        "export $(cat .env)\nfoo $A\n",
        "export $(grep -v '^#' .env | xargs)\nfoo $A\n",
        "export $(grep -v '^#' .env | xargs -d '\\n')\nfoo $A\n",
        "export $(cat .env | grep -v ^# | xargs)\nfoo $A\n",
        "docker run --env-file .env image bash -c 'foo $A'\n",
        "docker run --env-file=.env image bash -c 'foo $A'\n",
    ],
)
def test_variables_of_a_file(text: str) -> None:
    command = script(text, files={".env": ENV}).commands[-1]
    assert command.words[1].text == "1"
    assert {each.name: each.value.text for each in command.environment} == {"A": "1", "B": "x y", "C": None, "E": "", "F": "a#b"}
    assert command.words[1].value_at.source == ".env"


def test_a_variable_in_front_of_a_command_that_nothing_sets_is_not_a_word() -> None:
    assert [word.text for word in only("$PROFILER foo 1\n").words] == ["foo", "1"]
    assert script("P=$(choose)\n$P foo 1\n").commands[-1].words[0].text is None
