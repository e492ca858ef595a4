"""`python -m fuzz TARGET [--seconds N] [--folder FOLDER]`: run a target with atheris; `--again FILE ...` runs it on single inputs.

An execution that goes wrong is written to FOLDER/TARGET/found, one for each cause, and the run goes on. The corpus grows in
FOLDER/TARGET/corpus. The last line says how many executions there were and what was found.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from pkgutil import walk_packages
from typing import Final

_SECONDS_OF_ONE: Final = 60  # seconds after which an execution that does not end is given up
_MEGABYTES: Final = 3_000  # of the whole process, with its corpus


def main() -> int:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("target")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--folder", type=Path, default=Path("fuzz/work"))
    parser.add_argument("--again", type=Path, nargs="*", default=[], metavar="FILE")
    parser.add_argument("--guided", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.again:
        return _again(asked.target, asked.again)
    folder = asked.folder / asked.target
    for name in ("corpus", "found"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    return _guided(asked.target, folder, asked.seconds) if asked.guided else _started(asked.target, asked.folder, asked.seconds)


def _again(name: str, inputs: list[Path]) -> int:
    from fuzz.target import execute, load

    found = [execute(load(name), path.read_bytes()) for path in inputs]
    for path, trouble in zip(inputs, found, strict=True):
        print(path, "in order" if trouble is None else f"{trouble.kind}\n{trouble.words}")
    return int(any(found))


def _started(name: str, folder: Path, seconds: int) -> int:
    """Run a target in a process of its own, since libFuzzer ends the process that it runs in."""
    words = ["--guided", "--seconds", str(seconds), "--folder", str(folder)]
    done = subprocess.run([sys.executable, "-m", "fuzz", name, *words], stderr=subprocess.PIPE, check=False)
    err = done.stderr.decode("utf-8", "replace")
    executions = re.search(r"stat::number_of_executed_units:\s*(\d+)", err)
    coverage = re.findall(r"cov: (\d+) ft: (\d+)", err)
    found = sorted(path.name for path in (folder / name / "found").iterdir())
    if executions is None:
        sys.stderr.write(err[-3000:])
    print(f"{name}: {executions.group(1) if executions else '?'} executions, coverage {coverage[-1:]}, found {found}")
    return int(bool(found) or executions is None)


def _guided(name: str, folder: Path, seconds: int) -> int:
    import atheris

    with atheris.instrument_imports(include=["pytest_gbs"]):
        import pytest_gbs

        for module in walk_packages(pytest_gbs.__path__, "pytest_gbs."):
            if not module.name.startswith(("pytest_gbs.__main__", "pytest_gbs.runtime", "pytest_gbs.pytest_plugin", "pytest_gbs.lsp")):
                __import__(module.name)
    from fuzz.target import execute, load

    target = load(name)

    def one(data: bytes) -> None:
        trouble = execute(target, data)
        if trouble is not None:
            path = folder / "found" / trouble.key
            if not path.exists():
                path.write_bytes(data)
                (folder / "found" / f"{trouble.key}.txt").write_text(trouble.words, encoding="utf-8", errors="backslashreplace")

    words = folder / "words"
    words.write_text("".join(f'"{_escaped(word)}"\n' for word in target.words), encoding="ascii")
    for seed in target.seeds():
        (folder / "corpus" / sha256(seed).hexdigest()[:16]).write_bytes(seed)
    limits = [f"-max_total_time={seconds}", f"-timeout={_SECONDS_OF_ONE}", f"-rss_limit_mb={_MEGABYTES}", "-max_len=4096"]
    arguments = [*limits, "-print_final_stats=1", f"-dict={words}", f"-artifact_prefix={folder}/found/", str(folder / "corpus")]
    atheris.Setup([sys.argv[0], *arguments], one)
    atheris.Fuzz()
    return 0


def _escaped(word: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word.encode())


if __name__ == "__main__":
    sys.exit(main())
