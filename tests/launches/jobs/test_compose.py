"""Services of docker compose as launches."""

from pathlib import Path

import pytest

from tests.launches.building import KEYS, batches, checked, launched

RECIPE = f"{KEYS}per_device_train_batch_size: 2\ngradient_accumulation_steps: 4\n"
RUN = "torchrun --nproc_per_node {each} -m trl.scripts.sft --config {path}"
DEVICES = "    deploy: {{resources: {{reservations: {{devices: [{{driver: nvidia, {of}, capabilities: [gpu]}}]}}}}}}\n"


def service(command: str, rest: str = "") -> str:
    """A compose file with one service that trains and one that does not."""
    return f"services:\n  database:\n    image: postgres\n  train:\n    image: ours\n    command: {command}\n{rest}"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("services:\n  train:\n    image: ours\n", id="the command of the image"),
        pytest.param(service("sleep infinity"), id="nothing that trains"),
        pytest.param("services: [train]\n", id="a list"),
        pytest.param(f"service:\n  train:\n    command: {RUN.format(each=2, path='sft.yaml')}\n", id="another key"),
    ],
)
def test_what_trains_nothing_is_silent(tmp_path: Path, text: str) -> None:
    assert launched(checked(tmp_path, {"sft.yaml": RECIPE, "compose.yaml": text})) == []


INDENTED = ">\n      torchrun --nproc_per_node 2 -m trl.scripts.sft\n        --config sft.yaml\n        --per_device_train_batch_size 1\n"


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(INDENTED, id="folded"),
        pytest.param(INDENTED.replace(">", "|", 1), id="as it is"),
        pytest.param(INDENTED.replace("torchrun", "env A='b c' torchrun"), id="quotes"),
    ],
)
def test_a_command_without_a_shell_goes_on_in_the_next_line(tmp_path: Path, command: str) -> None:
    """Compose cuts a text into words at blanks and line breaks: 1 x 4 on 2 GPUs, and nothing to complain of."""
    found = checked(tmp_path, {"sft.yaml": RECIPE, "compose.yaml": service(command)})
    assert batches(found) == [8]
    assert [finding.code for file in found.files for finding in file.findings] == []


def test_a_command_of_a_shell_ends_with_its_line(tmp_path: Path) -> None:
    command = "|\n      bash -c 'torchrun --nproc_per_node 2 -m trl.scripts.sft --config sft.yaml\n      --per_device_train_batch_size 1'\n"
    found = checked(tmp_path, {"sft.yaml": RECIPE, "compose.yaml": service(command)})
    assert batches(found) == [16]
    assert [finding.code for file in found.files for finding in file.findings] == ["GBS312"]


# 2 x 4 on each GPU
CASES = {
    "a text": (service(RUN.format(each=2, path="sft.yaml")), 16),
    "a list": (service(str(RUN.format(each=2, path="sft.yaml").split())), 16),
    "an entry point": (service("[--config, sft.yaml]", "    entrypoint: [torchrun, --nproc_per_node, '4', -m, trl.scripts.sft]\n"), 32),
    "a shell": (service(f'bash -c "cd /code && {RUN.format(each=8, path="sft.yaml")}"', "    volumes: ['.:/code']\n"), 64),
    "a mounted recipe": (service(RUN.format(each=8, path="/configs/sft.yaml"), "    volumes: ['./:/configs:ro']\n"), 64),
    "a variable that is filled in": (service(RUN.format(each="${GPUS:-4}", path="sft.yaml")), 32),
    "a variable of the container": (
        service(f"bash -c '{RUN.format(each='$$GPUS', path='sft.yaml')}'", "    environment: {GPUS: 4}\n"),
        32,
    ),
    "a list of variables": (service(f"bash -c '{RUN.format(each='$$GPUS', path='sft.yaml')}'", "    environment: [GPUS=4]\n"), 32),
    "devices as a number": (service(RUN.format(each="gpu", path="sft.yaml"), DEVICES.format(of="count: 2")), 16),
    "devices one by one": (service(RUN.format(each="gpu", path="sft.yaml"), DEVICES.format(of="device_ids: ['0', '3']")), 16),
    "one device": (service(RUN.format(each="gpu", path="sft.yaml"), DEVICES.format(of="device_ids: ['3']")), 8),
    "all devices": (service(RUN.format(each="gpu", path="sft.yaml"), DEVICES.format(of="count: all")), None),
}


@pytest.mark.parametrize(("text", "batch"), CASES.values(), ids=CASES)
def test_services(tmp_path: Path, text: str, batch: int | None) -> None:
    assert batches(checked(tmp_path, {"sft.yaml": RECIPE, "docker-compose.yml": text})) == [batch]
