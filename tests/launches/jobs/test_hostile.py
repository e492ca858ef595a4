"""Job files that were made to be expensive: what is too much is not read, and reading ends soon."""

import time

import pytest

from pytest_gbs.launches.jobs import read_job_file
from pytest_gbs.model.command import OtherFiles
from pytest_gbs.model.location import Source

TASK = "resources: {}\n"
POD = "apiVersion: v1\nkind: Pod\nspec: {containers: [{command: [python, x.py]}]}\n"
VARIABLES = ",".join(f"{{name: A{number}, value: 1}}" for number in range(900))
CONTAINER = f"{{name: a, command: [python, x.py], env: [{VARIABLES}]}}"
PODS = f"{{template: {{spec: {{template: {{spec: {{containers: [{'*c,' * 900}]}}}}}}}}}}"
COPIES = f"apiVersion: v1\nkind: JobSet\nx: &c {CONTAINER}\ny: &p {PODS}\n"
TRAIN = "apiVersion: v1\nkind: TrainJob\nspec: {runtimeRef: {name: a}, trainer: {command: [python, x.py]}}\n"
MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  x.yaml: |\n" + "    key: value\n" * 20_000
MOUNT = "{name: v, mountPath: /a}"
MOUNTED = f"volumes: [{{name: v, configMap: {{name: a}}}}], containers: [{','.join(['*c'] * 150)}]"
MOUNTS = f"apiVersion: v1\nkind: Pod\nx: &c {{command: [python, x.py], volumeMounts: [{','.join([MOUNT] * 900)}]}}\nspec: {{{MOUNTED}}}\n"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(TASK + "run: |\n" + "  python train.py --batch_size 3\n" * 12_000, id="a long text"),
        pytest.param(TASK + "run: >\n" + "  python train.py --batch_size 3\n" * 12_000, id="a long folded text"),
        pytest.param(TASK + "run: |\n  " + "(" * 50_000, id="brackets"),
        pytest.param(TASK + "run: |\n  " + "{{ a }} " * 50_000, id="placeholders"),
        pytest.param(TASK + "run: python\nenvs:\n" + "".join(f"  A{number}: 1\n" for number in range(20_000)), id="variables"),
        pytest.param(f"{COPIES}spec: {{replicatedJobs: [{'*p,' * 900}]}}\n", id="aliases of aliases"),
        pytest.param("---\n".join([POD] * 2_000), id="many documents"),
        pytest.param("---\n".join([TRAIN] * 2_000), id="many jobs with runtimes"),
        pytest.param(f"{MAP}---\n{MOUNTS}", id="a large text mounted often"),
        pytest.param(POD.replace("x.py", '"' + "$(A)" * 50_000 + '"'), id="references"),
        pytest.param("resources: &a {any_of: [*a]}\nrun: python\n", id="a node in itself"),
    ],
)
def test_reading_ends(text: str) -> None:
    start = time.process_time()
    read_job_file(Source("job.yaml", text), OtherFiles(lambda _: None, lambda _: False))
    assert time.process_time() - start < 4
