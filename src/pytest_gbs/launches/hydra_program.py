"""What a Hydra program composes: its folder and file as `@hydra.main` or the command line names them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from typing import Any, Final, TypeAlias

from pytest_gbs.composition import DocumentCache, Resolvers, compose
from pytest_gbs.composition.calculated import calculate, function_of
from pytest_gbs.composition.composed import Composed, Override, ProblemKind
from pytest_gbs.composition.hydra import given_to_program
from pytest_gbs.frameworks.reading import of_a_part
from pytest_gbs.launches.found_launch import FoundLaunch
from pytest_gbs.launches.program_files import has_another_trainer, never_trains, program_source
from pytest_gbs.launches.python_file import always_assigned_keys, assigned_keys
from pytest_gbs.launches.resolved_launch import Recognises, ResolvedLaunch
from pytest_gbs.model.command import Word
from pytest_gbs.model.digits import whole_number
from pytest_gbs.model.document import Scalar
from pytest_gbs.model.framework import Framework
from pytest_gbs.model.limits import MOST_RESOLVERS
from pytest_gbs.model.location import KeyPath, Location, Source, Unreadable, below, endings, upwards
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.program import NO_PROGRAM
from pytest_gbs.readers.command_settings import OF_PROCESSES
from pytest_gbs.readers.scalar import COMPUTED, is_set

# nemo/core/classes/modelPT.py:46, nemo/core/config/hydra_runner.py:48-51 (NeMo 2.0).
_OF_NEMO: Final[Resolvers] = {"multiply": operator.mul, "sum": operator.add}
# The start of a Hydra path that names a package.
_PACKAGED: Final = "pkg://"
_FLAGS: Final = {
    "--config-path": "config_path",
    "-cp": "config_path",
    "--config-name": "config_name",
    "-cn": "config_name",
    "--config-dir": "config_dir",
    "-cd": "config_dir",
}
_Given: TypeAlias = tuple[dict[Any, Any], dict[KeyPath, Location]]
_hydra_main = lazy_pattern(r"@(?:hydra\.main|hydra_runner|main)\(([^)]{0,400})\)")
_keyword = lazy_pattern(r"(config_path|config_name)\s*=\s*f?[\"']([^\"'{}]{1,200})[\"']")
_environment = lazy_pattern(r"\$\{oc\.env:\s*([A-Za-z_]\w{0,80})\s*(?:,\s*([0-9]{1,12})\s*)?[,}]")
_resolver = lazy_pattern(r"register_(?:new_)?resolver\(\s*[\"'](?P<name>\w{1,40})[\"']\s*,\s*(?P<what>lambda\b|eval(?=\s*[,)]))")


def resolve_hydra(found: FoundLaunch, tree: DocumentCache, recognise: Recognises) -> ResolvedLaunch | None:
    """What the Hydra program of a launch trains; None if it is not one, or nothing that any table knows."""
    program, where = program_source(found, tree.read), primary(found, tree)
    if where is None:
        return None
    variables = _Variables(found)
    composed = _composed(found, tree, where, variables.known)
    texts = [source.text for path in composed.sources if isinstance(source := tree.read(path), Source)]
    if variables.add_defaults(texts):
        composed = _composed(found, tree, where, variables.known)
    framework = recognise(composed.document, NO_PROGRAM) if composed.sources else None
    if framework is None or tree.once(("never trains", found.program), partial(never_trains, found.program, tree.listed)):
        return None
    if program is not None and has_another_trainer(program.path, framework, tree.read):
        return None
    # A problem of defaults that has a key: it is unknown which file goes into that package, so that what it sets there is.
    if any(each.kind == ProblemKind.NOT_FOUND or (each.kind == ProblemKind.DEFAULTS and each.key) for each in composed.problems):
        framework = of_a_part(framework)
    _, document, places, _, sources = _filled_in(composed, framework, program) if program is not None else composed
    return ResolvedLaunch(found, sources[0], document, framework, places=places, sources=sources, assumed=tuple(variables.assumed))


def primary(found: FoundLaunch, tree: DocumentCache) -> tuple[str, str] | None:
    """Folder and name of the primary configuration of a Hydra program; None if it is not one, or they are not known."""
    source = program_source(found, tree.read)
    if source is None:
        return _of_a_library(found, tree)
    match = _hydra_main().search(source.text) if "hydra" in source.text else None
    if match is None or _PACKAGED in match.group(1):
        return None
    given = dict(_named(match.group(1)))
    for name, value in _hydra_flags(found.start.program):
        if value is None or value.text is None:
            return None
        given[name] = value.text
    if "config_name" not in given:
        return None
    name = given["config_name"].removesuffix(".yaml")
    folder = _added(given["config_dir"], found, name, tree) if "config_dir" in given else None
    folder = folder or _folder(given.get("config_path", "."), found, source.path.rpartition("/")[0], name, tree)
    return (folder, name) if folder is not None else None


def _of_a_library(found: FoundLaunch, tree: DocumentCache) -> tuple[str, str] | None:
    """Folder and name of the primary configuration where the program is not in the tree, but the command line names both.

    A folder of the tree is one that is named from the root of the machine, or behind a variable: `--config-path=$PWD/conf`; one that
    is added (`--config-dir conf`) also one below where the command runs (Hydra 1.3, _internal/utils.py, _run_hydra).
    """
    given = dict(_hydra_flags(found.start.program))
    file = given.get("config_name")
    path = given.get("config_path", given.get("config_dir"))
    if path is None or file is None or file.text is None:
        return None
    name = file.text.removesuffix(".yaml")
    where = path.text if path.text is not None else f"<>{path.parts[-1].text or ''}"
    if "config_path" in given and not where.startswith(("/", "<>/")):
        return None  # beside a module of the library
    folder = _added(where, found, name, tree)
    return (folder, name) if folder is not None else None


def _added(path: str, found: FoundLaunch, name: str, tree: DocumentCache) -> str | None:
    """The folder of the tree that is added to where Hydra searches, from where the command runs (`--config-dir conf`)."""
    return _folder(path if path.startswith(("/", "<")) else f"<>/{path}", found, "", name, tree)


def _folder(path: str, found: FoundLaunch, beside: str, name: str, tree: DocumentCache) -> str | None:
    """The folder of the tree that `path` names, from the folder of the program, or where the author has the tree; None if outside."""
    if not path.startswith(("/", "<")):
        return below(beside, path)
    # What a reader is to fill in (`<path of the repository>/conf`) is where the tree is.
    inner = endings(path.strip("/"), 2) if path.startswith("/") else (path.strip("/").partition("/")[2],)
    bases = (*upwards(found.launch.at.source.rpartition("/")[0]), "")
    places = ("/".join(filter(None, (base, ending))) for ending in inner for base in bases)
    return next((each for each in places if isinstance(tree.read(f"{each}/{name}.yaml"), Source)), None)


def given_by_hydra(found: FoundLaunch, tree: DocumentCache, folder: str, name: str) -> _Given | None:
    """What the program of a launch gets as its configuration, `name` in `folder` if its command line names no other; None: unknown."""
    flags = dict(_hydra_flags(found.start.program))
    source = program_source(found, tree.read)
    beside = source.path.rpartition("/")[0] if source is not None else ""
    if any(value is None or value.text is None for value in flags.values()):
        return None
    texts = {flag: value.text or "" for flag, value in flags.items() if value is not None}
    where = below(beside, texts["config_path"]) if "config_path" in texts else folder
    chosen = texts.get("config_name", name)
    if where is None:
        return None
    composed = _composed(found, tree, (where, chosen.removesuffix(".yaml")), _Variables(found).known)
    return given_to_program(composed, found.launch.at.source)


def lacks_configuration(found: FoundLaunch, tree: DocumentCache) -> bool:
    """Whether the program of a launch composes a configuration that is not in the tree."""
    where = primary(found, tree)
    return where is not None and isinstance(tree.read("/".join(filter(None, where)) + ".yaml"), Unreadable)


def rules_out(found: FoundLaunch, tree: DocumentCache, framework: Framework) -> bool:
    """Whether the program of a launch composes a configuration of the tree with a key that no file of `framework` has."""
    where = primary(found, tree) if framework.recognition.none_of else None
    keyed = _composed(found, tree, where, {}).document.keyed if where is not None else {}
    return any(key in keyed for key in framework.recognition.none_of)


def is_packaged(found: FoundLaunch, tree: DocumentCache) -> bool:
    """Whether the program of a launch composes a configuration of a package, which is not in the tree."""
    source = program_source(found, tree.read)
    match = _hydra_main().search(source.text) if source is not None and _PACKAGED in source.text else None
    return match is not None and _PACKAGED in match.group(1)


def _composed(found: FoundLaunch, tree: DocumentCache, where: tuple[str, str], variables: dict[str, str]) -> Composed:
    program = program_source(found, tree.read)
    overrides = [_override(word) for word in _hydra_words(found)]
    if program is None:  # a library's, whose classes have keys that no file of the tree names
        overrides = [each if each.text[:1] in "+~" else each._replace(text=f"++{each.text}") for each in overrides]
    return compose(tree, *where, overrides, resolvers=_registered(program), variables=variables)


def _filled_in(composed: Composed, framework: Framework, program: Source) -> Composed:
    """`composed` with what the program itself assigns as values that it computes: always, or in place of a null."""
    document = composed.document
    stated = {row.key for row in framework.rows if document.get(*row.key) is not None}
    nulls = {key for key in stated if not is_set(document, key, framework.loader)}
    filled = (nulls & assigned_keys(program)) | (stated & always_assigned_keys(program)) if stated else set()
    if not filled:
        return composed
    computed = {key: (document.keyed[key][0], Scalar(0, 0, "", False, COMPUTED)) for key in filled}
    places = {key: at for key, at in composed.places.items() if key not in filled}
    return composed._replace(document=document._replace(keyed={**document.keyed, **computed}), places=places)


def _registered(program: Source | None) -> Resolvers:
    """What a program registers with OmegaConf as functions of numbers, and what NeMo does for all of its programs."""
    text = program.text if program is not None else ""
    found: dict[str, Callable[..., Any]] = dict(_OF_NEMO) if "nemo." in text else {}
    for match in islice(_resolver().finditer(text), MOST_RESOLVERS):
        function = calculate if match["what"] == "eval" else function_of(text[match.start("what") :])
        found |= {match["name"]: function} if function is not None else {}
    return found


class _Variables:
    """The variables of a launch that interpolations of its recipe may ask for, and which of them a user can set otherwise."""

    def __init__(self, found: FoundLaunch) -> None:
        self.known: dict[str, str] = {}
        self.assumed: list[str] = []
        self._set = {each.name for each in found.environment}
        self._default = {each.name for each in found.environment if each.default}
        for name, text, default, _ in found.environment:
            if text is not None and (not default or whole_number(text) is not None):
                self.known[name] = text

    def add_defaults(self, texts: Iterable[str]) -> bool:
        """Whether recipes have numbers for variables that are not set (`${oc.env:GPUS,8}`), which are known from now on."""
        more: dict[str, str] = {}
        for text in texts:
            for match in _environment().finditer(text):
                name, default = match.groups()
                if name in self._default and name in self.known and name not in self.assumed:
                    self.assumed.append(name)
                elif default is not None and name not in self._set and not OF_PROCESSES().match(name):
                    more.setdefault(name, default)
        self.known.update(more)
        self.assumed += more
        return bool(more)


def _override(word: Word) -> Override:
    """A word as an override at the place of its value, which is a text that is not a number if the value is unknown."""
    name, _, _ = word.starts_with.partition("=")
    value = word.after(len(name) + 1) if len(name) < len(word.starts_with) else word
    if word.text is not None:
        return Override(word.text, value.value_at)
    return Override(f"{name}='{value.placeholder}'", value.at)


def _hydra_words(found: FoundLaunch) -> Iterator[Word]:
    for word in found.start.program[1:]:
        known = word.starts_with
        if known and known[0] not in "-'\"" and ("=" in known or known[0] == "~"):
            yield word


def _hydra_flags(words: tuple[Word, ...]) -> Iterator[tuple[str, Word | None]]:
    """Yield what a command line says of the primary configuration; None for a value that is missing."""
    for index, word in enumerate(words):
        name, equals, _ = word.starts_with.partition("=")
        if name in _FLAGS:
            value = word.after(len(name) + 1) if equals else words[index + 1] if index + 1 < len(words) else None
            yield _FLAGS[name], value


def _named(arguments: str) -> Iterator[tuple[str, str]]:
    for match in _keyword().finditer(arguments):
        yield match.group(1), match.group(2)
