"""Commands in the code blocks of documents, by their format."""

import pytest

from pytest_gbs.model.document import holds_commands
from pytest_gbs.model.location import Source
from pytest_gbs.shell import read_commands

_RST = "Train\n=====\n\n{}\n\nNext\n----\n\nText.\n"


def _read(path: str, text: str) -> list[str]:
    """The programs that a document runs, with their arguments."""
    script = read_commands(Source(path, text))
    return [" ".join(word.text or "?" for word in command.words) for command in script.commands]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        pytest.param("a.rst", _RST.format(".. code-block:: python\n\n   torchrun a.py"), id="another language"),
        pytest.param("a.rst", _RST.format("Run torchrun a.py::\n\nbelow nothing is indented"), id="nothing indented"),
        pytest.param("a.rst", _RST.format(".. note::\n\n   torchrun a.py"), id="a note"),
        pytest.param("a.rst", _RST.format("As text::\n\n   torchrun a.py"), id="a block without language and prompt"),
        pytest.param("a.mdx", "<Tab>\n\ntorchrun a.py\n\n</Tab>\n", id="prose of MDX"),
        pytest.param("a.qmd", "```{python}\ntorchrun a.py\n```\n", id="Python in Quarto"),
        pytest.param("a.rst", _RST.format(".. code:: bash\n\n  >>> model\n  torchrun a.py"), id="a session of Python"),
        pytest.param("a.md", "```text\ntorchrun a.py\n```\n", id="text"),
        pytest.param(
            "a.md", "```python\n# !torchrun a.py\nrun('!torchrun a.py')\n$ torchrun a.py\n```\n", id="Python, and none of a notebook"
        ),
        pytest.param("a.md", "```python\nimport os\ntorchrun a.py\n```\n", id="Python first"),
        pytest.param("a.md", "```yaml\n!torchrun a.py\n```\n", id="a tag of YAML"),
        pytest.param("a.md", "```\nusage: python a.py [-h]\ntorchrun a.py\n```\n", id="no language, and other lines first"),
        pytest.param("a.md", "```\npython: 3.11\ntorchrun: 2.7\n```\n", id="no language, and no commands"),
        pytest.param("a.md", "```\npython\nbash\n```\n", id="no language, and names alone"),
        pytest.param("a.md", "```\ntorchrun = launcher\n```\n", id="no language, and an assignment"),
        pytest.param("a.md", "```\ntrain.sh   trains the model\n```\n", id="no language, and what a script is for"),
        pytest.param("a.md", "```\ntrain.sh   # 8 GPUs\neval.py\n```\n", id="no language, and a list of files"),
        pytest.param("a.md", "```\nport=1\nfor x in range(3):\ntorchrun a.py\n```\n", id="no language, and a program behind assignments"),
        pytest.param("a.md", "```\na=f(1)\ntorchrun a.py\n```\n", id="no language, and a call"),
        pytest.param("a.txt", "```bash\ntorchrun a.py\n```\n", id="no document"),
        pytest.param("a.md", "- an item\n\n    torchrun a.py\n", id="indented in a list"),
        pytest.param("a.md", "1. an item\n   more\n\n    torchrun a.py\n", id="indented in a list with numbers"),
        pytest.param("a.md", "1. an item\nthat goes on\n\n    torchrun a.py\n", id="indented in a list whose item goes on"),
        pytest.param("a.md", "A sentence\n    torchrun a.py\n", id="indented as the rest of a paragraph"),
        pytest.param("a.md", "So:\n\n   torchrun a.py\n", id="three blanks"),
        pytest.param("a.md", "So:\n\n    model.py\n    torchrun a.py\n", id="indented, and no commands"),
        pytest.param("a.md", "```text\n\n    torchrun a.py\n```\n", id="indented in another block"),
    ],
)
def test_they_run_nothing(path: str, text: str) -> None:
    assert not holds_commands(path) or _read(path, text) == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        pytest.param("a.rst", _RST.format(".. code-block:: bash\n\n   torchrun a.py"), id="a directive"),
        pytest.param("a.rst", _RST.format(".. code:: console\n   :linenos:\n\n   $ torchrun \\\n   > a.py"), id="options and a prompt"),
        pytest.param("a.rst", _RST.format("* An item\n\n  .. code-block:: sh\n\n     torchrun a.py\n\n  more"), id="inside a list"),
        pytest.param("a.rst", _RST.format("So::\n\n   $ torchrun a.py\n"), id="two colons and a prompt"),
        pytest.param("a.rst", ".. prompt:: bash $\n\n   torchrun a.py", id="at the end of the file"),
        pytest.param("a.md", "So:\n\n    torchrun a.py\n\nNext", id="indented"),
        pytest.param("a.md", "- an item\n\nSo:\n\n\ttorchrun \\\n\t a.py", id="indented below a list, by tabs, to the end"),
        pytest.param("a.md", "So:\n\n    ```bash\n    torchrun a.py\n    ```\n", id="an indented fence"),
        pytest.param("docs/a.mdx", "<Tab>\n\n  ```bash\n  torchrun a.py\n  ```\n\n</Tab>\n", id="MDX"),
        pytest.param("a.md", "```bash\ntorchrun \\ \na.py\n```\n", id="a blank behind a backslash"),
        pytest.param("a.md", "```\ntorchrun \\\t\r\n a.py\r\n```\n", id="a tab, and a line end of Windows"),
        pytest.param("a.md", "```console\n$ torchrun \\  \n> a.py\n```\n", id="a blank behind a backslash, and a prompt"),
        pytest.param("a.md", "```bash\ntorchrun \\ # it's ours\n a.py\n```\n", id="a comment behind a backslash"),
        pytest.param("a.md", "```\ntorchrun \\  # ours\n a.py\n```\n", id="a comment behind a backslash, no language"),
        pytest.param("a.md", "```python\n# 8 GPUs\ntorchrun \\\n a.py\n```\n", id="a line for a shell that is called Python"),
        pytest.param("a.md", "```console\n$ torchrun \\ # ours\n> a.py\n```\n", id="a comment behind a backslash, and a prompt"),
        pytest.param("a.md", "```\ncd src\nexport X=1\ntorchrun a.py\n```\n", id="no language, and a folder first"),
        pytest.param("a.md", "```\ntorchrun a.py\n```\n", id="no language"),
        pytest.param("a.md", "```\n# ours\np=py\nlr='2 e'\ntorchrun a.$p\n```\n", id="no language, and assignments first"),
        pytest.param("a.md", "```python\nimport os\n!torchrun \\\n  a.py\nos.listdir()\n```\n", id="a line of a notebook"),
        pytest.param("a.md", "```bash\n# here\n!torchrun a.py\n```\n", id="a line of a notebook in a block for a shell"),
        pytest.param("a.md", "~~~\n\n# Train\ntorchrun \\\n  a.py\n~~~\n", id="no language, and a comment first"),
        pytest.param("a.md", "```\ntorchrun a.py\nit's done: loss 'x\n```\n", id="no language, and what is printed"),
        pytest.param("docs/a.qmd", "---\ntitle: A\n---\n\n```{.bash}\ntorchrun a.py\n```\n", id="Quarto"),
        pytest.param("docs/A.QMD", "```{bash}\ntorchrun a.py\n```\n", id="capitals"),
    ],
)
def test_they_run_a_command(path: str, text: str) -> None:
    assert holds_commands(path)
    assert _read(path, text) == ["torchrun a.py"]


@pytest.mark.parametrize("line", ["torchrun \\#ours", 'torchrun "\\ # ours"', "torchrun a\\ b"])
def test_a_backslash_within_a_line_does_not_join_it_with_the_next(line: str) -> None:
    assert len(_read("a.md", f"```bash\n{line}\npython a.py\n```\n")) == 2


def test_a_block_is_below_its_heading() -> None:
    script = read_commands(Source("a.rst", _RST.format(".. code:: sh\n\n   torchrun a.py")))
    assert [command.context for command in script.commands] == ["Train"]


@pytest.mark.parametrize(
    ("block", "words"),
    [
        pytest.param("torchrun a.py \\", "torchrun a.py ?", id="a first line alone"),
        pytest.param("torchrun a.py \\\npython a.py \\", "torchrun a.py python a.py ?", id="two first lines, one for the other"),
        pytest.param("torchrun a.py \\\n  --lr 1 \\", "torchrun a.py --lr 1", id="a backslash too many"),
    ],
)
def test_a_first_line_that_is_to_go_on_is_open(block: str, words: str) -> None:
    assert _read("a.md", f"```bash\n{block}\n```\n") == [words]
