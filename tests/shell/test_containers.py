"""Commands in containers: the variables that they get, and those that they do not."""

import pytest

from pytest_gbs.model.location import Source
from pytest_gbs.shell import read_commands


def environment(text: str) -> dict[str, str | None]:
    """The variables that the last command of a script finds."""
    return {each.name: each.value.text for each in read_commands(Source("run.sh", text)).commands[-1].environment}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("export A=1\ndocker run image torchrun x.py\n", {}),
        ("A=1 docker run image torchrun x.py\n", {}),
        ("A=1\ndocker run -e A image torchrun x.py\n", {}),
        ("export A=1\nsudo docker run -e A image torchrun x.py\n", {"A": "1"}),
        ("A=1 docker run --env A image torchrun x.py\n", {"A": "1"}),
        ("A=1\ndocker run -e B=$A --env=C=2 image torchrun x.py\n", {"B": "1", "C": "2"}),
        ("docker run -e A=1 image bash -c 'B=2 torchrun --nproc_per_node=$A x.py'\n", {"A": "1", "B": "2"}),
        ("export A=1\nsingularity exec image torchrun x.py\n", {"A": "1"}),
    ],
)
def test_variables(text: str, expected: dict[str, str]) -> None:
    assert environment(text) == expected


def test_what_follows_a_container_has_the_variables_of_the_script() -> None:
    assert environment("export A=1\ndocker run -e B=2 image torchrun x.py\ntorchrun y.py\n") == {"A": "1"}
