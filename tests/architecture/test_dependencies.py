"""What the package imports is what it declares: its own dependencies everywhere, those of an extra only where it is needed."""

import ast
import re
import sys
from pathlib import Path

from pytest_gbs.files.toml import tomllib

from .test_layers import TREES, _imports

# Where what an extra installs may be imported, as paths of the package begin.
EXTRAS = {"lsp": "lsp/", "completion": "cli/completion.py", "notebook": "loading.py", "jobs": "runtime/"}
# Names of modules that are not those of what is installed.
DISTRIBUTIONS = {"yaml": "pyyaml", "ruamel": "ruamel-yaml", "pytorch_lightning": "lightning"}  # the last one is an older name of it
PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def _imported(tree: ast.Module) -> set[str]:
    """What has to be installed for the imports of a module, but for its types alone."""
    names = {name.partition(".")[0] for name, _ in _imports(tree)} - {*sys.stdlib_module_names, "pytest_gbs", "tomllib", "_typeshed"}
    return {DISTRIBUTIONS.get(name, name.replace("_", "-")) for name in names}


def _declared(requirements: list[str]) -> set[str]:
    return {re.sub(r"[-_.]+", "-", re.split(r"[\s\[<>=!~;]", each)[0]).lower() for each in requirements}


def test_what_is_imported_is_declared() -> None:
    wrong = []
    for name, tree in TREES.items():
        extras = (PROJECT["optional-dependencies"][extra] for extra, place in EXTRAS.items() if name.startswith(place))
        undeclared = _imported(tree) - _declared([*PROJECT["dependencies"], *(each for extra in extras for each in extra)])
        wrong += [f"{name} imports {each}" for each in undeclared]
    assert wrong == []


def test_what_is_declared_is_imported() -> None:
    assert _declared(PROJECT["dependencies"]) <= {each for tree in TREES.values() for each in _imported(tree)}


def test_each_dependency_says_from_which_version_it_works() -> None:
    extras = PROJECT["optional-dependencies"]
    every = [*PROJECT["dependencies"], *(each for extra in EXTRAS for each in extras[extra])]
    assert [each for each in every if not re.search(r"\]$|[=>]=\s*\d", each.partition(";")[0])] == []
