"""What `gbs init` would add to a file that is there already: shown as a patch, never written."""

from __future__ import annotations

from textwrap import dedent, indent

from pytest_gbs.model.document import Document, Mapping, Node, Sequence
from pytest_gbs.model.location import Source
from pytest_gbs.readers import read

_STAGE = "test"
"""The stage of a job of GitLab that names none."""


def hook_joined(source: Source, snippet: str) -> Source | None:
    """A configuration of pre-commit with the one repository of `snippet` behind its own; None if its list can't be added to as it is."""
    repos = _value(source, "repos")
    if not isinstance(repos, Sequence) or not repos.items or source.text[repos.start] != "-":
        return None
    text = source.text
    column = repos.start - text.rfind("\n", 0, repos.start) - 1
    entry = indent(dedent(snippet.partition("repos:\n")[2]), " " * column)
    last = _last(repos).stop
    end = text.find("\n", max(last - 1, 0)) + 1 or len(text)
    between = "" if text[:end].endswith("\n") else "\n"
    joined = source._replace(text=text[:end] + between + entry + text[end:])
    now = _value(joined, "repos")
    return joined if isinstance(now, Sequence) and len(now.items) == len(repos.items) + 1 else None


def job_joined(source: Source, snippet: str) -> Source | None:
    """A configuration of GitLab with the job `snippet` behind its own; None if it has no place for one as it is."""
    root = _value(source)
    stages = _value(source, "stages")
    names = [getattr(item, "text", "") for item in stages.items] if isinstance(stages, Sequence) else [_STAGE]
    if not isinstance(root, Mapping) or source.text[root.start] == "{" or _STAGE not in names:
        return None
    joined = source._replace(text=f"{source.text.rstrip()}\n\n{snippet}")
    now = _value(joined)
    return joined if isinstance(now, Mapping) and len(now.entries) == len(root.entries) + 1 else None


def _value(source: Source, *path: str) -> Node | None:
    """The value at `path` of the one document of `source`, its root if there is no path; None if it is not one that can be read."""
    document, *others = read(source)
    if others or not isinstance(document, Document):
        return None
    return document.get(*path) if path else document.root


def _last(node: Node) -> Node:
    """What is written last of `node`."""
    if isinstance(node, Sequence) and node.items:
        return _last(node.items[-1])
    if isinstance(node, Mapping) and node.entries:
        return _last(node.entries[-1][1])
    return node
