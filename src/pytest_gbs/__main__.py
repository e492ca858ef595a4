"""`python -m pytest_gbs` is `gbs`."""

from pytest_gbs.cli import run

if __name__ == "__main__":
    run()
