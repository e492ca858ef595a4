"""Small recipes for the tests of the tables: a document, the table it is recognised as, and its sizes in a given world."""

from pytest_gbs.claims.worlds import geometry
from pytest_gbs.frameworks import recognise, tables
from pytest_gbs.frameworks.conditions import applied_to
from pytest_gbs.frameworks.constraints import judge
from pytest_gbs.frameworks.reading import misread, read_sizes
from pytest_gbs.model.document import Document
from pytest_gbs.model.framework import Framework
from pytest_gbs.model.location import Source
from pytest_gbs.model.outcome import Outcome
from pytest_gbs.model.quantity import Origin, Quantity, Size
from pytest_gbs.model.run import Geometry, Run
from pytest_gbs.readers import read
from pytest_gbs.rules import rules


def document(text: str, path: str = "recipe.yaml") -> Document:
    """The one document of `text`."""
    (found,) = read(Source(path, text))
    assert isinstance(found, Document)
    return found


def table(title: str) -> Framework:
    """The table called `title`."""
    (found,) = (each for each in tables() if each.title == title)
    return found


def title(text: str, path: str = "recipe.yaml") -> str | None:
    """The title of the table that a file is recognised as."""
    found = recognise(document(text, path))
    return found.title if found else None


def sizes(text: str, path: str = "recipe.yaml", /, **hardware: int) -> Geometry:
    """All sizes of a recipe in a world of the given sizes."""
    read_from = document(text, path)
    found = recognise(read_from)
    assert found is not None
    given = {name: Quantity(name, value, Origin.GIVEN) for name, value in hardware.items()}
    return geometry(read_sizes(read_from, found), given, applied_to(read_from, found), read_from)


def value(size: Size | None) -> int | str | None:
    """The number of `size`, why it is not known, or None where there is none."""
    if isinstance(size, Quantity):
        return size.value
    return getattr(size, "reason", None)


def outcomes(code: str, text: str, path: str = "recipe.yaml", /, **hardware: int) -> list[Outcome]:
    """What the constraints that the rule of this code reports come to in a world of the given sizes."""
    read_from = document(text, path)
    found = recognise(read_from)
    assert found is not None
    (rule,) = (rule for rule in rules() if rule.code == code)
    return list(judge(Run(read_from, applied_to(read_from, found).real, None, sizes(text, path, **hardware), (), ()), rule.name))


def stumbles(text: str, path: str = "recipe.yaml") -> dict[str, str]:
    """The treatment of each value that the framework stumbles over, by its key."""
    read_from = document(text, path)
    found = recognise(read_from)
    assert found is not None
    return {str(each.row.key[-1]): each.treatment for each in misread(read_from, found)}
