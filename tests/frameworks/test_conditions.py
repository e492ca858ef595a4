"""Conditions on values that something else fills in."""

import pytest

from pytest_gbs.frameworks.conditions import certain, holds
from pytest_gbs.model.condition import Condition

from .building import document

KEY = ("actor", "use_dynamic_bsz")
NOT_TRUE = Condition(KEY, (True,), negated=True, default=False)


@pytest.mark.parametrize(
    ("text", "condition", "at_first", "in_any_case"),
    [
        pytest.param("actor: {use_dynamic_bsz: true}", NOT_TRUE, False, False, id="true"),
        pytest.param("actor: {use_dynamic_bsz: false}", NOT_TRUE, True, True, id="false"),
        pytest.param("actor: {}", NOT_TRUE, True, True, id="the default"),
        pytest.param("actor: {use_dynamic_bsz: '${DYNAMIC:-True}'}", NOT_TRUE, True, False, id="a variable"),
        pytest.param("actor: {use_dynamic_bsz: '{{ dynamic }}'}", NOT_TRUE, True, False, id="a template"),
        pytest.param("actor: {use_dynamic_bsz: $5}", NOT_TRUE, True, True, id="a dollar"),
        pytest.param("actor: {use_dynamic_bsz: '${A}'}", Condition(KEY, (None,), negated=True), True, True, id="something is there"),
        pytest.param("actor: {use_dynamic_bsz: '${A}'}", Condition(KEY, (True,)), False, False, id="not what is asked for"),
    ],
)
def test_a_variable_may_become_what_it_is_not(text: str, condition: Condition, at_first: bool, in_any_case: bool) -> None:
    found = document(text)
    assert (holds(condition, found, "omegaconf"), certain(condition, found, "omegaconf")) == (at_first, in_any_case)
