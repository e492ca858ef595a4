"""What a team's own test gets for each training recipe: its sizes by name, its claims and its verdict."""

from __future__ import annotations

from pytest_gbs.arithmetic.near_miss import nearest
from pytest_gbs.arithmetic.solver import symbolic
from pytest_gbs.arithmetic.wording import symbolic_text
from pytest_gbs.model.location import Lines
from pytest_gbs.model.quantity import Name, Quantity, Reason, Size, Unknown
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.model.report import FileReport, Report
from pytest_gbs.model.run import Geometry, Run


def _must_be_a_size(name: str, run: Run) -> None:
    """Check that a size is called `name`, in every framework or in that of `run`."""
    table = run.framework
    names = {value for key, value in vars(Name).items() if key.isupper()}
    names.update(row.name for row in table.rows)
    names.update(part for equation in table.equations for part in equation.names)
    if name not in names and name not in run.geometry.stated:
        meant = nearest(name, tuple(sorted(names)))
        raise ValueError(f"no size is called {name!r}" + (f"; did you mean {meant!r}?" if meant else ""))


class Stated(NamedTuple):
    """A size that the recipe's comments state: `value` of size `name` in `unit` ("" if none is said), on `line` as `text`."""

    name: str
    value: int
    unit: str
    line: int
    text: str


class Recipe(NamedTuple):
    """A training recipe as it is written, frozen; sizes are attributes, a number or None if it is not known.

    `path` is relative to pytest's root folder, with `/`; `document` counts the documents of one file. `framework` and `verdict`
    are the words of `gbs check --format json`. `problem` says why a file could not be read, in which case nothing is known of
    it. `launches` holds the same recipe as each known launch runs it, its command in `launch`; of a script or of an entry of a composed
    configuration, which are recipes only as something launches them, the only launch gives the sizes. `run` is all that gbs knows.
    """

    path: str
    document: int
    framework: str | None
    verdict: str | None
    claims: tuple[Stated, ...] = ()
    problem: str = ""
    launch: str = ""
    launches: tuple[Recipe, ...] = ()
    run: Run | None = None
    report: Report | None = None  # for where its numbers stand

    def size(self, name: str) -> Size:
        """Size `name` with where it came from: a `Quantity`, or an `Unknown` or `Conflict` that says why it has no number.

        Raises: ValueError: no size has this name.
        """
        if self.run is not None:
            _must_be_a_size(name, self.run)
        return self.run.geometry.get(name) if self.run else Unknown(name, Reason.MISSING)

    def value(self, name: str) -> int | None:
        """The number of size `name`, or None if it is not known.

        Raises: ValueError: no size has this name.
        """
        size = self.size(name)
        return size.value if isinstance(size, Quantity) else None

    def law(self, name: str = Name.GLOBAL_BATCH_SIZE) -> str:
        """Size `name` for people: "128", "16 x GPUs" where the GPUs are not known, "unknown" where it follows from nothing."""
        value = self.value(name)
        if value is not None:
            return str(value)
        found = symbolic(name, self.run.geometry.stated, self.run.framework.equations) if self.run else None
        return symbolic_text(found) if found else "unknown"

    @property
    def sizes(self) -> dict[str, int]:
        """Every size that is known, by name."""
        seen = self.run.geometry if self.run else Geometry({}, {})
        return {name: size.value for name, size in {**seen.stated, **seen.realised}.items() if isinstance(size, Quantity)}

    @property
    def global_batch_size(self) -> int | None:
        """Samples (or whatever the framework's unit is) per optimizer step over all ranks."""
        return self.value(Name.GLOBAL_BATCH_SIZE)

    @property
    def micro_batch_size(self) -> int | None:
        """Samples per rank per forward pass."""
        return self.value(Name.MICRO_BATCH_SIZE)

    @property
    def gradient_accumulation_steps(self) -> int | None:
        """Forward and backward passes per optimizer step."""
        return self.value(Name.GRADIENT_ACCUMULATION_STEPS)

    @property
    def data_parallel_size(self) -> int | None:
        """Ranks that each see other samples."""
        return self.value(Name.DATA_PARALLEL_SIZE)

    @property
    def world_size(self) -> int | None:
        """Processes that train."""
        return self.value(Name.WORLD_SIZE)

    @property
    def num_nodes(self) -> int | None:
        """Machines that train."""
        return self.value(Name.NUM_NODES)

    @property
    def gpus_per_node(self) -> int | None:
        """Processes that train on each machine."""
        return self.value(Name.GPUS_PER_NODE)

    @property
    def sequence_length(self) -> int | None:
        """Tokens per row, or at most so many."""
        return self.value(Name.SEQUENCE_LENGTH)

    @property
    def tokens_per_step(self) -> int | None:
        """Tokens per optimizer step over all ranks, at most so many unless rows are packed full."""
        return self.value(Name.TOKENS_PER_STEP)

    @property
    def num_generations(self) -> int | None:
        """Completions per prompt, in reinforcement learning."""
        return self.value(Name.NUM_GENERATIONS)

    @property
    def prompts_per_step(self) -> int | None:
        """Prompts per optimizer step, in reinforcement learning."""
        return self.value(Name.PROMPTS_PER_STEP)

    def __repr__(self) -> str:
        """What helps under a failed assertion: the path, and the batch as far as it is known."""
        from pytest_gbs.formats._escape import escape

        return escape(f"<Recipe {self.path}: {self.problem or f'global batch size {self.law()}'}>")

    @property
    def variants(self) -> tuple[Recipe, ...]:
        """The recipe by itself, unless it only runs as something launches it, and then as each launch runs it."""
        alone = self.run is None or self.run.launch is None
        return (self, *self.launches) if alone else self.launches

    @property
    def title(self) -> str:
        """The framework and what one sample is: `TRL (SFT), samples are packed rows`; "" if nothing is known of it."""
        from pytest_gbs.formats._show_recipe import title

        return title(self.run) if self.run else ""

    def equation(self) -> tuple[tuple[str, str, str], ...]:
        """A line for each size, as in `gbs show`: its name, its number, its arithmetic and its origin."""
        from pytest_gbs.formats import FormatOptions
        from pytest_gbs.formats._places import Places
        from pytest_gbs.formats._show_recipe import lines

        if self.run is None or self.report is None:
            return ()
        launched = [each.run for each in self.launches if each.run is not None and each.run is not self.run]
        return tuple((label, value, text) for label, value, text in lines(self.run, launched, Places(self.report, FormatOptions())))

    def _repr_html_(self) -> str:
        """`equation` as a table."""
        from html import escape

        shown = [tuple(map(escape, line)) for line in self.equation()]
        if not shown:
            return f"<p>{escape(repr(self))}</p>"
        body = "".join(f"<tr><th>{label}</th><td>{value}</td><td>{text}</td></tr>" for label, value, text in shown)
        return f"<table><caption>{escape(self.path)}: {escape(self.title)}</caption><tbody>{body}</tbody></table>"


def read_recipe(file: FileReport, report: Report, path: str) -> Recipe:
    """The recipe that `file` reports on, called `path`; the report must have kept its runs."""
    lone = next((run for run in file.runs if run.launch is None), None) or (file.runs[0] if len(file.runs) == 1 else None)
    claims = _claims(lone, report) if lone else ()
    bare = Recipe(path, file.document, file.framework, file.verdict, claims, file.problem, run=lone, report=report)
    launched = (run for run in file.runs if run.launch is not None)
    return bare._replace(launches=tuple(bare._replace(launch=run.launch.command, run=run) for run in launched if run.launch))


def _claims(run: Run, report: Report) -> tuple[Stated, ...]:
    source = report.sources.get(run.path) or run.document.source
    lines = Lines(source.text)
    said = (claim.declaration for claim in run.claims)
    stated = ((Name.RANK_BATCH_SIZE, d.per_rank, d) if d.per_rank else (d.name, d.value, d) for d in said)
    return tuple(Stated(name, value, d.unit, lines.line_of(d.at.start), d.text) for name, value, d in stated)
