"""`python -m tests.formats.accept` writes what each format makes of the sample; read the difference before it is committed."""

from pathlib import Path

from pytest_gbs.formats import FormatOptions, formats
from tests.formats.sample import REPORT

EXPECTED = Path(__file__).parent / "expected"


def main() -> None:
    EXPECTED.mkdir(exist_ok=True)
    for each in formats():
        (EXPECTED / f"{each.name}.txt").write_text(each.render(REPORT, FormatOptions()), encoding="utf-8")


if __name__ == "__main__":
    main()
