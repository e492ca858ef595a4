"""A launch gives another global batch size than the recipe, or the script itself, claims.

The recipe says `# Config for 8 nodes with GBS 128`, and a script runs it on other hardware or with another accumulation. Learning
rate and schedule are still those of the batch claimed. A batch size that a script prints before its launch
(`echo "Effective batch size: 128"`) counts like its comment, and so does the comment of a Python
program about the batch that it sets itself, if a script starts it without another one.

Each launch is checked separately: with the processes that its launcher starts, and the recipe with the settings of the command
line in it. Only the number of the claim counts, not the hardware beside it: a launch on one node with eight times the
accumulation gives the same batch, and is correct.

It is an error for a shell script, a Slurm script or a Makefile, but a warning if its command line gives every factor of the batch:
what a recipe claims of its own settings may not be meant then. It is a warning for a number that the script
divides to find its accumulation, of which only a remainder may be lost, and for a command in a document or a claim of one: of the
section that the command is in, or that names the script, if there is no other that it may mean. Launches in tests,
and those whose recipe or batch is a variable, judge nothing.

How to fix it: change the accumulation or the micro batch on the command line until the product is the number claimed (the
finding lists the whole numbers that do), or state that this launch trains with another batch.

It stays silent if the launch leaves the number of GPUs open and some number would give the batch claimed, and if the launch
can't share its GPUs, so that it has no batch at all.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gbs.arithmetic.solver import symbolic
from pytest_gbs.arithmetic.wording import amounts, arithmetic, beside, called, count, leaves, listing, short, symbolic_product
from pytest_gbs.claims.factors import with_hardware
from pytest_gbs.claims.findings import claimed_number
from pytest_gbs.frameworks.repairs import reaching
from pytest_gbs.model.declaration import Declaration
from pytest_gbs.model.document import COMPUTED, DIVIDED, DOCUMENTS
from pytest_gbs.model.launch import Kind, Launch
from pytest_gbs.model.location import Location
from pytest_gbs.model.outcome import ITS_RULE, Finding, Fix, Outcome, Related, Severity, Undetermined, Verified
from pytest_gbs.model.quantity import HARDWARE, Name, Origin, Quantity
from pytest_gbs.model.rule import SFT_RECIPE, Example, Needs, Rule, Scope, written_in
from pytest_gbs.model.run import Claim, Reading, Run


def check(run: Run) -> Iterator[Outcome]:
    """Yield an outcome for each number claimed of the recipe that `run` launches; numbers that it may have are reported once."""
    if run.launch is None or not run.claims:
        return
    judged = [(claim, _judge(run, run.launch, claim)) for claim in run.claims if _has_batch(claim)]
    # Of several numbers for several kinds of hardware a launch need only give one; what it works out it has anyway.
    verified = any(isinstance(outcome, Verified) and claim.declaration.by != COMPUTED for claim, outcome in judged)
    kept = [outcome for claim, outcome in judged if not verified or isinstance(outcome, Verified) or _is_of_its_hardware(run, claim)]
    # What the same change makes true is reported once: completions and the prompts that they answer, say.
    found = reversed([outcome for outcome in kept if isinstance(outcome, Finding)])
    firsts = {each.holds or each: each for each in sorted(found, key=lambda each: each.severity == Severity.ERROR)}.values()
    yield from (outcome for outcome in kept if not isinstance(outcome, Finding) or outcome in firsts)


def _is_of_its_hardware(run: Run, claim: Claim) -> bool:
    """Whether a claim that works nothing out names hardware, and all the sizes that it names are those of the launch."""
    declaration = claim.declaration
    named = declaration.sum is None and any(with_hardware(declaration))
    return named and all(run.geometry.value(name) == value for name, value in declaration.conditions)


def _has_batch(claim: Claim) -> bool:
    """Whether the launch has a batch, or may have one: not where its GPUs can't be shared, whatever else is unknown."""
    reading = claim.judgement.readings[0]
    return reading.holds is not False or reading.size is not None or bool(reading.free)


def _judge(run: Run, launch: Launch, claim: Claim) -> Outcome:
    declaration, reading = claim.declaration, claim.judgement.readings[0]
    at = _place(run, launch, reading.size) if launch.start is not None else declaration.at
    if reading.holds:
        return Verified(ITS_RULE, at, run.assumptions, decides=True)
    if reading.holds is None:
        message = _claimed(run, declaration)
        if launch.kind == Kind.SCRIPT and declaration.at.source == launch.at.source:  # no recipe's own check shows it
            return Undetermined(ITS_RULE, declaration.at, message, reading.free, _implies(reading), values=reading.values)
        return Undetermined(ITS_RULE, at, message, reading.free, claim=False)
    weak = declaration.weak or declaration.by == DIVIDED or declaration.at.source.lower().endswith(DOCUMENTS)
    certain = launch.kind == Kind.SCRIPT and not weak and not _gives_every_factor(launch, declaration, reading.size)
    severity = Severity.ERROR if certain else Severity.WARNING
    beside = Related(declaration.at, "claimed")
    if reading.size is None:
        found = symbolic(Name.GLOBAL_BATCH_SIZE, run.geometry.stated, run.framework.equations)
        given = symbolic_product(found) if found else "another number"
        free = listing(map(called, reading.free), last="and")
        message = f"this launch gives {given}, but {_claimed(run, declaration)}: no number of {free} gives that"
        return Finding(ITS_RULE, message, severity, at, "", (beside,), assumptions=run.assumptions)
    return _finding(run, declaration, reading.size, severity, at)


def _gives_every_factor(launch: Launch, declaration: Declaration, size: Quantity | None) -> bool:
    """Whether a claim is of another file, of whose settings none but those of the hardware is part of the launch's batch."""
    script = launch.at.source
    stated = leaves(size) if size is not None else ()
    factors = [leaf for leaf in stated if leaf.name not in HARDWARE and leaf.origin != Origin.DEFAULT]
    return (
        declaration.at.source != script and len(factors) > 1 and all(leaf.at is not None and leaf.at.source == script for leaf in factors)
    )


def _implies(reading: Reading) -> str:
    """With which values of the one missing size the claim would hold, "" if several are missing."""
    return f"true with {amounts(reading.values, reading.free[0])}" if len(reading.free) == 1 and reading.values else ""


def _finding(run: Run, declaration: Declaration, size: Quantity, severity: str, at: Location) -> Finding:
    unit = " tokens" if size.name == Name.TOKENS_PER_STEP else ""
    here, there = _other_hardware(run, declaration, size.name)
    message = f"this launch gives {size.value:,}{unit}{here}, but {_claimed(run, declaration)}{there}"
    operands = [leaf for leaf in leaves(size) if leaf.at is not None]
    related = tuple(dict.fromkeys(beside(operands, at)))
    otherwise = "claimed" if declaration.at == at else "launch"
    label = next((short(leaf.name) for leaf in operands if leaf.at == at), otherwise)
    details = arithmetic(size, run.framework.equations)
    claimed = (Related(declaration.at, "claimed"),) if declaration.at != at else ()
    advice, fixes = _ways_out(run, size, declaration)
    return Finding(ITS_RULE, message, severity, at, label, (*related, *claimed), details, advice, run.assumptions, fixes)


def _ways_out(run: Run, size: Quantity, declaration: Declaration) -> tuple[str, tuple[Fix, ...]]:
    """The changes of its settings by which the launch would give the claimed number, in words, and as fixes of the launching file."""
    repairs = reaching(run, size, declaration.value)
    script = run.launch.at.source if run.launch is not None else ""
    fixes = (fix for repair in repairs if (fix := repair.fix) is not None and all(edit.at.source == script for edit in fix.edits))
    return ", or ".join(f"set {repair.words}" for repair in repairs), tuple(fixes)


def _place(run: Run, launch: Launch, size: Quantity | None) -> Location:
    """What to point at: a setting of the batch on the command line, else the processes it starts, else the command."""
    given = [leaf for leaf in leaves(size or run.geometry.get(Name.WORLD_SIZE)) if leaf.at and leaf.at.source == launch.at.source]
    settings = [leaf.at for leaf in given if leaf.name not in HARDWARE]
    hardware = [leaf.at for leaf in given if leaf.name in HARDWARE]
    return next((at for at in (*settings, *hardware) if at is not None), launch.at)


def _other_hardware(run: Run, declaration: Declaration, batch: str) -> tuple[str, str]:
    """The hardware of the launch and that of its script's claim, in words (` on 4 GPUs`, ` on 8`), if they differ; else nothing.

    A launch whose `batch` its own hardware leaves open is meant on that of the claim.
    """
    own_claim = run.launch is not None and declaration.at.source == run.launch.at.source
    for stated in with_hardware(declaration) if own_claim else ():
        own = run.geometry.value(stated.name)
        if own is None and run.geometry.value(batch) is None:
            return f" on {count(stated.value, stated.name)}", ""
        if own is not None and stated.value not in (own, run.geometry.value(Name.GPUS_PER_NODE) if declaration.ambiguous else own):
            return f" on {count(own, stated.name)}", f" on {stated.value:,}"
    return "", ""


def _claimed(run: Run, declaration: Declaration) -> str:
    at, said = declaration.at.source, claimed_number(declaration)
    if run.launch is None or at != run.launch.at.source:
        return f"{at.rpartition('/')[2]} claims {said}"
    if declaration.by:
        return f"the script {declaration.by} {said}"
    return f"{'the text around it' if at.lower().endswith(DOCUMENTS) else 'its comment'} claims {said}"


_RECIPE = "# Config for 1 node of 8 GPUs with GBS 128\n" + SFT_RECIPE + "gradient_accumulation_steps: 4\n"

_SCRIPT = "#!/bin/bash\naccelerate launch --num_processes 4 train.py --config sft.yaml --gradient_accumulation_steps {steps}\n"

RULE = Rule(
    *written_in(__name__),
    scope=Scope.LAUNCH,
    needs=Needs.CLAIMS,
    summary="a launch gives another global batch size than the number claimed",
    bad=(Example((("sft.yaml", _RECIPE), ("run.sh", _SCRIPT.format(steps=4)))),),
    good=(Example((("sft.yaml", _RECIPE), ("run.sh", _SCRIPT.format(steps=8)))),),
    check=check,
    meant_by_scaling=True,
)
