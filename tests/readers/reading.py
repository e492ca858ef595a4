"""What the tests of the reading layer share: short ways to read a text and to say what was read."""

from pytest_gbs.model.document import Alias, Document, Mapping, Node, Scalar
from pytest_gbs.model.location import KeyPath, Source, Unreadable
from pytest_gbs.readers import read


def documents(text: str, path: str = "recipe.yaml") -> list[Document]:
    """The documents of `text`, all of which must be readable."""
    found = read(Source(path, text))
    assert not [each.reason for each in found if isinstance(each, Unreadable)]
    return [each for each in found if isinstance(each, Document)]


def document(text: str, path: str = "recipe.yaml") -> Document:
    """The one document of `text`."""
    (found,) = documents(text, path)
    return found


def refusal(text: str, path: str = "recipe.yaml") -> Unreadable:
    """Why `text` cannot be read; nothing in it may be."""
    (found,) = read(Source(path, text))
    assert isinstance(found, Unreadable)
    return found


def written(found: Document, node: Node | None) -> str:
    """The span of `node` as it stands in the file."""
    assert node is not None
    return found.source.text[node.start : node.stop]


def texts(found: Document) -> dict[KeyPath, str | None]:
    """The text of every indexed scalar by key path, aliases followed; None for other values."""
    values = {}
    for path, (_, value) in found.keyed.items():
        target = value.target if isinstance(value, Alias) else value
        values[path] = target.text if isinstance(target, Scalar) else None
    return values


def mapping(node: Node | None) -> Mapping:
    """`node`, which must be a mapping."""
    assert isinstance(node, Mapping)
    return node
