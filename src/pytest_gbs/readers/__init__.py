"""The reading layer: bytes to text, text to documents with the span of every node and the owner of every comment."""

from __future__ import annotations

from pytest_gbs.files.decode import decode
from pytest_gbs.model.document import PROGRAMS, Document
from pytest_gbs.model.limits import MOST_LINES
from pytest_gbs.model.location import Source, Unreadable
from pytest_gbs.model.record import TYPE_CHECKING, Final
from pytest_gbs.readers.refusal import TOO_DEEP, TOO_MANY, is_helm, unreadable

if TYPE_CHECKING:
    from pytest_gbs.model.program_context import ProgramContext

__all__ = ["decode", "read"]

# DeepSpeed reads its configuration with hjson (deepspeed/runtime/config.py:699 at edaa7221); one of these keys is in each.
_DEEPSPEED: Final = ("zero_optimization", "train_micro_batch_size_per_gpu", "train_batch_size")


def read(source: Source, context: ProgramContext | None = None) -> tuple[Document | Unreadable, ...]:
    """The documents of `source` in order, and last, where reading failed, why.

    The suffix decides: `.json` is JSON (hjson where it is a DeepSpeed configuration that is not JSON), `.toml` TOML, `.py` and `.ipynb`
    a program, which may take something from its `context`, everything else YAML.
    """
    if len(source.text) >= MOST_LINES and _lines(source.text) > MOST_LINES:
        return (unreadable(source, 0, f"more than {MOST_LINES:,} lines"),)
    path = source.path.lower()
    if path.endswith(PROGRAMS):
        from pytest_gbs.readers.python import read_python

        return read_python(source, context)
    if is_helm(source.text):
        return (unreadable(source, 0, "a template of Helm")._replace(matters=False),)
    if path.endswith(".json"):
        from pytest_gbs.readers.json_reader import read_json

        found = read_json(source)
        if type(found[0]) is Unreadable and found[0].reason not in (TOO_DEEP, TOO_MANY) and any(key in source.text for key in _DEEPSPEED):
            tolerant = read_json(source, tolerant=True)
            return found if type(tolerant[0]) is Unreadable else tolerant
        return found
    if path.endswith(".toml"):
        from pytest_gbs.readers.toml_reader import read_toml

        return read_toml(source)
    from pytest_gbs.readers.yaml_reader import read_yaml

    return read_yaml(source)


def _lines(text: str) -> int:
    """How many lines `text` has."""
    return text.count("\n") + text.count("\r") - text.count("\r\n") + 1
