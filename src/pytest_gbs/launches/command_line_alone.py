"""A launch without a recipe: what its program makes of the command line, or what a framework's table says of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property, partial
from typing import Final, TypeAlias

from pytest_gbs.composition import DocumentCache, with_settings
from pytest_gbs.composition.composed import Composed
from pytest_gbs.frameworks import describes
from pytest_gbs.frameworks.conditions import holds
from pytest_gbs.frameworks.reading import of_a_part, read_sizes
from pytest_gbs.launches.abbreviated import recognisable, spelled_out, written_out
from pytest_gbs.launches.found_launch import FoundLaunch
from pytest_gbs.launches.hydra_program import given_by_hydra, is_packaged, lacks_configuration, rules_out
from pytest_gbs.launches.missing import HYDRA
from pytest_gbs.launches.named_files import RECIPE_ENDS
from pytest_gbs.launches.program_files import names_trainer, program_name, program_source, programs_of
from pytest_gbs.launches.python_file import PythonFile
from pytest_gbs.launches.resolved_launch import Recognises, ResolvedLaunch
from pytest_gbs.model.command import Word
from pytest_gbs.model.document import Document, Scalar
from pytest_gbs.model.framework import Arguments, Framework, Loader, Treatment
from pytest_gbs.model.location import Source, dotted
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.program import NO_PROGRAM, Program
from pytest_gbs.model.program_context import ProgramContext
from pytest_gbs.model.quantity import RANK_FACTORS, Name, Quantity
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.readers.command_settings import CommandSetting, command_line, settings
from pytest_gbs.readers.python import may_train_otherwise, read_own_defaults, read_spellings, read_started

_OF_TRAINER: Final = 8  # flags of a trainer that show that a program hands its arguments to it; loops that people write have fewer
_COMMON_UNITS: Final = ("samples", "pairs")
_STYLES: Final = (Arguments.FLAGS, Arguments.HYDRA)
_FACTORS: Final = (Name.GLOBAL_BATCH_SIZE, *RANK_FACTORS, Name.PROMPTS_PER_STEP)
# Worlds that divide each batch that people write, which a program is asked about if its own is unknown.
_WORLDS: Final = (1, 2, 4)
# Parts of keys by which programs split a model among processes.
_SPLITS: Final = (
    *("tensor", "pipeline", "context_parallel", "sequence_parallel", "seq_parallel"),
    *("tp_size", "pp_size", "cp_size", "sp_size", "sp_degree", "ulysses", "ring_attn"),
)
# What keys begin with that split the model for completions, not for training: `vllm_tensor_parallel_size`.
_GENERATES: Final = ("vllm", "sglang", "rollout", "infer", "generation")


_Programs: TypeAlias = tuple[tuple[Program, PythonFile | None], ...]


class _Taken(NamedTuple):
    """A table that takes a command line: how it is written, as a document, and what it gives, `changed` if not as it is written.

    `file` is the one of the tree by which the table is known, None if the name of the program says it; a table may be `elsewhere`, known
    by the flags alone.
    """

    framework: Framework
    style: str
    composed: Composed
    given: list[CommandSetting]
    changed: bool
    file: PythonFile | None
    elsewhere: bool


class CommandLineAlone:
    """Finds what launches without a recipe train; `recognise` gives the table of a document."""

    def __init__(self, tree: DocumentCache, recognise: Recognises) -> None:
        self._tree = tree
        self._recognise = recognise

    def resolve(self, found: FoundLaunch) -> ResolvedLaunch | None:
        """What a launch without a file runs: what its program makes of the command line, or what a table says of it if that is more."""
        opened = self._opened(found)
        if opened is not None and (opened.total is not None or _per_process(opened) is not None):
            return opened
        alone = self._alone(found)
        return alone if opened is None or (alone is not None and _knows_more(alone)) else opened

    def _opened(self, found: FoundLaunch) -> ResolvedLaunch | None:
        """What the program's own file makes of the command line, if it sets up a single trainer by itself."""
        source = program_source(found, self._tree.read) if not found.missing else None
        if source is None or not ("batch" in source.text or "parse_args(" in source.text):
            return None
        world = next((size.value for size in found.start.sizes if isinstance(size, Quantity) and size.name == Name.WORLD_SIZE), None)
        opened = self._started(found, source, world)
        asks = any(word in source.text.lower() for word in ("world_size", "num_processes"))
        if opened is None or world is not None or _per_process(opened) is not None or not asks:
            return opened
        # The world is unknown, and the program asks for it: what is the same in each of them is known all the same.
        if found.start.name == "python" and "is_parallelizable" not in source.text and "spawn(" not in source.text:
            return self._started(found, source, 1)
        others = ((number, self._started(found, source, number)) for number in _WORLDS)
        totals = {number * ((each and _per_process(each)) or 0) for number, each in others}
        return opened._replace(total=totals.pop() or None) if len(totals) == 1 else opened

    def _started(self, found: FoundLaunch, source: Source, world: int | None) -> ResolvedLaunch | None:
        """The one trainer that a program sets up when `world` processes of it run."""
        line = command_line(found.start.program[1:], world, found.environment)
        context = ProgramContext(self._tree.listed, given_by_hydra=partial(given_by_hydra, found, self._tree), has_table=describes)
        started = read_started(source, line, context)
        recipes = ((each, self._recognise(each.document, NO_PROGRAM)) for each in started)
        known = [(each, table) for each, table in recipes if table is not None]
        if not known or len({_batch_of(each.document, table) for each, table in known}) > 1:
            return None
        (document, given, assumed), table = known[0]
        path = found.launch.at.source
        nested = _in_their_group(settings(found.start.program[1:], Arguments.FLAGS), table)
        if nested:
            document, given = put_in(document, nested), {**given, **{each.path: each.at for each in nested}}
        return ResolvedLaunch(found, path, document, table, alone=True, places=given, sources=(source.path,), assumed=assumed)

    def _alone(self, found: FoundLaunch) -> ResolvedLaunch | None:
        """What a launch runs whose command line is all there is, if its program is known to be a framework's."""
        if self._may_train_otherwise(found):
            return None
        programs = tuple(programs_of(found, self._tree.listed))
        taken = next(self._taken(found, programs), None)
        return self._settled(found, programs, taken) if taken is not None else None

    def _taken(self, found: FoundLaunch, programs: _Programs) -> Iterator[_Taken]:
        """Yield the tables that take the command line of a launch, one style of writing it after the other."""
        source = program_source(found, self._tree.read)
        for style in _STYLES:
            words = recognisable(list(_with_paths(settings(found.start.program[1:], style), found)), source)
            composed = with_settings(None, found.launch.at.source, words, style, Loader.PYYAML) if words else None
            if composed is None:
                continue
            for program, file in programs:
                framework, given = self._recognise(composed.document, program), words
                if file is None and style == Arguments.FLAGS:
                    framework, given = self._with_own_defaults(found, words, program, framework)
                elsewhere = framework is None and len(programs) == 1 and style == Arguments.FLAGS
                framework = self._by_flags(found, composed.document) if elsewhere else framework
                if framework is not None and _takes(framework, style) and not (file is None and _is_another(framework, programs)):
                    given = written_out(given, framework, source)
                    yield _Taken(framework, style, composed, given, given is not words, file, elsewhere)

    def _settled(self, found: FoundLaunch, programs: _Programs, taken: _Taken) -> ResolvedLaunch | None:
        """What a launch runs by the table that takes its command line; None if that does not say its sizes, or something else may."""
        table, document, file, path = taken.framework, taken.composed.document, taken.file, found.launch.at.source
        is_own = _names_own_file(found, table)
        if found.missing and not is_own:
            return None
        by_keys = all(any(key in document.keyed for key in group) for group in table.recognition.one_of)
        sized = _gives_sizes(table, taken.given)
        if not (sized and (by_keys or names_trainer(table)) if file is not None else sized or by_keys):
            return None
        framework = _as_program_has_it(table, file) if file is not None else table
        if framework is None or _splits_otherwise(framework, taken.given) or rules_out(found, self._tree, framework):
            return None
        # What the framework's own package composes is in the package, which may be a submodule of git that is not here.
        lacks = lacks_configuration(found, self._tree)
        if lacks and not any(each.is_of((), framework.recognition.uses) for each, _ in programs):
            return None
        if (
            taken.elsewhere
            or lacks
            or (framework.own_files and not is_own)
            or _is_configured_elsewhere(found.start.program, framework, document)
            or is_packaged(found, self._tree)
            or (program_source(found, self._tree.read) is None and _names_another_batch(framework, taken.given))
        ):
            framework = of_a_part(framework)  # the rest is in a configuration elsewhere
        composed: Composed | None = taken.composed
        if framework.loader != Loader.PYYAML or taken.changed:
            composed = with_settings(None, path, taken.given, taken.style, framework.loader)
        return ResolvedLaunch(found, path, composed.document, framework, alone=True, places=composed.places) if composed else None

    def _by_flags(self, found: FoundLaunch, document: Document) -> Framework | None:
        """The table of a trainer that takes many of the flags of a launch, both factors of its batch among them.

        None if a file of the tree is called like the program that runs.
        """
        flags = [str(path[0]) for path in document.keyed if len(path) == 1]
        framework = self._recognise(document, NO_PROGRAM) if len(flags) >= _OF_TRAINER else None
        if framework is None or not names_trainer(framework):
            return None
        factors = {row.name for row in framework.rows if row.key in document.keyed}
        own = sum(flag in framework.also for flag in flags) >= _OF_TRAINER
        name = "/".join([part for part in program_name(found).split("/") if part.strip(".")][-2:])
        is_trainers = own and factors.issuperset(RANK_FACTORS)
        return framework if is_trainers and name and name not in self._names_of_programs else None

    @cached_property
    def _names_of_programs(self) -> frozenset[str]:
        """The names of all programs of the tree, each with that of its folder and without."""
        whole = (path.removesuffix(".py").split("/") for path in self._tree.paths() if path.endswith(".py"))
        return frozenset("/".join(parts[-number:]) for parts in whole for number in (1, 2))

    def _may_train_otherwise(self, found: FoundLaunch) -> bool:
        """Whether it is not plain that what the program trains has the arguments that it parses."""
        source = program_source(found, self._tree.read)
        line = command_line(found.start.program[1:], None, found.environment)
        return source is not None and "batch" in source.text and may_train_otherwise(source, line)

    def _with_own_defaults(
        self, found: FoundLaunch, words: list[CommandSetting], program: Program, framework: Framework | None
    ) -> tuple[Framework | None, list[CommandSetting]]:
        """The table of a program that is called like a framework's, with what its own parser says of keys that `words` do not give."""
        source = program_source(found, self._tree.read)
        if source is None or "batch" not in source.text:
            return framework, words
        given, own = _as_parsed(words, source, framework)
        if framework is not None:
            return framework, [*own, *given]
        whole = with_settings(None, found.launch.at.source, [*own, *given], Arguments.FLAGS, Loader.PYYAML) if _is_any_known(own) else None
        framework = self._recognise(whole.document, program) if whole is not None else None
        given, own = _as_parsed(words, source, framework) if framework is not None else (given, [])
        return (framework, [*own, *given]) if _is_any_known(own) else (None, words)


def _in_their_group(given: Iterable[CommandSetting], framework: Framework) -> list[CommandSetting]:
    """The settings of a trainer's arguments that tyro and others name with the field that has them (`--training_args.learning_rate`).

    Of several fields it is not known which one has them: then they are unknown.
    """
    keys = {row.key for row in framework.rows}
    nested = [each for each in given if len(each.path) > 1 and each.path not in keys and each.path[1:] in keys]
    several = len({each.path[0] for each in nested}) > 1
    return [each._replace(path=each.path[1:], text=None if several else each.text) for each in nested]


def put_in(document: Document, given: Iterable[CommandSetting]) -> Document:
    """`document`, which can't be composed, with the settings of a command line at their keys."""
    keyed = dict(document.keyed)
    for setting in given:
        text = setting.text if setting.text is not None else setting.word.placeholder
        keyed[setting.path] = (Scalar(0, 0, str(setting.path[-1]), plain=True), Scalar(0, 0, text, plain=True))
    return document._replace(keyed=keyed)


def _names_another_batch(framework: Framework, given: Iterable[CommandSetting]) -> bool:
    """Whether a flag that a table does not know names a batch (`--batch_size 16`), so that a program of the framework's name is another."""
    known = {str(name).replace("-", "_") for name in (*(row.key[-1] for row in framework.rows), *framework.also)}
    named = (each.name.replace("-", "_") for each in given)
    return any(name not in known and _batch().fullmatch(name) for name in named)


_batch = lazy_pattern(r"(?i)(?:(?:train(?:ing)?|micro|mini|local|global|total)_?)?(?:batch_?size|bsz?)(?:_per_(?:gpu|device|rank))?")


def _names_own_file(found: FoundLaunch, framework: Framework) -> bool:
    """Whether the one configuration that a command line names is of the framework's own package, with the defaults that its table has."""
    named = [text for word in found.start.program[1:] if (text := word.text) is not None and text.endswith(RECIPE_ENDS) and "=" not in text]
    return len(named) == 1 and any(f"/{named[0]}".endswith(f"/{each}") for each in framework.own_files)


def _with_paths(given: Iterable[CommandSetting], found: FoundLaunch) -> Iterator[CommandSetting]:
    """Yield `given`, those that name a file of the tree beside the script (`$script_dir/zero2.json`) with its path from the root."""
    paths = {word: path for path, word in found.recipes}
    yield from (each._replace(text=paths[each.word]) if each.text is None and each.word in paths else each for each in given)


def _as_parsed(
    words: list[CommandSetting], source: Source, framework: Framework | None
) -> tuple[list[CommandSetting], list[CommandSetting]]:
    """`words` under the names that the parser of a program has for them, and its defaults for other options, those of `framework` alone."""
    options = _as_known(read_spellings(source), framework)
    given = spelled_out(words, options)
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


def _is_another(framework: Framework, programs: _Programs) -> bool:
    """Whether a program that is called like one of `framework` is another: its file is in the tree, and uses nothing of the trainer."""
    uses = framework.recognition.uses if names_trainer(framework) else ()
    return bool(uses) and len(programs) > 1 and not any(program.is_of((), uses) for program, file in programs if file is not None)


def _batch_of(document: Document, framework: Framework) -> tuple[object, ...]:
    """What is trained, and the factors of its batch: several trainers, of which a program uses one, may have the same.

    What is not known is the same as nothing else.
    """
    sizes = read_sizes(document, framework)
    found = (sizes.get(name) for name in _FACTORS)
    return (framework.title, *((each.value if isinstance(each, Quantity) else each) for each in found))


def _per_process(opened: ResolvedLaunch) -> int | None:
    """The samples of one process in one optimizer step, None if they are not known."""
    sizes = read_sizes(opened.document, opened.framework)
    micro, steps = sizes.get(Name.MICRO_BATCH_SIZE), sizes.get(Name.GRADIENT_ACCUMULATION_STEPS)
    return micro.value * steps.value if isinstance(micro, Quantity) and isinstance(steps, Quantity) else None


def _knows_more(alone: ResolvedLaunch) -> bool:
    """Whether the samples of one process in one step are known, or those of all of them; a file that is read may have the accumulation."""
    sizes, reads = read_sizes(alone.document, alone.framework), alone.framework.includes
    known = Name.MICRO_BATCH_SIZE if any(key in alone.document.keyed for key in reads) else Name.GLOBAL_BATCH_SIZE
    return isinstance(sizes.get(known), Quantity) or _per_process(alone) is not None


def _gives_sizes(framework: Framework, given: list[CommandSetting]) -> bool:
    """Whether a command line gives a factor of the batch, or the file that has it; a program may set all of those that it is not given."""
    paths = {setting.path for setting in given}
    return any(row.name in _FACTORS and (row.key in paths or row.key[:1] in paths) for row in framework.rows)


def _as_program_has_it(framework: Framework, file: PythonFile) -> Framework | None:
    """`framework` for a program that imports it: its own defaults are not the framework's, nor are checks of its own parser."""
    found = _bare(framework) if file.parses_itself else framework
    if found is None or found.arguments == Arguments.HYDRA:
        return found
    lost = [row for row in found.rows if file.parses_itself or row.key[-1] in file.fields]
    others = {row.name for row in lost if row.key[-1] in file.fields}  # not even what the table takes for granted
    rows = tuple(row._replace(default=None) if row in lost else row for row in found.rows)
    return found._replace(rows=rows, assumed=tuple(each for each in found.assumed if each[0] not in others))


def _splits_otherwise(framework: Framework, given: list[CommandSetting]) -> bool:
    """Whether a command line splits the model by a key that the table does not know: the program has its own arithmetic.

    Programs on the Trainer of transformers, which takes a DeepSpeed configuration, do so with flags that are not arguments of it.
    """
    if not framework.companions:
        return False
    known = {row.key for row in framework.rows}
    keys = (dotted(setting.path) for setting in given if setting.path not in known and setting.text not in ("1", "false"))
    splits = (key for key in keys if any(part in key for part in _SPLITS) and not key.startswith(_GENERATES))
    return any("parallel" in key or key.endswith(_SPLITS) for key in splits)


def _bare(framework: Framework) -> Framework | None:
    """The batch equation of a table alone, for programs that take its flags and may check nothing of what it does."""
    if framework.unit not in _COMMON_UNITS:
        return None
    bare = framework._replace(constraints=(), exclusions=(), requirements=(), switches=(), texts=())
    return bare._replace(reserves=(), shares=None, derive=None, settle=None, feeds_gpus=None)


def _takes(framework: Framework, style: str) -> bool:
    """Whether the programs of a framework take a command line without a file in this style."""
    arguments = Arguments.FLAGS if framework.flags else framework.arguments
    return arguments == style or (style == Arguments.HYDRA and arguments == Arguments.PAIRS)


def _is_configured_elsewhere(words: tuple[Word, ...], framework: Framework, document: Document) -> bool:
    """Whether a command line names a configuration that is not known, by the conditions of `framework`, to be its own."""
    own = {f"--{each.key[0]}" for row in framework.rows for each in row.when if holds(each, document, framework.loader)}
    return any(flag in HYDRA and flag not in own for flag in (word.starts_with.partition("=")[0] for word in words))
