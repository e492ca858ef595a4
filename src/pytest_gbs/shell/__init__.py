"""Scripts, Makefiles and code blocks as command lines: read with a shell grammar, never run."""

from __future__ import annotations

from pytest_gbs.model.command import Invocation, OtherFiles, Script, Stop
from pytest_gbs.model.document import DOCUMENTS
from pytest_gbs.model.location import Location, Source
from pytest_gbs.shell.limits import beginning


def read_commands(source: Source, others: OtherFiles | None = None, started: Invocation | None = None) -> Script:
    """What `source` runs, by its name a script, a Makefile or a document.

    `others` are the other files of the tree, for `source FILE` and `grep KEY RECIPE`; without them what they hold is unknown.
    `started` says how a script is started, if that is known: a README may say so.
    What depends on the machine, the environment or the arguments is unknown; what holds if nothing is set from outside
    (`${NNODES:-1}`) is known and marked as a default. Branches that are certainly not taken, code behind `exit` and
    functions that are not called give no commands.
    """
    name = source.path.rpartition("/")[2].lower()
    if name.endswith(DOCUMENTS):
        from pytest_gbs.shell.document import read_document

        return read_document(source, others)
    if (readable := beginning(source.text)) is not None:
        cut, reason = readable
        script = read_commands(source._replace(text=source.text[:cut]), others, started)
        return script if script.stopped else script._replace(stopped=Stop(reason, Location(source.path, cut, cut)))
    if name.endswith(".mk") or name in ("makefile", "gnumakefile"):
        from pytest_gbs.shell.makefile import read_makefile

        return read_makefile(source, others)
    from pytest_gbs.shell.script import read_script

    return read_script(source, others, started)
