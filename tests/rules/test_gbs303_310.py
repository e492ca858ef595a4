"""The rules about single launches: hardware comments, sizes that don't start, searches, and recipes that are not loaded."""

from pathlib import Path

import pytest

from tests.launches.building import KEYS, accelerate, checked, codes, only, recipe

LAUNCH = "torchrun --nproc_per_node 4 t.py --config sft.yaml\n"
SWIFT = "swift sft --model m --dataset d --train_type lora --per_device_train_batch_size 2 --gradient_accumulation_steps 4\n"
TRL = "from trl import TrlParser\n\nparser = TrlParser((SFTConfig,))\n"
HANDBOOK = "from alignment import H4ArgumentParser\nfrom trl import TrlParser\n\nparser = TrlParser((SFTConfig,))\n"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"# runs on 4 GPUs\n{LAUNCH}", id="the same"),
        pytest.param(f"# runs on 8 GPUs\n{LAUNCH.replace('4', '$GPUS')}", id="not known"),
        pytest.param(f"# trained on 8 GPUs in the paper\n{LAUNCH}", id="history"),
        pytest.param("# 2 nodes of 4 GPUs\ntorchrun --nnodes 2 --nproc_per_node 4 t.py --config sft.yaml\n", id="nodes and GPUs of each"),
        pytest.param("# 4 GPUs\ntorchrun --nnodes 2 --nproc_per_node 4 t.py --config sft.yaml\n", id="meant for each node"),
        pytest.param("# 8 GPUs\ntorchrun --nnodes 2 --nproc_per_node 4 t.py --config sft.yaml\n", id="meant in all"),
        pytest.param(f"# 8 GPUs\necho start\n\n{LAUNCH}\n{LAUNCH.replace('4', '8')}", id="of two launches"),
        pytest.param(f"# runs on 8 GPUs\n{LAUNCH.replace('4', '${GPUS:-4}')}", id="a default"),
        pytest.param(f"GPUS=4\n# GPUS=8\n{LAUNCH.replace('4', '$GPUS')}", id="another value, commented out"),
        pytest.param(f"export GPUS=4\n# export GPUS=8  # of a full node\n{LAUNCH.replace('4', '$GPUS')}", id="the same of an export"),
        pytest.param(f"# should run on 8 GPUs, but this script uses 4\n{LAUNCH}", id="a contrast"),
        pytest.param(f"# 8 GPUs\nNPROC_PER_NODE=4 CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7 {SWIFT}", id="two GPUs for each process"),
        pytest.param(f"# runs on 2 GPUs\nexport CUDA_VISIBLE_DEVICES=0,1\n{LAUNCH.replace('4', '1')}", id="one process on both"),
    ],
)
def test_a_hardware_comment_is_in_order(text: str, tmp_path: Path) -> None:
    assert [code for code in codes(checked(tmp_path, {"sft.yaml": recipe(comment=""), "run.sh": text})) if code == "GBS303"] == []


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        pytest.param("runs on 8 GPUs", "comment says 8 GPUs, but torchrun starts 4 processes", id="in all"),
        pytest.param(
            "8 GPUs per node", "comment says 8 GPUs per node, but torchrun starts 4 processes (4 GPUs per node)", id="of each node"
        ),
        pytest.param("2 nodes", "comment says 2 nodes, but torchrun starts 4 processes (1 node)", id="nodes"),
    ],
)
def test_a_hardware_comment_that_is_wrong_is_found(comment: str, message: str, tmp_path: Path) -> None:
    finding = only(checked(tmp_path, {"sft.yaml": recipe(comment=""), "run.sh": f"# {comment}\n{LAUNCH}"}))
    assert (finding.code, finding.severity, finding.message) == ("GBS303", "warning", message)


BESIDE = "torchrun --nproc_per_node 4 \\\n  t.py --config sft.yaml"


@pytest.mark.parametrize(
    ("end", "expected"),
    [
        pytest.param(" &\nwait\n", ["GBS303"], id="by itself"),
        pytest.param(f" &\n{BESIDE} > b.log 2>&1 &  # the other half\nwait\n", [], id="beside another"),
        pytest.param(f"\n{BESIDE} 2>&1\n", ["GBS303"], id="one after the other"),
        pytest.param(f" && touch done\n{BESIDE} &&\n  touch done\n", ["GBS303"], id="if the first is done"),
    ],
)
def test_gpus_that_two_commands_share_at_once(end: str, expected: list[str], tmp_path: Path) -> None:
    for name, text in (("run.sh", f"# runs on 8 GPUs\n{BESIDE}{end}"), ("README.md", f"# Train on 8 GPUs\n\n```bash\n{BESIDE}{end}```\n")):
        (tmp_path / name).mkdir()
        found = codes(checked(tmp_path / name, {"sft.yaml": recipe(comment=""), name: text}))
        assert [code for code in found if code == "GBS303"] == (expected if name == "run.sh" or BESIDE not in end else [])


ONE_OR_MORE = "torchrun --nnodes ${NNODES:-1} --nproc_per_node 4 t.py --config sft.yaml\n"


@pytest.mark.parametrize(
    ("comment", "expected"),
    [
        pytest.param("4 GPUs on a single node", [], id="the same"),
        pytest.param("16 GPUs on 4 nodes", [], id="with NNODES=4"),
        pytest.param("8 GPUs", [], id="with NNODES=2"),
        pytest.param("8 GPUs on a single node", ["GBS303"], id="of a node that starts 4"),
        pytest.param("a single node with 8 GPUs", ["GBS303"], id="the other way round"),
    ],
)
def test_a_script_for_one_node_or_more(comment: str, expected: list[str], tmp_path: Path) -> None:
    assert codes(checked(tmp_path, {"sft.yaml": recipe(comment=""), "run.sh": f"# {comment}\n{ONE_OR_MORE}"})) == expected


def test_a_job_has_more_gpus_than_its_command_sees(tmp_path: Path) -> None:
    job = "#!/bin/bash\n#SBATCH --nodes=1\n#SBATCH --gpus-per-node=8\nCUDA_VISIBLE_DEVICES={seen} "
    for seen, expected in (("0,1,2,3", []), ("0,1", ["GBS304"])):  # 4 processes
        assert codes(checked(tmp_path, {"sft.yaml": recipe(comment=""), "run.sh": job.format(seen=seen) + LAUNCH})) == expected


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        pytest.param(f'# runs on 8 GPUs\n{LAUNCH.strip()} "$@"\n', ["GBS303"], id="more words for the program"),
        pytest.param(f"# runs on 8 GPUs\n{LAUNCH.strip()} --max_steps ${{STEPS:-100}}\n", ["GBS303"], id="other defaults"),
        pytest.param(f"# runs on 8 GPUs\n\n# change this\nN=4\n{LAUNCH.replace('4', '$N')}", [], id="a number to change"),
    ],
)
def test_what_a_user_may_choose_is_no_doubt_about_the_gpus(script: str, expected: list[str], tmp_path: Path) -> None:
    assert codes(checked(tmp_path, {"sft.yaml": recipe(comment=""), "run.sh": script})) == expected


def test_gpus_that_swift_does_not_see_are_not_its_own(tmp_path: Path) -> None:
    finding = only(checked(tmp_path, {"run.sh": f"# 8 GPUs\nNPROC_PER_NODE=2 CUDA_VISIBLE_DEVICES=0,1,2,3 {SWIFT}"}))
    assert (finding.code, finding.message) == ("GBS303", "comment says 8 GPUs, but swift sft starts 2 processes")


SHOWN = "# Train\n\n{said}\n\n```bash\n{command}```\n"


@pytest.mark.parametrize(
    "said",
    [
        pytest.param("Run this on 4 GPUs with the following command:", id="the same"),
        pytest.param("You will need 8 GPUs for the full model.", id="points at no command"),
        pytest.param("For example, you can use 8 GPUs to run:", id="an example to run"),
        pytest.param("Our models need 8 GPUs to run.\n\nOn one machine, run:", id="run, in a paragraph before"),
        pytest.param("We trained on 8 GPUs with the following command:", id="history"),
        pytest.param("With at least 8 GPUs, run the following command:", id="a bound"),
        pytest.param("If you have 8 GPUs, run the following command:", id="a condition"),
        pytest.param("We use 8 GPUs to train the models that we release. Each of them took a week.", id="not in the last sentence"),
        pytest.param("We used 8 GPUs to train the models.", id="what was used"),
        pytest.param("For example, you can use 8 GPUs in the following command:", id="an example"),
        pytest.param("It runs on several GPUs (e.g. 8 GPUs). Now:", id="an example in brackets"),
        pytest.param("The peak memory on 8 GPUs is 20 GB with the following command:", id="a measurement"),
        pytest.param("On 8 GPUs, run the following commands:\n\n```bash\necho\n```\n\nThen:", id="of another command"),
        pytest.param("The following command runs on 8 GPUs, the following script on 2 GPUs:", id="two numbers"),
        pytest.param("On 32 GPUs, run the following command on each node:", id="nodes that are left out"),
        pytest.param("If you have 8 GPUs.\n\nThen:", id="an offer of nothing"),
        pytest.param("If you have 8 GPUs, change it. Now:", id="an offer and more"),
        pytest.param("If you have 4 GPUs,", id="an offer as it is"),
        pytest.param("With `--batch 8` the command below assumes 8 GPUs.", id="with a flag"),
        pytest.param("Our largest model (8 GPUs, 64 GB each).", id="a sentence"),
        pytest.param("- 8 A100 GPUs", id="an item of what is needed"),
        pytest.param("Train (8 GPUs)\n\nLog in first.", id="a line above another paragraph"),
        pytest.param("Trained on 8 GPUs", id="a line about what was"),
        pytest.param("On 8 GPUs:\n<details>\n\nLog in first.\n</details>", id="a fold with text"),
    ],
)
def test_hardware_in_a_document_is_not_that_of_a_command(said: str, tmp_path: Path) -> None:
    assert codes(checked(tmp_path, {"sft.yaml": recipe(comment=""), "README.md": SHOWN.format(said=said, command=LAUNCH)})) == []


@pytest.mark.parametrize(
    "said",
    [
        pytest.param("We train on 8 GPUs using the following command:", id="using"),
        pytest.param("To train on a node of 8 A100 GPUs, please run the following command:", id="run"),
        pytest.param("For example, to train on a node of 8 A100 GPUs, please run the following command:", id="for example"),
        pytest.param("You can use the following command to train with 8 x A100 (80GB):", id="you can use"),
        pytest.param("On 8 GPUs:", id="a colon"),
        pytest.param("For example, to train our base model on 8 GPUs, run:", id="for example, run"),
        pytest.param("We use 8 GPUs to fine-tune the model.", id="what is used for it"),
        pytest.param("Then start the training. We use 8 GPUs as an example.", id="an example"),
        pytest.param("To train our base model with 8 GPUs, you can run", id="run, without a colon"),
        pytest.param("By default, we use 8 GPUs:", id="we use"),
        pytest.param("To train our base model (for example, on one machine) on 8 GPUs:", id="an example of something else"),
        pytest.param("To train on several GPUs (e.g. 8 GPUs):", id="the example that is shown"),
        pytest.param("If you have a machine with 8 A100 (40GB) GPUs,", id="an offer"),
        pytest.param("If you only have 8 GPUs", id="an offer, without a sign"),
        pytest.param("The command below assumes 8 GPUs, but you can run on one with `--batch 8`.", id="but you can, with a flag"),
        # xlang-ai/UnifiedSKG, luyug/Condenser, sahil280114/codealpaca, wxjiao/ParroT and facebookresearch/contriever have the shapes.
        pytest.param("Fine-tuning of the base model (8 GPUs)", id="a line that is no sentence"),
        pytest.param("1. **Stage one on 8 GPUs**", id="a numbered step"),
        pytest.param("The following code launches training on 8 GPUs and goes on from BERT.", id="code"),
        pytest.param("Below is a command that fine-tunes it on a machine with 8 A100 GPUs.\n\nReplace the port.", id="below is"),
        pytest.param("To train on 8 GPUs:\n\n<details>\n<summary><b> Full model </b></summary>", id="a fold"),
        pytest.param("<details>\n<summary>\nWe use these options on 8 GPUs:\n</summary>", id="in the summary of a fold"),
    ],
)
def test_hardware_of_the_command_that_a_document_points_at_is_compared(said: str, tmp_path: Path) -> None:
    finding = only(checked(tmp_path, {"sft.yaml": recipe(comment=""), "README.md": SHOWN.format(said=said, command=LAUNCH)}))
    wanted = "document says 8 GPUs, but torchrun starts 4 processes"
    assert (finding.code, finding.severity, finding.message) == ("GBS303", "warning", wanted)


# Ray gives the GPUs to several models, and the keys say which of them train.
RAY = """\
# {comment}
python -m openrlhf.cli.train_ppo_ray --pretrain m --train_batch_size 16 --micro_train_batch_size 1 --rollout_batch_size 16 \\
    --n_samples_per_prompt 2 --actor_num_nodes 1 --actor_num_gpus_per_node {actor} {more}
"""


SKYRL = "python -m skyrl.train.entrypoints.main_base trainer.policy.model.path=m trainer.placement.policy_num_gpus_per_node=4 {more}\n"


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        pytest.param("trainer.placement.colocate_all=false", [], id="the engines have GPUs of their own"),
        pytest.param("trainer.override_entrypoint=own.entry", [], id="an entry point of its own"),
        pytest.param("trainer.placement.colocate_all=true", ["GBS303"], id="all on the same"),
        pytest.param('"$@"', ["GBS303"], id="by default on the same"),
    ],
)
def test_gpus_of_engines_may_be_named_too(more: str, expected: list[str], tmp_path: Path) -> None:
    found = codes(checked(tmp_path, {"run.sh": f"# runs on 8 GPUs\n{SKYRL.format(more=more)}"}))
    assert [code for code in found if code == "GBS303"] == expected


@pytest.mark.parametrize(
    ("comment", "actor", "more", "expected"),
    [
        pytest.param("Chain of agents on 4 GPUs", 1, "--colocate_all_models", [], id="one GPU, as templates have"),
        pytest.param("runs on 8 GPUs", 4, "--vllm_num_engines 4", [], id="the others generate"),
        pytest.param("runs on 4 GPUs", 4, "--colocate_all_models", [], id="the same"),
        pytest.param("runs on 8 GPUs", 4, "--colocate_all_models", ["GBS303"], id="all do both"),
        pytest.param("runs on 2 GPUs", 4, "--vllm_num_engines 4", ["GBS303"], id="fewer than train"),
    ],
)
def test_gpus_that_generate_may_be_named_too(comment: str, actor: int, more: str, expected: list[str], tmp_path: Path) -> None:
    assert codes(checked(tmp_path, {"run.sh": RAY.format(comment=comment, actor=actor, more=more)})) == expected


def test_what_ray_calls_nodes_may_be_on_one_machine(tmp_path: Path) -> None:
    groups = RAY.format(comment="runs on 1 node", actor=1, more="--vllm_num_engines 4").replace(
        "--actor_num_nodes 1", "--actor_num_nodes 4"
    )
    assert codes(checked(tmp_path, {"run.sh": groups})) == []
    assert "GBS303" in codes(checked(tmp_path, {"run.sh": groups.replace("gpus_per_node 1", "gpus_per_node 8")}))


_NEMO_RL = """\
{head}
grpo: {{num_prompts_per_step: 8, num_generations_per_prompt: 8, max_num_steps: 10}}  {beside}
policy:
  train_global_batch_size: 64
  train_micro_batch_size: 1
  max_total_sequence_length: 512
  dtensor_cfg: {{enabled: true, tensor_parallel_size: 1, context_parallel_size: 1}}
cluster: {{num_nodes: {nodes}, gpus_per_node: {gpus}}}  {key}
"""


def _in_recipe(folder: Path, head: str = "", beside: str = "", key: str = "", nodes: int = 2, gpus: int = 8) -> list[str]:
    text = _NEMO_RL.format(head=head, beside=beside, key=key, nodes=nodes, gpus=gpus)
    found = [f for file in checked(folder, {"grpo.yaml": text}).files for f in file.findings]
    return [f.message for f in found if f.code == "GBS303"]


@pytest.mark.parametrize(
    "written",
    [
        pytest.param({"head": "# 2 nodes of 8 GPUs"}, id="the same"),
        pytest.param({"head": "# 16 GPUs"}, id="the same in all"),
        pytest.param({"head": "# 8 GPUs"}, id="meant for each node"),
        pytest.param({"key": "# 2 nodes"}, id="the same beside the key"),
        pytest.param({"beside": "# 4 nodes"}, id="beside a key of another part"),
        pytest.param({"head": "# trained on 4 nodes in the paper"}, id="history"),
        pytest.param({"head": "# a step on 4 nodes takes 30 mins"}, id="a measurement"),
        pytest.param({"head": "# 4 nodes here\n#\n# 8 nodes there"}, id="several numbers"),
        pytest.param({"head": "# 4 nodes", "nodes": 1, "gpus": 1}, id="one GPU, as in a template"),
    ],
)
def test_a_hardware_comment_of_a_recipe_is_in_order(written: dict[str, object], tmp_path: Path) -> None:
    assert _in_recipe(tmp_path, **written) == []  # type: ignore[arg-type]


_OF_CI = """\
# {head}
recipe: TrainFinetuneRecipeForNextTokenPrediction
step_scheduler: {{global_batch_size: 256, local_batch_size: 1}}
distributed: {{strategy: fsdp2, tp_size: 1}}
model: {{}}
ci: {{nodes: 8}}
"""


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("Runs on 8 nodes of 8 GPUs", []),
        ("Fine-tunes on 64 GPUs", []),
        ("Tested on 4 nodes of 8 GPUs", []),
        ("At least 4 nodes of 8 GPUs", []),
        ("Runs on 4 nodes of 8 GPUs", ["comment says 4 nodes, but ci.nodes has 8 nodes"]),
    ],
)
def test_the_head_of_a_recipe_is_compared_with_its_jobs(head: str, expected: list[str], tmp_path: Path) -> None:
    report = checked(tmp_path, {"sft.yaml": _OF_CI.format(head=head)})
    assert [finding.message for finding in report.findings() if finding.code == "GBS303"] == expected


_VERL = """\
# Runs on 8 GPUs
data: {{train_batch_size: 64}}
actor_rollout_ref: {{actor: {{ppo_mini_batch_size: 64, ppo_micro_batch_size_per_gpu: 1}}, rollout: {{n: 1}}}}
trainer: {{nnodes: 1, n_gpus_per_node: {gpus}}}
{more}
"""


@pytest.mark.parametrize(
    ("gpus", "more", "expected"),
    [
        pytest.param(4, "distillation: {enabled: true, nnodes: 1, n_gpus_per_node: 4}", [], id="a teacher has the others"),
        pytest.param(4, "reward_model: {enable_resource_pool: true}", [], id="a reward model has the others"),
        pytest.param(4, "rollout: {nnodes: 1, n_gpus_per_node: 4}", [], id="rollouts have the others"),
        pytest.param(8, "", [], id="the same"),
        pytest.param(4, "", ["GBS303"], id="no others"),
        pytest.param(4, "distillation: {enabled: false, nnodes: 1, n_gpus_per_node: 4}", ["GBS303"], id="no teacher"),
        pytest.param(16, "distillation: {enabled: true, nnodes: 1, n_gpus_per_node: 4}", ["GBS303"], id="fewer than train"),
    ],
)
def test_the_head_of_a_recipe_may_count_gpus_that_serve(gpus: int, more: str, expected: list[str], tmp_path: Path) -> None:
    assert codes(checked(tmp_path, {"grpo.yaml": _VERL.format(gpus=gpus, more=more)})) == expected


def test_hardware_that_a_recipe_states_in_two_ways_is_found_once(tmp_path: Path) -> None:
    assert _in_recipe(tmp_path, head="# Trains on 4 nodes of 8 GPUs.") == ["comment says 4 nodes, but the settings have 2 nodes"]
    assert _in_recipe(tmp_path, key="# 4 nodes") == ["comment says 4 nodes, but the settings have 2 nodes"]


def test_a_comment_that_is_in_order_does_not_hide_the_next(tmp_path: Path) -> None:
    assert _in_recipe(tmp_path, head="# 8 GPUs per node", key="# 4 nodes") == ["comment says 4 nodes, but the settings have 2 nodes"]
    assert _in_recipe(tmp_path, head="# global batch size 64 on 2 nodes", key="# 4 GPUs per node") == [
        "comment says 4 GPUs per node, but the settings have 8 GPUs per node"
    ]


JOB = "#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=1\n#SBATCH --gres=gpu:4\n"
TWO_NODES = LAUNCH.replace("torchrun", "torchrun --nnodes 2 --rdzv_backend c10d")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            "#SBATCH --nodes=2\n#SBATCH --gres=gpu:8\naccelerate launch --num_machines 2 --num_processes 16 t.py --config sft.yaml\n",
            id="all of the job",
        ),
        pytest.param(
            "#SBATCH --nodes=2\n#SBATCH --gres=gpu:8\naccelerate launch --num_machines 1 --num_processes 8 t.py --config sft.yaml\n",
            id="one node serves",
        ),
        pytest.param("accelerate launch --num_machines 4 --num_processes $N t.py --config sft.yaml\n", id="not known"),
        pytest.param(f"export CUDA_VISIBLE_DEVICES=0,1,2,3\n{LAUNCH}", id="as many as are visible"),
        pytest.param(f"{JOB}srun {TWO_NODES}", id="all nodes"),
        pytest.param(f"{JOB}srun -N 1 {LAUNCH}", id="a step on one node"),
        pytest.param(f"{JOB}srun --nodes=1 --ntasks=1 {LAUNCH}", id="a task on one node"),
        pytest.param(f"{JOB}{LAUNCH}", id="without srun"),
        pytest.param(f"{JOB}srun {LAUNCH}", id="each node by itself"),
        pytest.param(f"export CUDA_VISIBLE_DEVICES=0,1\nCUDA_VISIBLE_DEVICES=0,1,2,3 {LAUNCH}", id="visible to this command"),
        pytest.param(f"CUDA_VISIBLE_DEVICES= {LAUNCH}", id="no GPUs at all"),
        pytest.param(f"CUDA_VISIBLE_DEVICES=$GPUS {LAUNCH}", id="visible ones that are not known"),
    ],
)
def test_the_sizes_of_a_launch_are_in_order(text: str, tmp_path: Path) -> None:
    assert codes(checked(tmp_path, {"sft.yaml": recipe(comment=""), "run.slurm": text})) == []


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        pytest.param("accelerate launch --num_machines 4 --num_processes 10 t.py --config sft.yaml\n", "warning", id="floored"),
        pytest.param("accelerate launch --num_machines 4 --num_processes 2 t.py --config sft.yaml\n", "error", id="fewer than machines"),
        pytest.param(
            "#SBATCH --nodes=1\n#SBATCH --gres=gpu:4\naccelerate launch --num_processes 8 t.py --config sft.yaml\n",
            "error",
            id="more than the job has",
        ),
        pytest.param(f"export CUDA_VISIBLE_DEVICES=0,1\n{LAUNCH}", "warning", id="more than are visible"),
        pytest.param(f"{JOB.replace('2', '4')}srun {TWO_NODES}", "warning", id="two nodes of four"),
    ],
)
def test_the_sizes_of_a_launch_that_do_not_start_are_found(text: str, severity: str, tmp_path: Path) -> None:
    finding = only(checked(tmp_path, {"sft.yaml": recipe(comment=""), "run.slurm": text}))
    assert (finding.code, finding.severity) == ("GBS304", severity)


def search(key: str = "gradient_accumulation_steps") -> str:
    found = f"STEPS=$(grep '{key}' $CONFIG | awk '{{print $2}}')\n"
    return (
        f"CONFIG=recipes/$1.yaml\n{found}accelerate launch --num_processes 8 --gradient_accumulation_steps $STEPS t.py --config $CONFIG\n"
    )


STEPS = "gradient_accumulation_steps: 2\n"


@pytest.mark.parametrize(
    ("other", "key"),
    [
        pytest.param(STEPS, "gradient_accumulation_steps", id="every recipe has it once"),
        pytest.param("", "model_name_or_path", id="no batch key"),
        pytest.param("", "train_batch_size", id="a part of another key that all have"),
    ],
)
def test_a_search_is_in_order(other: str, key: str, tmp_path: Path) -> None:
    base = f"{KEYS}per_device_train_batch_size: 4\n"
    files = {"recipes/a.yaml": base + STEPS, "recipes/b.yaml": base + other, "run.sh": search(key)}
    assert codes(checked(tmp_path, files)) == []


@pytest.mark.parametrize(
    ("other", "what"),
    [
        pytest.param("", "nothing", id="no line"),
        pytest.param(f"# gradient_accumulation_steps: 8\n{STEPS}", "several lines", id="a comment as well"),
    ],
)
def test_a_search_that_goes_wrong_in_one_recipe_is_found(other: str, what: str, tmp_path: Path) -> None:
    base = f"{KEYS}per_device_train_batch_size: 4\n"
    finding = only(checked(tmp_path, {"recipes/a.yaml": base + STEPS, "recipes/b.yaml": base + other, "run.sh": search()}))
    assert finding.code == "GBS308"
    assert finding.message == (
        f"grep for gradient_accumulation_steps finds {what} in recipes/b.yaml, of the 2 recipes that this script can run"
    )


@pytest.mark.parametrize(
    ("program", "arguments"),
    [
        pytest.param(TRL, "--config sft.yaml", id="behind the option"),
        pytest.param(TRL, "--config=sft.yaml", id="joined to the option"),
        pytest.param(HANDBOOK, "sft.yaml", id="a parser that takes it by position"),
        pytest.param("from transformers import HfArgumentParser\n", "sft.yaml", id="another parser"),
    ],
)
def test_a_recipe_that_is_loaded_is_in_order(program: str, arguments: str, tmp_path: Path) -> None:
    files = {"sft.yaml": recipe(comment=""), "t.py": program, "run.sh": f"accelerate launch --num_processes 8 t.py {arguments}\n"}
    assert codes(checked(tmp_path, files)) == []


def test_a_recipe_that_is_not_loaded_is_found(tmp_path: Path) -> None:
    files = {"sft.yaml": recipe(comment=""), "t.py": TRL, "run.sh": "accelerate launch --num_processes 8 t.py sft.yaml\n"}
    finding = only(checked(tmp_path, files))
    assert (finding.code, finding.severity) == ("GBS310", "error")
    assert files["run.sh"][finding.at.start : finding.at.stop] == "sft.yaml"
    (edit,) = finding.fixes[0].edits
    assert files["run.sh"][: edit.at.start] + edit.replacement + files["run.sh"][edit.at.stop :] == files["run.sh"].replace(
        "t.py sft", "t.py --config sft"
    )


@pytest.mark.parametrize(
    ("claim", "accumulation", "found"),
    [
        pytest.param("", 8, [], id="the same batch"),
        pytest.param("# GBS 64 on 4 GPUs, GBS 128 on 8 GPUs\n", 4, [], id="both claimed"),
        pytest.param("", 4, ["GBS309"], id="another batch"),
    ],
)
def test_launches_of_one_recipe_are_compared(claim: str, accumulation: int, found: list[str], tmp_path: Path) -> None:
    one = "torchrun --nproc_per_node 8 t.py --config sft.yaml\n"
    two = f"torchrun --nproc_per_node 4 t.py --config sft.yaml --gradient_accumulation_steps {accumulation}\n"
    assert codes(checked(tmp_path, {"sft.yaml": recipe(comment=claim), "a.sh": one, "b.sh": two})) == found


def test_several_processes_with_a_file_that_starts_one_are_found(tmp_path: Path) -> None:
    files = {"sft.yaml": recipe(comment=""), "one.yaml": accelerate(1).replace("MULTI_GPU", "'NO'")}
    files["run.sh"] = "accelerate launch --config_file one.yaml --num_processes 8 t.py --config sft.yaml\n"
    assert codes(checked(tmp_path, files)) == ["GBS304"]


def test_one_search_is_one_finding_whatever_starts_it(tmp_path: Path) -> None:
    base = f"{KEYS}per_device_train_batch_size: 4\n"
    recipes = {"recipes/a.yaml": base + STEPS, "recipes/b.yaml": base, "recipes/c.yaml": base + STEPS + f"# {STEPS}"}
    report = checked(tmp_path, {**recipes, "run.sh": search(), "README.md": "```sh\nbash run.sh a\n```\n"})
    assert only(report).message == (
        "grep for gradient_accumulation_steps finds nothing in recipes/b.yaml, and several lines in recipes/c.yaml, "
        "of the 3 recipes that this script can run"
    )


_SPREAD = """\
#!/bin/bash
# {said}
gpu=0
for seed in 1 2; do
    {devices} python train.py --per_device_train_batch_size 2 --seed $seed --output_dir out &
    gpu=$((gpu + 1))
done
wait
python eval.py --model out
"""
_TRAINS = """\
from transformers import HfArgumentParser, Trainer, TrainingArguments

Trainer(args=HfArgumentParser(TrainingArguments)).train()
"""


@pytest.mark.parametrize(
    ("said", "devices", "expected"),
    [
        pytest.param("2 seeds on 2 GPUs", "CUDA_VISIBLE_DEVICES=$gpu", [], id="a GPU for each run"),
        pytest.param("2 seeds, one after the other, on 2 GPUs", "CUDA_VISIBLE_DEVICES=0", [], id="perhaps a GPU for each run"),
        pytest.param("runs on 1 GPU", "CUDA_VISIBLE_DEVICES=$gpu", [], id="those of one run"),
    ],
)
def test_gpus_of_several_runs_are_not_those_of_one(said: str, devices: str, expected: list[str], tmp_path: Path) -> None:
    report = checked(tmp_path, {"train.py": _TRAINS, "run.sh": _SPREAD.format(said=said, devices=devices)})
    assert [each.code for each in report.findings() if each.code == "GBS303"] == expected


def test_gpus_of_a_run_by_itself_are_compared(tmp_path: Path) -> None:
    script = "# runs on 8 GPUs\nCUDA_VISIBLE_DEVICES=0 python train.py --per_device_train_batch_size 2 --output_dir out\npython eval.py\n"
    report = checked(tmp_path, {"train.py": _TRAINS, "run.sh": script})
    assert [each.code for each in report.findings()] == ["GBS303"]


_NAMED = "torchrun --nproc_per_node 8 train.py --model_name_or_path models/{model} --per_device_train_batch_size 2 --output_dir out/{run}\n"


@pytest.mark.parametrize(
    ("model", "run", "expected"),
    [
        pytest.param("qwen-1gpu", "qwen-1gpu-grads", [], id="the model was trained on that"),
        pytest.param("qwen", "qwen-8gpu", [], id="so many start"),
        pytest.param("qwen", "qwen-1gpu-grads", ["GBS303"], id="other hardware"),
        pytest.param("qwen-1gpu", "qwen-1gpu-4gpu", ["GBS303"], id="other hardware than both"),
    ],
)
def test_what_a_run_is_called_as_its_model_is_says_nothing_of_the_run(model: str, run: str, expected: list[str], tmp_path: Path) -> None:
    report = checked(tmp_path, {"train.py": _TRAINS, "run.sh": _NAMED.format(model=model, run=run)})
    assert [each.code for each in report.findings()] == expected


def test_visible_gpus_that_a_comment_does_not_say_leave_it_wrong(tmp_path: Path) -> None:
    text = f"# runs on 8 GPUs\nexport CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6\n{LAUNCH}"
    finding = only(checked(tmp_path, {"sft.yaml": recipe(comment=""), "run.sh": text}))
    assert finding.message == "comment says 8 GPUs, but torchrun starts 4 processes"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        pytest.param("torchrun --nproc_per_node ${N:-4} sft.py sft.yaml $@", [], id="a default"),
        pytest.param("torchrun --nproc_per_node 4 sft.py sft.yaml $@", ["GBS303"], id="options of the program may be added"),
    ],
)
def test_hardware_of_a_command_that_may_get_more_words(command: str, expected: list[str], tmp_path: Path) -> None:
    assert codes(checked(tmp_path, {"sft.yaml": recipe(comment=""), "run.sh": f"# runs on 8 GPUs\n{command}\n"})) == expected


@pytest.mark.parametrize(
    ("name", "place"),
    [
        pytest.param("sft-8gpu", "8", id="as it is"),
        pytest.param('"sft-8gpu"', "8", id="in quotes"),
        pytest.param("$MODEL-${GPUS}gpu", "$MODEL-${GPUS}gpu", id="put together"),
    ],
)
def test_hardware_in_the_name_of_a_run_is_said_by_its_name(name: str, place: str, tmp_path: Path) -> None:
    flags = f"--model_name_or_path m --dataset_name d --per_device_train_batch_size 2 --gradient_accumulation_steps 2 --run_name {name}"
    program = "from trl import SFTConfig, TrlParser\nparser = TrlParser((SFTConfig,))\nargs = parser.parse_args_and_config()\n"
    script = f"GPUS=8\nMODEL=sft\ntorchrun --nproc_per_node 4 t.py {flags}\n"
    finding = only(checked(tmp_path, {"t.py": program, "run.sh": script}))
    assert (finding.code, finding.message) == ("GBS303", "the name says 8 GPUs, but torchrun starts 4 processes")
    assert script[finding.at.start : finding.at.stop] == place


# TIGER-AI-Lab/Pixel-Reasoner: a name of which a document sets a part.
def test_a_name_is_where_the_script_has_it(tmp_path: Path) -> None:
    flags = "--model_name_or_path m --dataset_name d --per_device_train_batch_size 2 --run_name sft-${GPUS}gpu"
    program = "from trl import SFTConfig, TrlParser\nparser = TrlParser((SFTConfig,))\nargs = parser.parse_args_and_config()\n"
    document = "# Train\n\nThe GPUs:\n\n```bash\nexport GPUS=8\nbash run.sh\n```\n"
    files = {"t.py": program, "run.sh": f"torchrun --nproc_per_node 4 t.py {flags}\n", "README.md": document}
    finding = only(checked(tmp_path, files))
    assert (finding.code, finding.at.source) == ("GBS303", "run.sh")


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        pytest.param("run_4gpus.sh", LAUNCH, None, id="the same"),
        pytest.param("run_4gpu_8b.sh", LAUNCH, None, id="the same, and a model"),
        pytest.param("run_8gpus.sh", LAUNCH.replace("4", "$GPUS"), None, id="not known"),
        pytest.param("run_8gpus.sh", LAUNCH.replace("4", "${GPUS:-4}"), None, id="a default"),
        pytest.param("run_8gpus.sh", f"# runs on 4 GPUs\n{LAUNCH}", None, id="a comment says better"),
        pytest.param("run_8gpus.sh", LAUNCH + LAUNCH.replace("4", "8"), None, id="two launches"),
        pytest.param("8gpus.md", f"```bash\n{LAUNCH}```\n", None, id="a document"),
        pytest.param("run_8gpus.sh", LAUNCH, "the name says 8 GPUs, but torchrun starts 4 processes", id="GPUs"),
        pytest.param("run_2nodes.sh", LAUNCH, "the name says 2 nodes, but torchrun starts 4 processes (1 node)", id="nodes"),
        pytest.param(
            "run_8gpus.sh", f"# batch 128\n{LAUNCH}", "the name says 8 GPUs, but torchrun starts 4 processes", id="a comment of a batch"
        ),
    ],
)
def test_the_name_of_a_script_says_on_what_it_trains(name: str, text: str, expected: str | None, tmp_path: Path) -> None:
    report = checked(tmp_path, {"sft.yaml": recipe(comment=""), name: text})
    found = [each.message for file in report.files for each in file.findings if each.code == "GBS303"]
    assert found == ([expected] if expected is not None else [])


# Megatron-LM, examples/gpt3: the document speaks of 1,024 GPUs, and the script asks to change its one node.
@pytest.mark.parametrize(("comment", "expected"), [("# Change for multinode config", []), ("# of this machine", ["GBS303"])])
def test_nodes_that_a_comment_asks_to_change(comment: str, expected: list[str], tmp_path: Path) -> None:
    script = f"{comment}\nNUM_NODES=1\ntorchrun --nproc_per_node 4 --nnodes $NUM_NODES sft.py sft.yaml\n"
    document = "# Train\n\nIn `run.sh` we have an example of how to train it on 1024 GPUs.\n"
    assert codes(checked(tmp_path, {"sft.yaml": recipe(comment=""), "run.sh": script, "README.md": document})) == expected
