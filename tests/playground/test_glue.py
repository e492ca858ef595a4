"""What the playground calls in Python: from texts alone, with nothing that Python in a browser has not."""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
import tree_sitter
import tree_sitter_bash

from tests.cli.support import STALE

PLAYGROUND = Path(__file__).parents[2] / "playground"
# It lies beside the page, in no package.
SPEC = spec_from_file_location("glue", PLAYGROUND / "glue.py")
assert SPEC is not None
assert SPEC.loader is not None
glue: Any = module_from_spec(SPEC)
SPEC.loader.exec_module(glue)

NATIVE = tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))
LANGUAGE = tree_sitter.Language(tree_sitter_bash.language())
OPEN = "model_name_or_path: my/model\ndataset_name: my/dialogues\nper_device_train_batch_size: 4\ngradient_accumulation_steps: 2\n"
# What a check may not do in a browser: no process, no thread, no file but its own modules, no library that is not pure Python.
PROBE = """
import json, os, sys
sys.path.insert(0, {folder!r})
sys.modules.update(dict.fromkeys(("tree_sitter", "tree_sitter_bash", "ruamel", "jsonschema", "pytest", "_yaml", "yaml._yaml")))
allowed = tuple(map(os.path.realpath, (sys.prefix, sys.base_prefix, {package!r}, {folder!r})))
done = []
def watch(event, arguments):
    if event in ("subprocess.Popen", "os.fork", "os.posix_spawn", "os.system", "_thread.start_new_thread", "socket.__new__", "os.listdir"):
        if event != "os.listdir" or not os.path.realpath(str(arguments[0] or ".")).startswith(allowed):
            done.append([event, str(arguments[:1])])
    if event == "open" and isinstance(arguments[0], str) and not os.path.realpath(arguments[0]).startswith(allowed):
        done.append([event, arguments[0]])
sys.addaudithook(watch)
import glue
answered = glue.answer(sys.stdin.read())
files = {{name.partition(".")[0]: getattr(module, "__file__", None) or "" for name, module in sys.modules.items()}}
packages = {{name for name, file in files.items() if "site-packages" in file}}
print(json.dumps([done, sorted(packages - {{"pytest_gbs", "_distutils_hack"}}), json.loads(answered)]))
"""


def ask(nodes: int | None = None, gpus: int | None = None, **texts: str) -> Any:
    """What the page is answered; `__` in a name stands for a dot."""
    return json.loads(
        glue.answer(json.dumps({"texts": {name.replace("__", "."): text for name, text in texts.items()}, "nodes": nodes, "gpus": gpus}))
    )


def numbers(cursor: tree_sitter.TreeCursor, text: str, kinds: dict[str, int]) -> Iterator[int]:
    """Yield what playground.js gives of a tree, made of the native one."""
    data, count, more = text.encode(), 0, True

    def units(byte: int) -> int:
        return len(data[:byte].decode().encode("utf-16-le")) // 2

    while more:
        node, count = cursor.node, count + 1
        assert node is not None
        flags = node.is_named | node.is_missing << 1 | node.is_error << 2 | node.has_error << 3
        yield from (cursor.depth, kinds.setdefault(node.type, len(kinds)), units(node.start_byte), units(node.end_byte), flags)
        yield from (cursor.field_id or 0, count)
        more = cursor.goto_first_child() or cursor.goto_next_sibling()
        while not more and cursor.goto_parent():
            more = cursor.goto_next_sibling()


def tree_of(text: str) -> tuple[Sequence[str], Sequence[str], Sequence[int]]:
    kinds: dict[str, int] = {}
    found = list(numbers(NATIVE.parse(text.encode()).walk(), text, kinds))
    return list(kinds), [LANGUAGE.field_name_for_id(number) or "" for number in range(LANGUAGE.field_count + 1)], found


def outline(node: Any) -> Any:
    """All that pytest_gbs asks of a node."""
    before = node.prev_sibling.type if node.prev_sibling is not None else None
    names = [LANGUAGE.field_name_for_id(number) for number in range(1, LANGUAGE.field_count + 1)]
    fields = {name: [each.start_byte for each in node.children_by_field_name(name)] for name in names if name}
    firsts = [first.end_byte if (first := node.child_by_field_name(name)) is not None else None for name in names if name]
    flags = (node.is_named, node.is_missing, node.is_error, node.has_error, node.child_count, before, fields, firsts)
    return node.type, node.start_byte, node.end_byte, tuple(node.start_point), flags, [outline(each) for each in node.children]


def test_nothing_and_no_recipe_are_answered() -> None:
    assert ask() == {"headline": "no recipe in 0 files", "recipes": [], "problems": []}
    assert ask(notes__yaml="cake: true\n")["recipes"] == []


def test_what_holds_is_not_a_problem() -> None:
    found = ask(nodes=1, gpus=8, a__yaml=OPEN)
    assert (found["problems"], found["recipes"][0]["equation"][0][:2]) == ([], ["global batch size", "64"])


def test_a_problem_is_shown_as_on_the_command_line() -> None:
    (problem,) = ask(a__yaml=STALE)["problems"]
    assert (problem["code"], problem["severity"], problem["path"], problem["line"]) == ("GBS101", "error", "a.yaml", 1)
    assert problem["text"].startswith("a.yaml:1:")
    assert problem["page"].endswith("/rules/gbs101/")


def test_a_launch_is_reported_with_its_place() -> None:
    found = ask(recipes__yaml=OPEN, run__sh="accelerate launch --num_processes 16 sft.py --config recipes.yaml\n")
    assert [(each["launch"], each["equation"][0][1]) for each in found["recipes"]] == [("", ""), ("accelerate launch (run.sh:1)", "128")]


def test_hardware_that_can_not_be_is_an_error_in_words() -> None:
    assert ask(nodes=0, a__yaml=OPEN) == {"error": "nodes 0 is not a positive whole number"}
    assert list(ask(nodes=10**6, gpus=1000, a__yaml=OPEN)) == ["error"]


@pytest.mark.parametrize("text", ["", "\ufeff", "a: [", "\x00", "a: &a [*a]\n", "{" * 5000, "\ud83d"])
def test_whatever_is_pasted_is_answered(text: str) -> None:
    assert "headline" in ask(a__yaml=text, b__sh=text, c__toml=text, d__json=text, e__py=text)


@pytest.mark.parametrize(
    "script",
    [
        "",
        "# só\n\nNAME='größer 😀' torchrun --nproc_per_node=8 a.py \\\n  --n ${N:-4} | tee log\n",
        "if [ $A = 1 ]; then\n  b <<EOF\nx\nEOF\nfor i in 1 2; do echo $((i*2)); done\n",  # the end is missing
        "A=1 B=2\ncase $X in a) b ;; esac > out 2>&1\n",
    ],
)
def test_a_tree_of_the_page_is_the_native_one(script: str) -> None:
    theirs = NATIVE.parse(script.encode()).root_node
    ours = glue.Parser(tree_of).parse(script.encode()).root_node
    assert outline(ours) == outline(theirs)
    pieces = glue.Parser(tree_of).parse(lambda start, _: script.encode()[start : start + 1024])
    assert outline(pieces.root_node) == outline(theirs)


def test_a_check_of_texts_needs_nothing_that_a_browser_has_not(tmp_path: Path) -> None:
    import pytest_gbs

    code = PROBE.format(folder=str(PLAYGROUND), package=str(Path(pytest_gbs.__file__).parents[1]))
    texts = {"a.yaml": STALE, "b.json": json.dumps({"train_micro_batch_size_per_gpu": 4, "train_batch_size": 64}), "c.toml": "a = 1\n"}
    texts |= {"d.py": "from trl import SFTConfig\nSFTConfig(per_device_train_batch_size=4)\n", "README.md": "global batch size 64\n"}
    asked = json.dumps({"texts": texts, "nodes": 1, "gpus": 8})
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, input=asked, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    reached, packages, reported = json.loads(done.stdout)
    assert reached == []
    assert packages == ["yaml"] if sys.version_info >= (3, 11) else set(packages) <= {"yaml", "regex", "tomli"}
    assert [each["code"] for each in reported["problems"]] == ["GBS101"]
