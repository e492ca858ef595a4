"""torchforge trains each rank on one batch of its replay buffer, and accumulates nothing."""

import pytest

from pytest_gbs.model.quantity import Name

from .building import sizes, title, value

GRPO = """\
group_size: {group}
policy: {{sampling_params: {{n: {group}}}}}
trainer: {{training: {{local_batch_size: {micro}, steps: 100}}}}
replay_buffer: {{batch_size: {micro}{ranks}}}
"""
SFT = """\
processes: {{procs: {procs}, with_gpus: true{hosts}}}
training: {{local_batch_size: {micro}, seq_len: 2048}}
parallelism: {{tensor_parallel_degree: {tensor}, data_parallel_shard_degree: -1}}
"""


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("training: {local_batch_size: 8, seq_len: 2048}\nparallelism: {tensor_parallel_degree: 2}\n", id="torchtitan"),
        pytest.param("replay_buffer: {batch_size: 8}\npolicy: {path: my/model}\n", id="somebody's games"),
        pytest.param("processes: {procs: 8}\nmodel: my/model\n", id="a server"),
    ],
)
def test_look_alikes_are_not_recipes(text: str) -> None:
    assert "torchforge" not in (title(text) or "")


# apps/grpo/qwen3_8b.yaml: 12 completions for each of 2 ranks, in groups of 8: 3 prompts.
@pytest.mark.parametrize(
    ("group", "micro", "ranks", "expected"),
    [(8, 16, "", (16, 2)), (8, 12, ", dp_size: 2", (24, 3)), (16, 12, ", dp_size: 2", (24, "not-whole"))],
)
def test_the_buffer_has_a_batch_for_each_rank(group: int, micro: int, ranks: str, expected: tuple[int, int | str]) -> None:
    stated = sizes(GRPO.format(group=group, micro=micro, ranks=ranks)).stated
    assert (value(stated[Name.GLOBAL_BATCH_SIZE]), value(stated[Name.PROMPTS_PER_STEP])) == expected


@pytest.mark.parametrize(
    ("procs", "hosts", "tensor", "world", "expected"),
    [(8, "", 1, 8, 16), (8, ", hosts: 2", 1, 16, 32), (8, "", 4, 8, 4), (8, ", hosts: null", 1, 8, 16)],
)
def test_processes_are_shared_among_the_degrees(procs: int, hosts: str, tensor: int, world: int, expected: int) -> None:
    text = SFT.format(procs=procs, hosts=hosts, micro=2, tensor=tensor)
    assert sizes(text, world_size=world).global_batch_size == expected
