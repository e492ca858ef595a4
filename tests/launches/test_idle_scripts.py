"""Scripts that launch nothing however they are started: not read again for each start, and nothing that launches is taken for one."""

from pathlib import Path

import pytest

from pytest_gbs.files.worktree import WorkTree
from pytest_gbs.launches.find import Scripts
from tests.cli.support import write
from tests.launches.building import recipe

LAUNCH = "accelerate launch --num_processes 8 train.py --config sft.yaml\n"
TALKS = 'send() { curl -d "$1" https://example.org; python3 -c "print(1)"; }\nfor i in 1 2 3; do send "$1 $i"; done\n'
IDLE = {
    "no launcher": {"a.sh": TALKS},
    "its own name": {"a.sh": f"# usage: ./a.sh TEXT\n{TALKS}"},
    "another one that is idle": {"a.sh": f"source lib/b.sh\n{TALKS}", "lib/b.sh": "export X=1\n"},
    "a mode and no module": {"a.sh": f"install -m 600 /dev/null x\n{TALKS}"},
    "a file that a variable names": {"a.sh": f'NAME=$HOME/.keys\nsource "$NAME"\n{TALKS}'},
}
LAUNCHING = {
    "itself": {"a.sh": LAUNCH + 'echo "$1"\n'},
    "by Python": {"a.sh": "python train.py --config sft.yaml $1\n"},
    "by a module": {"a.sh": "python -m accelerate.commands.launch --num_processes 8 train.py --config sft.yaml $1\n"},
    "what it is given": {"a.sh": 'echo "$1"\nshift\n"$@"\n', "run.sh": f"bash a.sh now {LAUNCH}"},
    "what it is given in a variable": {"a.sh": "$CMD\n", "run.sh": f'CMD="{LAUNCH.strip()}" bash a.sh 1\n'},
    "another one": {"a.sh": "bash sub/b.sh $1\n", "sub/b.sh": LAUNCH},
    "another one that it is given": {"a.sh": "bash $1 x\n", "run.sh": "bash a.sh sub/b.sh\n", "sub/b.sh": LAUNCH},
    "another one with a variable in its name": {"a.sh": "N=b\nbash sub/${N}.sh $1\n", "sub/b.sh": LAUNCH},
    "a file that it sources": {"a.sh": "source sub/common\ngo $1\n", "sub/common": f"go() {{\n{LAUNCH}}}\n"},
    "a file that a variable names": {"a.sh": 'F=sub/common\n. "$F"\ngo $1\n', "sub/common": f"go() {{\n{LAUNCH}}}\n"},
}


def _scripts(folder: Path, files: dict[str, str]) -> Scripts:
    write(folder, {"sft.yaml": recipe(), "train.py": "", "run.sh": "bash a.sh one\nbash a.sh two\n", **files})
    return Scripts(tree := WorkTree(str(folder)), tuple(tree.paths()), lambda _: False)


@pytest.mark.parametrize("files", IDLE.values(), ids=IDLE)
def test_an_idle_script_costs_nothing_when_it_is_started(files: dict[str, str], tmp_path: Path) -> None:
    often = "".join(f"bash a.sh {number}\n" for number in range(300))
    scripts = _scripts(tmp_path, {"run.sh": often, **files})
    assert scripts.launches("run.sh") == ()
    assert scripts.read_script("run.sh").shared == 0
    assert not scripts.unread


@pytest.mark.parametrize("files", LAUNCHING.values(), ids=LAUNCHING)
def test_a_script_that_launches_is_followed(files: dict[str, str], tmp_path: Path) -> None:
    found = _scripts(tmp_path, files).launches("run.sh")
    assert found and all(launch.recipes[0][0] == "sft.yaml" for launch in found)
