"""A sample of the measurement in `fixing`: what breaks one operand of a real recipe is fixed, and the rest stays byte for byte."""

from itertools import islice

from pytest_gbs.model.outcome import Applicability
from tests.corpus.fixing import measure, recipes

# What is no failure of a repair: an operand that does not matter, and settings that no comment can fix.
_ELSEWHERE = ("not broken", "the settings contradict themselves, whatever the comment says")


def test_each_operand_of_real_recipes_is_fixed() -> None:
    counts, places = measure(islice(recipes(), 7, None, 90), (Applicability.SETTINGS, Applicability.DECLARATIONS))
    wrong = {word: places[word] for word in places if not word.endswith(("restored", *_ELSEWHERE))}
    assert wrong == {}
    assert counts["recipes"] >= 10
    assert counts[f"{Applicability.SETTINGS}: restored"] >= 30
