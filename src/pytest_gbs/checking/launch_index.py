"""Which launches a repository has, by the recipe that they run and by the script that they stand in."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Container, Iterator
from functools import cache, lru_cache, partial
from itertools import takewhile
from operator import attrgetter
from typing import Final

from pytest_gbs.checking.documented import Subject, read_documents
from pytest_gbs.checking.memory import Memory
from pytest_gbs.checking.repository import WORTH_SHARING, Repository
from pytest_gbs.checking.worker_pool import WorkerPool
from pytest_gbs.claims.documents import read_own_numbers
from pytest_gbs.claims.grammars import read_declarations
from pytest_gbs.claims.grammars.names import name_of_file
from pytest_gbs.claims.model_cards import read_model_cards
from pytest_gbs.claims.setting_lists import read_setting_lists
from pytest_gbs.launches.find import ReadScript, Scripts
from pytest_gbs.launches.found_launch import FoundLaunch
from pytest_gbs.launches.program_files import program_name, scores_only
from pytest_gbs.launches.resolve import LaunchResolver
from pytest_gbs.launches.resolved_launch import ResolvedLaunch
from pytest_gbs.model.declaration import Declaration, Force
from pytest_gbs.model.document import DOCUMENTS, NOTEBOOK, CommentBlock, Document
from pytest_gbs.model.guard import Guard
from pytest_gbs.model.launch import JUDGES_NOTHING, Mistake, Unread
from pytest_gbs.model.location import Location, Source
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.program import only_prepares
from pytest_gbs.model.quantity import HARDWARE, RANK_FACTORS, Name, Quantity
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.readers.owners import ABOVE, TRAILING
from pytest_gbs.readers.python.notebook import is_right_above

_BATCHES: Final = (Name.GLOBAL_BATCH_SIZE, Name.TOKENS_PER_STEP)


class LaunchIndex(NamedTuple):
    """The launches of a repository: those of each recipe, and those of each script that no file is the recipe of."""

    scripts: Scripts
    of_recipe: dict[str, tuple[ResolvedLaunch, ...]]
    alone: dict[str, tuple[ResolvedLaunch, ...]]
    recipes: dict[str, dict[str, None]]  # that each script launches, each once and in order
    documents: dict[Subject, tuple[Declaration, ...]]  # what they state of recipes and launches
    training: Callable[[str], tuple[FoundLaunch, ...]]  # the different launches of a script that train

    def shown_by(self, document: Document, repository: Repository) -> tuple[ResolvedLaunch, ...]:
        """The launches of a recipe that its own comments show."""
        resolver = LaunchResolver(repository.document_cache, repository.readable, repository.recognise)
        shown = (resolver.resolve(found) for found in self.scripts.in_comments(document.source))
        return tuple(resolved for resolved in shown if resolved is not None)

    def runs_in_one_process(self, program: str) -> bool:
        """Whether there are launches of the program at a path, and each of them starts one process; notebooks show it on one GPU anyway."""
        every = (each for path in self.alone.values() for each in path if each.found.program == program)
        started = (each for each in every if not each.found.launch.at.source.endswith(NOTEBOOK))
        worlds = [next((size for size in each.found.start.sizes if size.name == Name.WORLD_SIZE), None) for each in started]
        return bool(worlds) and all(isinstance(size, Quantity) and size.value == 1 for size in worlds)

    def gpus_per_node(self, recipe: str) -> Quantity | None:
        """The processes per machine with which scripts launch a recipe, if all agree; None if unknown."""
        found: list[Quantity] = []
        for resolved in self.of_recipe.get(recipe, ()):
            if resolved.found.launch.kind in JUDGES_NOTHING:
                continue
            sizes = {size.name: size for size in resolved.found.start.sizes if isinstance(size, Quantity)}
            size = sizes.get(Name.GPUS_PER_NODE)
            world, nodes = sizes.get(Name.WORLD_SIZE), sizes.get(Name.NUM_NODES)
            if size is None and world is not None and nodes is not None and nodes.value == 1:
                size = world._replace(name=Name.GPUS_PER_NODE)
            if size is not None:
                found.append(size)
        return found[0] if found and len({size.value for size in found}) == 1 else None

    def unread_for(self, recipe: str) -> tuple[Unread, ...]:
        """The scripts that were not read to their end and may launch `recipe`."""
        return tuple(self.scripts.may_be_launched(recipe)) if self.scripts.unread else ()

    def depends_on(self, recipe: str) -> frozenset[str]:
        """The files that have a part in the launches of a recipe: scripts, launcher files, files that it includes."""
        parts: set[str] = set()
        for resolved in self.of_recipe.get(recipe, ()):
            parts.update((resolved.found.launch.at.source, resolved.found.script.path, *resolved.sources))
            parts.update(file.path for file in resolved.found.start.files)
        return frozenset(parts)

    def sourced_by(self, scripts: Container[str]) -> Iterator[str]:
        """Yield the files that one of `scripts` sources and that contain a launch."""
        for launches in (*self.of_recipe.values(), *self.alone.values()):
            for resolved in launches:
                if resolved.found.script.path in scripts:
                    yield resolved.found.launch.at.source

    def recipes_of(self, script: str) -> Iterator[str]:
        """Yield the paths of the recipes that the script at `script` launches."""
        yield from self.recipes.get(script, ())

    def document(self, script: str, source: Source) -> Document:
        """The script as a document of nothing but comments, for suppressions."""
        found = self.scripts.scripts.get(script)
        return Document(source, 1, "shell", None, {}, found.comments if found else (), ())

    def declared(self, resolved: ResolvedLaunch) -> tuple[Declaration, ...]:
        """What documents, and the comments of a script, state of the batch or the hardware of one of its launches.

        Comments are about it if the script trains nothing else, as is its name then (`run_8gpus.sh`), if they are right above it, or above
        the few lines in front of it that set variables or make folders, or on the line of a value that it takes.
        GPUs that they count may be those of all turns of a loop.
        """
        at = resolved.found.launch.at
        found = (*self._commented(at.source, resolved), *self.documents.get(Subject(resolved.recipe, at), ()))
        if any(each.name in HARDWARE for each in found) and self._is_beside_others(at):
            return tuple(each for each in found if each.name not in HARDWARE)
        return found

    def _is_beside_others(self, at: Location) -> bool:
        """Whether the command at a place runs in the background, as another of its file does: they may share the GPUs that are stated."""
        source = self.scripts.files.tree.read(at.source)
        if not isinstance(source, Source):
            return False
        end = _line_end().search(source.text, at.stop)
        places = _in_background(source.text)
        return len(places) > 1 and any(at.stop <= each < (end.start() if end else len(source.text)) for each in places)

    def _commented(self, path: str, resolved: ResolvedLaunch) -> tuple[Declaration, ...]:
        script = self.scripts.scripts.get(path)
        if script is None or path.lower().endswith(DOCUMENTS):
            return ()
        comments = script.comments
        trains = self.training(path)
        several = len({found.launch.at for found in trains}) > 1
        if several and comments:
            comments = (*self._beside_values(comments, path, resolved), *self._above(comments, resolved.found.launch.at))
        declared = (*_BATCHES, *RANK_FACTORS, *(() if len(trains) > 1 and _sees_some(resolved) else HARDWARE))
        found = read_declarations(comments, path) if comments else ()
        stated = tuple(d for d in found if d.force == Force.STATES and not d.weak and d.name in declared)
        if several or any(d.name in HARDWARE for d in stated):
            return stated
        return (*stated, *(d for d in name_of_file(path) if d.name in HARDWARE))

    def _above(self, comments: tuple[CommentBlock, ...], at: Location) -> tuple[CommentBlock, ...]:
        """Those of `comments` that stand right above a launch, or with nothing but a few settings of the shell between.

        In a notebook those below which nothing was typed: the JSON between them is none of it.
        """
        stop = attrgetter("stop")
        here = bisect_right(comments, at.start, key=stop)
        if at.source.endswith(NOTEBOOK):
            notebook = self.scripts.files.tree.read(at.source)
            if not isinstance(notebook, Source):
                return ()
            return tuple(takewhile(lambda block: is_right_above(notebook, block.stop, at.start), reversed(comments[:here])))[::-1]
        right = comments[bisect_left(comments, at.start - 2, key=stop) : here]
        above = [block for block in comments[max(0, here - _NEAREST) : here] if block.placement == ABOVE and block not in right]
        source = self.scripts.files.tree.read(at.source) if above else None
        text = source.text if isinstance(source, Source) else ""
        return (*(block for block in above if text and _sets_up().fullmatch(text, block.stop, at.start)), *right)

    def _beside_values(self, comments: tuple[CommentBlock, ...], path: str, resolved: ResolvedLaunch) -> tuple[CommentBlock, ...]:
        """Those of `comments` that stand behind a value of the launch, on its line: `GPUS=4 # of 8`."""
        behind = [block for block in comments if block.placement == TRAILING]
        source = self.scripts.files.tree.read(path) if behind else None
        if not isinstance(source, Source):
            return ()
        sizes = (*resolved.found.start.sizes, *resolved.sizes().values())
        stops = {size.at.stop for size in sizes if isinstance(size, Quantity) and size.at is not None and size.at.source == path}
        starts = ((block, block.pieces[0][1]) for block in behind)
        return tuple(block for block, start in starts if any(stop <= start and "\n" not in source.text[stop:start] for stop in stops))


# The end of a command that runs in the background.
_background = lazy_pattern(r"(?m)(?<![&>|])&[ \t]*(?:#[^\n]*)?\r?$")
_line_end = lazy_pattern(r"(?<!\\)(?<!\\\r)(?:\n|\Z)")


@lru_cache(8)
def _in_background(text: str) -> tuple[int, ...]:
    """Where the commands of a script end that run in the background."""
    return tuple(match.start() for match in _background().finditer(text))


_NEAREST: Final = 4  # comment blocks above a launch
# Lines that set variables, make folders or print something, comments and empty lines.
_sets_up = lazy_pattern(
    r"""(?:[ \t]*"""
    r"""(?:(?:export[ \t]+)?(?:[A-Za-z_]\w{0,60}=(?:"[^"`\n]{0,300}"|'[^'\n]{0,300}'|[^\s"'`();&|]{0,300})[ \t]*){1,4}(?:\#[^\n]{0,300})?"""
    r"""|(?:mkdir|echo)[ \t][^\n;&|]{0,300}|\#[^\n]{0,300})?"""
    r"""\r?\n){1,8}[ \t]*"""
)


def _sees_some(resolved: ResolvedLaunch) -> bool:
    """Whether the launch has GPUs chosen for it, so that the others that a comment counts may be those of other runs."""
    return any(isinstance(size, Quantity) and size.key == "CUDA_VISIBLE_DEVICES" for size in resolved.found.start.sizes)


def index_launches(
    repository: Repository, *, always: bool = False, jobs: int = 1, about: frozenset[str] | None = None
) -> LaunchIndex | None:
    """The launches of all scripts of `repository`, read by `jobs` processes; None if it has no script, unless it is `always` wanted.

    What is remembered may be out of date where it is not `about` these files, recipes or scripts.
    """
    scripts = repository.make_scripts() if always else repository.scripts
    if scripts is None:
        return None
    if jobs > 1 and len(scripts.paths) >= WORTH_SHARING:
        _read_together(scripts, jobs)
    if repository.memory is not None:
        _recall_scripts(scripts, repository, about)
    resolver = LaunchResolver(repository.document_cache, repository.readable, repository.recognise)
    of_recipe: defaultdict[str, list[ResolvedLaunch]] = defaultdict(list)
    alone: defaultdict[str, list[ResolvedLaunch]] = defaultdict(list)
    guard = repository.guard
    for path in scripts.paths:
        for resolved in repository.recall(
            ("launches", path), partial(_resolved, path, scripts, resolver, guard), scripts.launches_known(path)
        ):
            (alone if resolved.alone else of_recipe)[resolved.recipe].append(resolved)
    recipes: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for recipe, starts in of_recipe.items():
        for start in starts:
            recipes[start.found.launch.at.source][recipe] = None
    documents = tuple(path for path in scripts.paths if path.lower().endswith(DOCUMENTS))
    everything = (each for found in (of_recipe, alone) for launches in found.values() for each in launches)
    stated: defaultdict[Subject, dict[Declaration, None]] = defaultdict(dict)
    for source, statements in read_documents(repository, documents, everything) if documents else ():
        for subject, declaration in statements:
            stated[subject][declaration] = None
        scripts.mistakes[source.path] += repository.recall(("numbers", source.path), partial(_own_numbers, source), source)
    launched, by_themselves = ({path: tuple(each) for path, each in found.items()} for found in (of_recipe, alone))
    documented = {subject: tuple(each) for subject, each in stated.items()}
    return LaunchIndex(scripts, launched, by_themselves, dict(recipes), documented, cache(partial(_training, scripts)))


def _training(scripts: Scripts, path: str) -> tuple[FoundLaunch, ...]:
    """The launches of the script at `path` that may train, by their programs' names."""
    every = dict.fromkeys(scripts.launches(path))
    return tuple(found for found in every if not (scores_only(found) or only_prepares(program_name(found).rpartition("/")[2])))


def _resolved(path: str, scripts: Scripts, resolver: LaunchResolver, guard: Guard) -> list[ResolvedLaunch]:
    """What each launch of the script at `path` runs, as far as that is known; turns of a loop that are alike in all count once."""
    launches = guard.attempt(path, partial(scripts.launches, path), None)
    if launches is None:
        scripts.failed(path)
    refused = len(resolver.refused)
    every = (guard.attempt(path, partial(resolver.resolve, found), None) for found in dict.fromkeys(launches or ()))
    found = [resolved for resolved in every if resolved is not None]
    if len(resolver.refused) > refused:
        scripts.stop(path, resolver.refused[refused], met_before=refused > 0)
    return found


def _own_numbers(source: Source) -> list[Mistake]:
    return [*read_model_cards(source), *read_own_numbers(source), *read_setting_lists(source)]


def _is_about(path: str, files: frozenset[str] | None, memory: Memory) -> bool:
    """Whether the script at `path`, as an earlier check had it, is one of `files` or launches one, or may do so."""
    known = memory.known(("launches", path))
    if files is None or path in files or not isinstance(known, list):
        return True
    return any(not files.isdisjoint((each.recipe, each.found.launch.at.source, each.found.script.path)) for each in known)


def _recall_scripts(scripts: Scripts, repository: Repository, about: frozenset[str] | None) -> None:
    """Read those of `scripts` that are not as an earlier check had them; the others launch what they launched."""
    read: dict[str, ReadScript] = {}
    scripts.offer(read)  # what it holds may be out of date
    assert repository.memory is not None
    for path in scripts.paths:
        found = repository.recall(
            ("script", path),
            partial(repository.guard.attempt, path, partial(scripts.read_script, path), None),
            path in repository.jobs,
            partial(_is_about, path, about, repository.memory),
        )
        read.update({path: found} if found is not None else {})
    if not scripts.offer(read):
        scripts.offer({})
        repository.memory.forget()


def _read_together(scripts: Scripts, jobs: int) -> None:
    """Read `scripts` with `jobs` processes; one that fails is left to be read again."""

    processes = min(jobs, len(scripts.paths) // WORTH_SHARING + 1)
    share = partial(scripts.read_some, processes=processes)
    pool = WorkerPool(scripts.paths, share, processes)
    try:
        read = share(pool.taken())
        for results in pool.results():
            read.update(results)
    finally:
        pool.close()
    scripts.offer(read)
