"""A YAML text as documents, or why it cannot be read: never an exception, whatever the text."""

from __future__ import annotations

import yaml
from yaml.events import StreamEndEvent
from yaml.reader import Reader, ReaderError

from pytest_gbs.model.document import CommentBlock, Document, Node
from pytest_gbs.model.limits import MOST_DOCUMENTS, MOST_FOLLOWED_KEYS
from pytest_gbs.model.location import Source, Unreadable
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.record import Final
from pytest_gbs.readers.comments import read_comments, stray_tab
from pytest_gbs.readers.index import duplicates, follow
from pytest_gbs.readers.owners import Keys, Span
from pytest_gbs.readers.refusal import TOO_DEEP, RefusedDocument, unreadable
from pytest_gbs.readers.yaml_nodes import Composer

# The libyaml of PyYAML 6.0.4 has a limit of its own, and reads ahead of the event at which ours is reached.
_NESTED: Final = "exceeded maximum nesting depth"
_expecting = lazy_pattern(r"(?:did|could) not find expected")
_parsing = lazy_pattern(r"while (?:parsing|scanning) |for the next token")


def read_yaml(source: Source) -> tuple[Document | Unreadable, ...]:
    """Each document of `source`; where one cannot be read, those before it and then the reason."""
    found: list[Document | Unreadable] = []
    try:
        _read_documents(source, found)
    except RefusedDocument as refusal:
        found.append(unreadable(source, refusal.offset, refusal.reason))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = unreadable(source, mark.index if mark else 0, _reason(error))
        found.append(problem._replace(matters=False) if _is_template(source.text, problem.offset or 0) else problem)
    except (ReaderError, UnicodeEncodeError):
        found.append(_forbidden(source))
    return tuple(found)


def _reason(error: yaml.MarkedYAMLError) -> str:
    """What libyaml refuses, in fewer words: `expected ',' or ']' in a flow sequence`."""
    if error.problem == _NESTED:
        return TOO_DEEP
    problem = _expecting().sub("expected", str(error.problem))
    where = _parsing().sub("", error.context or "")
    return f"{problem} in {where}" if where else problem


def _is_template(text: str, offset: int) -> bool:
    """Whether the line at `offset` has a placeholder that no YAML is (`{$results_dir}/run`): something fills it in first."""
    start = text.rfind("\n", 0, offset) + 1
    return "{$" in text[start:offset]


def _forbidden(source: Source) -> Unreadable:
    match = Reader.NON_PRINTABLE.search(source.text)
    assert match, "PyYAML refuses a character that its own pattern allows"
    return unreadable(source, match.start(), f"found character U+{ord(match.group()):04X}, which YAML does not allow")


def _read_documents(source: Source, found: list[Document | Unreadable]) -> None:
    """Add the documents of `source` to `found`, one after the other, so that those before an error stay.

    A document's comments reach up to the line that starts the next one. A file without any is one document without root.
    """
    text = source.text
    if text.startswith("\ufeff"):  # libyaml would not count it, and all spans would be off by one
        raise RefusedDocument(0, "found a second byte order mark")
    composer = Composer(text)
    composer.next_event()  # the stream starts
    event = composer.next_event()
    if type(event) is StreamEndEvent:
        found.append(_document(source, 1, composer, None, (0, len(text))))
    start = 0
    while type(event) is not StreamEndEvent:
        if len(found) == MOST_DOCUMENTS:
            raise RefusedDocument(start, f"found more than {MOST_DOCUMENTS} documents in one file")
        composer.begin()
        root = composer.root()
        composer.next_event()  # the document ends
        event = composer.next_event()
        stop = len(text) if type(event) is StreamEndEvent else event.start_mark.index
        found.append(_document(source, len(found) + 1, composer, root, (start, stop)))
        start = stop


def _document(source: Source, number: int, composer: Composer, root: Node | None, region: Span) -> Document:
    """Document `number` of a file, whose nodes and comments are in `region`."""
    keyed, flat = composer.keyed, composer.flat
    repeated = composer.written != len(keyed) + len(composer.inner)
    comments: tuple[CommentBlock, ...] = ()
    if flat.find("#", *region) >= 0:
        comments = read_comments(flat, region, composer.opaque, Keys(keyed, composer.inner, root, repeated))
    tab = stray_tab(flat, region, composer.opaque, comments)
    if tab is not None:
        raise RefusedDocument(tab, "found a tab outside of quotes and comments")
    if repeated or composer.indirect or (composer.may_merge and any(path[-1] == "<<" for path in keyed)):
        keyed = follow(root, len(keyed) + MOST_FOLLOWED_KEYS)
    return Document(source, number, "yaml", root, keyed, comments, duplicates(source.path, root) if repeated else ())
