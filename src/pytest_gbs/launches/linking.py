"""What a command that starts training runs: its recipes, its program, and the files that its recipe may be."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import islice

from pytest_gbs.launches.default_recipe import default_recipe
from pytest_gbs.launches.found_launch import FoundLaunch, kind_in
from pytest_gbs.launches.named_files import executed, named_files
from pytest_gbs.launches.script_files import ScriptFiles
from pytest_gbs.model.command import Command, EnvironmentValue, Script, Word
from pytest_gbs.model.launch import Grep, Kind, Launch, Start
from pytest_gbs.model.limits import MOST_GREPPED
from pytest_gbs.model.location import Location
from pytest_gbs.model.pattern import re
from pytest_gbs.model.quantity import Quantity
from pytest_gbs.readers.python import executes_files
from pytest_gbs.shell.limits import MOST_SEARCHES


def linked(start: Start, command: Command, script: Script, at: Location, files: ScriptFiles) -> FoundLaunch:
    """The launch that `command` makes by `start`, linked to the `files` that it names; it is at `at`."""
    in_document = kind_in(script.path) == Kind.DOCUMENT
    path = files.finder.program(start.program, command, script, further_down=in_document) if start.program else None
    source = files.source(path) if path is not None and not start.recipes else None
    if source is not None and executes_files(source):
        start = start._replace(recipes=tuple(executed(start.program[1:])))
    recipes, written, unknown, missing = named_files(start, command, script, files.finder)
    template = unknown is not None
    if path is not None and not (recipes or written or template or missing or start.recipes):
        recipes = tuple(_by_default(path, start, files))
    quantities = tuple(size for size in start.sizes if isinstance(size, Quantity))
    kind = Kind.TEMPLATE if template else kind_in(at.source)
    launch = Launch(at, kind, start.name, quantities, open=command.ends_with_args, start=start, meant=command.meant)
    candidates = () if unknown is None else tuple(files.finder.candidates(unknown))
    if unknown is not None and candidates:
        launch = launch._replace(greps=tuple(_greps(unknown, candidates[:MOST_GREPPED], script.path, files)))
    variables = ((each.name, each.value) for each in command.environment)
    environment = tuple(EnvironmentValue(name, word.text, word.default, word.value_at) for name, word in variables)
    return FoundLaunch(launch, start, script, recipes, path, template, missing, candidates, environment, written)


def _by_default(program: str, start: Start, files: ScriptFiles) -> Iterator[tuple[str, Word]]:
    """Yield the recipe that a program reads if its command line names none, with the word that names the program."""
    source = files.source(program)
    found = default_recipe(source, start.program[1:], files.has) if source is not None else None
    if found is not None:
        yield found, start.program[0]


def _greps(recipe: Word, candidates: tuple[str, ...], script: str, files: ScriptFiles) -> Iterator[Grep]:
    """Yield the searches of a script for a batch key in its recipe, each with the recipes in which it goes wrong."""

    def text(path: str) -> str:
        source = files.source(path)
        return source.text if source is not None else ""

    named = recipe.raw.strip('"').replace("{", "").replace("}", "")
    counted: dict[str, dict[str, int]] = {}
    searches = (match for match in _grep().finditer(text(script)) if f"${match.group(2)}" == named)
    for match in islice(searches, MOST_SEARCHES):
        key = match.group(1)
        if key not in counted:
            counted[key] = {path: sum(key in line for line in text(path).splitlines()) for path in candidates}
        lines = counted[key]
        at = Location(script, match.start(), match.end())
        without = tuple(path for path, number in lines.items() if number == 0)
        several = tuple(path for path, number in lines.items() if number > 1)
        yield Grep(match.group(1), at, without, several, len(lines))


@cache
def _grep() -> re.Pattern[str]:
    keys = "gradient_accumulation_steps|per_device_train_batch_size|train_batch_size|micro_batch_size"
    return re.compile(rf"grep[ \t]++(?:-\w++[ \t]++){{0,9}}+['\"]?((?:{keys}):?)[ \t]{{0,9}}['\"]?[ \t]++\"?\$\{{?(\w+)\}}?\"?")
