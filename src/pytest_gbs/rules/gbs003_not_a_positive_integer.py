"""A size whose value is not a positive whole number for this framework, or another number than it looks like.

Few frameworks check their batch sizes when they read them. An accumulation of -1 trains no step at all and ends without an
error; a zero divides by zero after the model was loaded; `"8"` and `8.0` stop only where the data loader is built.

The finding says what the framework does, from the framework's own table: what stops one is taken by another. TRL, for example,
turns the text `"8"` into a number and transformers does not.

The finding is a warning where the framework takes the value, but reads another number than a person does: YAML 1.1 takes `010`
for octal (8) and `1:30` for base 60 (90), and Python takes `true` for 1.

How to fix it: write a plain whole number, without quotes, leading zeros or a decimal point.

It stays silent on `auto` and `null` where the framework fills them in, on interpolations and placeholders (`${...}`, `???`, `<...>`,
`{...}`, `[NAME]`), on custom tags, and on `null` in a file with a list of `defaults`, which a program composes with others.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gbs.frameworks.reading import Misread, misread, treatment
from pytest_gbs.model.digits import is_digits
from pytest_gbs.model.document import Document, Mapping, Node, Scalar, followed
from pytest_gbs.model.fileview import FileView
from pytest_gbs.model.framework import Framework, Row, Treatment
from pytest_gbs.model.location import Location, dotted
from pytest_gbs.model.outcome import ITS_RULE, Finding, Outcome, Severity
from pytest_gbs.model.record import Final
from pytest_gbs.model.rule import SFT_RECIPE, About, Example, Rule, Scope, written_in
from pytest_gbs.readers.scalar import loader_of, resolve

_DOES: Final = {
    Treatment.STOPS: "stops at start",
    Treatment.STOPS_LATE: "stops during training",
    Treatment.NO_STEPS: "trains no step and ends without an error",
    Treatment.CONTINUES: "continues with a meaningless batch size",
}
# Of a file that is composed with others, which programs do: a null in it waits for the command line or for the program.
_COMPOSES: Final = ("defaults",)
_LONGEST: Final = 18  # digits; a longer number is not a size, and a longer text is not worth showing


def check(file: FileView) -> Iterator[Outcome]:
    """Yield a finding for each size of `file` that the framework stumbles over, and each that it reads as another number."""
    framework, keyed = file.framework, file.document.keyed
    if framework is None:
        return
    odd = [row for row in framework.rows if (entry := keyed.get(row.key)) and not _is_ordinary(row, entry[1])]
    if not odd:
        return
    for found in misread(file.document, framework._replace(rows=tuple(odd))):
        node = keyed[found.row.key][1]
        if not _is_template(file.document, node) and not (found.value is None and _COMPOSES in keyed):
            yield _refused_values(file.document, framework, found, node)
    for row in odd:
        value = followed(keyed[row.key][1])
        if isinstance(value, Scalar) and value.plain and (trap := _other_reading(row, value, file)):
            node = keyed[row.key][1]
            at = Location(file.document.source.path, node.start, node.stop, row.key)
            yield Finding(ITS_RULE, f"{dotted(row.key)} {trap}", Severity.WARNING, at)


def _is_ordinary(row: Row, node: Node) -> bool:
    """Whether `node` is a positive whole number to every loader, as nearly all are."""
    if not isinstance(node, Scalar) or not node.plain or node.tag is not None or row.minimum > 1:
        return False
    return is_digits(node.text) and node.text[0] != "0" and len(node.text) < _LONGEST


def _is_template(document: Document, node: Node) -> bool:
    """Whether something else replaces `node` before the framework reads it: `{{ x }}` is a mapping to YAML, `!env X` a tag."""
    target = followed(node)
    tag = getattr(target, "tag", None) or ""
    custom = tag not in ("", "!") and not tag.startswith(("!!", "tag:yaml.org,2002:"))
    return target is None or custom or document.source.text.startswith(("{{", "{%"), target.start)


def _refused_values(document: Document, framework: Framework, found: Misread, node: Node) -> Finding:
    title = framework.title.split(" (")[0]
    says = f"{dotted(found.row.key)} {_described(document, found, node)}"
    details = (found.row.reading.why,) if found.row.reading.why else ()
    holds = f"write a whole number, {found.row.minimum} or more"
    return Finding(ITS_RULE, f"{says}; {title} {_DOES[found.treatment]}", Severity.ERROR, found.at, details=details, holds=holds)


def _described(document: Document, found: Misread, node: Node) -> str:
    """What is wrong with the value: `"8" is text, not a whole number`, `0 is less than 1`."""
    target, value = followed(node), found.value
    if not isinstance(target, Scalar):
        return f"is a {'mapping' if isinstance(target, Mapping) else 'list'}, not a whole number"
    written = document.source.text[target.start : target.stop].strip()
    if not written or len(written) > _LONGEST or "\n" in written:
        return "has no value" if not written else "is text, not a whole number"
    if isinstance(value, bool) or value is None:
        return f"{written} is not a number"
    if isinstance(value, str):
        return f"{written} is text, not a whole number"
    if isinstance(value, float):
        return f"{written} is a float, not a whole number"
    return f"{written} is less than {found.row.minimum}"


def _other_reading(row: Row, node: Scalar, file: FileView) -> str:
    """Why a value that the framework takes reads as another number to people, or "" if it does not."""
    assert file.framework is not None
    taken, value = treatment(row, node, file.framework, file.document.syntax)
    if taken != Treatment.ACCEPTS or not isinstance(value, int):
        return ""
    if isinstance(resolve(node, loader_of(file.document.syntax, file.framework.loader)), bool):
        return f"{node.text} is read as {value}: in Python true equals 1"
    digits = node.text.lstrip("+-").replace("_", "")
    if ":" in digits:
        return f"{node.text} is read as {value}: YAML 1.1 reads digits with a colon in base 60"
    if len(digits) > 1 and digits[0] == "0" and is_digits(digits) and digits.lstrip("0") != str(value):
        return f"{node.text} is read as {value}: YAML 1.1 reads a leading zero as octal"
    return ""


_RECIPE = SFT_RECIPE + "gradient_accumulation_steps: {accumulation}\n"

RULE = Rule(
    *written_in(__name__),
    scope=Scope.FILE,
    summary="a size is not a positive whole number, or not the one it looks like",
    bad=(Example((("sft.yaml", _RECIPE.format(accumulation=-1)),)), Example((("sft.yaml", _RECIPE.format(accumulation="010")),))),
    good=(
        Example((("sft.yaml", _RECIPE.format(accumulation=8)),)),
        Example((("sft.yaml", _RECIPE.format(accumulation="${accumulation}")),)),
    ),
    check=check,
    about=About.VALUE,
)
