"""What all tests share: pytest's own means of testing a plugin, and the same generated examples in every run of CI."""

import os

from hypothesis import settings

pytest_plugins = ["pytester"]

settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("here", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "here")
