"""Jobs of Kubernetes as launches: containers with commands, variables and GPUs, on as many pods as the job has."""

from pathlib import Path

import pytest

from pytest_gbs.model.quantity import Name, Quantity
from tests.launches.building import batches, checked, codes, launched, recipe

RECIPE = recipe(4, 4, "")
GPUS = "resources: {limits: {nvidia.com/gpu: 8}}"
TORCHRUN = 'command: ["torchrun", "-m", "trl.scripts.sft", "--config", "sft.yaml"]'
SFT = "-m trl.scripts.sft --config sft.yaml"
SCRIPT = "command: [sh, -c]\n    args:\n    - {}\n      torchrun --nproc_per_node=gpu {}" + SFT + "\n"
EIGHT = TORCHRUN.replace('"torchrun"', '"torchrun", "--nproc_per_node=8"')
POD = f"{{containers: [{{name: a, {TORCHRUN}, {GPUS}}}]}}"


def of_kind(kind: str, spec: str, version: str = "v1") -> str:
    """A resource of this kind."""
    return f"apiVersion: {version}\nkind: {kind}\nmetadata: {{name: a}}\nspec: {spec}\n"


def container(words: str, gpus: object = 8, more: str = "{}") -> str:
    """A pod of one container."""
    limits = f"{{limits: {{nvidia.com/gpu: {gpus}}}}}" if gpus else "{}"
    return of_kind("Pod", f"\n  containers:\n  - name: a\n    resources: {limits}\n    env: {more}\n    {words}\n")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"kind: Job\nspec: {{template: {{spec: {POD}}}}}\n", id="no version"),
        pytest.param(of_kind("Deployment", f"{{template: {{spec: {POD}}}}}"), id="what serves"),
        pytest.param(of_kind("Job", "{template: {spec: {containers: [{image: b}]}}}"), id="the image's own command"),
        pytest.param(of_kind("Job", "[]"), id="no mapping"),
        pytest.param(of_kind("Job", "{template: {spec: {containers: {name: a}}}}"), id="no list"),
        pytest.param(container("command: [torchrun, {a: b}]"), id="a word that is none"),
        pytest.param(of_kind("Job", "{template: {spec: {{ .Values.pod }}}}"), id="a template of Helm"),
        pytest.param(container("command: [sh, -c, 'echo torchrun']"), id="nothing that trains"),
    ],
)
def test_what_launches_nothing_is_silent(tmp_path: Path, text: str) -> None:
    found = checked(tmp_path, {"sft.yaml": recipe(), "job.yaml": text})
    assert launched(found) == []
    assert codes(found) == []


@pytest.mark.parametrize(
    ("words", "gpus", "batch"),
    [
        pytest.param("command: [torchrun, --nproc_per_node=8, -m, trl.scripts.sft, --config, sft.yaml]", 8, 128, id="a list"),
        pytest.param("command: [torchrun]\n    args: [--nproc-per-node, '4', -m, trl.scripts.sft, --config, sft.yaml]", 8, 64, id="args"),
        pytest.param("args: [accelerate, launch, -m, trl.scripts.sft, --config, sft.yaml]", 2, 32, id="all GPUs of the pod"),
        pytest.param("args: [accelerate, launch, -m, trl.scripts.sft, --config, sft.yaml]", None, None, id="no GPUs are stated"),
        pytest.param("args: [accelerate, launch, -m, trl.scripts.sft, --config, sft.yaml]", "'2'", 32, id="a number in quotes"),
        pytest.param(SCRIPT.format("|", "\\\n        "), 4, 64, id="a text for a shell"),
        pytest.param(SCRIPT.format(">-", "\n      "), 4, 64, id="a folded text"),
        pytest.param(SCRIPT.format(">-", "\n\n      "), 4, None, id="a folded text, cut by an empty line"),
        pytest.param(f"command: [sh, -c, torchrun --nproc_per_node=gpu\n      {SFT}]", 4, 64, id="a plain text"),
        pytest.param(f'command: [sh, -c, "torchrun --nproc_per_node=2 \\\n      {SFT}"]', 4, None, id="an escape"),
    ],
)
def test_words_and_gpus_of_a_container(tmp_path: Path, words: str, gpus: object, batch: int | None) -> None:
    found = batches(checked(tmp_path, {"sft.yaml": RECIPE, "job.yaml": container(words, gpus)}))
    assert found == ([batch] if batch is not None or gpus is None else [])


@pytest.mark.parametrize(
    ("words", "batch"),
    [
        ("command: [torchrun, --nproc_per_node=$(GPUS), -m, trl.scripts.sft, --config, sft.yaml]", 32),
        ("command: [torchrun, --nproc_per_node=$(SECRET), -m, trl.scripts.sft, --config, sft.yaml]", None),
        ("command: [torchrun, --nproc_per_node=$(OTHER), -m, trl.scripts.sft, --config, sft.yaml]", None),
        ("command: [sh, -c, torchrun --nproc_per_node=$GPUS -m trl.scripts.sft --config sft.yaml]", 32),
        ("command: [sh, -c, torchrun --nproc_per_node=$(GPUS) -m trl.scripts.sft --config sft.yaml]", 32),
        ("command: [sh, -c, torchrun --nproc_per_node=$(nproc) -m trl.scripts.sft --config sft.yaml]", None),
    ],
)
def test_variables_of_a_container(tmp_path: Path, words: str, batch: int | None) -> None:
    variables = "[{name: GPUS, value: '2'}, {name: SECRET, valueFrom: {secretKeyRef: {name: a, key: b}}}]"
    assert batches(checked(tmp_path, {"sft.yaml": RECIPE, "job.yaml": container(words, 8, variables)})) == [batch]


TRAIN = f"{{numNodes: 2, numProcPerNode: 8, {TORCHRUN}, resourcesPerNode: {{limits: {{nvidia.com/gpu: 8}}}}}}"
REPLICAS = f"{{Master: {{replicas: 1, template: {{spec: {POD}}}}}, Worker: {{replicas: 3, template: {{spec: {POD}}}}}}}"
MPI = "command: [mpirun, -np, '16', python, -m, trl.scripts.sft, --config, sft.yaml]"
LAUNCHER = f"{{template: {{spec: {{containers: [{{name: a, {MPI}}}]}}}}}}"


@pytest.mark.parametrize(
    ("kind", "spec", "batch"),
    [
        pytest.param("PyTorchJob", f"{{nprocPerNode: '8', pytorchReplicaSpecs: {REPLICAS}}}", 512, id="4 pods of 8"),
        pytest.param("PyTorchJob", f"{{pytorchReplicaSpecs: {REPLICAS}}}", 64, id="4 pods of 1 process"),
        pytest.param("PyTorchJob", f"{{nprocPerNode: auto, pytorchReplicaSpecs: {REPLICAS}}}", 512, id="all GPUs of each pod"),
        pytest.param(
            "PyTorchJob", f"{{nprocPerNode: '8', elasticPolicy: {{maxReplicas: 4}}, pytorchReplicaSpecs: {REPLICAS}}}", None, id="elastic"
        ),
        pytest.param("TrainJob", f"{{trainer: {TRAIN}}}", 256, id="TrainJob"),
        pytest.param("TrainJob", f"{{trainer: {TRAIN.replace('numNodes: 2, ', '')}}}", None, id="the runtime says how many nodes"),
        pytest.param("MPIJob", f"{{mpiReplicaSpecs: {{Launcher: {LAUNCHER}}}}}", 256, id="MPIJob"),
        pytest.param("Job", f"{{template: {{spec: {POD.replace(TORCHRUN, EIGHT)}}}}}", 128, id="Job"),
        pytest.param("Job", f"{{tasks: [{{replicas: 2, template: {{spec: {POD}}}}}]}}", 16, id="volcano: torchrun's own numbers"),
        pytest.param(
            "JobSet", f"{{replicatedJobs: [{{replicas: 2, template: {{spec: {{template: {{spec: {POD}}}}}}}}}]}}", 16, id="JobSet"
        ),
        pytest.param(
            "LeaderWorkerSet", f"{{leaderWorkerTemplate: {{size: 2, workerTemplate: {{spec: {POD}}}}}}}", 16, id="LeaderWorkerSet"
        ),
    ],
)
def test_pods_of_a_job(tmp_path: Path, kind: str, spec: str, batch: int | None) -> None:
    assert batches(checked(tmp_path, {"sft.yaml": RECIPE, "job.yaml": of_kind(kind, spec)})) == [batch]


PLAIN = "command: [python, -m, trl.scripts.sft, --config, sft.yaml]"


@pytest.mark.parametrize(
    ("kind", "gpus", "batch"),
    [
        pytest.param("PyTorchJob", 8, None, id="pods of several GPUs"),
        pytest.param("Job", 1, None, id="pods to which nothing says which they are"),
        pytest.param("PyTorchJob", 1, 64, id="4 pods of one GPU, 16 x 4"),
    ],
)
def test_a_plain_program_on_each_pod(tmp_path: Path, kind: str, gpus: int, batch: int | None) -> None:
    pod = f"{{containers: [{{name: a, {PLAIN}, resources: {{limits: {{nvidia.com/gpu: {gpus}}}}}}}]}}"
    replicas = f"{{Master: {{replicas: 1, template: {{spec: {pod}}}}}, Worker: {{replicas: 3, template: {{spec: {pod}}}}}}}"
    spec = f"{{pytorchReplicaSpecs: {replicas}}}" if kind == "PyTorchJob" else f"{{parallelism: 4, template: {{spec: {pod}}}}}"
    assert batches(checked(tmp_path, {"sft.yaml": RECIPE, "job.yaml": of_kind(kind, spec)})) == [batch]


@pytest.mark.parametrize(("nodes", "processes", "found"), [(1, 8, ["GBS304"]), (4, 2, []), (4, 8, [])])
def test_a_pod_may_be_one_of_several(tmp_path: Path, nodes: int, processes: int, found: list[str]) -> None:
    words = f"command: [torchrun, --nnodes={nodes}, --nproc_per_node={processes}, -m, trl.scripts.sft, --config, sft.yaml]"
    report = checked(tmp_path, {"sft.yaml": RECIPE, "job.yaml": container(words, 4)})
    assert batches(report) == [16 * nodes * processes]
    assert codes(report) == found


def test_each_document_is_a_job_and_places_are_those_of_the_file(tmp_path: Path) -> None:
    small = container("command: [torchrun, --nproc_per_node=8, -m, trl.scripts.sft, --config, sft.yaml]", 4)
    text = f"{of_kind('Job', f'{{template: {{spec: {POD}}}}}')}---\n{small}"
    found = checked(tmp_path, {"sft.yaml": RECIPE, "job.yaml": text})
    assert batches(found) == [16, 128]
    (finding,) = (each for each in found.findings() if each.code == "GBS304")
    assert text[finding.at.start :].startswith("8, -m")
    assert text[finding.related[0].at.start :].startswith("4}")


@pytest.mark.parametrize("end", ["", "\n", "  ", "  \n", "\n      ", "\n      \n"])
def test_a_script_at_the_end_of_a_file(tmp_path: Path, end: str) -> None:
    text = container("command: [bash, -xc]\n    args:\n    - |\n      torchrun --nproc_per_node=2 " + SFT).rstrip("\n") + end
    assert batches(checked(tmp_path, {"job.yaml": text, "sft.yaml": RECIPE})) == [32]  # 4 x 4 x 2


def mounted(recipe: str, mount: str, volume: str, words: str = TORCHRUN) -> str:
    """A ConfigMap with a recipe and a script, and a pod of 8 GPUs that has it as a volume."""
    lines = "".join(f"    {line}\n" for line in recipe.splitlines())
    texts = f"data:\n  sft.yaml: |\n{lines}  run.sh: |\n    torchrun --nproc_per_node=4 {SFT}\n"
    volumes = f"volumes: [{{name: v, configMap: {{{volume}}}}}]"
    pod = f"{{{volumes}, containers: [{{name: a, {words}, {GPUS}, volumeMounts: [{{name: v, {mount}}}]}}]}}"
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\n{texts}---\n{of_kind('Pod', pod)}"


AT = EIGHT.replace("sft.yaml", "/config/sft.yaml")
BASH = "command: [bash, /config/run.sh]"


@pytest.mark.parametrize(
    ("mount", "volume", "words", "found"),
    [
        pytest.param("mountPath: /other", "name: c", AT, [], id="mounted elsewhere"),
        pytest.param("mountPath: /config", "name: d", AT, [], id="another ConfigMap"),
        pytest.param("subPath: sft.yaml", "name: c", AT, [], id="mounted nowhere"),
        pytest.param("mountPath: /config", "name: c, items: [{key: run.sh, path: sft.yaml}]", AT, [], id="another key"),
        pytest.param("mountPath: /config, subPath: run.sh", "name: c", AT, [], id="a part of it"),
        pytest.param("mountPath: /config", "name: c", AT, [128], id="a recipe"),
        pytest.param("mountPath: /config/", "name: c, items: [{key: sft.yaml, path: sft.yaml}]", AT, [128], id="one of its keys"),
        pytest.param("mountPath: /config/sft.yaml, subPath: sft.yaml", "name: c", AT, [128], id="a single file"),
        pytest.param("mountPath: /config", "name: c", BASH, [64], id="a script"),
    ],
)
def test_files_of_a_configmap(tmp_path: Path, mount: str, volume: str, words: str, found: list[int]) -> None:
    files = {"job.yaml": mounted(RECIPE, mount, volume, words)} | ({"sft.yaml": RECIPE} if words == BASH else {})
    assert batches(checked(tmp_path, files)) == found


def test_places_in_a_configmap_are_those_of_the_file(tmp_path: Path) -> None:
    text = mounted(recipe(3, 4, "") + "max_steps: 10\n", "mountPath: /config", "name: c", AT)
    (run,) = launched(checked(tmp_path, {"job.yaml": text}))
    size = run.geometry.get(Name.MICRO_BATCH_SIZE)
    assert isinstance(size, Quantity)
    assert size.at is not None
    assert text[: size.at.start].endswith("per_device_train_batch_size: ")
    assert text[size.at.start : size.at.stop] == "3"


RUNTIME = of_kind(
    "TrainingRuntime",
    "{mlPolicy: {numNodes: 2, torch: {numProcPerNode: 4}}, template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: "
    f"{{spec: {{containers: [{{name: node, {TORCHRUN}}}]}}}}}}}}}}]}}}}}}",
)


@pytest.mark.parametrize(
    ("spec", "batch"),
    [
        pytest.param("{runtimeRef: {name: b}}", [], id="another runtime"),
        pytest.param("{runtimeRef: {name: a}}", [128], id="all of it"),
        pytest.param("{runtimeRef: {name: a}, trainer: {numNodes: 3}}", [192], id="more nodes"),
        pytest.param("{runtimeRef: {name: a}, trainer: {numProcPerNode: 8}}", [256], id="more processes"),
        pytest.param(f"{{runtimeRef: {{name: a}}, trainer: {{{TORCHRUN}}}}}", [128], id="a command of its own"),
    ],
)
def test_what_a_trainjob_leaves_to_its_runtime(tmp_path: Path, spec: str, batch: list[int]) -> None:
    text = f"{RUNTIME}---\n{of_kind('TrainJob', spec)}"
    assert batches(checked(tmp_path, {"sft.yaml": RECIPE, "job.yaml": text})) == batch


OWN = """\
from trl import SFTConfig, SFTTrainer
SFTTrainer(args=SFTConfig(per_device_train_batch_size=4, gradient_accumulation_steps=4)).train()
"""


@pytest.mark.parametrize(
    ("program", "files", "batch"),
    [
        pytest.param("train.py", {"a/src/train.py": OWN}, [], id="no image"),
        pytest.param("train.py", {"a/src/train.py": OWN, "a/src/Dockerfile": "COPY other.py /w/\n"}, [], id="an image without it"),
        pytest.param(
            "train.py",
            {"a/src/train.py": OWN, "a/src/Dockerfile": "<<<<<<< a\nCOPY train.py /w/\n=======\n>>>>>>> b\n"},
            [],
            id="an image with a merge conflict",
        ),
        pytest.param(
            "train.py",
            {"a/b/train.py": OWN, "a/c/train.py": OWN, "a/b/Dockerfile": "COPY train.py /w/\n", "a/c/Dockerfile": "COPY train.py /w/\n"},
            [],
            id="two images with it",
        ),
        pytest.param("/w/train.py", {"a/src/train.py": OWN, "a/src/Dockerfile": "COPY train.py /x/\n"}, [], id="copied elsewhere"),
        pytest.param("/a/b/c/train.py", {"a/jobs/train.py": OWN}, [], id="deep in an image"),
        pytest.param("train.py", {"a/src/train.py": OWN, "a/src/Dockerfile": "COPY train.py fsdp.yaml /w/\n"}, [128], id="copied"),
        pytest.param("/w/train.py", {"a/src/train.py": OWN, "a/src/Dockerfile": "WORKDIR /w\nCOPY --chown=1 . .\n"}, [128], id="all of it"),
        pytest.param("/workspace/train.py", {"a/jobs/train.py": OWN}, [128], id="beside the job"),
    ],
)
def test_programs_of_an_image(tmp_path: Path, program: str, files: dict[str, str], batch: list[int]) -> None:
    words = f"command: [/opt/entrypoint.sh, torchrun, --nproc_per_node=8, {program}]"
    assert batches(checked(tmp_path, {"a/jobs/job.yaml": container(words), **files})) == batch


def test_a_job_that_ends_its_shell_is_not_the_next_one(tmp_path: Path) -> None:
    ends = container("command: [bash, -c]\n    args:\n    - |\n      while kill -0 $PID; do sleep 5; done;\n      exit $CODE")
    run = container("command: [bash, -c]\n    args:\n    - |\n      torchrun --nproc_per_node=8 " + SFT)
    assert batches(checked(tmp_path, {"sft.yaml": RECIPE, "job.yaml": f"{ends}---\n{run}"})) == [128]
