"""Every grammar is found, and its examples show what it reads."""

from pathlib import Path

import pytest

from pytest_gbs.claims import grammars as package
from pytest_gbs.claims.grammars import grammars
from pytest_gbs.model.declaration import Grammar
from tests.claims.grammars.support import block

EXAMPLES = [(grammar, example) for grammar in grammars() for example in grammar.examples]


def test_finds_every_grammar_once() -> None:
    names = [grammar.name for grammar in grammars()]
    assert len(names) == len(set(names))
    files = [path.read_text(encoding="utf-8") for path in Path(*package.__path__).glob("*.py")]
    assert len(names) == sum("\nGRAMMAR = " in text or "\nGRAMMAR: " in text for text in files)


@pytest.mark.parametrize(("grammar", "example"), EXAMPLES, ids=[f"{grammar.name}-{i}" for i, (grammar, _) in enumerate(EXAMPLES)])
def test_an_example_is_read_and_holds_a_hint(grammar: Grammar, example: str) -> None:
    assert grammar.read(block(example), "f")
    assert any(hint in example.lower() for hint in grammar.hint)


@pytest.mark.parametrize("grammar", grammars(), ids=lambda grammar: grammar.name)
def test_says_what_it_reads(grammar: Grammar) -> None:
    assert grammar.summary
    assert grammar.examples
    assert all(hint == hint.lower() for hint in grammar.hint)
