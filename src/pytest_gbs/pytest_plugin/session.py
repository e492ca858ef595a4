"""The hooks of a pytest session that checks training recipes."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from pytest_gbs.formats._escape import escape, neutralize
from pytest_gbs.model.document import COMMANDS, MAKEFILES, RECIPES
from pytest_gbs.model.errors import GbsError
from pytest_gbs.pytest_plugin.checks import Checks, in_words
from pytest_gbs.pytest_plugin.items import Crash, Failure, RecipeFile, RecipeItem, names_of
from pytest_gbs.pytest_plugin.options import read_options
from pytest_gbs.pytest_plugin.summary import Summary, summarise, write_summary


class RecipeSession:
    """Collects the files below `roots`, and nothing else if pytest was asked for recipes `alone`."""

    def __init__(self, config: pytest.Config, roots: list[Path], alone: bool) -> None:
        self.config = config
        self.roots = roots
        self.alone = alone
        try:
            self.checks = Checks(roots, read_options(config))
        except GbsError as error:
            raise pytest.UsageError(in_words(error)) from None
        self.files: list[RecipeFile] = []
        self.selected: list[RecipeItem] = []
        self.summary: Summary | None = None

    def pytest_report_header(self) -> str:
        """The line that says where recipes come from."""
        folder = self.config.invocation_params.dir
        return f"gbs: recipes from {', '.join(_shown(root, folder) for root in self.roots)}"

    @pytest.hookimpl(tryfirst=True)
    def pytest_collect_directory(self, path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        """Take every folder as a plain one in a session for recipes alone: pytest imports the `__init__.py` of a package."""
        return pytest.Dir.from_parent(parent, path=path) if self.alone else None

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(
        self, file_path: Path, parent: pytest.Collector
    ) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
        """Add ours to what other plugins collect from a file below a root; alone, it is ours only, and no Python file is imported."""
        others = yield
        if not file_path.name.endswith((*RECIPES, *COMMANDS, *MAKEFILES)) or not any(file_path.is_relative_to(root) for root in self.roots):
            return others
        named: dict[str, Any] = names_of(file_path, parent)
        file = RecipeFile.from_parent(parent, path=file_path, checks=self.checks, collected=self.files, **named)
        is_named = parent.session.isinitpath(file_path)
        return [file] if (self._is_program(file_path) if is_named else self.alone) else [*others, file]

    def _is_program(self, path: Path) -> bool:
        """Whether a file is a Python program that trains and has no name of a test: pytest imports whatever Python file is named to it."""
        if path.suffix != ".py" or any(map(path.match, self.config.getini("python_files"))):
            return False
        return any(file.framework for file in self.checks.of(path, named=True).files)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Remember which items were selected, for the summary; and give their folders names that `--collect-only` may print."""
        self.selected = [item for item in session.items if isinstance(item, RecipeItem)]
        for folder in {node for item in self.selected for node in item.listchain() if isinstance(node, pytest.Directory)}:
            folder.name = neutralize(escape(folder.name))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Give our failures the one line that short summaries, `--tb=line` and JUnit look for."""
        if report.failed and isinstance(report.longrepr, str):
            said = {name: value for name, value in report.user_properties if str(name).startswith("gbs_")}
            if "gbs_message" in said:
                crash = Crash(str(said["gbs_path"]), int(str(said["gbs_line"])), str(said["gbs_message"]))
                report.longrepr = Failure(report.longrepr, crash)  # type: ignore[assignment]  # the shape is what counts

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Sum up; a worker of pytest-xdist hands its sum to the controller. Recipes of which nothing is claimed are not a failure."""
        workeroutput = getattr(self.config, "workeroutput", None)
        if self.summary is None:
            self.summary = summarise(self.files, self.selected)
        if workeroutput is not None:
            workeroutput["gbs"] = self.summary
        elif exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and self._nothing_to_do(self.summary):
            session.exitstatus = pytest.ExitCode.OK

    def _nothing_to_do(self, summary: Summary) -> bool:
        """Whether there are no items since nothing is claimed, or nothing changed."""
        return bool((summary["recipes"] or self.config.getoption("gbs_changed_since")) and not summary["items"])

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take the sum of a worker; all have collected the same."""
        self.summary = getattr(node, "workeroutput", {}).get("gbs", self.summary)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write the summary; in a session that only collects, the counts."""
        if self.summary is not None:
            write_summary(self.summary, terminalreporter, counts_only=self.config.getoption("collectonly"))


def _shown(path: Path, folder: Path) -> str:
    """`path` relative to `folder` where it lies inside, a folder with a slash at its end."""
    text = path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.as_posix()
    return neutralize(escape(f"{text}/" if path.is_dir() else text))
