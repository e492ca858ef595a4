"""What a training framework does with a configuration: a table of plain data."""

from __future__ import annotations

from collections.abc import Callable

from pytest_gbs.model.condition import Condition
from pytest_gbs.model.document import Document
from pytest_gbs.model.equation import Enforcement, Equation
from pytest_gbs.model.location import KeyPath
from pytest_gbs.model.pins import Evidence, Pin
from pytest_gbs.model.quantity import Size
from pytest_gbs.model.record import Final, NamedTuple


class SameAs(NamedTuple):
    """A default that is the value of another size; not taken where size `unless` is given."""

    name: str
    unless: str = ""


class Treatment:
    """What a framework does with a value for a size, by what the value is."""

    ACCEPTS: Final = "accepts"  # taken as the whole number that it denotes
    STOPS: Final = "stops"  # an error at start, before the first step
    STOPS_LATE: Final = "stops-late"  # an error once training runs
    NO_STEPS: Final = "no-steps"  # training ends without an optimizer step, and no error
    CONTINUES: Final = "goes-on"  # training goes on, on a batch that is none, and no error
    UNSET: Final = "unset"  # as if the key were not there
    AUTO: Final = "auto"  # filled in at run time
    ELASTIC: Final = "elastic"  # chosen at run time for the number of processes
    TEMPLATE: Final = "template"  # a placeholder that something fills in before the framework reads the file
    SCHEDULE: Final = "schedule"  # several values, one after the other while training runs
    COUNTS: Final = "counts"  # a list of devices, also as a text with commas: as many as it names


class ValueReading(NamedTuple):
    """What the framework does with values for a size that are not plain positive whole number.

    Each field is a `Treatment`: for a number in quotes (`"8"`), other text, a float without a fraction (`8.0`), one with
    (`8.5`), true or false, null, zero, a negative number, and a list or mapping. `words` are texts and numbers below 1 with a treatment of
    their own ("auto", -1). `why` says in the framework's words or in ours what happens, for the message.
    """

    quoted: str = Treatment.STOPS
    text: str = Treatment.STOPS
    whole_float: str = Treatment.STOPS
    fraction: str = Treatment.STOPS
    boolean: str = Treatment.STOPS
    null: str = Treatment.STOPS
    zero: str = Treatment.STOPS
    negative: str = Treatment.STOPS
    collection: str = Treatment.STOPS
    words: tuple[tuple[str | int, str], ...] = ()
    why: str = ""


# A value that says nothing about the batch whatever it is: never judged, taken only where it is a whole number.
LENIENT: Final = ValueReading(*(Treatment.AUTO,) * 9)


class Row(NamedTuple):
    """One key that holds a size: where it is, which size it is, its default, and what happens with odd values.

    `default` is a number, another size, or None if the framework has none. `source` cites file, line and version.
    `minimum` is the least number that is taken as it is. A `ratio` row takes a number between 0 and 1 as a share of the run, which
    makes the size unknown and is not a mistake. The framework looks at the key only while all conditions of `when` hold.

    Several rows may give one size: the first whose key is there wins. `since` and `until` bound the versions of the framework's
    package that have the key (`until` excluded), and a copy in the repository with the `evidence` is of a version that has it.
    """

    key: KeyPath
    name: str
    default: int | SameAs | None = None
    reading: ValueReading = ValueReading()
    source: str = ""
    unit: str = ""
    minimum: int = 1
    ratio: bool = False
    when: tuple[Condition, ...] = ()
    since: str | None = None
    until: str | None = None
    evidence: tuple[Evidence, ...] = ()


class Constraint(NamedTuple):
    """A relation that the framework checks: `dividend` product is a multiple of the `divisor` product, or `at_least` holds.

    With `at_least` it is the quotient of both, or the `dividend` alone, that must be so large; with `either` it is enough that one of
    the two is a multiple of the other, and nothing is said if one of them is not known.

    `rule` is the name of the rule that reports it. `when` are conditions that must all hold for it to apply, `needs` sizes that must be
    stated in the file (rather than follow). `label` names the relation for people, `source` cites it. `since` and `until` bound the
    versions that check it, and of a copy in the repository `evidence` says whether it does. `doubt` says for people why it is not
    certain that the version at hand checks it ("before 0.4 it does not check this"), "" if it is. With `fixed` nothing is checked
    where one of the sizes changes while training runs. With `local` the GPUs per node are those of one process: it holds wherever a
    launcher starts a process for each GPU. What the trainer's class checks is `by_trainer`: a program may have a trainer of its own.
    Of several versions that may be meant only those before `only_before` check it, if that is not empty.
    """

    rule: str
    dividend: tuple[str, ...]
    divisor: tuple[str, ...] = ()
    at_least: int | None = None
    enforcement: str = Enforcement.STOPS
    when: tuple[Condition, ...] = ()
    needs: tuple[str, ...] = ()
    label: str = ""
    source: str = ""
    since: str | None = None
    until: str | None = None
    fixed: bool = False
    either: bool = False
    local: bool = False
    evidence: tuple[Evidence, ...] = ()
    doubt: str = ""
    by_trainer: bool = False
    only_before: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Every size of the relation."""
        return (*self.dividend, *self.divisor)


class KeyChoice(NamedTuple):
    """Keys of which the framework accepts at most one, or needs at least one, while all conditions of `when` hold.

    `label` says what it does otherwise. Where programs compose configurations (`Arguments.HYDRA`) a file by itself need not be whole,
    and only its launches must have what is needed; with `whole` the framework's files are. `since`, `until`, `evidence` and `doubt` are
    as for a `Constraint`.
    """

    keys: tuple[KeyPath, ...]
    label: str
    when: tuple[Condition, ...] = ()
    source: str = ""
    whole: bool = False
    since: str | None = None
    until: str | None = None
    evidence: tuple[Evidence, ...] = ()
    doubt: str = ""


class Arguments:
    """How the framework takes settings from a command line that names the recipe or is in its place."""

    FLAGS: Final = "flags"  # --key value, --key=value; dashes within a key are underscores; dots nest
    PAIRS: Final = "pairs"  # key=value, dots nest; a value is YAML
    HYDRA: Final = "hydra"  # key=value, +key=value, ++key=value, ~key in Hydra's grammar
    BOTH: Final = "both"  # flags for the options of the program, pairs for what the file holds
    YACS: Final = "yacs"  # flags for the options of the program, and `KEY.IN.CAPITALS value` for what the file holds
    NONE: Final = "none"  # nothing on the command line changes a setting


class Switch(NamedTuple):
    """A key that makes sizes vary while training runs, when it is on and all of `when` hold; `label` says how.

    `enforcement` is `stops` where the framework refuses to start with it, and `doubt` is as for a `Constraint`.
    """

    condition: Condition
    sizes: tuple[str, ...]
    label: str
    source: str = ""
    enforcement: str = Enforcement.IGNORES
    when: tuple[Condition, ...] = ()
    doubt: str = ""


class Recognition(NamedTuple):
    """How a configuration of this framework is recognised: by its keys first and its path second.

    A document belongs to the table if it has every key of `all_of`, at least one of each group in `one_of` and none of
    `none_of`. Of several such tables the one with more of its `marks` present wins (keys that are strong signs), then the one
    of whose `paths` one is nearest to the end of the file's path (lower-case words between `/ . _ -`, such as `dpo`), then
    the higher `weight`. Every document of the table holds one of the keys in the first group: keep that group short.
    Variants with the same keys are distinguished by values: one of the conditions in `when`, if there are any, must hold.
    With `header`, programs that the comments above the first key name (`full_finetune_distributed.py`) are nearer than the path.
    `programs` are names of its own programs, as `model.program` has them, and `uses` names that other programs of it import; a
    command line that names no file is recognised by them alone, or if they have a `common_name` (`train`) by its keys as well. If it
    `yields`, other tables that such a program imports come first.
    `syntax` is the one that its files have (`json`), "" where any will do, COMMAND_LINE if its programs read no file. `files` are
    globs, one of which the file's path must match; only the tables of a user's own settings have them.

    In Python programs a recipe is a call of one of `calls`: the module and the class (`trl.SFTConfig`), `dict` for a dictionary and
    `module` for the names of a module, which must have the keys as well. A table with `imports` is that of programs alone
    which import that module, and wins over those without. `functions` are those of the library that make or fill a recipe, by their own
    names, with the key that each of their arguments sets.
    """

    all_of: tuple[KeyPath, ...] = ()
    one_of: tuple[tuple[KeyPath, ...], ...] = ()
    none_of: tuple[KeyPath, ...] = ()
    marks: tuple[KeyPath, ...] = ()
    paths: tuple[str, ...] = ()
    weight: int = 0
    when: tuple[Condition, ...] = ()
    header: bool = False
    syntax: str = ""
    files: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    imports: str = ""
    programs: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    common_name: bool = False
    yields: bool = False
    functions: tuple[tuple[str, tuple[tuple[str, KeyPath], ...]], ...] = ()


class Removal(NamedTuple):
    """A key of the batch that `package` has no more from version `since` on, what it does then, and what to write in its place.

    `instead` is "" if nothing has taken its place. `pin` is what the repository says of its version of the package, where that
    is a single one that has the key no more; a removal without it is not reported.
    """

    key: KeyPath
    package: str
    since: str
    label: str
    source: str
    instead: str = ""
    pin: Pin | None = None


class Loader:
    """Which YAML the framework's own loader reads."""

    PYYAML: Final = "pyyaml"  # YAML 1.1 as PyYAML resolves it
    OMEGACONF: Final = "omegaconf"  # PyYAML with floats as YAML 1.2 has them
    OMEGACONF_AS_READ: Final = "omegaconf-as-read"  # the same, but interpolations are not resolved: they stay text
    YAML12: Final = "yaml12"


class Text(NamedTuple):
    """A key that holds a number the framework would choke on if its loader read it as text (`2e-5`)."""

    key: KeyPath
    label: str
    source: str


class FeedsGpus(NamedTuple):
    """When one process feeds a micro batch to each GPU that it sees, as `nn.DataParallel` does, so that each is a data-parallel rank.

    Its program, or a file of the repository that this imports, takes one of `uses` from a module, all conditions of `when` hold, and
    neither these files nor the recipe's keys have one of the names in `unless`.
    """

    uses: tuple[str, ...]
    when: tuple[Condition, ...] = ()
    unless: frozenset[str] = frozenset()
    source: str = ""


class Framework(NamedTuple):
    """One table: pure data, but for at most one named `derive` hook, which a test counts.

    `unit` is what one unit of the global batch is: samples, pairs, prompts, completions, tokens, rows. `rows` are the keys that
    hold sizes, `also` the other keys the table knows (so that a near miss is not taken for a misspelt key). `assumed` are
    sizes the framework takes as given if nothing says otherwise, such as a tensor parallel size of 1. `intervals` are
    keys that count in optimizer steps. `names` are keys whose text may name a size (a run's name). `derive` gets
    the document and the sizes solved so far and returns those that really hold where the framework rounds or corrects.

    An epoch of training is not one of the data set where `packing` holds (a sample has several of
    its rows) or one of `partial_epochs` (the processes do not go through all of it together).

    GPUs may be taken by something else than training, and it is not stated how many, where one of `reserves` holds and `shares` (the
    same GPUs do both) does not.

    `settle` gets the document and the sizes solved so far, and returns sizes that the framework puts in their place or fills in by
    other means than a product ("one micro batch per step unless a global batch is given"); the equations are solved again with them.

    `arguments` says how a command line changes what a file says (one of `Arguments`). `companions` are keys whose text names a
    DeepSpeed configuration that the framework reads beside the recipe, `includes` those whose text names a file of the framework's own,
    whose keys count as below that key. A `companion` is a DeepSpeed file itself: it has sizes and no verdict. `flags` is true where
    its programs take flags if they are given no file, whatever `arguments` says.

    `package` is the name under which the framework is installed, whose versions `since` and `until` of its rows and equations
    speak of. `copies` are the files of which a copy of it in a repository has one, which says its version. `removals` are keys that a
    newer version has no more, `feeds_gpus` says when one process trains on several GPUs, `one_gpu` are packages of which a program
    that imports them all has one process train on one GPU whatever it sees, and `eras` what the framework was before
    versions that changed it, oldest first (made by
    `frameworks.versions.in_eras`). `commit` is the state of its source that the recipe is for where that is not a release, and any of
    several versions; "" elsewhere. `beside` are other packages that a rule asks the version of, `own_files` the configurations in its
    package that have the defaults of the table, by the ends of their paths, and `pins` what the repository says of
    these.
    """

    name: str
    title: str
    recognition: Recognition
    unit: str
    rows: tuple[Row, ...]
    equations: tuple[Equation, ...]
    constraints: tuple[Constraint, ...] = ()
    exclusions: tuple[KeyChoice, ...] = ()
    requirements: tuple[KeyChoice, ...] = ()
    switches: tuple[Switch, ...] = ()
    texts: tuple[Text, ...] = ()
    assumed: tuple[tuple[str, int], ...] = ()
    also: frozenset[str] = frozenset()
    names: tuple[KeyPath, ...] = ()
    packing: Condition | None = None
    partial_epochs: tuple[Condition, ...] = ()
    sequences_per_sample: int = 1
    loader: str = Loader.PYYAML
    version: str = ""
    source: str = ""
    derive: Callable[[Document, dict[str, Size]], dict[str, Size]] | None = None
    reserves: tuple[Condition, ...] = ()
    shares: Condition | None = None
    arguments: str = Arguments.FLAGS
    companions: tuple[KeyPath, ...] = ()
    includes: tuple[KeyPath, ...] = ()
    settle: Callable[[Document, dict[str, Size]], dict[str, Size]] | None = None
    companion: bool = False
    flags: bool = False
    package: str = ""
    removals: tuple[Removal, ...] = ()
    eras: tuple[Era, ...] = ()
    copies: tuple[str, ...] = ()
    feeds_gpus: FeedsGpus | None = None
    one_gpu: frozenset[str] = frozenset()
    commit: str = ""
    beside: tuple[str, ...] = ()
    own_files: tuple[str, ...] = ()
    pins: tuple[Pin, ...] = ()

    @property
    def removed(self) -> tuple[Removal, ...]:
        """The keys that the version of a package that the repository is for has no more."""
        return tuple(removal for removal in self.removals if removal.pin is not None)

    def __hash__(self) -> int:
        # Much is remembered of a table, and a hash of all its rows would cost more than most of that.
        return hash(self.title)


class Era(NamedTuple):
    """What a framework was before version `until` of its package, or of another `package`; without `until` at each version stated.

    A copy with one piece of the `evidence` is of that era.
    """

    until: str
    table: Framework
    package: str = ""
    evidence: tuple[Evidence, ...] = ()
