"""One file of a stranger takes neither time nor memory, starts and writes nothing, and keeps no other file from its result."""

import sys
from pathlib import Path
from typing import Final

import pytest

from tests.hostile.texts import RUN, SIZES, TOML
from tests.hostile.watched import run_beside_good

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no getrusage")

LARGE = 4_900_000  # bytes, just below the limit of a file
JSON = '{"train_batch_size": 8, "train_micro_batch_size_per_gpu": 4, '
VERL = """\
defaults: [_self_]
data: {train_batch_size: 1024}
actor_rollout_ref: {actor: {ppo_mini_batch_size: 256, ppo_micro_batch_size_per_gpu: 8}, rollout: {n: 5}}
trainer: {n_gpus_per_node: 8, nnodes: 1}
algorithm: {adv_estimator: grpo}
"""


def _filled(head: str, part: str, tail: str = "", size: int = LARGE) -> str:
    return head + part * ((size - len(head) - len(tail)) // len(part)) + tail


def _numbered(head: str, part: str, many: int) -> str:
    return head + "".join(part.replace("@", str(number)) for number in range(many))


TRAINERS: Final = "from transformers import Trainer, TrainingArguments\n"
TRAINER: Final = "t@ = Trainer(args=TrainingArguments(per_device_train_batch_size=@))\nt@.train()\n"
HARMLESS: dict[str, dict[str, str | bytes]] = {
    "comments": {"a.yaml": _numbered(SIZES, "key@: 1  # see issue @\n", 10_000)},
    "aliases": {"a.yaml": _numbered(f"a: &a {{x: 1}}\n{SIZES}", "key@: *a\n", 10_000)},
    "a long text": {"a.yaml": _filled(f"{SIZES}text: '", "words and words ", "'\n")},
    "a list": {"a.yaml": _filled(f"{SIZES}list: [", "1, ", "1]\n", 200_000)},
    "JSON in depth": {"a.json": f'{JSON}"a": {"[" * 150}{"]" * 150}}}'},
    "TOML in parts": {"a.toml": _numbered(TOML, "[t@]\nx = 1\n", 10_000)},
    "comments that state the batch with nodes and GPUs apart": {
        "a.yaml": _filled(SIZES, "# global batch size 128 = 4 x 4 x 8 GPUs\n", "", 900_000)
    },
    "a file to which a script adds": {"run.sh": f"echo '{RUN.strip()}' >> b.sh\n" * 2_500 + RUN},
    "an image with a deep folder": {"run.sh": f"cd /w\n{RUN}", "Dockerfile": "WORKDIR d\n" * 90_000},
    "a lock of strings": {"uv.lock": _numbered("", 'name = "trl"\nversion = "0.@"\n', 10_000)},
}
UNREAD: dict[str, tuple[dict[str, str | bytes], str]] = {
    "annotations of ours": ({"a.yaml": _numbered(SIZES, "# gbs: @ on 8 gpus\n", 40_000)}, ""),
    "trainers": ({"a.py": _numbered(TRAINERS, TRAINER, 9_000)}, ""),
    "lines": ({"a.yaml": _filled(SIZES, "#\n")}, "more than 200,000 lines"),
    "carriage returns": ({"a.yaml": _filled(SIZES, "\r")}, "more than 200,000 lines"),
    "flow": ({"a.yaml": _filled(f"{SIZES}a: [", "1,", "1]\n")}, "more than 200,000 nodes"),
    "documents": ({"a.yaml": _filled(SIZES, "---\na: 1\n", size=500_000)}, "more than 500 documents"),
    "depth": ({"a.yaml": _filled(f"{SIZES}a: ", "[")}, "nested deeper than 200 levels"),
    "claims": ({"a.yaml": _numbered(SIZES, "key@: 1  # GBS = 128 on 8 GPUs\n", 9_000)}, "more than 2,000 sizes"),
    "claims apart": ({"a.yaml": _filled(SIZES, "# GBS = 128\n\n", size=1_000_000)}, "more than 2,000 sizes"),
    "other claims": ({"a.yaml": _numbered(SIZES, "# GBS = 1@\n\n", 42_000)}, "more than 2,000 sizes"),
    "numbers in comments": ({"a.yaml": _filled(SIZES, f"# {'8xH100 ' * 200}\n\n")}, "more than 200,000 characters"),
    "not a claim": ({"a.yaml": _filled(f"{SIZES}# GBS = 8 ", "gbs: not-a-claim ", "\n")}, ""),
    "silencers": ({"a.yaml": _numbered(SIZES, "key@: 1  # gbs: ignore[GBS101]\n", 80_000)}, "GBS901"),
    "silencers of documents": ({"a.yaml": _filled(f"{SIZES}a: ", "# gbs: ignore[GBS101]\n---\n", size=2_000_000)}, ""),
    "a reason": ({"a.yaml": _filled(f"{SIZES}# gbs: ignore[GBS101] ", "a ", "\n")}, "GBS901"),
    "blank lines behind an anchor": ({"a.yaml": _filled(f"{SIZES}a: &a", "\n", "\n b\n", 190_000)}, ""),
    "products": ({"a.yaml": f"{SIZES}# GBS = {' x '.join(['99**40'] * 54)}\n"}, ""),
    "a product of long numbers": ({"a.yaml": f"{SIZES}# GBS = {' x '.join(['9' * 15] * 190)} = 128\n"}, ""),
    "JSON nodes": ({"a.json": _filled(f'{JSON}"a": [', "1,", "1]}")}, "more than 200,000 nodes"),
    "JSON comments": ({"a.json": _filled(f'{JSON}"a": ', "/**/", "1}")}, ""),
    "a JSON comment": ({"a.json": _filled(f'{JSON}"a": /*', "* ", "*/ 1}")}, ""),
    "a TOML number": ({"a.toml": _filled(f"{TOML}a = ", "1", "\n")}, "a value without quotes of more than 1,000 characters"),
    "a TOML float": ({"a.toml": _filled(f"{TOML}a = 1.", "1", "\n")}, "a value without quotes of more than 1,000 characters"),
    "TOML escapes": ({"a.toml": _filled(f'{TOML}a = "', "\\\\", '"\n')}, "more than 200,000 nodes"),
    "TOML quotes": ({"a.toml": _filled(f'{TOML}a = """', '"" ', '"""\n')}, ""),
    "TOML comments": ({"a.toml": _filled(TOML, "#\n")}, "more than 200,000 lines"),
    "merge keys": ({"a.yaml": f"a: &a {{x: 1}}\n{SIZES}<<: [{'*a, ' * 40_000}*a]\n"}, "more than 10,000 keys are merged"),
    "interpolations": (
        {"a.yaml": _numbered(VERL, "k@: ${oc.select:data.k@,${data.train_batch_size}}\n", 9_000)},
        "more than 100,000 characters of values with interpolations",
    ),
    "values": (
        {"a.yaml": _numbered(f"{VERL}k:\n", "- 1\n", 60_000)},
        "not composed with the files that it includes: more than 50,000 values",
    ),
    "ignore patterns": ({".gitignore": _filled("", f"*{'a*' * 200}b\n", size=490_000), f"{'a' * 200}.yaml": SIZES}, ""),
    "comments of many launches": ({"run.sh": "# change this\n\n" * 8_000 + f"N=8\n{RUN}" * 390}, ""),
    "silencers of many launches": ({"run.sh": f"# gbs: ignore[GBS101]\n{RUN}" * 390 + "# gbs: ignore[GBS101]\n\n" * 2_000}, ""),
    "a NUL": ({"a.yaml": f"{SIZES}\0"}, "NUL"),
    "UTF-16": ({"a.yaml": SIZES.encode("utf-16-le") * 1000}, ""),
}
REFUSED: dict[str, tuple[dict[str, str | bytes], str]] = {
    "patterns": ({"gbs.toml": _numbered("exclude = [", '"a@*", ', 15_000) + "]\n"}, "above 1,000 path patterns"),
    "spellings": ({"gbs.toml": _numbered("exclude = [", '"' + "{a,b}" * 6 + "x*" * 200 + '", ', 200) + "]\n"}, "above 1,000 path patterns"),
    "frameworks": ({"gbs.toml": _numbered("", "[frameworks.a@]\n", 9_000)}, "contains 9,000 frameworks; at most 100 are read"),
    "settings": ({"gbs.toml": _filled("", "#\n", size=300_000)}, "larger than 200,000 bytes"),
    "settings beside others": ({"pyproject.toml": _filled("[tool.gbs]\n", "#\n", size=300_000)}, "may contain [tool.gbs]"),
    "a key of the lock": (
        {"gbs.lock": _filled('version = 1\n"', "a", '" = { unit = "samples", per_gpu = 8 }\n')},
        "gbs.lock:2: not a line",
    ),
    "a unit of the lock": ({"gbs.lock": _filled('version = 1\n"a" = { unit = "', "\\\\", '", per_gpu = 8 }\n')}, "gbs.lock:2: not a line"),
}


@pytest.mark.parametrize("files", HARMLESS.values(), ids=HARMLESS)
def test_a_large_file_in_order_is_read(files: dict[str, str | bytes], tmp_path: Path) -> None:
    found = run_beside_good(tmp_path, files)
    assert found.code == 0
    assert "verified     good.yaml" in found.out


@pytest.mark.parametrize(("files", "says"), UNREAD.values(), ids=UNREAD)
def test_a_file_made_to_be_expensive_is_cut_short(files: dict[str, str | bytes], says: str, tmp_path: Path) -> None:
    found = run_beside_good(tmp_path, files)
    assert says in " ".join(found.out.split())
    assert "verified     good.yaml" in found.out


@pytest.mark.parametrize(("files", "says"), REFUSED.values(), ids=REFUSED)
def test_settings_and_locks_made_to_be_expensive_are_refused(files: dict[str, str | bytes], says: str, tmp_path: Path) -> None:
    found = run_beside_good(tmp_path, files, "check", ".")
    assert found.code == 2
    assert says in found.err


@pytest.mark.parametrize("digits", [19, 4_300, 5_000], ids=str)
def test_a_count_of_many_digits_is_not_a_baseline(digits: int, tmp_path: Path) -> None:
    entry = f'{{"path": "good.yaml", "rule": "GBS101", "key": "", "count": {"9" * digits}}}'
    baseline = f'{{"version": 1, "findings": [{entry}, {entry}]}}'
    found = run_beside_good(tmp_path, {"baseline.json": baseline}, "check", "--baseline", "baseline.json", "good.yaml")
    assert found.code == 2
