"""Services of docker compose: the command, the variables and the GPUs of each, on one machine.

compose-spec 05-services.md (command, entrypoint, environment, volumes, working_dir), deploy.md (devices, count), 12-interpolation.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pytest_gbs.launches.jobs._format import Documents, JobFormat, assignment, child, command, entries, items, parts, size, text, variables
from pytest_gbs.model.command import Assignment, Folder, Job, Machines
from pytest_gbs.model.document import Document, Node, Scalar
from pytest_gbs.model.location import Location
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.quantity import Name, Origin, Quantity
from pytest_gbs.shell.limits import MOST_JOBS, Exhausted
from pytest_gbs.shell.text import Parts, replaced

_ONE: Final = Quantity(Name.NUM_NODES, 1, Origin.DEFAULT, key="services")


def read(document: Document, _: Documents) -> Iterator[Job]:
    """Yield a job for each service that has a command of its own."""
    for number, (name, service) in enumerate(entries(child(document.root, "services"))):
        if number == MOST_JOBS:
            raise Exhausted(f"more than {MOST_JOBS} services")
        run, entry = child(service, "command"), child(service, "entrypoint")
        environment = tuple(_environment(document, service))
        machines = Machines(_ONE, _gpus(document, service), tuple(_mounts(service)), in_image=True)
        folder = Folder(text(child(service, "working_dir")) or "")
        if isinstance(run, Scalar) and entry is None:
            yield Job(_in_one_line(_unescaped(parts(document, run))), (), environment, machines, folder, name)
        elif items(run) or items(entry):
            words = command(document, (*items(entry), *items(run)), {})
            if words:
                yield Job((), words, environment, machines, folder, name)


def _environment(document: Document, service: Node) -> Iterator[Assignment]:
    """Yield the variables of a service: `environment` as a mapping, or as a list of `NAME=value`."""
    stated = child(service, "environment")
    yield from variables(document, stated)
    for each in items(stated):
        name, equals, _ = (text(each) or "").partition("=")
        if equals and isinstance(each, Scalar) and name.isidentifier():
            found = assignment(document, name, each)
            yield found._replace(value=found.value.after(len(name) + 1))


def _gpus(document: Document, service: Node) -> Quantity | None:
    """The GPUs that a service reserves as a number, or one by one; None for all that there are."""
    for device in items(child(service, "deploy", "resources", "reservations", "devices")):
        listed = items(child(device, "device_ids"))
        if listed and isinstance(listed[0], Scalar) and isinstance(listed[-1], Scalar):
            at = Location(document.source.path, listed[0].start, listed[-1].stop)
            return Quantity(Name.GPUS_PER_NODE, len(listed), Origin.LAUNCH, at=at, key="device_ids")
        return size(document, child(device, "count"), Name.GPUS_PER_NODE, "count")
    return None


def _mounts(service: Node) -> Iterator[tuple[str, str]]:
    """Yield the folders of the repository that lie elsewhere in the container: `./configs:/configs`."""
    for each in items(child(service, "volumes")):
        source, colon, target = (text(each) or "").partition(":")
        source, target = text(child(each, "source")) or source, text(child(each, "target")) or target.partition(":")[0]
        if target.startswith("/") and (source == "." or source.startswith("./")) and (colon or items(each) == ()):
            yield target.rstrip("/"), source


def _unescaped(found: Parts) -> Parts:
    """A command without the signs that keep compose from filling in a variable of the container (`$$GPUS`)."""
    return replaced(found, _sign(), lambda part, match: (part.cut(match.start(), match.start() + 1),))


_sign = lazy_pattern(r"\$\$")


def _in_one_line(found: Parts) -> Parts:
    """A command with blanks for its line breaks: compose cuts a text into words as a shell does, and runs none. Those in quotes stay."""
    texts = ["?" if part.text is None else part.text for part in found]
    text = _quotes_or_break().sub(lambda match: " " if match.group() == "\n" else match.group(), "".join(texts))
    made, place = [], 0
    for part, old in zip(found, texts, strict=True):
        made.append(part if part.text is None else part._replace(text=text[place : place + len(old)]))
        place += len(old)
    return tuple(made)


_quotes_or_break = lazy_pattern(r"""\\.|'[^']*'|"(?:[^"\\]|\\.)*"|\n""")


FORMAT = JobFormat("compose", "services of docker compose: command, environment, devices", r"^services[ \t]*:", read)
