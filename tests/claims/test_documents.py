"""What the prose of documents states, and which sections are left out."""

import pytest

from pytest_gbs.claims.documents import read_sections
from pytest_gbs.model.limits import MOST_STATED
from pytest_gbs.model.location import Source


def _stated(text: str, path: str = "README.md") -> list[tuple[str, int, str]]:
    """What a document states: the size, its number, and what stands at its place."""
    found = [d for section in read_sections(Source(path, text)) for each in section.paragraphs for d in each.declarations]
    return [(d.name, d.value, text[d.at.start : d.at.stop]) for d in found]


@pytest.mark.parametrize(
    ("text", "path"),
    [
        pytest.param("# Results\n\nWe use a global batch size of 32.\n", "README.md", id="results"),
        pytest.param("# Evaluation\n\n## Details\n\nGlobal batch size 32.\n", "README.md", id="below a heading of results"),
        pytest.param("# Training results\n\nWe use a global batch size of 32.\n", "README.md", id="results of training"),
        pytest.param(
            "# Model zoo\n\n## Training results\n\nGlobal batch size 32.\n", "README.md", id="results of training in a list of models"
        ),
        pytest.param("# News\n\n## Training\n\nGlobal batch size 32.\n", "README.md", id="training that is news"),
        pytest.param("# Results\n\n## Training\n\n## Speed\n\nGlobal batch size 32.\n", "README.md", id="behind the part about training"),
        pytest.param("# Train\n\n```yaml\n# global batch size 32\n```\n", "README.md", id="a block of code"),
        pytest.param("# Train\n\n~~~\nglobal batch size 32\n~~~\n", "README.md", id="another block of code"),
        pytest.param("# Train\n\nThe evaluation uses a batch size of 32.\n", "README.md", id="evaluation"),
        pytest.param("# 1.2\n\nThe global batch size is 32.\n", "CHANGELOG.md", id="a list of changes"),
        pytest.param("Results\n=======\n\nDetails\n-------\n\nGlobal batch size 32.\n", "a.rst", id="results in reStructuredText"),
        pytest.param("Train\n=====\n\n.. code:: yaml\n\n   # global batch size 32\n", "a.rst", id="a directive of code"),
        pytest.param("Train\n=====\n\nAs in::\n\n   global batch size 32\n", "a.rst", id="a block behind two colons"),
        pytest.param("# Train\n\nWith `--accum 4` the global batch size is 32.\n", "README.md", id="with a flag"),
        pytest.param("# Train\n\nThe global batch size is 32 (`--accum 4`). Go on.\n", "README.md", id="a flag behind it"),
        pytest.param("# Train\n\nPass `--batch-size 8`. The global batch size is 32 then.\n", "README.md", id="behind a flag of sizes"),
        pytest.param("# Train\n\npython train.py --lr 1 # global batch size 32\n", "README.md", id="a command without a block"),
        pytest.param("# Train\n\nWe use a batch size of 32 per GPU.\n", "README.md", id="of one device"),
        pytest.param("# Train\n\nThe micro batch size is 32.\n", "README.md", id="a micro batch"),
        pytest.param("# Train\n\nWith `--accum 4` we use a batch size of 32.\n", "README.md", id="a plain batch with a flag"),
        pytest.param("# Train\n\nBatch sizes of 32 and 64.\n", "README.md", id="two plain batches"),
        pytest.param("# Train\n\n| Model | 1024 | batch |\n|---|---|---|\n| a | 32 | x |\n", "README.md", id="a table of something else"),
    ],
)
def test_it_states_nothing(text: str, path: str) -> None:
    assert _stated(text, path) == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("# Train\n\nWe train with a **global batch size** of `32`.\n", "32", id="a sentence"),
        pytest.param("# Model zoo\n\nSeen.\n\n### Training\n\nGlobal batch size 32.\n\n### Test\n", "32", id="a part of a list of models"),
        pytest.param("# Results\n\nSeen.\n\n# Train\n\nGlobal batch size 32.\n", "32", id="behind the results"),
        pytest.param("# Training and Evaluation\n\nGlobal batch size 32.\n", "32", id="a heading that names training too"),
        pytest.param("- TP=2\n- `train_global_batch_size=2048`, `lr=1`\n", "2048", id="settings in a list"),
        pytest.param("| Setting | Value |\n|---|---|\n| Global batch size | 8,192 |\n", "8,192", id="a table of two columns"),
        pytest.param("| Recipe | GBS | lr |\n|---|---:|---|\n| `a.yaml` | 64 | 1e-5 |\n", "64", id="a table of three columns"),
        pytest.param("Global batch size 32. `--accum 4` takes the place of nodes.\n", "32", id="before a flag"),
        pytest.param("Set `--model-name` first. The global batch size is 32. Go on.\n", "32", id="behind a flag of something else"),
        pytest.param("The batch is `--nodes` * `--batch_size`. Here the global batch size is 4*8 = 32.\n", "32", id="a formula"),
        pytest.param("Global batch size 32. If memory is short, `--accum` keeps the batch size at that.\n", "32", id="before advice"),
        pytest.param("The batch:\n\n64 GPUs: 64 * 1 * 2 = 128\n", "128", id="arithmetic"),
        pytest.param("$$\n\\text{total batch size} = 2 \\times 8 \\times 8 = 128\n$$\n", "128", id="a formula of LaTeX"),
        pytest.param(
            "| Parameter | Name | Value |\n|---|---|---|\n| Batch size | `bs` | 32 x 4 x 8 = 1024 |\n", "1024", id="named settings"
        ),
        pytest.param("We train with 256 batch size on 8 GPUs.\n", "256", id="a plain batch behind its number"),
        pytest.param("It was trained with a\nbatch size of 256.\n", "256", id="a plain batch"),
    ],
)
def test_it_states_a_batch_at_its_place(text: str, value: str) -> None:
    batches = [each for each in _stated(text) if each[0] == "global_batch_size"]
    assert batches == [("global_batch_size", int(value.replace(",", "")), value)]


@pytest.mark.parametrize(
    "text", ["A batch size of 256.\n", "It was trained with batch size 256.\n", "| a | b |\n|---|---|\n| Batch size | 256 |\n"]
)
def test_a_plain_batch_only_confirms(text: str) -> None:
    (found,) = [d for section in read_sections(Source("README.md", text)) for each in section.paragraphs for d in each.declarations]
    assert (found.value, found.force) == (256, "confirms")


def test_files_are_named_by_the_paragraph_that_names_them() -> None:
    (section,) = read_sections(Source("README.md", "Batch size: see [it](conf/a.yaml) and `run.sh`.\n\nMore in b.yml.\n"))
    assert [each.names for each in section.paragraphs] == [("conf/a.yaml", "run.sh"), ("b.yml",)]


@pytest.mark.parametrize("path", ["a.md", "a.mdx", "a.qmd"])
def test_formats_made_of_markdown_are_read_like_it(path: str) -> None:
    assert _stated("# Train\n\nGlobal batch size 32.\n", path) == [("global_batch_size", 32, "32")]


def test_restructured_text_has_sections_and_prose() -> None:
    text = "Results\n=======\n\nSeen.\n\nTrain\n=====\n\n.. code:: sh\n\n   run.sh\n\n* Use ``a.yaml``: global batch size 32.\n"
    assert _stated(text, "a.rst") == [("global_batch_size", 32, "32")]
    assert [section.level for section in read_sections(Source("a.rst", text))] == [0, 1]


def test_what_states_too_much_states_nothing() -> None:
    """A table of thousands of runs takes long to read, and is about none of them for certain."""
    table = "| Recipe | GBS | lr |\n|---|---:|---|\n"
    assert len(_stated(table + "| `a.yaml` | 64 | 1e-5 |\n" * MOST_STATED)) == MOST_STATED
    assert _stated(table + "| `a.yaml` | 64 | 1e-5 |\n" * (MOST_STATED + 1)) == []
