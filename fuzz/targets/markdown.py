"""Documents: their commands, and what their prose, tables and model cards state."""

from __future__ import annotations

from collections.abc import Iterator

from fuzz.seeds import ROOT, documents
from fuzz.target import Target, source
from pytest_gbs.claims.documents import read_own_numbers, read_sections
from pytest_gbs.claims.model_cards import read_model_cards
from pytest_gbs.model.location import Unreadable
from pytest_gbs.shell import read_commands

_PATHS = ("README.md", "a.rst", "b.mdx", "c.qmd")


def _run(data: bytes) -> None:
    text = source(_PATHS[data[0] % len(_PATHS)] if data else "a.md", data[1:])
    if isinstance(text, Unreadable):
        return
    read_commands(text)
    list(read_model_cards(text))
    list(read_own_numbers(text))
    for section in read_sections(text):
        assert 0 <= section.start <= section.stop <= len(text.text)
        for paragraph in section.paragraphs:
            for declaration in paragraph.declarations:
                assert 0 <= declaration.at.start < declaration.at.stop <= len(text.text)


def _seeds() -> Iterator[bytes]:
    for text in documents():
        yield b"0" + text.encode()
    yield b"0" + (ROOT / "README.md").read_bytes()[:4000]
    yield b"1Title\n=====\n\n.. code-block:: bash\n\n   $ torchrun --nproc_per_node 8 a.py\n\nA batch of 128 on 8 GPUs::\n\n   make\n"
    yield b"0---\ntags: [a]\n---\n- train_batch_size: 4\n- total_train_batch_size: 64\n- num_devices: 8\n- gradient_accumulation_steps: 2\n"
    yield b"0- 8 GPUs:\n\n   ~~~sh\n   # 4 x 8 = 32\n   $ torchrun a.py \\\n     --b 4\n   ~~~\n\n<details>\n\n    make  # 2 nodes\n"


TARGET = Target(
    _run, _seeds, ("```bash\n", "```\n", "~~~\n", "| a | b |\n|---|---|\n", "\n## ", "\n===\n", "$ ", "> ", "<!-- gbs: ", "-->", "::\n\n")
)
