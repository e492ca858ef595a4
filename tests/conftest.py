"""What all tests share: pytest's own means of testing a plugin."""

pytest_plugins = ["pytester"]
