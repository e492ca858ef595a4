"""Every bound on what a file may ask of a check stands in one place, says what it is, and is used."""

import re
from pathlib import Path

import pytest

import pytest_gbs
from tools.limits_page import Limit, limits, page

SOURCE = Path(pytest_gbs.__file__).parent
# Bounds on what is shown, remembered or tried, and facts of frameworks and programs: no file is read less because of them.
NO_LIMITS_ON_FILES = {
    "cli/_shared.py": {"_MOST_DIGITS"},
    "cli/_input.py": {"_MOST_JOBS"},
    "composition/_defaults_entry.py": {"_LONGEST_PACKAGE"},
    "composition/_from_document.py": {"_MOST_VALUES"},
    "composition/arguments.py": {"_LONGEST"},
    "composition/document_cache.py": {"_MOST"},
    "arithmetic/admissible.py": {"MOST_GPUS"},
    "model/digits.py": {"_MOST"},
    "model/guard.py": {"_LONGEST"},
    "frameworks/reading.py": {"LONGEST"},
    "frameworks/repairs.py": {"_LARGEST"},
    "claims/grammars/__init__.py": {"_MOST"},
    "claims/grammars/_sizes.py": {"_LONGEST"},
    "claims/grammars/names.py": {"_LONGEST"},
    "fixes/plan.py": {"_MOST_SAMPLES"},
    "fixes/scale.py": {"_MOST_TRIED"},
    "formats/_excerpt.py": {"_LONGEST"},
    "formats/_origins.py": {"_MOST_STAGES"},
    "formats/sarif.py": {"_LONGEST"},
    "frameworks/_recognition.py": {"_MOST_ALIKE"},
    "frameworks/hooks.py": {"_LONGEST", "_MOST_WORKERS"},
    "composition/whole.py": {"_MOST_FOLLOWED"},
    "lsp/diagnostics.py": {"_LONGEST"},
    "rules/gbs002_duplicate_key.py": {"_LONGEST", "_MOST"},
    "rules/gbs003_not_a_positive_integer.py": {"_LONGEST"},
    "formats/_diff/markdown.py": {"_LONGEST", "_LONGEST_CELL"},
    "rules/gbs004_exponent_read_as_text.py": {"_LONGEST"},
    "rules/gbs305_deepspeed_disagrees.py": {"_LONGEST"},
    "settings/explain.py": {"_LONGEST"},
    "settings/framework_mistakes.py": {"_MOST"},
    "settings/meaning.py": {"MOST_PROBLEMS"},
    "settings/places.py": {"_DEEPEST"},
    "checking/ignore.py": {"_MOST_LINES"},
    "files/edited.py": {"_MOST"},
    "files/writing.py": {"_MOST"},
}
# Reading scripts has limits of its own, most of them in shell/limits.py.
OF_SCRIPTS = ("shell/",)
_NUMBER = re.compile(r"(?m)^(_?(?:MOST|LONGEST|DEEPEST|LARGEST)(?:_[A-Z_]+)?)(?:: Final)? = [0-9]")


def test_every_limit_outside_of_scripts_says_what_it_counts_and_what_happens_beyond() -> None:
    found = [limit for limit in limits() if limit.table != "Shell scripts, Makefiles and Markdown"]
    assert len(found) > 40
    assert [limit.name for limit in found if not limit.counts or not limit.beyond] == []


@pytest.mark.parametrize("limit", [*limits()], ids=lambda limit: limit.name)
def test_a_limit_is_used(limit: Limit) -> None:
    users = [path for path in SOURCE.rglob("*.py") if re.search(rf"\b{limit.name}\b", path.read_text(encoding="utf-8"))]
    assert len(users) > 1 or users[0].read_text(encoding="utf-8").count(limit.name) > 1


def test_no_limit_hides_elsewhere() -> None:
    stray: list[str] = []
    for path in SOURCE.rglob("*.py"):
        name = path.relative_to(SOURCE).as_posix()
        if path.name != "limits.py" and not name.startswith(OF_SCRIPTS):
            found = set(_NUMBER.findall(path.read_text(encoding="utf-8"))) - NO_LIMITS_ON_FILES.get(name, set())
            stray += [f"{name}: {each}" for each in sorted(found)]
    assert stray == []


def test_the_page_has_a_row_for_each_limit() -> None:
    assert page().count("\n| ") == len(list(limits())) + len({limit.table for limit in limits()})
    assert "| 5,000,000 | bytes of a file |" in page()
