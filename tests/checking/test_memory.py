"""A check that remembers says what one says that does not, whatever is edited; and what does not rest on an edit is not read again."""

import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_gbs import Given
from pytest_gbs.checking.memory import Memory
from pytest_gbs.files.edited import EditedTree
from pytest_gbs.files.worktree import WorkTree
from pytest_gbs.launches.find import ReadScript, Scripts
from pytest_gbs.model.location import Source
from pytest_gbs.model.settings import Settings
from tests.cli.support import write
from tests.support import check

EXAMPLES = Path(__file__).parents[2] / "examples"
KEYS = "model_name_or_path: my/model\ndataset_name: my/dialogues\nmax_length: 2048\n"
SIZES = "per_device_train_batch_size: 4\ngradient_accumulation_steps: 2\n"
LAUNCH = "train.py --config recipes/a.yaml\n"
README = "# Recipes\n\n`recipes/b.yaml` has a global batch size of 64.\n\n```bash\naccelerate launch --num_processes 8 {}```\n"
PROGRAM = "from trl import SFTConfig\n\n# global batch size 64 on 8 GPUs\nc = SFTConfig(per_device_train_batch_size=4, output_dir='x')\n"
HYDRA = "defaults:\n  - trainer: big\n  - _self_\nmodel:\n  micro_batch_size: 4\n  global_batch_size: 128\n  encoder_seq_length: 8\n"
FILES = {
    "gbs.toml": "",
    "requirements.txt": "trl==0.15.0\ntransformers==4.40.0\n",
    "recipes/a.yaml": f"# global batch size 64 on 1 node\n{KEYS}{SIZES}",
    "recipes/b.yaml": f"{KEYS}{SIZES}deepspeed: recipes/ds.json\n",
    "recipes/ds.json": '{"train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 2}',
    "recipes/zero3.yaml": "compute_environment: LOCAL_MACHINE\ndistributed_type: DEEPSPEED\nnum_machines: 1\nnum_processes: 8\n",
    "scripts/env.sh": "GPUS=8\nCONFIG=recipes/b.yaml\n",
    "scripts/one.sh": "source scripts/env.sh\naccelerate launch --num_processes $GPUS train.py --config $CONFIG\n",
    "scripts/two.sh": "accelerate launch --config_file recipes/zero3.yaml train.py --config recipes/a.yaml\n",
    "scripts/all.sh": "LIMIT=1 bash scripts/one.sh\nLIMIT=1 bash scripts/two.sh\n",
    "train.py": PROGRAM,
    "README.md": README.format(LAUNCH),
    "job.yaml": f"resources:\n  accelerators: A100:8\nnum_nodes: 2\nrun: |\n  torchrun --nproc_per_node 8 {LAUNCH}",
    "conf/config.yaml": HYDRA,
    "conf/trainer/big.yaml": "devices: 8\nnum_nodes: 2\n",
    "conf/run.sh": "python megatron_gpt_pretraining.py --config-path=conf --config-name=config trainer.devices=4\n",
}


def _compare(tree: EditedTree, memory: Memory, settings: Settings, targets: tuple[str, ...]) -> None:
    """Check that the report with `memory` is the one without."""
    known = check(tree, targets, settings, Given(), keep_runs=True, found=True, memory=memory)
    fresh = check(tree, targets, settings, Given(), keep_runs=True, found=True)
    assert known.files == fresh.files
    assert known.sources == fresh.sources
    assert (known.internal, known.advice) == (fresh.internal, fresh.advice)


def _edits(texts: dict[str, str], seed: int) -> Iterator[tuple[str, str]]:
    """Yield many small edits: a number that changes, a line that goes, a comment that comes, and what was there before."""
    chance = random.Random(seed)
    for _ in range(40):
        path = chance.choice(sorted(texts))
        numbers = list(re.finditer(r"\d+", texts[path]))
        lines = texts[path].splitlines(keepends=True)
        way = chance.randrange(4)
        if way == 0 and numbers:
            match = chance.choice(numbers)
            texts[path] = texts[path][: match.start()] + str(chance.choice((1, 2, 4, 16, 64))) + texts[path][match.end() :]
        elif way == 1 and lines:
            lines.pop(chance.randrange(len(lines)))
            texts[path] = "".join(lines)
        elif way == 2:
            texts[path] += "# global batch size 32\n"
        else:
            texts[path] = FILES.get(path, texts[path])
        yield path, texts[path]


@pytest.mark.parametrize("seed", range(4))
def test_any_edit_of_any_file_is_seen(tmp_path: Path, seed: int) -> None:
    write(tmp_path, FILES)
    tree, memory = EditedTree(WorkTree(tmp_path)), Memory()
    texts = dict(FILES)
    _compare(tree, memory, Settings(), ())
    for path, text in _edits(texts, seed):
        tree.put(path, text)
        _compare(tree, memory, Settings(), ())
        _compare(tree, memory, Settings(), ("recipes/a.yaml", "scripts/one.sh", "README.md"))


SHARED = {
    "scripts/three.sh": "accelerate launch --config_file recipes/zero3.yaml train.py --config recipes/b.yaml\n",
    "scripts/four.sh": "accelerate launch --config_file recipes/zero3.yaml train.py --config recipes/a.yaml\n",
    "scripts/five.sh": "accelerate launch --config_file recipes/zero3.yaml train.py --per_device_train_batch_size 2\n",
    "scripts/six.sh": "trl sft --config recipes/b.yaml --accelerate_config recipes/zero3.yaml\n",
    "scripts/seven.sh": "source scripts/file.sh\naccelerate launch --config_file $FILE train.py --config recipes/a.yaml\n",
    "scripts/file.sh": "FILE=recipes/zero3.yaml\n",
    "scripts/sourced.sh": "source scripts/six.sh\nsource scripts/four.sh\n",
}


@pytest.mark.parametrize("seed", range(8))
def test_what_was_left_out_of_date_is_seen_when_it_matters(tmp_path: Path, seed: int) -> None:
    texts = {**FILES, **SHARED}
    write(tmp_path, texts)
    tree, memory, chance = EditedTree(WorkTree(tmp_path)), Memory(), random.Random(seed)
    _compare(tree, memory, Settings(), ())
    open_files = [
        "recipes/zero3.yaml",
        "recipes/a.yaml",
        "recipes/b.yaml",
        "README.md",
        "train.py",
        *(each for each in texts if "scripts" in each),
    ]
    for path, text in _edits(texts, seed):
        tree.put(path, text)
        tree.put("recipes/zero3.yaml", FILES["recipes/zero3.yaml"].replace("8", str(chance.choice((1, 2, 4, 8)))))
        _compare(tree, memory, Settings(), ("recipes/zero3.yaml",))
        _compare(tree, memory, Settings(), tuple(sorted(chance.sample(open_files, 2))))


def _noting_scripts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A list to which each script is added that is read from now on."""
    was_read: list[str] = []
    read_script = Scripts.read_script

    def noting(scripts: Scripts, path: str) -> ReadScript:
        was_read.append(path)
        return read_script(scripts, path)

    monkeypatch.setattr(Scripts, "read_script", noting)
    return was_read


def test_an_edit_of_a_shared_launcher_file_reads_the_scripts_of_open_recipes_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scripts = {f"run{number}.sh": SHARED["scripts/four.sh"].replace("a.yaml", f"a{number}.yaml") for number in range(20)}
    write(tmp_path, {"recipes/zero3.yaml": FILES["recipes/zero3.yaml"], **scripts})
    write(tmp_path, {f"recipes/a{number}.yaml": KEYS + SIZES for number in range(20)})
    tree, memory = EditedTree(WorkTree(tmp_path)), Memory()
    _compare(tree, memory, Settings(), ("recipes/zero3.yaml", "recipes/a7.yaml"))
    tree.put("recipes/zero3.yaml", FILES["recipes/zero3.yaml"].replace("8", "4"))
    was_read = _noting_scripts(monkeypatch)
    check(tree, ("recipes/zero3.yaml",), Settings(), Given(), keep_runs=True, found=True, memory=memory)
    assert was_read == []
    check(tree, ("recipes/zero3.yaml", "recipes/a7.yaml"), Settings(), Given(), keep_runs=True, found=True, memory=memory)
    assert was_read == ["run7.sh"]
    check(tree, ("recipes/a7.yaml",), Settings(), Given(), keep_runs=True, found=True, memory=memory)
    assert was_read == ["run7.sh"]


def test_the_examples_stay_what_they_are() -> None:
    tree, memory = EditedTree(WorkTree(EXAMPLES)), Memory()
    paths = [path for path in tree.paths() if isinstance(tree.read(path), Source)]
    texts = {path: source.text for path in paths if isinstance(source := tree.read(path), Source)}
    _compare(tree, memory, Settings(), ())
    for path, text in _edits(texts, 5):
        tree.put(path, text)
        _compare(tree, memory, Settings(), ())


def test_files_that_come_and_go_are_seen(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    tree, memory = EditedTree(WorkTree(tmp_path)), Memory()
    _compare(tree, memory, Settings(), ())
    tree.put("scripts/new.sh", "accelerate launch --num_processes 4 train.py --config recipes/a.yaml\n")
    _compare(tree, memory, Settings(), ())
    tree.drop("scripts/new.sh")
    _compare(tree, memory, Settings(), ())
    (tmp_path / "recipes" / "zero3.yaml").unlink()
    (tmp_path / "recipes" / "a.yaml").write_text(KEYS + "per_device_train_batch_size: 16\n")
    tree.look_again()
    _compare(tree, memory, Settings(), ())


def test_other_settings_are_seen(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    tree, memory = EditedTree(WorkTree(tmp_path)), Memory()
    for settings in (Settings(), Settings(exclude=("scripts/",)), Settings()):
        _compare(tree, memory, settings, ())


def test_a_script_that_does_not_rest_on_an_edit_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, FILES)
    tree, memory = EditedTree(WorkTree(tmp_path)), Memory()
    read = _noting_scripts(monkeypatch)

    def again() -> set[str]:
        read.clear()
        check(tree, ("recipes/a.yaml",), Settings(), Given(), found=True, memory=memory)
        return set(read)

    assert len(again()) > 4
    assert again() == set()
    tree.put("recipes/a.yaml", FILES["recipes/a.yaml"] + "# more\n")
    assert again() == set()
    tree.put("scripts/env.sh", FILES["scripts/env.sh"].replace("8", "4"))
    assert again() == {"scripts/env.sh", "scripts/one.sh", "scripts/all.sh"}
    tree.put("recipes/zero3.yaml", FILES["recipes/zero3.yaml"].replace("8", "4"))
    assert again() == {"scripts/two.sh", "scripts/all.sh"}
