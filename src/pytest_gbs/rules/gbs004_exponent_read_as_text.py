"""A number that the framework's YAML loader reads as text, and on which the framework breaks.

`learning_rate: 2e-5` is a number for people and for YAML 1.2. PyYAML reads YAML 1.1, where a number with an exponent needs a dot
and a sign (`2.0e-5`), so that the value arrives as the text "2e-5". The same goes for a number in quotes.

What the framework does: the argument parser of transformers hands the text on, and the run stops with a `TypeError` when the
optimizer compares it with zero: after the model was loaded, on every rank. TRL converts the text, and so do most other frameworks;
nothing is reported there.

How to fix it: write the number with a dot and a signed exponent, without quotes. The finding shows the number.

It stays silent for frameworks that convert text to numbers, if nothing in the file says which script reads it, and for
interpolations.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from re import Match, Pattern
from re import compile as compile_pattern

from pytest_gbs.model.document import Document, Scalar
from pytest_gbs.model.fileview import FileView
from pytest_gbs.model.framework import Text
from pytest_gbs.model.location import Location, dotted
from pytest_gbs.model.outcome import ITS_RULE, Applicability, Edit, Finding, Fix, Outcome, Severity
from pytest_gbs.model.rule import About, Example, Rule, Scope, written_in
from pytest_gbs.readers.scalar import loader_of, resolve

_LONGEST = 40  # digits and all; longer texts are not numbers that people write


def check(file: FileView) -> Iterator[Outcome]:
    """Yield a finding for each number of `file` that its framework would get as text and break on."""
    framework = file.framework
    if framework is None:
        return
    loader = loader_of(file.document.syntax, framework.loader)
    for text in framework.texts:
        node = file.document.get(*text.key)
        if isinstance(node, Scalar) and node.tag is None and isinstance(resolve(node, loader), str):
            number = _number().fullmatch(node.text) if len(node.text) <= _LONGEST else None
            if number:
                yield _finding(file.document, text, node, number)


@cache
def _number() -> Pattern[str]:
    return compile_pattern(r"(?P<sign>[-+]?)(?=\.?[0-9])(?P<whole>[0-9]*)(?P<fraction>(?:\.[0-9]*)?)(?:[eE](?P<exponent>[-+]?[0-9]+))?")


def _finding(document: Document, text: Text, node: Scalar, number: Match[str]) -> Finding:
    at = Location(document.source.path, node.start, node.stop, text.key)
    written, better = document.source.text[node.start : node.stop], _plain(number)
    why = "YAML 1.1 needs a dot and a signed exponent" if node.plain else "a number in quotes is text"
    fix = Fix(f"write {better}", Applicability.SAFE, (Edit(at, written, better),))
    message = f"{dotted(text.key)} {written} is read as text: {why}; {text.label}"
    return Finding(ITS_RULE, message, Severity.ERROR, at, "text", holds=f"write {better}", fixes=(fix,))


def _plain(number: Match[str]) -> str:
    """The number as every loader reads it: `2e-5` as `2.0e-5`."""
    sign = "-" if number["sign"] == "-" else ""
    whole, fraction, exponent = number["whole"] or "0", number["fraction"], number["exponent"]
    if exponent is None:
        return f"{sign}{whole}{fraction}"
    signed = exponent if exponent[0] in "+-" else f"+{exponent}"
    return f"{sign}{whole}{fraction if len(fraction) > 1 else '.0'}e{signed}"


_RECIPE = """\
model_name_or_path: my/model
per_device_train_batch_size: 4
gradient_accumulation_steps: 2
learning_rate: {rate}
block_size: 1024
output_dir: out
"""

RULE = Rule(
    *written_in(__name__),
    scope=Scope.FILE,
    summary="a number is read as text, and the framework breaks on it",
    bad=(Example((("clm.yaml", _RECIPE.format(rate="2e-5")),)),),
    good=(Example((("clm.yaml", _RECIPE.format(rate="2.0e-5")),)),),
    check=check,
    about=About.VALUE,
)
