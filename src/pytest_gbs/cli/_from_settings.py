"""What the settings of the current folder add to the built-in rules and tables, for the commands that list them."""

from __future__ import annotations

from pytest_gbs.cli._output import complain
from pytest_gbs.files.root import find_root
from pytest_gbs.model.errors import SettingsError
from pytest_gbs.model.settings import Settings
from pytest_gbs.settings import load_settings


def added() -> Settings:
    """The settings of the current folder; built-in ones, with a word of it, if they can't be read: a manual must not fail."""
    try:
        return load_settings(find_root("."))
    except SettingsError as error:
        complain(f"using only the built-in rules and frameworks: {str(error).splitlines()[0]}")
        return Settings()
    except OSError:  # the current folder is gone
        return Settings()
