"""What `gbs init` writes: settings, a hook, and a job for the CI system that the repository uses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from pytest_gbs import __version__
from pytest_gbs.cli._init_patch import hook_joined, job_joined
from pytest_gbs.files.regular import read_bytes
from pytest_gbs.model.document import DOCUMENTS, RECIPES, SCRIPTS
from pytest_gbs.model.limits import MOST_SETTINGS_BYTES
from pytest_gbs.model.location import Source
from pytest_gbs.model.record import NamedTuple

SETTINGS: Final = """\
# Settings of gbs, the checker of global batch sizes; `gbs schema settings` describes them all.

# The hardware that recipes run on, if they do not state it.
# gpus-per-node = 8

# What the team expects of some recipes.
# [[expect]]
# paths = ["recipes/sft/**"]
# global-batch-size = 128
"""
_FILES: Final = "|".join(suffix[1:] for suffix in (*RECIPES, *SCRIPTS, *DOCUMENTS, ".mk"))
_HOOK: Final = rf"""repos:
  - repo: local
    hooks:
      - id: gbs-check
        name: global batch sizes
        entry: gbs check --hook
        args: [--]  # file names come after it and are never read as flags
        language: python
        additional_dependencies: [pytest-gbs=={__version__}]
        files: '(?i)\.({_FILES})$|(^|/)(GNU)?makefile$|^gbs\.lock$'
        require_serial: true
"""
_GITHUB: Final = f"""\
name: gbs
on:
  pull_request:
  push:
    branches: [BRANCHES]
permissions: {{}}
concurrency:
  group: ${{{{ github.workflow }}}}-${{{{ github.ref }}}}
  cancel-in-progress: true
jobs:
  gbs:
    name: global batch sizes
    runs-on: ubuntu-latest
    timeout-minutes: 10
    permissions:
      contents: read # to check out the repository
    steps:
      - uses: actions/checkout@de0fac2e4500dabe0009e67214ff5f5447ce83dd # v6.0.2
        with:
          fetch-depth: 2 # a pull request and what it is merged into
          persist-credentials: false
      - uses: actions/setup-python@a309ff8b426b58ec0e2a45f0f869d46889d02405 # v6.2.0
        with:
          python-version: "3.12"
      - run: pip install pytest-gbs=={__version__}
      - run: gbs check --format github
      - name: gbs lock --check
        if: ${{{{ !cancelled() }}}}
        run: test ! -e gbs.lock || gbs lock --check
      - name: gbs diff
        if: ${{{{ !cancelled() && github.event_name == 'pull_request' }}}}
        run: gbs diff HEAD^1 --format markdown >> "$GITHUB_STEP_SUMMARY"
"""
_GITLAB: Final = f"""\
gbs:
  image: python:3.12-slim
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
    - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
  script:
    - pip install pytest-gbs=={__version__}
    - gbs check --exit-zero --format gitlab --output-file gl-code-quality-report.json
    - gbs check
    - test ! -e gbs.lock || gbs lock --check
  artifacts:
    when: always
    reports:
      codequality: gl-code-quality-report.json
"""
_AZURE: Final = f"""\
trigger: [BRANCHES]
pr: [BRANCHES]
pool:
  vmImage: ubuntu-latest
steps:
  - checkout: self
    persistCredentials: false
  - task: UsePythonVersion@0
    inputs:
      versionSpec: "3.12"
  - script: pip install pytest-gbs=={__version__}
    displayName: install gbs
  - script: gbs check --format azure
    displayName: gbs check
  - script: test ! -e gbs.lock || gbs lock --check
    displayName: gbs lock --check
    condition: succeededOrFailed()
"""


class Snippet(NamedTuple):
    """A file to write, the files that make it needless, and what puts its text into one of them, if that can be done."""

    path: str
    text: str
    instead: tuple[str, ...] = ()
    joined: Callable[[Source, str], Source | None] | None = None


class _System(NamedTuple):
    """A CI system: the files that it is recognised by, the hosts of its repositories, and its job."""

    files: tuple[str, ...]
    hosts: tuple[str, ...]
    job: Snippet


SYSTEMS: Final = {
    "github": _System((".github",), ("github.com",), Snippet(".github/workflows/gbs.yml", _GITHUB, (".github/workflows/gbs.yaml",))),
    "gitlab": _System((".gitlab-ci.yml", ".gitlab"), ("gitlab.",), Snippet(".gitlab-ci.yml", _GITLAB, joined=job_joined)),
    "azure": _System(
        ("azure-pipelines.yml", ".azure-pipelines"),
        ("dev.azure.com", "visualstudio.com"),
        Snippet("azure-pipelines.yml", _AZURE, ("azure-pipelines.yaml",)),
    ),
}
_BRANCH: Final = r"ref: refs/remotes/origin/([\w./-]{1,100})\s*"


def snippets(root: str, there: frozenset[str], system: str) -> Iterator[Snippet]:
    """Yield what a repository needs; `there` are the names in its root, `system` a CI system, "auto" for those that it uses, or "none"."""
    yield Snippet("gbs.toml", SETTINGS)
    yield Snippet(".pre-commit-config.yaml", _HOOK, (".pre-commit-config.yml",), hook_joined)
    for name in _systems(root, there) if system == "auto" else [system]:
        if name in SYSTEMS:
            job = SYSTEMS[name].job
            yield job._replace(text=job.text.replace("BRANCHES", _branches(root)))


def _systems(root: str, there: frozenset[str]) -> list[str]:
    """The CI systems whose files are there; without any those that the remotes of the repository belong to."""
    found = [name for name, system in SYSTEMS.items() if not there.isdisjoint(system.files)]
    if found:
        return found
    urls = re.findall(r"(?m)^\s*url\s*=\s*(.+)$", _text(f"{root}/.git/config"))
    return [name for name, system in SYSTEMS.items() if any(host in url for url in urls for host in system.hosts)]


def _branches(root: str) -> str:
    """The branch that the remote calls its own, or the usual two."""
    found = re.fullmatch(_BRANCH, _text(f"{root}/.git/refs/remotes/origin/HEAD"))
    return found.group(1) if found else "main, master"


def _text(path: str) -> str:
    data = read_bytes(path, MOST_SETTINGS_BYTES)
    return data.decode("utf-8", "replace") if isinstance(data, bytes) else ""
