"""What substituted commands print: `$(basename $A .yaml)`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_gbs.model.command import Part
from pytest_gbs.model.location import Location
from pytest_gbs.shell import filters
from pytest_gbs.shell.limits import LONGEST_VALUE
from pytest_gbs.shell.reading import Words
from pytest_gbs.shell.state import made_of, text_of, unknown
from pytest_gbs.shell.text import Parts
from pytest_gbs.shell.word_reading import WordReading, touching
from pytest_gbs.shell.wrappers import words_of

if TYPE_CHECKING:
    from tree_sitter import Node


# Commands that are run for what they print of the machine, and start nothing.
_PRINTERS: Final = words_of(
    "awk cat command conda curl cut date df du echo expr find free getconf getent grep egrep head hostid hostname "
    "id ip jq ls lscpu mktemp nproc nvidia-smi printf ps python python3 sacct scontrol sed seq shuf sort squeue ss "
    "stat tail tr uname uniq uuidgen wc which whoami yq [ test"
)


class Substitution(WordReading):
    """A file of which it is read what the commands print that are put into words."""

    def substitute(self, node: Node) -> Parts:
        """What a command substitution gives; unknown if it needs a machine to run on."""
        at, raw = self.at(node), self.raw(node)
        parts = self.printed([child for child in node.children if child.is_named and child.type != "comment"], at)
        if parts is None:
            name = next((text for text in raw.lstrip("$(` \n").split() if "=" not in text), "")
            if name not in _PRINTERS and name not in self.functions and name not in filters.PATHS:
                self.subshell(node)  # `JOB=$(sbatch train.slurm)`
            return (unknown(raw if len(raw) <= 60 else raw[:57] + "...", at),)
        text = text_of(parts)
        if text is None:
            return parts
        stripped = text.rstrip("\n")
        if len(parts) == 1:
            return (parts[0].cut(0, len(stripped)),) if stripped else ()
        return (made_of(parts, stripped, at),) if stripped else ()

    def printed(self, nodes: list[Node], at: Location) -> Parts | None:
        """What statements print; None if that is unknown."""
        if len(nodes) == 2 and not any(node.has_error for node in nodes):
            return self.printed_by_cd_and_pwd(nodes, at)  # `cd FOLDER; pwd`
        if len(nodes) != 1 or nodes[0].has_error:
            return None
        node = nodes[0]
        inside = [child for child in node.children if child.is_named]
        if node.type == "list":
            return self.printed_by_cd_and_pwd(inside, at)
        if node.type == "pipeline":
            return self.printed_by_pipeline(inside, at)
        if node.type == "redirected_statement":
            body = node.child_by_field_name("body")
            for redirect in node.children_by_field_name("redirect"):
                if redirect.type == "heredoc_redirect" and body is not None and self.raw(body) == "cat":
                    return self.heredoc(redirect) if len(redirect.children) <= 4 else None
            return self.printed([body], at) if body is not None and self.raw(node).endswith("/dev/null") else None
        return self.printed_by_command(node, at) if node.type == "command" else None

    def printed_by_cd_and_pwd(self, nodes: list[Node], at: Location) -> Parts | None:
        """What `cd FOLDER && pwd` prints."""
        if len(nodes) != 2 or self.raw(nodes[1]).split()[:1] != ["pwd"]:
            return None
        body = nodes[0].child_by_field_name("body") if nodes[0].type == "redirected_statement" else nodes[0]
        if body is None or body.type != "command":
            return None
        words = self.argument_words(body)
        words = words[1:] if words[:1] and words[0].text in ("builtin", "command") else words
        targets = [word for word in words[1:] if word.text not in ("-P", "-L", "--")]
        if not words or words[0].text != "cd" or len(targets) != 1:
            return None
        return filters.path_in_tree(self.moved(targets[0]), at)

    def argument_words(self, node: Node) -> Words:
        """The words of a command, without assignments and redirections."""
        wanted = [c for c in node.children if c.is_named and c.type not in ("variable_assignment", "herestring_redirect", "file_redirect")]
        return tuple(word for group in touching(wanted, self.text) for word in self.words(*group))

    def printed_by_command(self, node: Node, at: Location) -> Parts | None:
        """What one command prints; None if that is unknown."""
        words = self.argument_words(node)
        if not words or words[0].text is None:
            return None
        feed = next((child for child in node.children if child.type == "herestring_redirect"), None)
        if feed is not None:
            text = text_of(self.value(feed.children[-1]))
            out = filters.filtered(words, text + "\n") if text is not None else None
            return None if out is None else (Part(out, at, at),)
        name = words[0].text
        if name in filters.PATHS:
            return filters.PATHS[name](words, at, self.state.folder)
        if name in ("grep", "cat"):
            lines = self.lines_of_file(words)
            return None if lines is None else (Part(lines, at, at, note="the recipe"),)
        texts = [word.text for word in words if word.text is not None]
        single = words[1].parts if name == "echo" and len(words) == 2 else None
        if len(texts) < len(words):
            return single if not words[1].many else None
        out = filters.output_of(texts)
        if out is None or single is not None:
            return None if out is None else single
        return (made_of((part for word in words for part in word.parts), out, at),)

    def printed_by_pipeline(self, nodes: list[Node], at: Location) -> Parts | None:
        """What a pipeline of simple filters prints."""
        if not nodes or any(node.type != "command" for node in nodes):
            return None
        first = self.printed_by_command(nodes[0], at)
        text = text_of(first) if first is not None else None
        if first is None or text is None:
            return None
        out: str | None = text if text.endswith("\n") else text + "\n"
        for node in nodes[1:]:
            out = filters.filtered(self.argument_words(node), out) if out is not None else None
        return None if out is None else (made_of(first, out, at),)

    def lines_of_file(self, words: Words) -> str | None:
        """The lines of one file of the tree that `grep` or `cat` prints; None if the file or the pattern cannot be read."""
        flags = [word.text for word in words[1:] if word.starts_with.startswith("-")]
        rest = [word for word in words[1:] if not word.starts_with.startswith("-")]
        wanted = 1 if words[0].text == "cat" else 2
        if len(rest) != wanted or any(flag not in ("-E", "-q", "-qE", "-Eq", "-h") for flag in flags):
            return None
        source = self.file(rest[-1])
        if source is None or len(source.text) > LONGEST_VALUE * 5:
            return None
        self.budget.write(0, len(source.text))
        if wanted == 1:
            return source.text
        pattern = filters.key_pattern(rest[0].text or "")
        if pattern is None:
            return None
        return "".join(line + "\n" for line in source.text.splitlines() if pattern.search(line[:1000]))
