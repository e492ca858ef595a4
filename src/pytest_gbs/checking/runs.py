"""The runs of a recipe: by itself, and once more in each launch context of the settings."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from functools import lru_cache

from pytest_gbs.claims.grammars import StatedByComments, read_stated
from pytest_gbs.claims.grammars.names import name_of_file, read_name
from pytest_gbs.claims.worlds import (
    HardwareEvidence,
    HardwareWorld,
    Nearby,
    Sizes,
    geometry,
    grows_with_gpus,
    is_of_other_settings,
    multiplied,
    quotes_another_program,
    readings,
    said_in_comments,
    shown,
    world,
)
from pytest_gbs.files.globs import matches_any
from pytest_gbs.frameworks.conditions import Applied, applied_to, serves_too
from pytest_gbs.model.assumption import Assuming, Assumption
from pytest_gbs.model.declaration import Declaration, Force
from pytest_gbs.model.document import NOTEBOOK, Document
from pytest_gbs.model.equation import Equation
from pytest_gbs.model.framework import Framework
from pytest_gbs.model.launch import Kind, Launch
from pytest_gbs.model.limits import MOST_CLAIMS_OF_LAUNCH
from pytest_gbs.model.location import KeyPath, Location
from pytest_gbs.model.quantity import HARDWARE, ONE_GPU, Name, Note, Origin, Quantity, Size
from pytest_gbs.model.record import Final, NamedTuple
from pytest_gbs.model.run import Geometry, Run, World
from pytest_gbs.model.settings import Expectation, Settings

BATCH: Final = (Name.MICRO_BATCH_SIZE, Name.GRADIENT_ACCUMULATION_STEPS, Name.GLOBAL_BATCH_SIZE)
# What a claim may be about; a stated micro batch or accumulation is a factor, judged with the claim it is beside.
CLAIMED: Final = (Name.GLOBAL_BATCH_SIZE, Name.TOKENS_PER_STEP, Name.PROMPTS_PER_STEP)


class Context(NamedTuple):
    """What a recipe is judged with, beside itself: settings, given hardware, launcher files nearby, and what documents state of it."""

    settings: Settings
    hardware: Sizes  # of the settings, for this recipe
    given: Sizes
    nearby: Callable[[], Nearby]
    shared: tuple[Expectation, ...] = ()
    documented: tuple[Declaration, ...] = ()


def build_runs(
    document: Document, framework: Framework, sizes: dict[str, Size], context: Context, places: Mapping[KeyPath, Location] | None = None
) -> tuple[Run, ...]:
    """The recipe by itself, and one more run for each launch context that the settings state for it.

    `places` says where the values of a document really stand that is made up of several.
    """
    stated = _stated(document, framework, places)
    recipe = _Recipe(document, framework, sizes, places)
    runs = _runs(recipe, stated, context)
    claims = (*runs[0].claims, *runs[0].documented)
    if any(claim.judgement.finding for claim in claims) or len({claim.declaration.value for claim in claims}) > 1:
        from pytest_gbs.claims.second_reading import read_again

        own = read_again(runs[0], runs[0].claims, stated.declarations, document.comments)
        documented = read_again(runs[0], runs[0].documented, context.documented)
        if own is not None or documented is not None:
            again = stated._replace(declarations=own or stated.declarations)
            return _runs(recipe, again, context._replace(documented=documented or context.documented))
    return runs


class _Recipe(NamedTuple):
    document: Document
    framework: Framework
    sizes: dict[str, Size]
    places: Mapping[KeyPath, Location] | None


def _runs(recipe: _Recipe, stated: StatedByComments, context: Context) -> tuple[Run, ...]:
    """The runs of a recipe whose comments state `stated`."""
    document, framework, sizes, places = recipe
    declarations = stated.declarations
    own = {name: size for name in HARDWARE if isinstance(size := sizes.get(name), Quantity)}
    if not own and framework.one_gpu and document.source.path.endswith(NOTEBOOK) and framework.one_gpu <= document.imports:
        own = {Name.WORLD_SIZE: Quantity(Name.WORLD_SIZE, 1, Origin.DEFAULT, note=ONE_GPU)}
    evidence = HardwareEvidence(own, context.given, context.hardware, context.nearby)
    applied = applied_with_tokens(document, framework, sizes)
    said = said_in_comments(declarations, Force.STATES)

    def in_their_worlds(stated: Iterable[Declaration]) -> Iterator[tuple[Declaration, tuple[World, ...]]]:
        for d in stated:
            if d.force not in COUNTING or d.weak or quotes_another_program(d, document, framework):
                continue
            worlds = tuple(world_of(sizes, hardware, applied, document) for hardware in readings(d, said, evidence, sizes))
            if d.name == Name.RANK_BATCH_SIZE and grows_with_gpus(worlds[0].geometry, applied.real):  # on one GPU as on any number of them
                one = HardwareWorld({Name.WORLD_SIZE: Quantity(Name.WORLD_SIZE, 1, Origin.COMMENT, at=d.at)})
                worlds = (world_of(sizes, one, applied, document),)
            claimed = multiplied(d, worlds[0].geometry)
            if claimed is not None and claimed.name in CLAIMED:
                yield claimed, worlds

    claimed = tuple(in_their_worlds(declarations))
    if others := {place for d, worlds in claimed if is_of_other_settings(d, worlds[0].geometry) for place in (d.at, *d.condition_places)}:
        said = said_in_comments(tuple(d for d in declarations if d.at not in others), Force.STATES)
    hardware = _assuming_defaults(_reserve(framework, document, _with_parallel(shown(declarations, said, evidence), context)), document)
    seen = geometry(sizes, hardware.sizes, applied, document)
    expected = (each for each in context.settings.expect if not each.shared and matches_any(document.source.path, each.paths))
    policies = (*expected, *context.shared)
    run = Run(document, applied.real, None, seen, (), declarations, policies, hardware.assumptions, places=places, unread=stated.ended)
    run = with_claims(_best_known(run, (worlds[0] for d, worlds in claimed if not d.per_rank), context), claimed)
    if context.documented:
        documented = with_claims(run, in_their_worlds(context.documented))
        run = run._replace(documented=documented.claims if documented is not run else (), declarations=(*declarations, *context.documented))
    return (run, *_launched(run, sizes, context))


def with_claims(run: Run, claimed: Iterable[tuple[Declaration, tuple[World, ...]]]) -> Run:
    """`run` with what is claimed of it, each claim judged once and for all."""
    claimed = tuple(claimed)
    if not claimed:
        return run
    from pytest_gbs.claims.judgement import judged_claims

    return run._replace(claims=tuple(judged_claims(run, claimed)))


# What may be true or false, and what counts only where it is true.
COUNTING: Final = (Force.STATES, Force.CONFIRMS)


@lru_cache
def _counting_tokens(framework: Framework) -> Framework:
    """The table with the tokens of an optimizer step: sequences of at most the sequence length, each sample one or two."""
    several = framework.sequences_per_sample
    factors = (Name.GLOBAL_BATCH_SIZE, *([Name.SEQUENCES_PER_SAMPLE] if several > 1 else []), Name.SEQUENCE_LENGTH)
    tokens = Equation(Name.TOKENS_PER_STEP, factors, unit="tokens", source="definition")
    assumed = (*framework.assumed, (Name.SEQUENCES_PER_SAMPLE, several)) if several > 1 else framework.assumed
    return framework._replace(equations=(*framework.equations, tokens), assumed=assumed)


def applied_with_tokens(document: Document, framework: Framework, sizes: Container[str]) -> Applied:
    """The table with the equations that hold for `document`, and with its tokens if a sequence length is among the `sizes`."""
    return applied_to(document, _counting_tokens(framework) if Name.SEQUENCE_LENGTH in sizes else framework)


def world_of(sizes: dict[str, Size], hardware: HardwareWorld, applied: Applied, document: Document) -> World:
    """The sizes of a recipe on some hardware."""
    return world(geometry(sizes, hardware.sizes, applied, document), _assuming_defaults(hardware, document))


def _assuming_defaults(hardware: HardwareWorld, document: Document) -> HardwareWorld:
    """`hardware` that also assumes that the variables are not set by whose defaults the batch sizes of `document` are known."""
    unset = (Assumption(Assuming.NOT_SET, name) for name in document.unset)
    return hardware._replace(assumptions=(*hardware.assumptions, *unset)) if document.unset else hardware


def _stated(document: Document, framework: Framework, places: Mapping[KeyPath, Location] | None) -> StatedByComments:
    """What comments, the file's name and the run's names state."""
    path = document.source.path
    found = read_stated(document.comments, path) if document.comments else StatedByComments()
    named = (*name_of_file(path), *named_in_settings(document, framework, places))
    return found._replace(declarations=(*found.declarations, *named))


def named_in_settings(document: Document, framework: Framework, places: Mapping[KeyPath, Location] | None) -> Iterator[Declaration]:
    """Yield what the names state that a run has in its settings, but for what they repeat of the name of the model that it starts from."""
    for key in framework.names:
        node = document.get(*key)
        text = getattr(node, "text", "")
        if text and "/" not in text[-1:]:
            at = (places or {}).get(key) or Location(document.source.path, node.start, node.stop, key)  # type: ignore[union-attr]
            for each in read_name(text, at):
                if not any(each.text in model for model in _models(document, framework)):
                    yield each


def _models(document: Document, framework: Framework) -> Iterator[str]:
    """Yield the names of the models in the settings of a run, its own left out."""
    for key, (_, node) in document.keyed.items():
        if key not in framework.names and "model" in str(key[-1]):
            yield getattr(node, "text", "")


def _with_parallel(hardware: HardwareWorld, context: Context) -> HardwareWorld:
    """`hardware` with the parallel sizes that all launcher files nearby agree on, where hardware was given to launch on."""
    if not context.given:
        return hardware
    parallel = {q.name: q for q in context.nearby().parallel}
    return hardware._replace(sizes={**parallel, **hardware.sizes})


def _reserve(framework: Framework, document: Document, hardware: HardwareWorld) -> HardwareWorld:
    """`hardware` without what comments say of it if some of the GPUs may serve rather than train."""
    if not serves_too(framework, document):
        return hardware
    return hardware._replace(sizes={name: size for name, size in hardware.sizes.items() if size.origin != Origin.COMMENT})


def _best_known(run: Run, claimed: Iterable[World], context: Context) -> Run:
    """`run` shown in the world of its first claim that names its hardware, if nothing better was given."""
    if context.given or run.geometry.global_batch_size is not None:
        return run
    world = next((world for world in claimed if world.geometry.global_batch_size is not None), None)
    return run._replace(geometry=world.geometry, assumptions=world.assumptions) if world is not None else run


def _launched(run: Run, sizes: dict[str, Size], context: Context) -> Iterator[Run]:
    """Yield the run of each launch context that the settings state for this recipe; launches judge no claims of prose."""
    for launch in context.settings.launches:
        if not matches_any(run.path, launch.paths):
            continue
        note = Note(launch.origin)
        hardware = {name: Quantity(name, value, Origin.LAUNCH, key=launch.name, note=note) for name, value in launch.sizes.items()}
        seen = geometry(sizes, hardware, applied_to(run.document, run.framework), run.document)
        start = Launch(Location(context.settings.source), Kind.SCRIPT, launch.name, tuple(hardware.values()))
        bare = run._replace(launch=start, geometry=seen, claims=(), assumptions=())
        yield with_claims(bare, ((each, (World(seen),)) for each in claimed_in(run, seen)))


def claimed_in(run: Run, seen: Geometry) -> Iterator[Declaration]:
    """Yield what is claimed of `run` as it reads in another world, that of a launch."""
    each = (multiplied(claim.declaration, seen) for claim in run.claims[:MOST_CLAIMS_OF_LAUNCH])
    yield from (claim for claim in each if claim is not None)
