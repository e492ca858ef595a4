"""What the caller adds on the command line: hardware for "what if", never a contradiction of a claim."""

from __future__ import annotations

from pytest_gbs.model.record import NamedTuple


class CommandLineHardware(NamedTuple):
    """Hardware given on the command line: nodes, GPUs per node, training processes in all, and launcher files to launch with.

    A number that was not given is None. `launch_files` are paths relative to the tree's root.
    """

    num_nodes: int | None = None
    gpus_per_node: int | None = None
    world_size: int | None = None
    launch_files: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """True if anything was given."""
        return any(value is not None for value in self[:3]) or bool(self.launch_files)
