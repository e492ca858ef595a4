"""What a comment says of hardware, where it can't all be true: the total is the better witness."""

import pytest

from pytest_gbs.claims.worlds import _consistent
from pytest_gbs.model.quantity import Name, Origin, Quantity


@pytest.mark.parametrize(
    ("world", "nodes", "per_node", "kept"),
    [
        pytest.param(64, 8, 8, {"world_size": 64, "num_nodes": 8, "gpus_per_node": 8}, id="all of it"),
        pytest.param(64, 8, None, {"world_size": 64, "num_nodes": 8}, id="nodes that divide"),
        pytest.param(64, None, 16, {"world_size": 64, "gpus_per_node": 16}, id="GPUs per node that divide"),
        pytest.param(None, 3, 8, {"num_nodes": 3, "gpus_per_node": 8}, id="no total"),
        pytest.param(64, 3, None, {"world_size": 64}, id="nodes that do not divide"),
        pytest.param(64, None, 7, {"world_size": 64}, id="GPUs per node that do not divide"),
        pytest.param(64, 2, 8, {"world_size": 64}, id="another product"),
    ],
)
def test_what_can_be_true_beside_the_total(world: int | None, nodes: int | None, per_node: int | None, kept: dict[str, int]) -> None:
    stated = ((Name.WORLD_SIZE, world), (Name.NUM_NODES, nodes), (Name.GPUS_PER_NODE, per_node))
    said = {name: Quantity(name, value, Origin.COMMENT) for name, value in stated if value is not None}
    assert {name: size.value for name, size in _consistent(said).items()} == kept
