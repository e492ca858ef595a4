"""Recipes with a claim, written to a folder and checked for real, for the tests of the 1xx rules."""

from pathlib import Path
from typing import NamedTuple

from pytest_gbs import Given
from pytest_gbs.arithmetic.wording import assumed
from pytest_gbs.files.worktree import WorkTree
from pytest_gbs.model.outcome import Finding, Undetermined
from pytest_gbs.model.settings import Hardware, Settings
from tests.cli.support import write
from tests.support import check

ACCELERATE = """\
distributed_type: {kind}
num_machines: {machines}
num_processes: {processes}
"""


class Checked(NamedTuple):
    """What came of one recipe: its verdict, the codes and severities found, and the whole findings."""

    verdict: str | None
    codes: list[str]
    findings: tuple[Finding, ...]
    undetermined: tuple[Undetermined, ...]
    assumptions: tuple[str, ...]

    @property
    def severities(self) -> list[str]:
        """The severities of the findings, in order."""
        return [finding.severity for finding in self.findings]


def recipe(micro: object = 1, accumulation: object = 2, header: str = "", trailing: str = "", more: str = "") -> str:
    """A small SFT recipe with a comment at its head or behind its accumulation; None leaves a key out."""
    lines = [f"# {header}"] if header else []
    lines += ["model_name_or_path: my/model", "dataset_name: my/data", "max_length: 4096"]
    if micro is not None:
        lines.append(f"per_device_train_batch_size: {micro}")
    if accumulation is not None:
        lines.append(f"gradient_accumulation_steps: {accumulation}" + (f"  # {trailing}" if trailing else ""))
    return "\n".join([*lines, *([more] if more else [])]) + "\n"


def launcher(processes: int, machines: int = 1, kind: str = "MULTI_GPU") -> str:
    """An accelerate config."""
    return ACCELERATE.format(processes=processes, machines=machines, kind=kind)


def checked(
    folder: Path, text: str, *, name: str = "sft.yaml", settings: Settings | None = None, given: Given | None = None, **others: str
) -> Checked:
    """What checking `text` comes to, beside other files named `x_yaml="..."` for `launch/x.yaml`."""
    beside = {f"launch/{other.replace('_yaml', '.yaml')}": content for other, content in others.items()}
    report = check(WorkTree(write(folder, {name: text, **beside})), (name,), settings or Settings(), given or Given())
    (file,) = report.files
    return Checked(file.verdict, [f.code for f in file.findings], file.findings, file.undetermined, tuple(map(assumed, file.assumptions)))


def on_nodes_of(gpus: int) -> Settings:
    """Settings that say how many GPUs a node has."""
    return Settings(hardware=(Hardware(("**",), gpus_per_node=gpus, origin="gpus-per-node in [tool.gbs]"),))
