"""Commands that run the command behind them: where the inner one starts."""

from __future__ import annotations

from typing import Final

from pytest_gbs.model.command import Part, Word, name_of, options
from pytest_gbs.model.location import Location
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.shell.text import Parts


class Prefix(NamedTuple):
    """A command before another one: its sub-commands, options with a value, options without, and words before the inner command.

    Where `greedy`, a long option not listed in `switches` takes the next word as its value.
    """

    after: tuple[str, ...] = ()
    valued: frozenset[str] = frozenset()
    switches: frozenset[str] = frozenset()
    words: int = 0
    greedy: bool = False


def words_of(words: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(words.split())


SWITCHES: Final = words_of(
    "--label --unbuffered --pty --verbose --quiet --kill-on-bad-exit --overlap --no-kill --overcommit "
    "--oversubscribe --exclusive --exact --contiguous --disable-status --hold --preserve-env --spread-job "
    "--use-min-nodes --mpi-combine --multi-prog --requeue --no-requeue --parsable --wait --test-only "
    "--wait-all-nodes --container-writable --container-readonly --container-mount-home --no-container-mount-home "
    "--container-remap-root --no-container-remap-root --no-container-entrypoint --container-entrypoint -l -u -v -Q "
    "-K -k -O -s -X -H -E"
)
_CONTAINER: Final = words_of(
    "-B --bind --env --env-file --pwd -H --home --overlay -S --scratch -W --workdir --mount --hostname --network "
    "--nv-ccl --cwd --app --fakeroot-uid --security --dns --add-caps --drop-caps --apply-cgroups"
)
_DOCKER: Final = words_of(
    "-v --volume -e --env --env-file -w --workdir --name --gpus --shm-size --ulimit --network --net --ipc -u --user "
    "-p --publish -m --memory --mount --entrypoint --cpus --device --hostname -h --pid --runtime --label -l "
    "--privileged-mode --cap-add --security-opt"
)
_UV: Final = words_of(
    "--extra --group --with --python -p --directory --project --env-file --only-group --index-url --with-requirements --package"
)
_CONTAINERS: Final = (Prefix(("exec",), _CONTAINER, words=1), Prefix(("run",), _CONTAINER, words=1))
_DOCKERS: Final = (Prefix(("run",), _DOCKER, words=1), Prefix(("exec",), _DOCKER, words=1))
_CONDA: Final = (Prefix(("run",), words_of("-n --name -p --prefix --cwd")),)
_TABLE: Final[dict[str, tuple[Prefix, ...]]] = {
    # AWS Neuron's neuron_parallel_compile is a run that only compiles; slurm2pytorch, bindpcie and apiLog.sh are of MLPerf's containers.
    **dict.fromkeys(words_of("nohup command builtin setsid caffeinate neuron_parallel_compile slurm2pytorch bindpcie"), (Prefix(),)),
    **dict.fromkeys(words_of("poetry pipenv hatch rye"), (Prefix(("run",)),)),
    **dict.fromkeys(words_of("conda mamba micromamba"), _CONDA),
    **dict.fromkeys(words_of("apptainer singularity"), _CONTAINERS),
    **dict.fromkeys(words_of("docker podman"), _DOCKERS),
    **dict.fromkeys(words_of("taskset chrt"), (Prefix(words=1),)),
    "srun": (Prefix(greedy=True, switches=SWITCHES),),
    "time": (Prefix(valued=words_of("-o -f")),),
    "exec": (Prefix(valued=words_of("-a")),),
    "timeout": (Prefix(valued=words_of("-k --kill-after -s --signal"), words=1),),
    "nice": (Prefix(valued=words_of("-n --adjustment")),),
    "ionice": (Prefix(valued=words_of("-c -n --class --classdata")),),
    "stdbuf": (Prefix(valued=words_of("-i -o -e")),),
    "numactl": (Prefix(valued=words_of("-N -m -C -i -p")),),
    "sudo": (Prefix(valued=words_of("-u -g --user --group")),),
    "env": (Prefix(valued=words_of("-u --unset -C --chdir")),),
    "uv": (Prefix(("run",), _UV),),
    "singularity_wrapper": (Prefix(("exec",)),),
    "pdm": (Prefix(("run",), words_of("-p")),),
    "pixi": (Prefix(("run",), words_of("-e --environment --manifest-path")),),
    "nsys": (Prefix(("profile",), words_of("-o -t -w -s -c -f -x -e -d -y -n -b"), greedy=True),),
    "apiLog.sh": (Prefix(valued=words_of("-p -v")),),
    "coverage": (Prefix(("run",), words_of("--source -m"), words_of("-p --parallel-mode")),),
}
# What may follow a switch that we do not know without being its value.
PROGRAMS: Final = words_of(
    "accelerate torchrun deepspeed python python3 bash sh trl tune axolotl llamafactory-cli apptainer singularity uv env"
)
SHELLS: Final = frozenset(("bash", "sh", "zsh", "dash", "ksh"))
# Commands whose option `--command` is a script for other machines: jobs on TPUs.
_COMMANDING: Final = ("xpk", "gcloud")
ELSEWHERE: Final = ("ssh", *_COMMANDING)


# Commands that start all processes themselves, whatever is in front of them.
_STARTS_ALL: Final = words_of("torchrun accelerate deepspeed")
# torch.distributed.run, get_args_parser (pytorch 010929f): with `--no-python` it starts any command; these options have no value.
_ANY_COMMAND: Final = words_of("--no-python --no_python")
_TORCHRUN: Final = Prefix(greedy=True, switches=_ANY_COMMAND | words_of("--standalone -m --module --run-path --run_path"))
# Commands that run what follows `--`.
_DASHED: Final = {"gantry": "run", "kubectl": "exec", "sky": "exec"}


def inner(words: tuple[Word, ...]) -> int:
    """The index of the command that `words` run; 0 if they run none, the number of words where it is missing."""
    for prefix in _TABLE.get(name_of(words[0]), ()):
        start = 1 + len(prefix.after)
        if tuple(word.text for word in words[1:start]) == prefix.after:
            return _behind(words, start, prefix)
    if name_of(words[0]) == "torchrun" and any(word.text in _ANY_COMMAND for word in words):
        return _behind(words, 1, _TORCHRUN)
    if len(words) > 1 and _is_open(words[0]) and name_of(words[1]) in _STARTS_ALL:
        return 1  # `$MAYBE_PROFILE torchrun ...`
    if len(words) > 2 and words[1].text is not None and _DASHED.get(name_of(words[0])) == words[1].text:
        return next((index + 1 for index, word in enumerate(words) if word.text == "--"), 0)
    return 0


def _behind(words: tuple[Word, ...], start: int, prefix: Prefix) -> int:
    """The index behind the options and the words of a prefix."""
    index, left = start, prefix.words
    while index < len(words):
        known = words[index].starts_with
        if words[index].text == "--":
            index += 1
            if not left:
                break
        elif known.startswith("-") and len(known) > 1:
            index += 1 + _takes_value(words, index, prefix)
        elif left and not (is_open_list(words[index]) and index + left < len(words)):
            left -= 1
            index += 1
        elif _is_open(words[index]) and index + 1 < len(words):
            index += 1  # `srun $OPTIONS torchrun ...`, `docker exec ${OPTIONS[@]} NAME ...`
        else:
            break
    return index


def _is_open(word: Word) -> bool:
    """Whether a word is an unknown that may be any number of words, or nothing."""
    return word.many and all(part.text is None for part in word.parts)


def is_open_list(word: Word) -> bool:
    """Whether a word is an array of which nothing is known, in which scripts keep options: `${OPTIONS[@]}`."""
    return _is_open(word) and (not word.raw.startswith(("$", '"')) or word.raw.strip('"').endswith(("[@]}", "[*]}")))


def _takes_value(words: tuple[Word, ...], index: int, prefix: Prefix) -> bool:
    """Whether the option at `index` has its value in the next word."""
    known = words[index].text
    following = name_of(words[index + 1]) if index + 1 < len(words) else "-"
    if known in prefix.valued:
        return True
    if known is None or "=" in known or known in prefix.switches or following in PROGRAMS or not prefix.greedy:
        return False
    return (known.startswith("--") or len(known) == 2) and not following.startswith("-")


def is_container(words: tuple[Word, ...]) -> bool:
    """Whether `words` run a command in a container that has none of the variables around it."""
    return name_of(words[0]) in ("docker", "podman") and len(words) > 1 and words[1].text in ("run", "exec")


def container_variables(words: tuple[Word, ...]) -> dict[str, Word | None]:
    """The variables that a container gets (`-e A=b`, `--env A=b`), None for those that it takes from around it (`-e A`)."""
    found: dict[str, Word | None] = {}
    for number, word in enumerate(words):
        known = word.starts_with
        if known in ("-e", "--env") and number + 1 < len(words):
            given = words[number + 1]
        elif known.startswith("--env="):
            given = word.after(6)
        else:
            continue
        name, equals, _ = given.starts_with.partition("=")
        if name.isidentifier():
            found[name] = given.after(len(name) + 1) if equals else None
    return found


def env_assignments(words: tuple[Word, ...]) -> tuple[int, dict[str, Word]]:
    """The index of the command behind `env ... A=b`, and the variables it sets."""
    index, found = inner(words), dict[str, Word]()
    while index < len(words):
        name, equals, _ = words[index].starts_with.partition("=")
        if not equals or not name.isidentifier():
            break
        found[name] = words[index].after(len(name) + 1)
        index += 1
    return index, found


def given_script(words: tuple[Word, ...]) -> tuple[int, Parts | None]:
    """The index behind the script that is one of the words of a shell, and the script; None if it is read from a file or from input."""
    name = name_of(words[0])
    if name == "eval":
        return len(words), joined_words(words[1:])
    if name == "sbatch":
        return _wrapped(words)
    if name == "ssh":
        return len(words), joined_words(words[_host(words) + 1 :]) or None
    if name in _COMMANDING:
        return len(words), next((each.value.parts for each in options(words, "--command") if each.value is not None), None)
    for index, word in enumerate(words[1:], 1):
        known = word.text or ""
        if known.startswith("-") and not known.startswith("--") and "c" in known[1:] and index + 1 < len(words):
            return index + 2, words[index + 1].parts
        if not word.starts_with.startswith("-"):
            return index, None
        if known in ("-s", "-"):
            break
    return len(words), None


def _wrapped(words: tuple[Word, ...]) -> tuple[int, Parts | None]:
    """The script behind `--wrap` of `sbatch`."""
    index = next((i for i, word in enumerate(words) if word.starts_with.startswith("--wrap")), 0)
    if index and words[index].starts_with.startswith("--wrap="):
        return len(words), words[index].after(7).parts
    if index and index + 1 < len(words):
        return len(words), words[index + 1].parts
    named = any(not word.starts_with.startswith("-") for word in words[1:])
    return (0 if named else len(words)), None


def _host(words: tuple[Word, ...]) -> int:
    """The index of the host among the words of `ssh`."""
    index = 1
    while index < len(words) and words[index].starts_with.startswith("-"):
        index += 2 if (words[index].text or "") in ("-p", "-i", "-o", "-l", "-F", "-J", "-L", "-R", "-b", "-c") else 1
    return index


def joined_words(words: tuple[Word, ...]) -> Parts:
    """Words as one text, with blanks between them, as `eval` and `ssh` read them."""
    found: list[Part] = []
    for number, word in enumerate(words):
        if number:
            blank = Location(word.at.source, word.at.start, word.at.start)
            found.append(Part(" ", blank, blank))
        found += word.parts
    return tuple(found)
