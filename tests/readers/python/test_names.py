"""What a function finds of a name that the module binds several times."""

import pytest

from tests.readers.python.test_evaluation import constant, evaluator_of

CHOSEN = "import torch\n\ndef read():\n    return batch\n\nmodel = 70\n{}\nfound = read()\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("batch = 4\nread()\nbatch = 8", None, id="the function may run before"),
        pytest.param("batch = 4\nrun = Run(read)\nrun.go()\nbatch = 8", None, id="an object may run it before"),
        pytest.param("batch = 4\nif asked():\n    batch = 8", None, id="nobody knows"),
        pytest.param("batch = 4\nfor each in range(3):\n    batch = each", None, id="a loop"),
        pytest.param("batch = 4\nbatch = 8\ndef grow():\n    global batch\n    batch = 16", None, id="a function binds it too"),
        pytest.param("batch = 4\nbatch += model", 74, id="added to"),
        pytest.param("batch = 4\nbatch = 8", 8, id="bound again"),
        pytest.param(
            "if model < 13:\n    batch = 8\nelif model < 100:\n    batch = 2\nelse:\n    batch = 1", 2, id="one of several branches"
        ),
        pytest.param("batch = 4\ngpus = int(torch.cuda.device_count())\nbatch = 8", 8, id="calls of libraries between"),
    ],
)
def test_the_last_that_runs_counts_if_no_function_runs_before(text: str, expected: int | None) -> None:
    assert constant(evaluator_of(CHOSEN.format(text)), "found") == expected
