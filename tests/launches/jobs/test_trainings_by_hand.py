"""Ten tasks of SkyPilot and ten jobs of Kubernetes as public examples have them, reduced, with batches worked out by hand."""

from pathlib import Path
from textwrap import dedent

import pytest

from tests.launches.building import KEYS, batches, checked, codes

FLAGS = "--model_name_or_path my/model --data_path data.json --model_max_length 2048 --learning_rate 2e-5"
TRAINER = "import transformers\nparser = transformers.HfArgumentParser((transformers.TrainingArguments,))\n"
SFT = f"{KEYS}per_device_train_batch_size: 2\ngradient_accumulation_steps: 4\n"
LONG = "model_name_or_path: my/model\nstage: sft\nfinetuning_type: full\ndataset: identity\ntemplate: llama4\ncutoff_len: 1024\n"
FACTORY = f"{LONG}do_train: true\nper_device_train_batch_size: 1\ngradient_accumulation_steps: 2\n"
TUNE = """\
model: {_component_: torchtune.models.llama3_1.lora_llama3_1_8b, lora_attn_modules: [q_proj]}
tokenizer: {_component_: torchtune.models.llama3.llama3_tokenizer, max_seq_len: 8192}
optimizer: {_component_: torch.optim.AdamW, lr: 2e-5}
loss: {_component_: torchtune.modules.loss.LinearCrossEntropyLoss}
batch_size: 2
gradient_accumulation_steps: 4
"""
AXOLOTL = "base_model: my/model\nadapter: qlora\nmicro_batch_size: 2\ngradient_accumulation_steps: 4\nsequence_len: 4096\ndatasets: []\n"
VERL = "python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo data.train_batch_size=256 data.max_prompt_length=512"
ACTOR = (
    "actor_rollout_ref.actor.ppo_mini_batch_size=64 actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=4 actor_rollout_ref.rollout.n=5"
)


def task(resources: str, run: str, before: str = "") -> str:
    """A task of SkyPilot."""
    lines = "".join(f"  {line}\n" for line in dedent(run).strip().splitlines())
    return f"{before}resources:\n  accelerators: {resources}\nrun: |\n{lines}"


SKYPILOT = {
    # 128 x 512 / 2048 / 4 / 1 / 8 = 1: 4 x 1 x 8
    "accumulation computed from nodes and GPUs": (
        {
            "task.yaml": task(
                "A100-80GB:8",
                f"""
                PER_DEVICE=4
                LENGTH=2048
                NUM_NODES=`echo "$SKYPILOT_NODE_IPS" | wc -l`
                torchrun --nnodes=$NUM_NODES --nproc_per_node=$SKYPILOT_NUM_GPUS_PER_NODE train.py {FLAGS} \\
                  --per_device_train_batch_size $PER_DEVICE \\
                  --gradient_accumulation_steps $((128 * 512 / $LENGTH / $PER_DEVICE / $NUM_NODES / $SKYPILOT_NUM_GPUS_PER_NODE))
                """,
                "num_nodes: 1\n",
            ),
            "train.py": TRAINER,
        },
        [32],
    ),
    # 2 x 4 x 8, of the file that MODEL_SIZE names
    "a mounted recipe named by a variable": (
        {
            "task.yaml": task(
                "A100:8",
                "tune run --nproc_per_node $SKYPILOT_NUM_GPUS_PER_NODE lora_finetune_distributed --config /configs/${MODEL_SIZE}-lora.yaml",
                "envs:\n  MODEL_SIZE: 8B\nfile_mounts:\n  /configs: ./configs\n",
            ),
            "configs/8B-lora.yaml": TUNE,
        },
        [64],
    ),
    # 2 x 4 x 4 nodes x 8
    "accelerate on four nodes": (
        {
            "task.yaml": task(
                "H200:8",
                """
                NP=$(($SKYPILOT_NUM_GPUS_PER_NODE * $SKYPILOT_NUM_NODES))
                accelerate launch --num_machines $SKYPILOT_NUM_NODES --num_processes $NP --machine_rank $SKYPILOT_NODE_RANK \\
                  -m trl.scripts.sft --config /sft/sft.yaml
                """,
                "num_nodes: 4\nfile_mounts:\n  /sft: ./sft\n",
            ),
            "sft/sft.yaml": SFT,
        },
        [256],
    ),
    "a recipe of the package that is not in the repository": (
        {
            "task.yaml": task(
                "H200:8",
                "tune run --nnodes $SKYPILOT_NUM_NODES --nproc_per_node $SKYPILOT_NUM_GPUS_PER_NODE full_finetune_distributed "
                "--config llama4/maverick_17B_128E_full gradient_accumulation_steps=1",
                "num_nodes: 4\n",
            )
        },
        [],
    ),
    # 2 x 4 x 1
    "a folder of its own, one GPU": (
        {
            "task.yaml": task("L4:1", "accelerate launch -m axolotl.cli.train qlora.yaml", "workdir: mistral\n"),
            "mistral/qlora.yaml": AXOLOTL,
        },
        [8],
    ),
    # 4 x 4 x 1
    "plain Python on one GPU": (
        {
            "task.yaml": task("A100-80GB:1", f"python train.py {FLAGS} --per_device_train_batch_size 4 --gradient_accumulation_steps 4"),
            "train.py": TRAINER,
        },
        [16],
    ),
    # 2 x 1 x 1: each of the GPUs to choose from is one
    "a choice of GPUs": (
        {
            "task.yaml": task(
                "{L4, A10g, A10, L40, A40, A100}",
                'torchrun --nnodes=`echo "$SKYPILOT_NODE_IPS" | wc -l` --nproc_per_node=$SKYPILOT_NUM_GPUS_PER_NODE lora.py '
                f"{FLAGS} --per_device_train_batch_size 2 --gradient_accumulation_steps 1",
            ),
            "lora.py": TRAINER,
        },
        [2],
    ),
    "a program that is not Python": (
        {"task.yaml": task("A100:8", "cd ~/llm.c\nmpirun -np $SKYPILOT_NUM_GPUS_PER_NODE ./train_gpt2cu -b 64 -t 1024 -d 524288")},
        [],
    ),
    # 1 x 2 x 2 nodes x 8
    "LLaMA-Factory on two nodes": (
        {
            "task.yaml": task(
                "H200:8",
                "FORCE_TORCHRUN=1 NNODES=$SKYPILOT_NUM_NODES NODE_RANK=$SKYPILOT_NODE_RANK llamafactory-cli train configs/full_sft.yaml",
                "num_nodes: 2\nworkdir: .\n",
            ),
            "configs/full_sft.yaml": FACTORY,
        },
        [32],
    ),
    # 64 prompts x 5 answers
    "verl on one node": (
        {
            "task.yaml": task(
                "H100:4", f"{VERL} {ACTOR} trainer.nnodes=$SKYPILOT_NUM_NODES trainer.n_gpus_per_node=$SKYPILOT_NUM_GPUS_PER_NODE"
            )
        },
        [320],
    ),
}


@pytest.mark.parametrize(("files", "wanted"), SKYPILOT.values(), ids=SKYPILOT)
def test_tasks_of_skypilot(tmp_path: Path, files: dict[str, str], wanted: list[int]) -> None:
    report = checked(tmp_path, files)
    assert batches(report) == wanted
    assert codes(report) == []


def container(command: str, gpus: int = 8, env: str = "[]") -> str:
    """The containers of a pod."""
    words = ", ".join(f'"{word}"' for word in command.split())
    return f'containers: [{{name: trainer, command: [{words}], env: {env}, resources: {{limits: {{nvidia.com/gpu: "{gpus}"}}}}}}]'


def job(kind: str, spec: str, version: str = "batch/v1") -> str:
    """A job of Kubernetes."""
    lines = "".join(f"  {line}\n" for line in dedent(spec).strip("\n").splitlines())
    return f"apiVersion: {version}\nkind: {kind}\nmetadata:\n  name: sft\nspec:\n{lines}"


TORCHRUN = "torchrun --nproc_per_node={each} --nnodes={nodes} -m trl.scripts.sft --config sft.yaml"
PLAIN = "torchrun -m trl.scripts.sft --config sft.yaml"

# Each GPU takes 2 x 4.
KUBERNETES = {
    "PyTorchJob whose torchrun says it all": (
        job(
            "PyTorchJob",
            f"""
            pytorchReplicaSpecs:
              Worker:
                replicas: 4
                template: {{spec: {{{container(TORCHRUN.format(each=8, nodes=4))}}}}}
            """,
            "kubeflow.org/v1",
        ),
        [256],
    ),
    "PyTorchJob with a master and three workers": (
        job(
            "PyTorchJob",
            f"""
            nprocPerNode: "4"
            pytorchReplicaSpecs:
              Master:
                replicas: 1
                template: {{spec: {{{container(PLAIN, 4)}}}}}
              Worker:
                replicas: 3
                template: {{spec: {{{container(PLAIN, 4)}}}}}
            """,
            "kubeflow.org/v1",
        ),
        [128],
    ),
    "an elastic PyTorchJob has no fixed number of nodes": (
        job(
            "PyTorchJob",
            f"""
            elasticPolicy: {{minReplicas: 1, maxReplicas: 4}}
            nprocPerNode: "8"
            pytorchReplicaSpecs:
              Worker:
                replicas: 4
                template: {{spec: {{{container(PLAIN)}}}}}
            """,
            "kubeflow.org/v1",
        ),
        [None],
    ),
    "Job of one pod": (job("Job", f"template: {{spec: {{{container(TORCHRUN.format(each=8, nodes=1))}}}}}"), [64]),
    "indexed Job of two pods": (
        job(
            "Job",
            f"""
            completionMode: Indexed
            completions: 2
            parallelism: 2
            template: {{spec: {{{container(TORCHRUN.format(each=8, nodes=2))}}}}}
            """,
        ),
        [128],
    ),
    "Pod with the processes in a variable": (
        job(
            "Pod",
            container("torchrun --nproc_per_node=$(GPUS) -m trl.scripts.sft --config sft.yaml", 2, '[{name: GPUS, value: "2"}]'),
            "v1",
        ),
        [16],
    ),
    "TrainJob": (
        job(
            "TrainJob",
            """
            trainer:
              numNodes: 2
              numProcPerNode: 4
              command: [torchrun, -m, trl.scripts.sft, --config, sft.yaml]
              resourcesPerNode: {limits: {nvidia.com/gpu: 4}}
            """,
            "trainer.kubeflow.org/v1alpha1",
        ),
        [64],
    ),
    "JobSet of two slices": (
        job(
            "JobSet",
            f"""
            replicatedJobs:
            - name: slice
              replicas: 2
              template:
                spec:
                  parallelism: 2
                  template: {{spec: {{{container(TORCHRUN.format(each=8, nodes=4))}}}}}
            """,
            "jobset.x-k8s.io/v1alpha2",
        ),
        [256],
    ),
    "LeaderWorkerSet": (
        job(
            "LeaderWorkerSet",
            f"""
            replicas: 1
            leaderWorkerTemplate:
              size: 2
              workerTemplate: {{spec: {{{container(TORCHRUN.format(each=8, nodes="$(LWS_GROUP_SIZE)"))}}}}}
            """,
            "leaderworkerset.x-k8s.io/v1",
        ),
        [128],
    ),
    "Job of volcano": (
        job(
            "Job",
            f"""
            minAvailable: 3
            tasks:
            - replicas: 1
              name: master
              template: {{spec: {{{container(TORCHRUN.format(each=4, nodes=3), 4)}}}}}
            - replicas: 2
              name: worker
              template: {{spec: {{{container("sleep 1", 4)}}}}}
            """,
            "batch.volcano.sh/v1alpha1",
        ),
        [96],
    ),
}


@pytest.mark.parametrize(("text", "wanted"), KUBERNETES.values(), ids=KUBERNETES)
def test_jobs_of_kubernetes(tmp_path: Path, text: str, wanted: list[int | None]) -> None:
    report = checked(tmp_path, {"job.yaml": text, "sft.yaml": SFT})
    assert batches(report) == wanted
    assert codes(report) == []
