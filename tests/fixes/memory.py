"""Files in memory, for tests that fix them."""

from collections.abc import Mapping

from pytest_gbs import Given
from pytest_gbs.api import fix, ignore
from pytest_gbs.fixes.apply import FixResult
from pytest_gbs.model.outcome import Applicability
from pytest_gbs.model.settings import Settings
from tests.support import in_memory

SETTINGS, DECLARATIONS = Applicability.SETTINGS, Applicability.DECLARATIONS


def repaired(files: Mapping[str, str], *kinds: str, given: Given | None = None) -> FixResult:
    """What fixing `files` comes to."""
    return fix(in_memory(files), (), Settings(), given or Given(), kinds)


def ignored(files: Mapping[str, str], reason: str = "") -> FixResult:
    """What silencing all findings of `files` comes to."""
    return ignore(in_memory(files), (), Settings(), Given(), reason)


def text(found: FixResult, before: str, path: str = "sft.yaml") -> str:
    """The text of one file after fixing."""
    return found.files[path][1].text if path in found.files else before


def recipe(micro: object = 4, accumulation: object = 2, header: str = "", trailing: str = "", more: str = "") -> str:
    """A small SFT recipe; None leaves a key out."""
    lines = [f"# {header}"] if header else []
    lines += ["model_name_or_path: my/model", "dataset_name: my/data", "max_length: 4096"]
    lines += [f"per_device_train_batch_size: {micro}"] if micro is not None else []
    lines += [f"gradient_accumulation_steps: {accumulation}" + (f"  # {trailing}" if trailing else "")] if accumulation is not None else []
    return "\n".join([*lines, *([more] if more else [])]) + "\n"
