"""The real command in a process of its own, which reports whatever it starts, connects to and writes, and what it takes."""

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from tests.cli.support import write
from tests.launches.building import recipe
from tests.support import PYTHON

MOST_MEGABYTES: Final = 200
# The promise is 2 seconds on a machine with nothing else to do; a test only distinguishes a bound from none.
MOST_SECONDS: Final = 20
GOOD: Final = recipe()

_PROGRAM: Final = """\
import sys
sys.path[:] = filter(None, sys.path)  # the current folder, where the command itself looks for no module: Python before 3.11 has no -P
import json, os, resource
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
DEEDS = ("os.exec", "os.fork", "os.forkpty", "os.spawn", "os.posix_spawn", "os.system", "pty.spawn", "subprocess.Popen", "socket.",
         "urllib.", "ctypes.", "os.chmod", "os.chown", "os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.symlink",
         "os.truncate",
         "os.utime", "os.setxattr", "os.removexattr", "shutil.", "tempfile.")
deeds = []
MEANWHILE
def watch(event, arguments):
    if event == "open":
        path, mode, flags = arguments
        if isinstance(flags, int) and flags & WRITES and not isinstance(path, int) and path != os.devnull:
            deeds.append(f"open {path}")
        meanwhile(path)
    elif event.startswith(DEEDS):
        deeds.append(f"{event} {arguments[0]}")
from pytest_gbs.cli import main
def most_memory():
    # Linux adds to what getrusage reports what the process before this one took.
    try:
        with open("/proc/self/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1024 if sys.platform == "darwin" else 1)
before = most_memory()
sys.addaudithook(watch)
code = main(sys.argv[1:])
sys.stdout.flush()
used = resource.getrusage(resource.RUSAGE_SELF)
result = {"code": code, "deeds": deeds[:99], "kilobytes": most_memory() - before, "seconds": used.ru_utime + used.ru_stime}
sys.stderr.write("\\n@@" + json.dumps(result))
"""
_NOTHING_MEANWHILE: Final = "def meanwhile(path): pass"


class Watched(NamedTuple):
    """What one run of `gbs` came to, and what it did besides reading."""

    code: int
    out: str
    err: str
    deeds: tuple[str, ...]
    megabytes: float
    seconds: float

    def is_calm(self) -> bool:
        """Whether it ended as it should: no bug, nothing started or written, within its time and memory."""
        bugs = "Traceback" in self.err or "internal error" in self.out + self.err
        return not bugs and not self.deeds and self.code in (0, 1, 2, 3) and self.within()

    def within(self) -> bool:
        """Whether it took as much time and memory as one file may."""
        return self.megabytes < MOST_MEGABYTES and self.seconds < MOST_SECONDS


def run(folder: Path, *arguments: str, meanwhile: str = _NOTHING_MEANWHILE) -> Watched:
    """Run `gbs` in `folder`; `meanwhile` is a function of Python that is called with each path that is about to be opened."""
    program = _PROGRAM.replace("MEANWHILE", meanwhile)
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [*PYTHON, "-c", program, *arguments],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
        check=False,
    )
    err, _, reported = done.stderr.decode("utf-8", "replace").rpartition("\n@@")
    assert reported, err[-2000:]
    found = json.loads(reported)
    out = done.stdout.decode("utf-8", "replace")
    return Watched(found["code"], out, err, tuple(found["deeds"]), found["kilobytes"] / 1024, found["seconds"])


def run_calmly(folder: Path, *arguments: str) -> Watched:
    """Run `gbs` in `folder`, which has to end as it should."""
    found = run(folder, *arguments)
    assert found.is_calm(), found._replace(out=found.out[:2000], err=found.err[:2000])
    return found


def run_beside_good(folder: Path, files: Mapping[str, str | bytes], *arguments: str) -> Watched:
    """Run `gbs`, which checks all if no `arguments` are given, on files beside a recipe in order; it has to end as it should."""
    write(folder, {"good.yaml": GOOD, **files})
    return run_calmly(folder, *(arguments or ("check", "-v", ".")))
