"""Starting a program on one or several processes of the CPU."""

import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path


def started(processes: int, program: Path, *words: str, timeout: int = 240) -> subprocess.CompletedProcess[str]:
    """What `program` printed, run by this Python, or by torchrun on several processes."""
    command = [sys.executable]
    if processes > 1:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        command += ["-m", "torch.distributed.run", f"--nproc_per_node={processes}", f"--master_port={port}"]
    alone = {
        "OMP_NUM_THREADS": "1",
        "CUDA_VISIBLE_DEVICES": "",
        "TOKENIZERS_PARALLELISM": "false",
        "HF_HUB_OFFLINE": "1",
        "DO_NOT_TRACK": "1",
    }
    environment: dict[str, str] = {**os.environ, **alone}
    arguments: Sequence[str] = [*command, str(program), *words]
    return subprocess.run(arguments, env=environment, capture_output=True, text=True, timeout=timeout, check=False)
