"""What a launch really runs: the recipe with the settings of the command line in it, a Hydra tree, or the command line alone."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from pytest_gbs.composition import (
    DocumentCache,
    Resolvers,
    compose,
    merge_files,
    with_settings,
)
from pytest_gbs.composition.composed import NOT_APPLIED, Composed, ComposeProblem, Override, ProblemKind
from pytest_gbs.composition.whole import Whole, follow, has_interpolations, locate, really, resolvers_of, whole
from pytest_gbs.frameworks import recognise
from pytest_gbs.frameworks.conditions import holds
from pytest_gbs.frameworks.reading import of_a_part, read_sizes
from pytest_gbs.frameworks.versions import of_every_trainer
from pytest_gbs.launches.engine_file import OPTION, runs_named_file
from pytest_gbs.launches.find import FoundLaunch
from pytest_gbs.launches.missing import HYDRA
from pytest_gbs.launches.own_trainers import has_own_trainer
from pytest_gbs.launches.programs._words import opaque_word
from pytest_gbs.launches.python_file import PythonFile, always_assigned_keys, assigned_keys, imported_paths, read_arguments, read_imports
from pytest_gbs.launches.visible_gpus import with_fed_gpus
from pytest_gbs.model.command import Word
from pytest_gbs.model.digits import whole_number
from pytest_gbs.model.document import TAKES_IN, Document, Scalar
from pytest_gbs.model.framework import Arguments, Framework, Loader, Treatment
from pytest_gbs.model.limits import MOST_CANDIDATES
from pytest_gbs.model.location import KeyPath, Location, Source, Unreadable, below, dotted
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.program import NO_PROGRAM, Program, only_scores
from pytest_gbs.model.quantity import Name, Origin, Quantity, Reason, Size, Unknown
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.readers.command_settings import CommandSetting, command_line, settings
from pytest_gbs.readers.python import read_own_defaults, read_spellings, read_started
from pytest_gbs.readers.scalar import COMPUTED, is_set

_COMMON_UNITS: Final = ("samples", "pairs")
_OPERATORS: Final = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv}
# nemo/core/classes/modelPT.py:46, nemo/core/config/hydra_runner.py:48-51 (NeMo 2.0).
_OF_NEMO: Final[Resolvers] = {"multiply": operator.mul, "sum": operator.add}
# The start of a Hydra path that names a package.
_PACKAGED: Final = "pkg://"
_STYLES: Final = (Arguments.FLAGS, Arguments.HYDRA)


class ResolvedLaunch(NamedTuple):
    """A launch with what it runs: the recipe's path (the script's, where there is none), its document, and its table.

    `alone` is true if no file of the tree is the recipe. `document` is made up where the command line or several files have
    a part in it; `places` maps its key paths to real places then. `sources` are the files that were composed. `total` is the
    global batch size that the program keeps in each world, dividing the accumulation by the number of processes. `assumed` are the
    variables whose defaults the recipe takes from the script.
    """

    found: FoundLaunch
    recipe: str
    document: Document
    framework: Framework
    alone: bool = False
    places: dict[KeyPath, Location] | None = None
    sources: tuple[str, ...] = ()
    total: int | None = None
    assumed: tuple[str, ...] = ()

    def sizes(self) -> dict[str, Size]:
        """The sizes that the document states, at their real places."""
        sizes = {name: self.size(size) for name, size in read_sizes(self.document, self.framework).items()}
        if self.total is None:
            return sizes
        lost = sizes.pop(Name.GRADIENT_ACCUMULATION_STEPS, None)
        at = lost.at if isinstance(lost, Unknown) else None
        sizes[Name.GLOBAL_BATCH_SIZE] = Quantity(Name.GLOBAL_BATCH_SIZE, self.total, Origin.FILE, self.framework.unit, at)
        return sizes

    def locate(self, at: Location) -> Location:
        """The place in a real file of `at`, a place in the document."""
        return locate(at, self.document, self.places)

    def size(self, size: Size) -> Size:
        """`size`, read from the document, with real places; what the command line gives, or fails to give, says so."""
        if isinstance(size, Unknown) and size.at is not None and _is_not_applied(self.document, size.at):
            size = size._replace(reason=Reason.NOT_APPLIED)
        size = really(size, self.document, self.places)
        if not isinstance(size, Quantity) or size.at is None or size.origin != Origin.FILE:
            return size
        given = size.at.source in (self.found.launch.at.source, self.found.script.path)
        return size._replace(origin=Origin.LAUNCH) if given else size


def _is_not_applied(document: Document, at: Location) -> bool:
    """Whether the value at `at`, a place in `document`, is what an override would set that was not applied."""
    node = document.get(*at.path) if at.path else None
    return isinstance(node, Scalar) and node.text == NOT_APPLIED


def _leaves_out_a_file(problem: ComposeProblem) -> bool:
    """Whether it is unknown which file goes into a package, so that what it sets there is."""
    return problem.kind == ProblemKind.DEFAULTS and bool(problem.key)


class _Variables:
    """The variables of a launch that interpolations of its recipe may ask for, and which of them a user can set otherwise."""

    def __init__(self, found: FoundLaunch) -> None:
        self.known: dict[str, str] = {}
        self.assumed: list[str] = []
        self._set = {name for name, _, _ in found.environment}
        self._default = {name for name, _, default in found.environment if default}
        for name, text, default in found.environment:
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
                elif default is not None and name not in self._set and not _of_processes().match(name):
                    more.setdefault(name, default)
        self.known.update(more)
        self.assumed += more
        return bool(more)


class LaunchResolver:
    """Finds what launches run; `documents` gives the documents of a file of the tree, `recognise` the table of one."""

    def __init__(
        self,
        tree: DocumentCache,
        documents: Callable[[str], tuple[Document, ...]],
        recognise: Callable[[Document, Program], Framework | None] = recognise,
    ) -> None:
        self._tree = tree
        self._documents = documents
        self._recognise = recognise

    def resolve(self, found: FoundLaunch) -> ResolvedLaunch | None:
        """What `found` trains; None if it trains nothing, or nothing that any table knows."""
        resolved = self._resolved(found)
        if resolved is not None and self._trains_itself(found, resolved.framework):
            resolved = resolved._replace(framework=of_every_trainer(resolved.framework))
        if resolved is not None and opaque_word(found.start.program[1:]) is not None:
            resolved = resolved._replace(framework=of_a_part(resolved.framework))
        if resolved is None or found.start.visible is None or resolved.total is not None:
            return resolved
        return resolved._replace(found=with_fed_gpus(resolved.found, resolved.document, resolved.framework, self._tree))

    def _trains_itself(self, found: FoundLaunch, framework: Framework) -> bool:
        """Whether the program of a launch has a trainer of its own in the place of one of the framework's that checks something."""
        tables = (framework, *(era.table for era in framework.eras))
        if not any(each.by_trainer or each.doubt for table in tables for each in table.constraints):
            return False
        source = self._tree.read(found.program) if found.program is not None and not found.missing else None
        return isinstance(source, Source) and has_own_trainer(source, framework, self._tree.read)

    def _resolved(self, found: FoundLaunch) -> ResolvedLaunch | None:
        if _only_scores(found):
            return None
        if found.start.together and not found.template:
            return self._together(found)
        for path, word in found.recipes:
            resolved = self._file(found, path, word)
            if resolved is not None:
                return resolved
        return self._template(found) if found.template else self._hydra(found) or self._by_itself(found) or self._engine(found)

    def _engine(self, found: FoundLaunch) -> ResolvedLaunch | None:
        """What a launch trains whose program starts DeepSpeed with the file that the command line names."""
        named = {each.word.at.start for each in settings(found.start.program[1:], Arguments.FLAGS) if each.name == OPTION}
        paths = [path for path, word in found.recipes if any(word.at.start <= start < word.at.stop for start in named)]
        source = self._tree.read(found.program) if found.program is not None and len(paths) == 1 else None
        if not isinstance(source, Source) or not runs_named_file(source):
            return None
        for document in self._documents(paths[0]):
            framework = self._recognise(document, NO_PROGRAM)
            if framework is not None and framework.companion:
                framework = framework._replace(companion=False)
                return ResolvedLaunch(found, paths[0], document, framework)
        return None

    def _together(self, found: FoundLaunch) -> ResolvedLaunch | None:
        """What a program runs that reads its files as one configuration; None if it stops, or one of them is missing."""
        if found.missing or not found.recipes:
            return None
        composed = merge_files(self._tree, [path for path, _ in found.recipes])
        framework = self._recognise(composed.document, NO_PROGRAM) if not composed.problems else None
        if framework is None or framework.companion:
            return None
        path = composed.sources[0]
        return ResolvedLaunch(found, path, composed.document, framework, places=composed.places, sources=composed.sources)

    def _file(self, found: FoundLaunch, path: str, word: Word) -> ResolvedLaunch | None:
        for document in self._documents(path):
            base, program = document, Program(_program_name(found))
            framework = self._recognise(document, program)
            parts = None if TAKES_IN.isdisjoint(document.keyed) else whole(document, self._tree, framework)
            if parts is not None and (parts.limit is not None or parts.unseen):
                framework = of_a_part(framework) if framework is not None and parts.unseen else framework
                parts = None
            if parts is not None:
                base, framework = parts.document, self._recognise(parts.document, program)
            if framework is not None and not framework.companion:
                found = self._reading(found, word)
                return _with_settings((found, path, word), base, self._as_read(found, framework), parts)
        return None

    def _as_read(self, found: FoundLaunch, framework: Framework) -> Framework:
        """`framework` without what only its own programs ask for.

        Those are keys that it requires, if the program is not known to be one of them, since another may fill them in, and the
        configuration of DeepSpeed that a Trainer compares with its arguments, if the program starts the engine itself.
        """
        if framework.companions and self._starts_engine(found):
            framework = framework._replace(companions=())
        how = framework.recognition
        if not framework.requirements or not (how.programs or how.uses):
            return framework
        own = not any(program.is_of(how.programs, how.uses) for program, _ in self._programs(found))
        return framework._replace(requirements=()) if own else framework

    def _starts_engine(self, found: FoundLaunch) -> bool:
        """Whether the program starts DeepSpeed itself, in its file or one that it imports, and none of these takes a library's trainer."""
        waiting, seen, starts = [found.program] if found.program is not None else [], set[str](), False
        while waiting and len(seen) < MOST_CANDIDATES:
            path = waiting.pop(0)
            source = self._tree.read(path)
            file = read_imports(source) if isinstance(source, Source) and path not in seen else None
            if file is None or not isinstance(source, Source):
                continue
            seen.add(path)
            starts = starts or "deepspeed.initialize(" in source.text
            for name in file.imports:
                own = [each for each in imported_paths(file._replace(imports=frozenset((name,))), path) if self._is_there(each)]
                if not own and "Trainer" in name.rpartition(".")[2]:
                    return False
                waiting += own
        return starts and not waiting

    def _has_another_trainer(self, path: str, framework: Framework) -> bool:
        """Whether a program takes a library's trainer, and nothing of `framework`, whose keys it may compose to evaluate the model with."""
        source, how = self._tree.read(path), framework.recognition
        file = read_imports(source) if isinstance(source, Source) else None
        if file is None or not how.uses or _names_trainer(framework) or Program("", file.imports).is_of(how.programs, how.uses):
            return False
        trainers = (name for name in file.imports if name.rpartition(".")[2].endswith("Trainer"))
        return any(not any(map(self._is_there, imported_paths(file._replace(imports=frozenset((name,))), path))) for name in trainers)

    def _is_there(self, path: str) -> bool:
        return isinstance(self._tree.read(path), Source)

    def _reading(self, found: FoundLaunch, word: Word) -> FoundLaunch:
        """`found`, its launch knowing whether the program reads the recipe at all."""
        source = self._tree.read(found.program) if found.program is not None else None
        program = found.start.program
        index = next((number for number, each in enumerate(program) if each is word), 0)
        behind_option = index > 1 and program[index - 1].starts_with.startswith("-")
        if not isinstance(source, Source) or not index or word.starts_with.startswith("-") or behind_option:
            return found
        only_by_option = "TrlParser(" in source.text and "H4ArgumentParser" not in source.text and "parse_yaml_file" not in source.text
        return found._replace(launch=found.launch._replace(unread=True, named=word.at)) if only_by_option else found

    def _template(self, found: FoundLaunch) -> ResolvedLaunch | None:
        """What is known of a launch whose recipe is a variable: what its command line gives, if all that it may name are alike."""
        documents = (document for path in found.candidates[:MOST_CANDIDATES] for document in self._documents(path))
        tables = [table for document in documents if (table := self._recognise(document, NO_PROGRAM))]
        if not tables or len({table.name for table in tables}) > 1:
            return None
        path = found.launch.at.source
        framework = of_a_part(tables[0])
        given = list(settings(found.start.program[1:], framework.arguments))
        composed = with_settings(None, path, given, framework.arguments, framework.loader)
        return ResolvedLaunch(found, path, composed.document, framework, alone=True, places=composed.places) if composed else None

    def _hydra(self, found: FoundLaunch) -> ResolvedLaunch | None:
        """What a Hydra program composes, its folder and file as `@hydra.main` or the command line names them."""
        if found.program is None:
            return None
        where = self._main(found.program, found.start.program)
        if where is None:
            return None
        overrides = [_override(word) for word in _hydra_words(found)]
        variables = _Variables(found)
        resolvers = self._registered(found.program)
        composed = compose(self._tree, where[0], where[1], overrides, resolvers=resolvers, variables=variables.known)
        texts = [source.text for path in composed.sources if isinstance(source := self._tree.read(path), Source)]
        if variables.add_defaults(texts):
            composed = compose(self._tree, where[0], where[1], overrides, resolvers=resolvers, variables=variables.known)
        if not composed.sources:
            return None
        framework = self._recognise(composed.document, NO_PROGRAM)
        if framework is None or self._has_another_trainer(found.program, framework):
            return None
        if any(problem.kind == ProblemKind.NOT_FOUND or _leaves_out_a_file(problem) for problem in composed.problems):
            framework = of_a_part(framework)
        _, document, places, _, sources = self._filled_in(composed, framework, found.program)
        return ResolvedLaunch(found, sources[0], document, framework, places=places, sources=sources, assumed=tuple(variables.assumed))

    def _filled_in(self, composed: Composed, framework: Framework, program: str) -> Composed:
        """`composed` with what the program itself assigns as values that it computes: always, or where a null stands."""
        document = composed.document
        stated = {row.key for row in framework.rows if document.get(*row.key) is not None}
        nulls = {key for key in stated if not is_set(document, key, framework.loader)}
        source = self._tree.read(program) if stated else None
        filled = (nulls & assigned_keys(source)) | (stated & always_assigned_keys(source)) if isinstance(source, Source) else set()
        if not filled:
            return composed
        computed = {key: (document.keyed[key][0], Scalar(0, 0, "", False, COMPUTED)) for key in filled}
        places = {key: at for key, at in composed.places.items() if key not in filled}
        return composed._replace(document=document._replace(keyed={**document.keyed, **computed}), places=places)

    def _registered(self, program: str) -> Resolvers:
        """What a program registers with OmegaConf as functions of two numbers, and what NeMo does for all of its programs."""
        source = self._tree.read(program)
        text = source.text if isinstance(source, Source) else ""
        found = dict(_OF_NEMO) if "nemo." in text else {}
        return found | {match["name"]: _OPERATORS[match["sign"]] for match in _lambda().finditer(text)}

    def _main(self, program: str, words: tuple[Word, ...]) -> tuple[str, str] | None:
        """Folder and name of a Hydra program's primary configuration."""
        source = self._tree.read(program)
        if not isinstance(source, Source) or "hydra" not in source.text:
            return None
        match = _hydra_main().search(source.text)
        if match is None or _PACKAGED in match.group(1):
            return None
        given = dict(_named(match.group(1)))
        for name, value in _hydra_flags(words):
            if value is None:
                return None
            given[name] = value
        folder = below(program.rpartition("/")[0], given.get("config_path", "."))
        return (folder, given["config_name"].removesuffix(".yaml")) if folder is not None and "config_name" in given else None

    def _lacks_configuration(self, found: FoundLaunch) -> bool:
        """Whether the program of a launch composes a configuration that is not in the tree."""
        where = self._main(found.program, found.start.program) if found.program is not None else None
        return where is not None and isinstance(self._tree.read("/".join(filter(None, where)) + ".yaml"), Unreadable)

    def _is_packaged(self, found: FoundLaunch) -> bool:
        """Whether the program of a launch composes a configuration of a package, which is not in the tree."""
        source = self._tree.read(found.program) if found.program is not None else None
        match = _hydra_main().search(source.text) if isinstance(source, Source) and _PACKAGED in source.text else None
        return match is not None and _PACKAGED in match.group(1)

    def _by_itself(self, found: FoundLaunch) -> ResolvedLaunch | None:
        """What a launch without a file runs: what its program makes of the command line, or what a table says of it if that is more."""
        opened = self._opened(found)
        if opened is not None and (opened.total is not None or _per_process(opened) is not None):
            return opened
        alone = self._alone(found)
        return alone if opened is None or (alone is not None and _knows_more(alone)) else opened

    def _opened(self, found: FoundLaunch) -> ResolvedLaunch | None:
        """What the program's own file makes of the command line, if it sets up a single trainer by itself."""
        source = self._tree.read(found.program) if found.program is not None and not found.missing else None
        if not isinstance(source, Source) or "batch" not in source.text:
            return None
        world = next((size.value for size in found.start.sizes if isinstance(size, Quantity) and size.name == Name.WORLD_SIZE), None)
        opened = self._started(found, source, world)
        if opened is None or world is not None or _per_process(opened) is not None or "world_size" not in source.text.lower():
            return opened
        # The world is unknown, and the program asks for it: what is the same in each of them is known all the same.
        if found.start.name == "python" and "is_parallelizable" not in source.text:
            return self._started(found, source, 1)
        others = ((number, self._started(found, source, number)) for number in _WORLDS)
        totals = {number * ((each and _per_process(each)) or 0) for number, each in others}
        return opened._replace(total=totals.pop() or None) if len(totals) == 1 else opened

    def _started(self, found: FoundLaunch, source: Source, world: int | None) -> ResolvedLaunch | None:
        """The one trainer that a program sets up when `world` processes of it run."""
        line = command_line(found.start.program[1:], world)
        recipes = (
            (document, given, self._recognise(document, NO_PROGRAM)) for document, given in read_started(source, line, self._tree.read)
        )
        known = [(document, given, table) for document, given, table in recipes if table is not None]
        if len(known) != 1:
            return None
        document, given, table = known[0]
        path = found.launch.at.source
        return ResolvedLaunch(found, path, document, table, alone=True, places=given, sources=(source.path,))

    def _alone(self, found: FoundLaunch) -> ResolvedLaunch | None:
        """What a launch runs whose command line is all there is, if its program is known to be a framework's."""
        if found.missing or self._lacks_configuration(found):
            return None
        path, programs = found.launch.at.source, tuple(self._programs(found))
        for style in _STYLES:
            words = list(_with_paths(settings(found.start.program[1:], style), found))
            composed = with_settings(None, path, words, style, Loader.PYYAML) if words else None
            if composed is None:
                continue
            for program, file in programs:
                framework, given = self._recognise(composed.document, program), words
                if file is None and style == Arguments.FLAGS:
                    framework, given = self._with_own_defaults(found, words, program, framework)
                if framework is None or not _takes(framework, style) or (file is None and _is_another(framework, programs)):
                    continue
                by_keys, sized = _is_told_by_keys(framework, composed.document), _gives_sizes(framework, given)
                if not (sized and (by_keys or _names_trainer(framework)) if file is not None else sized or by_keys):
                    return None
                framework = _as_program_has_it(framework, file) if file is not None else framework
                if framework is None or _splits_otherwise(framework, given):
                    return None
                if _is_configured_elsewhere(found.start.program, framework, composed.document) or self._is_packaged(found):
                    framework = of_a_part(framework)  # the rest is in a configuration elsewhere
                if framework.loader != Loader.PYYAML or given is not words:
                    composed = with_settings(None, path, given, style, framework.loader)
                return ResolvedLaunch(found, path, composed.document, framework, alone=True, places=composed.places) if composed else None
        return None

    def _with_own_defaults(
        self, found: FoundLaunch, words: list[CommandSetting], program: Program, framework: Framework | None
    ) -> tuple[Framework | None, list[CommandSetting]]:
        """The table of a program that is called like a framework's, with what its own parser says of keys that `words` do not give."""
        source = self._tree.read(found.program) if found.program is not None else None
        if not isinstance(source, Source) or "batch" not in source.text:
            return framework, words
        given, own = _as_parsed(words, source, framework)
        if framework is not None:
            return framework, [*own, *given]
        whole = with_settings(None, found.launch.at.source, [*own, *given], Arguments.FLAGS, Loader.PYYAML) if _is_any_known(own) else None
        framework = self._recognise(whole.document, program) if whole is not None else None
        given, own = _as_parsed(words, source, framework) if framework is not None else (given, [])
        return (framework, [*own, *given]) if _is_any_known(own) else (None, words)

    def _programs(self, found: FoundLaunch) -> Iterator[tuple[Program, PythonFile | None]]:
        """Yield the program of a launch by name, then with what its file imports, and with what a file imports that only starts others."""
        path = found.program or ""
        yield Program(_program_name(found), alone=True, path=path), None
        source = self._tree.read(found.program) if found.program is not None else None
        file = read_imports(source) if isinstance(source, Source) else None
        if file is None or not isinstance(source, Source) or found.program is None:
            return
        parsed = read_arguments(source, self._tree.read)
        if parsed is not None:
            yield Program("", parsed.imports, alone=True, path=path), parsed
        yield Program("", file.imports, alone=True, path=path), file
        if file.thin:
            for path in imported_paths(file, found.program):
                inner = self._tree.read(path)
                read = read_imports(inner) if isinstance(inner, Source) else None
                file = file.together(read) if read is not None else file
            yield Program("", file.imports, alone=True, path=path), file


def _with_paths(given: Iterable[CommandSetting], found: FoundLaunch) -> Iterator[CommandSetting]:
    """Yield `given`, those that name a file of the tree beside the script (`$script_dir/zero2.json`) with its path from the root."""
    paths = {word: path for path, word in found.recipes}
    yield from (each._replace(text=paths[each.word]) if each.text is None and each.word in paths else each for each in given)


def _as_parsed(
    words: list[CommandSetting], source: Source, framework: Framework | None
) -> tuple[list[CommandSetting], list[CommandSetting]]:
    """`words` under the names that the parser of a program has for them, and its defaults for other options, those of `framework` alone."""
    options = _as_known(read_spellings(source), framework)
    given = _spelled_out(words, options)
    names = {setting.name for setting in given}
    defaults = ((options.get(name, name), default) for name, default in read_own_defaults(source).items())
    rows = {row.key: row.reading.null == Treatment.UNSET for row in framework.rows} if framework is not None else None
    # An option without a value is one that is not given.
    own = [
        CommandSetting((name,), text, at, Word(text, text or "", at, ()))
        for name, (text, at, empty) in defaults
        if name not in names and (rows is None or ((name,) in rows and not (empty and rows[name,])))
    ]
    return given, own


def _is_any_known(settings: list[CommandSetting]) -> bool:
    return any(setting.text is not None for setting in settings)


def _as_known(options: dict[str, str], framework: Framework | None) -> dict[str, str]:
    """`options`, each flag with the one of its names that `framework` has, rather than that under which the program keeps it."""
    rows = {row.key[0] for row in framework.rows if len(row.key) == 1} if framework is not None else set()
    known = {name: flag for flag, name in options.items() if flag in rows and name not in rows}
    return {flag: known.get(name, name) for flag, name in options.items()} | known


def _spelled_out(words: list[CommandSetting], options: dict[str, str]) -> list[CommandSetting]:
    """`words` with the names under which a program keeps them: `-b` and `--batch` are `batch_size` if its parser says so."""
    names = {each.name: _meant(each.name, options) for each in words}
    return [each._replace(path=(name,)) if (name := names[each.name]) != each.name else each for each in words]


def _meant(flag: str, options: dict[str, str]) -> str:
    """The option that a flag is, or which it alone begins, as argparse has it."""
    meant = {name for each, name in options.items() if each.startswith(flag)} if flag not in options else {options[flag]}
    return meant.pop() if len(meant) == 1 else flag


def _is_another(framework: Framework, programs: tuple[tuple[Program, PythonFile | None], ...]) -> bool:
    """Whether a program that is called like one of `framework` is another: its file is in the tree, and uses nothing of the trainer."""
    uses = framework.recognition.uses if _names_trainer(framework) else ()
    return bool(uses) and len(programs) > 1 and not any(program.is_of((), uses) for program, file in programs if file is not None)


# Worlds that divide each batch that people write, which a program is asked about if its own is unknown.
_WORLDS: Final = (1, 2, 4)


def _per_process(opened: ResolvedLaunch) -> int | None:
    """The samples of one process in one optimizer step, None if they are not known."""
    sizes = read_sizes(opened.document, opened.framework)
    micro, steps = sizes.get(Name.MICRO_BATCH_SIZE), sizes.get(Name.GRADIENT_ACCUMULATION_STEPS)
    return micro.value * steps.value if isinstance(micro, Quantity) and isinstance(steps, Quantity) else None


def _knows_more(alone: ResolvedLaunch) -> bool:
    """Whether the samples of one process in one step are known, or those of all of them."""
    total = read_sizes(alone.document, alone.framework).get(Name.GLOBAL_BATCH_SIZE)
    return isinstance(total, Quantity) or _per_process(alone) is not None


def _gives_sizes(framework: Framework, given: list[CommandSetting]) -> bool:
    """Whether a command line gives a factor of the batch, or the file that has it; a program may set all of those that it is not given."""
    paths = {setting.path for setting in given}
    return any(row.name in _FACTORS and (row.key in paths or row.key[:1] in paths) for row in framework.rows)


def _names_trainer(framework: Framework) -> bool:
    """Whether programs of a framework import a trainer, which says what they do; what imports a package may as well evaluate."""
    return any("." in each for each in framework.recognition.uses)


def _is_told_by_keys(framework: Framework, document: Document) -> bool:
    return all(any(key in document.keyed for key in group) for group in framework.recognition.one_of)


def _as_program_has_it(framework: Framework, file: PythonFile) -> Framework | None:
    """`framework` for a program that imports it: its own defaults are not the framework's, nor are checks of its own parser."""
    found = _bare(framework) if file.parses_itself else framework
    if found is None or found.arguments == Arguments.HYDRA:
        return found
    lost = [row for row in found.rows if file.parses_itself or row.key[-1] in file.fields]
    return found._replace(rows=tuple(row._replace(default=None) if row in lost else row for row in found.rows))


# Parts of keys by which programs split a model among processes.
_SPLITS: Final = ("tensor", "pipeline", "context_parallel", "sequence_parallel", "tp_size", "pp_size", "cp_size", "sp_size", "ulysses")


def _splits_otherwise(framework: Framework, given: list[CommandSetting]) -> bool:
    """Whether a command line splits the model by a key that the table does not know: the program has its own arithmetic.

    Programs on the Trainer of transformers, which takes a DeepSpeed configuration, do so with flags that are no arguments of it.
    """
    if not framework.companions:
        return False
    known = {row.key for row in framework.rows}
    keys = (dotted(setting.path) for setting in given if setting.path not in known and setting.text not in ("1", "false", None))
    return any("parallel" in key or key.endswith(_SPLITS) for key in keys if any(part in key for part in _SPLITS))


def _bare(framework: Framework) -> Framework | None:
    """The batch equation of a table alone, for programs that take its flags and may check nothing of what it does."""
    if framework.unit not in _COMMON_UNITS:
        return None
    bare = framework._replace(constraints=(), exclusions=(), requirements=(), switches=(), texts=())
    return bare._replace(reserves=None, shares=None, derive=None, settle=None, feeds_gpus=None)


_FACTORS: Final = (Name.GLOBAL_BATCH_SIZE, Name.MICRO_BATCH_SIZE, Name.GRADIENT_ACCUMULATION_STEPS, Name.PROMPTS_PER_STEP)


def _takes(framework: Framework, style: str) -> bool:
    """Whether the programs of a framework take a command line without a file in this style."""
    arguments = Arguments.FLAGS if framework.flags else framework.arguments
    return arguments == style or (style == Arguments.HYDRA and arguments == Arguments.PAIRS)


def _with_settings(named: tuple[FoundLaunch, str, Word], document: Document, framework: Framework, parts: Whole | None) -> ResolvedLaunch:
    """What a launch of the recipe `document` runs; with `parts` that document is made up of several files."""
    found, path, word = named
    given = [s for s in settings(found.start.program[1:], framework.arguments) if s.word.at != word.at and _matters(s)]
    if parts is None and has_interpolations(document, framework):
        document = follow(document, framework) or document
    interpolates = has_interpolations(document, framework)
    how = (framework.arguments, framework.loader)
    composed = with_settings(document, path, given, *how, resolvers=resolvers_of(framework)) if given or interpolates else None
    sources = parts.sources if parts else ()
    if composed is None and given:
        put = {**((parts.places if parts else None) or {}), **{setting.path: setting.at for setting in given}}
        return ResolvedLaunch(found, path, _put_in(document, given), framework, places=put, sources=sources)
    if composed is None:
        return ResolvedLaunch(found, path, document, framework, places=parts.places if parts else None, sources=sources)
    made_up = composed.document._replace(number=document.number)
    places = {at_key: locate(at, document, parts.places if parts else None) for at_key, at in composed.places.items()}
    return ResolvedLaunch(found, path, made_up, framework, places=places, sources=sources)


def _put_in(document: Document, given: list[CommandSetting]) -> Document:
    """`document`, which can't be composed, with the settings of a command line at their keys."""
    keyed = dict(document.keyed)
    for setting in given:
        text = setting.text if setting.text is not None else setting.word.placeholder
        keyed[setting.path] = (Scalar(0, 0, str(setting.path[-1]), plain=True), Scalar(0, 0, text, plain=True))
    return document._replace(keyed=keyed)


def _matters(setting: CommandSetting) -> bool:
    return setting.path != ("config",)


def _only_scores(found: FoundLaunch) -> bool:
    """Whether the program of a launch, by its name, evaluates or generates (`run_eval.py`, `tune run generate`)."""
    return only_scores(_program_name(found).rpartition("/")[2])


def _program_name(found: FoundLaunch) -> str:
    """The name of the program that runs: `trl/scripts/dpo` for that file and `trl.scripts.dpo`, `trl/dpo` for `trl dpo`."""
    words = found.start.program[:2]
    if words and words[0].text == "-m":
        return (words[1].text or "").replace(".", "/") if len(words) > 1 else ""
    called = found.start.name.split()
    if words and len(called) > 1 and words[0].text == called[-1]:
        return "/".join(called)
    if not words or words[0].text is not None:
        return (words[0].text or "").removesuffix(".py") if words else ""
    behind = words[0].parts[-1].text or ""  # what an unknown folder holds: `$HOME/pretrain_gpt.py`
    return behind.partition("/")[2].removesuffix(".py")


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


def _hydra_flags(words: tuple[Word, ...]) -> Iterator[tuple[str, str | None]]:
    """Yield what a command line says of the primary configuration; None for an unknown value."""
    names = {"--config-path": "config_path", "-cp": "config_path", "--config-name": "config_name", "-cn": "config_name"}
    for index, word in enumerate(words):
        name, equals, _ = word.starts_with.partition("=")
        if name in names:
            value = word.after(len(name) + 1) if equals else words[index + 1] if index + 1 < len(words) else None
            yield names[name], value.text if value is not None else None


def _is_configured_elsewhere(words: tuple[Word, ...], framework: Framework, document: Document) -> bool:
    """Whether a command line names a configuration that is not known, by the conditions of `framework`, to be its own."""
    own = {f"--{each.key[0]}" for row in framework.rows for each in row.when if holds(each, document, framework.loader)}
    return any(flag in HYDRA and flag not in own for flag in (word.starts_with.partition("=")[0] for word in words))


def _named(arguments: str) -> Iterator[tuple[str, str]]:
    for match in _keyword().finditer(arguments):
        yield match.group(1), match.group(2)


_hydra_main = lazy_pattern(r"@(?:hydra\.main|hydra_runner|main)\(([^)]{0,400})\)")


_keyword = lazy_pattern(r"(config_path|config_name)\s*=\s*f?[\"']([^\"'{}]{1,200})[\"']")


_environment = lazy_pattern(r"\$\{oc\.env:\s*([A-Za-z_]\w{0,80})\s*(?:,\s*([0-9]{1,12})\s*)?[,}]")


_of_processes = lazy_pattern(r"WORLD_SIZE$|LOCAL_|RANK$|NODE_RANK$|CUDA_|SLURM_|OMPI_|PMI_|PET_")


_lambda = lazy_pattern(
    r"register_(?:new_)?resolver\(\s*[\"'](?P<name>\w{1,40})[\"']\s*,\s*lambda (?P<a>\w+)\s*,\s*(?P<b>\w+)\s*:"
    r"\s*(?P=a)\s*(?P<sign>//|[-+*/])\s*(?P=b)\s*[,)]"
)


__all__ = ["LaunchResolver", "ResolvedLaunch"]
