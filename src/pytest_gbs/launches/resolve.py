"""What a launch really runs: the recipe with the settings of the command line in it, a Hydra tree, or the command line alone."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable
from functools import partial

from pytest_gbs.composition import DocumentCache, lay_over, merge_files, with_settings
from pytest_gbs.composition.composed import Composed
from pytest_gbs.composition.whole import Whole, follow, has_interpolations, locate, resolvers_of, whole
from pytest_gbs.frameworks import recognise
from pytest_gbs.frameworks.reading import of_a_part
from pytest_gbs.frameworks.versions import of_every_trainer
from pytest_gbs.launches.abbreviated import written_out
from pytest_gbs.launches.command_line_alone import CommandLineAlone, put_in
from pytest_gbs.launches.engine_file import OPTION, runs_named_file
from pytest_gbs.launches.found_launch import FoundLaunch
from pytest_gbs.launches.hydra_program import resolve_hydra
from pytest_gbs.launches.path_finder import function_named
from pytest_gbs.launches.program_files import (
    own_groups,
    program_name,
    program_source,
    programs_of,
    scores_only,
    starts_engine,
    trains_itself,
)
from pytest_gbs.launches.programs._words import opaque_word
from pytest_gbs.launches.python_file import parsed_into, read_arguments
from pytest_gbs.launches.resolved_launch import Recognises, ResolvedLaunch
from pytest_gbs.launches.visible_gpus import with_fed_gpus, with_one_gpu
from pytest_gbs.launches.written_recipes import read_written
from pytest_gbs.model.command import Word, Written
from pytest_gbs.model.document import INCLUDES, OF_FILE, Document
from pytest_gbs.model.framework import Arguments, Framework, Loader
from pytest_gbs.model.limits import MOST_CANDIDATES, MOST_LAUNCHED_VALUES
from pytest_gbs.model.location import Location, Source
from pytest_gbs.model.program import NO_PROGRAM, Program, is_to_train
from pytest_gbs.model.program_context import ProgramContext
from pytest_gbs.model.quantity import RANK_FACTORS
from pytest_gbs.readers.command_settings import settings
from pytest_gbs.readers.python import executes_files, read_executed_files, read_set_arguments


class LaunchResolver:
    """Finds what launches run; `documents` gives the documents of a file of the tree, `recognise` the table of one."""

    def __init__(self, tree: DocumentCache, documents: Callable[[str], tuple[Document, ...]], recognise: Recognises = recognise) -> None:
        self._tree = tree
        self._documents = documents
        self._recognise = recognise
        self._alone = CommandLineAlone(tree, recognise)
        self._made = 0  # values that no other launch shares
        self.refused: list[Location] = []  # the launches for which nothing was left

    def resolve(self, found: FoundLaunch) -> ResolvedLaunch | None:
        """What `found` trains; None if it trains nothing, or nothing that any table knows, or if launches have too many values."""
        if self._made > MOST_LAUNCHED_VALUES:
            self.refused.append(found.launch.at)
            return None
        resolved = self._resolved(found)
        if resolved is not None and resolved.places is not None and type(resolved.places) is not ChainMap:
            self._made += len(resolved.places)
        if resolved is not None and trains_itself(found, resolved.framework, self._tree.listed):
            resolved = resolved._replace(framework=of_every_trainer(resolved.framework))
        own = own_groups(found, resolved.document, resolved.framework, self._tree.listed) if resolved is not None else None
        table = self._recognise(resolved.document, own) if resolved is not None and own is not None else None
        if resolved is not None and table is not None:
            resolved = resolved._replace(framework=table)
        if resolved is not None and opaque_word(found.start.program[1:]) is not None:
            resolved = resolved._replace(framework=of_a_part(resolved.framework))
        if resolved is None or resolved.total is not None:
            return resolved
        resolved = self._with_changes(resolved)
        resolved = resolved._replace(found=with_one_gpu(resolved.found, resolved.framework, self._tree))
        if found.start.visible is None or resolved.found is not found:
            return resolved
        return resolved._replace(found=with_fed_gpus(resolved.found, resolved.document, resolved.framework, self._tree))

    def _with_changes(self, resolved: ResolvedLaunch) -> ResolvedLaunch:
        """`resolved` with what its program may set of the arguments that it parses."""
        source = program_source(resolved.found, self._tree.read)
        if source is None:
            return resolved
        context = ProgramContext(self._tree.listed)
        changed = self._tree.once(("set arguments", source.path), partial(read_set_arguments, source, context))
        return resolved._replace(changed=changed) if changed else resolved

    def _resolved(self, found: FoundLaunch) -> ResolvedLaunch | None:
        if scores_only(found):
            return None
        if found.start.together and not found.template:
            return self._together(found)
        source = program_source(found, self._tree.read)
        if source is not None and executes_files(source):
            executed = self._executed(found, source)
            if executed is not None or found.recipes:
                return executed
        layers = _repeated(found)
        for path, word in found.recipes:
            resolved = self._file(found, path, word) if (path, word) not in layers else None
            if resolved is not None:
                return resolved
        layered = self._layered(found, layers) if layers else None
        if layered is not None:
            return layered
        for own, word in found.written:
            resolved = self._written(found, own, word)
            if resolved is not None:
                return resolved
        if found.template:
            return self._template(found)
        return resolve_hydra(found, self._tree, self._recognise) or self._alone.resolve(found) or self._engine(found)

    def _engine(self, found: FoundLaunch) -> ResolvedLaunch | None:
        """What a launch trains whose program starts DeepSpeed with the file that the command line names."""
        named = {each.word.at.start for each in settings(found.start.program[1:], Arguments.FLAGS) if each.name == OPTION}
        paths = [path for path, word in found.recipes if any(word.at.start <= start < word.at.stop for start in named)]
        source = program_source(found, self._tree.read) if len(paths) == 1 else None
        if source is None or not runs_named_file(source):
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

    def _executed(self, found: FoundLaunch, source: Source) -> ResolvedLaunch | None:
        """What a program trains that executes the files of its command line over the names of `source`; None if one is missing."""
        if found.missing or found.template:
            return None
        files = [file for path, _ in found.recipes if isinstance(file := self._tree.read(path), Source)]
        read = read_executed_files(source, files)
        framework = self._recognise(read.document, NO_PROGRAM) if read is not None else None
        ranked = not found.start.name.endswith("python") or "SLURM_" in source.text
        if read is None or framework is None or (read.simulates and not ranked):
            return None
        if not ranked:  # whatever srun starts, each process is by itself
            found = found._replace(start=found.start._replace(sizes=()))
        path, word = found.recipes[-1] if found.recipes else ("", found.start.program[0])
        alone = not any(self._recognise(each, NO_PROGRAM) for each in (self._documents(path) if path else ()))
        document = read.document._replace(source=files[-1] if files else source)
        sources = (source.path, *(each.path for each in files))
        named = (found, found.launch.at.source if alone else path, word)
        return self._with_settings(named, document, framework, Whole(document, read.places, sources))._replace(alone=alone)

    def _layered(self, found: FoundLaunch, layers: list[tuple[str | None, Word]]) -> ResolvedLaunch | None:
        """What a program runs that reads the files of a repeated option one over the other; None if one of them is missing."""
        paths = [path for path, _ in layers if path is not None]
        composed = merge_files(self._tree, paths, over=True)
        known = len(paths) == len(layers) and not composed.problems
        framework = self._recognise(composed.document, Program(program_name(found))) if known else None
        if framework is None or framework.companion:
            return None
        parts = Whole(composed.document, composed.places, composed.sources)
        found = found._replace(start=found.start._replace(together=True))
        return self._with_settings((found, paths[-1], layers[-1][1]), composed.document, self._as_read(found, framework), parts)

    def _file(self, found: FoundLaunch, path: str, word: Word) -> ResolvedLaunch | None:
        documents = self._documents(path)
        function = function_named(word) or (OF_FILE if any(each.function == OF_FILE for each in documents) else "")
        for document in (each for each in documents if not function or each.function == function):
            base, program = document, Program(program_name(found))
            framework = self._recognise(document, program)
            parts = None if INCLUDES.isdisjoint(document.keyed) else self._whole(document, framework)
            if parts is not None and (parts.limit is not None or parts.unseen):
                framework = of_a_part(framework) if framework is not None and parts.unseen else framework
                parts = None
            if parts is not None:
                base, framework = parts.document, self._recognise(parts.document, program)
            if framework is not None and not framework.companion:
                if path.endswith(".py") and not function and not is_to_train(program.name.rpartition("/")[2]):
                    return None
                found = self._reading(found, word)
                return self._with_settings((found, path, word), base, self._as_read(found, framework), parts, kept=True)
        return None

    def _whole(self, document: Document, framework: Framework | None) -> Whole | None:
        return self._tree.once((id(document), framework), lambda: (document, whole(document, self._tree, framework)))[1]

    def _with_settings(
        self, named: tuple[FoundLaunch, str, Word], document: Document, framework: Framework, parts: Whole | None, kept: bool = False
    ) -> ResolvedLaunch:
        """What a launch of the recipe `document` runs; with `parts` that is made up of several files. It is `kept` for other launches."""
        found, path, word = named
        given = [s for s in settings(found.start.program[1:], framework.arguments) if s.word.at != word.at and s.path != ("config",)]
        given = written_out(given, framework, program_source(found, self._tree.read))
        if function_named(word) or document.function == OF_FILE:
            # ml_collections names the flags of what it fills by that of the file: `--config.train.batch_size`.
            given = [s._replace(path=s.path[1:]) for s in given if s.path[0] == "config"]
        if parts is None and has_interpolations(document, framework):
            document = follow(document, framework) or document
        interpolates = has_interpolations(document, framework)
        how, composed = (framework.arguments, framework.loader), None
        compose = partial(with_settings, document, path, style=how[0], loader=how[1], resolvers=resolvers_of(framework))
        if given and kept and not (framework.loader == Loader.OMEGACONF and "${" in document.source.text):
            base = self._tree.once((id(document), path, how), lambda: (document, _really(compose(settings=()), document, parts)))[1]
            composed = lay_over(base, given, *how) if base is not None else None
        if composed is None and (given or interpolates):
            composed = _really(compose(settings=given), document, parts)
        sources = parts.sources if parts else ()
        if composed is None and given:
            put = {**((parts.places if parts else None) or {}), **{setting.path: setting.at for setting in given}}
            return ResolvedLaunch(found, path, put_in(document, given), framework, places=put, sources=sources)
        if composed is None:
            return ResolvedLaunch(found, path, document, framework, places=parts.places if parts else None, sources=sources)
        made_up = composed.document._replace(number=document.number)
        return ResolvedLaunch(found, path, made_up, framework, places=composed.places, sources=sources)

    def _written(self, found: FoundLaunch, own: Written, word: Word) -> ResolvedLaunch | None:
        """What a launch trains whose recipe the script writes itself."""
        for parts in read_written(own, found.launch.at.source):
            framework = self._recognise(parts.document, Program(program_name(found)))
            if framework is not None and not framework.companion:
                named = (found, found.launch.at.source, word)
                return self._with_settings(named, parts.document, self._as_read(found, framework), parts)._replace(alone=True)
        return None

    def _as_read(self, found: FoundLaunch, framework: Framework) -> Framework:
        """`framework` without what only its own programs ask for.

        Those are keys that it requires, if the program is not known to be one of them, since another may fill them in, the
        configuration of DeepSpeed that a Trainer compares with its arguments, if the program starts the engine itself, and what it checks
        of fields that a class of the program's own has in the place of its own class.
        """
        if framework.companions:
            program = found.program
            if self._tree.once(("starts engine", program), partial(starts_engine, program, self._tree.listed)):
                framework = framework._replace(companions=())
        how = framework.recognition
        if framework.requirements and (how.programs or how.uses):
            programs = programs_of(found, self._tree.listed)
            if not any(program.is_of(how.programs, how.uses) for program, _ in programs):
                framework = framework._replace(requirements=())
        fields = self._own_fields(found, framework) if framework.constraints and how.uses else frozenset()
        own = {row.name for row in framework.rows if row.key[-1] in fields}.difference(RANK_FACTORS)
        return (
            framework._replace(constraints=tuple(each for each in framework.constraints if own.isdisjoint(each.names)))
            if own
            else framework
        )

    def _own_fields(self, found: FoundLaunch, framework: Framework) -> frozenset[str]:
        """The fields of the classes that a program parses its command line into, if none of them is made from the framework's."""
        source = program_source(found, self._tree.read)
        classes = parsed_into(source, (word.text for word in found.start.program[1:])) if source is not None else None
        if source is None or not classes:
            return frozenset()
        parsed = self._tree.once(("parsed", source.path, classes), partial(read_arguments, source, classes, self._tree.listed))
        is_own = parsed is not None and not Program("", parsed.imports).is_of((), framework.recognition.uses)
        return parsed.fields if parsed is not None and is_own else frozenset()

    def _reading(self, found: FoundLaunch, word: Word) -> FoundLaunch:
        """`found`, its launch knowing whether the program reads the recipe at all."""
        source = program_source(found, self._tree.read)
        program = found.start.program
        index = next((number for number, each in enumerate(program) if each is word), 0)
        behind_option = index > 1 and program[index - 1].starts_with.startswith("-")
        if source is None or not index or word.starts_with.startswith("-") or behind_option:
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
        given = written_out(list(settings(found.start.program[1:], framework.arguments)), framework, program_source(found, self._tree.read))
        composed = with_settings(None, path, given, framework.arguments, framework.loader)
        return ResolvedLaunch(found, path, composed.document, framework, alone=True, places=composed.places) if composed else None


def _repeated(found: FoundLaunch) -> list[tuple[str | None, Word]]:
    """What an option names that is there more than once, if it names recipes: `--config a.yaml --config b.yaml`."""
    named: dict[str, list[tuple[str | None, Word]]] = {}
    paths = {word.at: path for path, word in found.recipes}
    before = ""
    for word in found.start.program[1:]:
        text = word.starts_with
        option, inside, _ = text.partition("=") if text.startswith("-") else (before, "=", "")
        if option.startswith("-") and inside:
            named.setdefault(option, []).append((paths.get(word.at), word))
        before = text
    return next((each for each in named.values() if len(each) > 1 and any(path for path, _ in each)), [])


def _really(composed: Composed | None, document: Document, parts: Whole | None) -> Composed | None:
    """What was `composed` of `document`, which is made up of `parts`, each value at its real place."""
    if composed is None or parts is None:
        return composed
    return composed._replace(places={key: locate(at, document, parts.places) for key, at in composed.places.items()})
