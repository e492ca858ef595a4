"""What a function finds of a name that the module binds several times, and texts that are put together."""

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


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        pytest.param("f'{model:>4}'", None, id="in a form of its own"),
        pytest.param("f'{name!r}'", None, id="as Python writes it"),
        pytest.param("f'{0.5}'", None, id="a fraction"),
        pytest.param("f'{best()}.json'", None, id="not known"),
        pytest.param("name + best()", None, id="an unknown end"),
        pytest.param("name + model", None, id="a number is no text"),
        pytest.param("f'{many}{many}'", None, id="too long"),
        pytest.param("7 in name", None, id="a number in a text"),
        pytest.param("f'conf/{name}-{model}.json'", "conf/zero-70.json", id="an f-string"),
        pytest.param("'conf/' + name + '.json'", "conf/zero.json", id="added"),
        pytest.param("'zer' in name", True, id="a part of a text"),
        pytest.param("'one' not in f'{name}2'", True, id="no part of it"),
    ],
)
def test_texts_that_a_program_puts_together(written: str, expected: object) -> None:
    text = f"model = 70\nname = 'zero'\nmany = '{'x' * 6_000}'\nfound = {written}\n"
    assert constant(evaluator_of(text), "found") == expected
