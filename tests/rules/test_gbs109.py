"""What a document states of a recipe or a launch, joined with it only if nothing else can be meant."""

from pathlib import Path

import pytest

from tests.launches.building import checked, codes, launched, recipe

# Megatron Bridge states the global batch itself: 64.
BRIDGE = "train: {train_iters: 10, global_batch_size: 64, micro_batch_size: 2}\nrng: {seed: 1}\n"
# 2 x 4 on each GPU.
SFT = recipe(micro=2, accumulation=4, comment="")
RUN = "```bash\naccelerate launch --num_processes 4 train.py --config sft.yaml\n```\n"


def _findings(folder: Path, readme: str, **files: str) -> list[tuple[str, str]]:
    report = checked(folder, {"a.yaml": BRIDGE, "b.yaml": BRIDGE, "sft.yaml": SFT, "README.md": readme, **files})
    return [(f.code, f.message) for file in report.files for f in file.findings if f.at.source == "README.md" or "README" in f.message]


@pytest.mark.parametrize(
    "readme",
    [
        pytest.param("Global batch size 64, see `a.yaml`.\n", id="it is true"),
        pytest.param("Global batch size 32, see `a.yaml` and `b.yaml`.\n", id="two recipes"),
        pytest.param("Global batch size 32.\n", id="no recipe"),
        pytest.param("# A\n\nSee `a.yaml`.\n\n# B\n\nGlobal batch size 32.\n", id="another section"),
        pytest.param("See `a.yaml`.\n\nGlobal batch size 32.\n\nOr global batch size 64.\n", id="two batches"),
        pytest.param("We recommend a global batch size of 32 for `a.yaml`.\n", id="advice"),
        pytest.param("Use a global batch size of 32 for `a.yaml`.\n", id="a request"),
        pytest.param("Both `a.yaml` and `b.yaml` have a global batch size of 64.\n", id="true of both"),
        pytest.param("See `a.yaml`, `b.yaml`.\n\n```bash\ntrain.sh\n```\n\nGlobal batch size 32 for both.\n", id="both, behind"),
        pytest.param("`a.yaml` was trained with a global batch size of 32.\n", id="history"),
        pytest.param("In the paper, `a.yaml` has a global batch size of 32.\n", id="a paper"),
        pytest.param("Global batch size 32, see `c.yaml`.\n", id="no such recipe"),
        pytest.param("| Model | Recipe | GBS |\n|---|---|---|\n| x | - | 32 |\n\nSee `a.yaml`.\n", id="a row that names nothing"),
        pytest.param("Global batch size 32, see `sft.yaml`.\n", id="true on four GPUs"),
        pytest.param(f"Global batch size 32.\n\n{RUN}", id="a command that gives it"),
        pytest.param(f"The batch on 4 GPUs:\n\n4 GPUs: 4 * 2 * 4 = 32\n\n{RUN}", id="arithmetic above its command"),
        pytest.param(f"Global batch size 32, see `sft.yaml`.\n\n{RUN.replace('4', '$N')}", id="a command that may give it"),
        pytest.param(f"Global batch size 64.\n\n{RUN}{RUN.replace('4', '8')}", id="two commands"),
        pytest.param(f"Takes 2 nodes of 8 GPUs with a batch size of your choice.\n\n{RUN}", id="hardware"),
    ],
)
def test_it_stays_silent(readme: str, tmp_path: Path) -> None:
    assert _findings(tmp_path, readme) == []


@pytest.mark.parametrize(
    ("readme", "found"),
    [
        pytest.param("Global batch size 32, see `a.yaml`.\n", [("GBS109", "document says 32, but a.yaml gives 64")], id="a sentence"),
        pytest.param(
            "We use a global batch\nsize of 32, see `a.yaml`.\n", [("GBS109", "document says 32, but a.yaml gives 64")], id="we use"
        ),
        pytest.param(
            "See `a.yaml` and `b.yaml`.\n\nBoth have a global batch size of 32.\n",
            [("GBS109", f"document says 32, but {name}.yaml gives 64") for name in "ab"],
            id="both",
        ),
        pytest.param(
            "| Recipe | Nodes | GBS |\n|---|---|---|\n| a.yaml | 4 | 32 |\n| b.yaml | 4 | 64 |\n",
            [("GBS109", "document says 32, but a.yaml gives 64")],
            id="a row",
        ),
        pytest.param(
            f"Global batch size 128.\n\n{RUN}",
            [("GBS301", "this launch gives 32, but the text around it claims 128")],
            id="the command of the section",
        ),
    ],
)
def test_it_fires(readme: str, found: list[tuple[str, str]], tmp_path: Path) -> None:
    assert _findings(tmp_path, readme) == found


def test_a_launch_that_gives_the_number_is_what_the_document_means(tmp_path: Path) -> None:
    script = "accelerate launch --num_processes 4 train.py --config sft.yaml --per_device_train_batch_size 3\n"
    assert _findings(tmp_path, "Global batch size 48, see `sft.yaml`.\n", **{"run.sh": script}) == []


def test_a_claim_about_a_script_only_warns(tmp_path: Path) -> None:
    script = "accelerate launch --num_processes 4 train.py --config sft.yaml\n"
    report = checked(tmp_path, {"sft.yaml": SFT, "run.sh": script, "README.md": "Run `run.sh`, the global batch size is 64.\n"})
    (finding,) = (f for file in report.files for f in file.findings)
    assert (finding.code, finding.severity, finding.at.source) == ("GBS301", "warning", "run.sh")


def test_what_may_be_meant_is_listed_and_judges_nothing(tmp_path: Path) -> None:
    readme = f"# Tips\n\nWe recommend a total batch size of 128.\n\n# Train\n\nTakes 4 nodes.\n\n{RUN}{RUN.replace('4', '8')}"
    report = checked(tmp_path, {"sft.yaml": SFT, "README.md": readme})
    assert codes(report) == []
    assert {(d.name, d.value, d.force) for run in launched(report) for d in run.declarations} == {
        ("global_batch_size", 128, "other"),
        ("num_nodes", 4, "other"),
    }
