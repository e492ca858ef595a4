"""The plan of the house, executed: who may import whom, and who may touch the outside."""

import ast
import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest_gbs

PACKAGE = Path(pytest_gbs.__file__).parent
# From the ground up: a room imports from its own layer only within itself, and from all layers below.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("model",),
    ("files", "arithmetic"),
    ("readers",),
    ("shell", "composition"),
    ("frameworks",),
    ("launches",),
    ("claims",),
    ("rules",),
    ("settings", "history", "formats"),
    ("checking",),
    ("fixes", "report"),
    ("api", "recipe"),
    ("loading",),
    ("lsp",),
    ("cli", "pytest_plugin", "runtime"),
    ("__main__",),
)
LAYER_OF = {room: number for number, rooms in enumerate(LAYERS) for room in rooms}
# What a rule and a format may see, although more lies below them. Listing its own folder is what a package does for them.
SEES = {
    "rules": {"rules", "model", "arithmetic", "readers", "frameworks", "claims"},
    "formats": {"formats", "model", "arithmetic", "frameworks"},
}
PLUGINS = "files/plugins.py"
# The only rooms that may import these: libraries, and what reaches outside of the process.
OUTSIDE = {
    "argparse": {"cli"},
    "jsonschema": {"settings", "cli"},
    **dict.fromkeys(("lsprotocol", "pygls"), frozenset({"lsp"})),
    "pickle": {"checking"},
    "pytest": {"pytest_plugin"},
    "ruamel": {"fixes"},
    "shtab": {"cli"},
    "subprocess": {"files"},
    **dict.fromkeys(("tomllib", "tomli"), frozenset({"files"})),
    "tree_sitter": {"shell"},
    "tree_sitter_bash": {"shell"},
    "yaml": {"readers"},
    **dict.fromkeys(("_pytest", "http", "requests", "socket", "urllib"), frozenset[str]()),
}
FRONT_ENDS = ("cli", "pytest_plugin", "__main__")
PRINTS = ("cli/_output.py", "cli/_streams.py", "cli/__init__.py")

TREES = {path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}
MODULES = {".".join(("pytest_gbs", *name.removesuffix(".py").split("/"))).removesuffix(".__init__"): name for name in TREES}


def _room(name: str) -> str:
    return name.partition("/")[0].removesuffix(".py")


def _imports(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield each import wherever it stands, in functions and for type checkers too: a name from a package is a module where it is one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield (inner if inner in MODULES else node.module), node.lineno


def test_imports_go_down_only() -> None:
    wrong = []
    for name, tree in TREES.items():
        for imported, line in _imports(tree):
            if name == "__init__.py" or imported not in MODULES or imported == "pytest_gbs":
                continue
            room, other = _room(name), _room(MODULES[imported])
            if room != other and LAYER_OF[other] >= LAYER_OF[room]:
                wrong.append(f"{name}:{line} imports {imported}")
    assert wrong == []


def test_rules_and_formats_see_values_and_tables_only() -> None:
    wrong = []
    for name, tree in TREES.items():
        for imported, line in _imports(tree) if _room(name) in SEES else ():
            there = MODULES.get(imported, "__init__.py")
            if _room(there) not in {*SEES[_room(name)], "__init__"} and (there != PLUGINS or not name.endswith("/__init__.py")):
                wrong.append(f"{name}:{line} imports {imported}")
    assert wrong == []


def test_no_modules_import_each_other() -> None:
    graph = {
        name: {MODULES[imported] for imported, _ in _imports(tree) if imported in MODULES and imported != "pytest_gbs"} - {name}
        for name, tree in TREES.items()
        if name != "__init__.py"
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        raise AssertionError(" -> ".join(error.args[1])) from error


def _is_guarded(node: ast.AST) -> bool:
    """Whether what is within `node` is not done when its module is imported: a function, or imports for type checkers."""
    return isinstance(node, ast.FunctionDef) or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test))


def _loads(module: str, known: dict[str, set[str]]) -> set[str]:
    """The modules that importing `module` imports, those that these import and the packages around them among them."""
    found, pending = set[str](), [module]
    while pending:
        new = known.get(pending.pop(), set()) - found
        found |= new
        pending += new
    return found


def test_what_is_loaded_anyway_is_imported_where_the_others_are() -> None:
    at_once, guarded = {}, {}
    for module, name in MODULES.items():
        later = {each for node in ast.walk(TREES[name]) if _is_guarded(node) for each in _imports(node)}
        named = [imported for imported, line in {*_imports(TREES[name])} - later if imported in MODULES]
        at_once[module] = {".".join(each.split(".")[:depth]) for each in named for depth in range(1, each.count(".") + 2)}
        guarded[module] = later
    wrong = []
    for module, found in guarded.items():
        loaded = _loads(module, at_once)
        wrong += [f"{MODULES[module]}:{line} imports {imported}" for imported, line in found if imported in loaded]
    assert wrong == []


def test_the_outside_is_touched_where_the_plan_says() -> None:
    wrong = []
    for name, tree in TREES.items():
        wrong += [
            f"{name}:{line} imports {imported}"
            for imported, line in _imports(tree)
            if _room(name) not in OUTSIDE.get(imported.partition(".")[0], {_room(name)})
        ]
        wrong += [f"{name}:{getattr(node, 'lineno', 1)} {what}" for node in ast.walk(tree) if (what := _touches(name, node))]
    assert wrong == []


def _touches(name: str, node: ast.AST) -> str:
    """What a node does that is none of its module's business: printing, opening files, running code, the environment."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        called = node.func.id
        if called == "eval" and name == "model/record.py":
            return ""  # it compiles the constructors of named tuples, as the standard library does
        if called in ("input", "eval", "exec", "exit", "quit") or (called == "print" and name != "cli/_output.py"):
            return called
        if called == "open" and _room(name) not in ("files", "cli"):
            return called
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        said = f"{node.value.id}.{node.attr}"
        if said in ("os.system", "os.popen") or (said == "sys.stdout" and name not in PRINTS):
            return said
        if said in ("os.environ", "os.getenv") and _room(name) not in FRONT_ENDS and name != "files/git.py":
            return said
        if said == "json.dumps" and _room(name) in ("formats", "cli", "pytest_plugin") and name != "formats/_json.py":
            return said  # only there is nothing in it obeyed by a terminal or a CI system
    return ""


def test_possessive_patterns_are_compiled_by_what_knows_them() -> None:
    possessive = re.compile(r"(?:[\])\w.}]|\\.)(?:[*?+]|\{\d*,?\d*\})\+|\(\?>")
    wrong = []
    for name, tree in TREES.items():
        if any(isinstance(node, ast.Import) and node.names[0].name == "re" for node in ast.walk(tree)):
            texts = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str))
            wrong += [f"{name}: {text}" for text in texts if possessive.search(text) and name != "model/pattern.py"]
    assert wrong == []
