"""What is handed to gbs other than as files: texts of the playground and of notebooks, and messages of an editor."""

import json
import subprocess
from collections.abc import Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from subprocess import DEVNULL, PIPE
from threading import Thread
from typing import IO, Any

import pytest

from pytest_gbs import load_texts
from tests.hostile.watched import GOOD
from tests.support import PYTHON

PATHS = (
    "../../etc/a.yaml",
    "/etc/a.yaml",
    "a\0b.yaml",
    "",
    ".",
    "..",
    "a//b.yaml",
    "./c.yaml",
    "d/",
    "\ud800.yaml",
    "e\nf.yaml",
    "C:\\g.yaml",
)
MORE_PATHS = (
    "h/../i.yaml",
    "j" * 5_000 + ".yaml",
    "/" * 5_000 + "k.yaml",
    "\u202el.yaml",
    ".git/index",
    ".gitmodules",
    "gbs.toml",
    "good.yaml/m.yaml",
)
TEXTS = (
    "\0",
    f"\ud800{GOOD}",
    f"{GOOD}# GBS = 128 \udfff\n",
    f"{GOOD}\ufeff",
    GOOD.replace("\n", "\u2028"),
    "[" * 100_000,
    "$(" * 50_000,
    "9" * 100_000,
)
NAMES = ("a.yaml", "a.json", "a.toml", "a.py", "a.ipynb", "a.sh", "Makefile", "a.md")


@pytest.mark.parametrize("path", [*PATHS, *MORE_PATHS], ids=lambda path: ascii(path[:20]))
def test_a_text_under_a_hostile_path_harms_no_other(path: str) -> None:
    loaded = load_texts({"good.yaml": GOOD, path: GOOD})
    assert loaded.recipes["good.yaml"].law()
    for shown in (repr(loaded), loaded._repr_html_(), *map(repr, loaded.recipes.values())):
        assert not any(sign in shown for sign in "\0\ud800\u202e")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("text", TEXTS, ids=lambda text: ascii(text[:5]))
def test_a_hostile_text_harms_no_other(text: str, name: str) -> None:
    assert load_texts({"good.yaml": GOOD, name: text}).recipes["good.yaml"].law()


def framed(content: bytes) -> bytes:
    """A message as an editor sends it."""
    return b"Content-Length: %d\r\n\r\n" % len(content) + content


def message(method: str, number: int | None = None, **params: object) -> bytes:
    """A request, or a note if it has no number."""
    asked = {"jsonrpc": "2.0", "method": method, "params": params} | ({} if number is None else {"id": number})
    return framed(json.dumps(asked).encode())


def opened(uri: str, text: str) -> bytes:
    return message("textDocument/didOpen", textDocument={"uri": uri, "languageId": "yaml", "version": 1, "text": text})


def hover(number: int, uri: str, line: Any, character: Any = 0) -> bytes:
    return message("textDocument/hover", number, textDocument={"uri": uri}, position={"line": line, "character": character})


def changed(uri: str, start: int, stop: int) -> bytes:
    places = {"start": {"line": start, "character": 0}, "end": {"line": stop, "character": 0}}
    return message("textDocument/didChange", textDocument={"uri": uri, "version": 2}, contentChanges=[{"range": places, "text": "x: 1\n"}])


def hostile(uri: str) -> list[bytes]:
    """Messages that no editor sends, about a text that is opened first."""
    uris = (
        "http://a.b/c.yaml",
        "",
        "file://%zz/%00a.yaml",
        "untitled:a",
        "file:///etc/passwd",
        f"file:///{'a' * 100_000}",
        f"{uri}/../../b.yaml",
    )
    contents = (
        b"{{{{",
        b"[1, 2]",
        b"null",
        b"7",
        b"[]",
        b"{}",
        b"[" * 100_000,
        b'{"jsonrpc": "2.0", "method": "\xe9"}',
        b'{"jsonrpc": "2.0", "id": 9}',
    )
    return [
        opened(uri, GOOD),
        *map(framed, contents),
        *(opened(each, GOOD) for each in uris),
        *(opened(f"{uri}{number}.yaml", text) for number, text in enumerate(TEXTS)),
        opened(uri, GOOD),
        *(hover(50, uri, line, place) for line, place in ((-5, -1), (10**9, 10**9), (1.5, "a"), (None, []))),
        hover(51, f"{uri}.none", 0),
        *(changed(uri, *lines) for lines in ((3, 0), (10**8, 10**8), (-1, -1))),
        changed(f"{uri}.none", 0, 0),
        framed(b'{"jsonrpc": "2.0", "id": 52, "method": "textDocument/hover", "params": [1]}'),
        message("x/y", 53),
        message("x/y"),
        message("workspace/executeCommand", 54, command="os.system", arguments=["touch ran"]),
        message("workspace/didChangeConfiguration", settings={"gbs": [1, {"a": None}]}),
        message("workspace/didChangeWatchedFiles", changes=[{"uri": "file:///%00", "type": 1}, {"uri": "x:y", "type": 3}]),
        message("$/cancelRequest", id="none"),
    ]


def write_all(stream: IO[bytes], content: bytes) -> None:
    stream.write(content)
    stream.flush()


def answers(stream: IO[bytes]) -> Iterator[dict[str, Any]]:
    """Yield what a server says."""
    while line := stream.readline():
        if line.lower().startswith(b"content-length:"):
            length = int(line.partition(b":")[2])
            while stream.readline().strip():
                pass
            yield json.loads(stream.read(length))


@pytest.mark.skipif(find_spec("pygls") is None, reason="pygls is not installed")
def test_messages_that_no_editor_sends_leave_the_server_running(tmp_path: Path) -> None:
    uri, good = (tmp_path / "a.yaml").as_uri(), (tmp_path / "good.yaml").as_uri()
    start = message("initialize", 1, processId=None, rootUri=tmp_path.as_uri(), capabilities={}) + message("initialized")
    asked = start + b"".join(hostile(uri)) + opened(good, GOOD) + hover(77, good, GOOD[: GOOD.index("per_device")].count("\n"), 3)
    with subprocess.Popen([*PYTHON, "-m", "pytest_gbs", "lsp"], cwd=tmp_path, stdin=PIPE, stdout=PIPE, stderr=DEVNULL) as server:
        assert server.stdin is not None and server.stdout is not None
        writer = Thread(target=partial(write_all, server.stdin, asked))
        writer.start()
        answer = next(each for each in answers(server.stdout) if each.get("id") == 77)
        writer.join()
        server.stdin.write(message("shutdown", 78) + message("exit"))
        server.stdin.close()
        assert server.wait(60) == 0
    assert answer["result"]["contents"]
    assert not list(tmp_path.iterdir())


HEADS = {
    "a length below nothing": (b"Content-Length: -5\r\n\r\n{}", 0),
    "a length of letters": (b"Content-Length: x\r\n\r\n{}", 0),
    "a length of 5,000 digits": (b"Content-Length: " + b"9" * 5_000 + b"\r\n\r\n{}", 2),
    "a length of 20 digits": (b"Content-Length: " + b"9" * 20 + b"\r\n\r\n{}", 2),
    "a length of all memory": (b"Content-Length: " + b"9" * 18 + b"\r\n\r\n{}", 2),
    "a message that is not all there": (b"Content-Length: 99999\r\n\r\n{}", 0),
    "a head of 2 MB": (b"X: " + b"a" * 2_000_000 + b"\r\n\r\n", 0),
    "no text": (bytes(range(256)) * 99, 0),
}


@pytest.mark.skipif(find_spec("pygls") is None, reason="pygls is not installed")
@pytest.mark.parametrize(("head", "code"), HEADS.values(), ids=HEADS)
def test_a_stream_that_no_editor_sends_ends_the_server(head: bytes, code: int, tmp_path: Path) -> None:
    uri = (tmp_path / "a.yaml").as_uri()
    start = message("initialize", 1, processId=None, rootUri=tmp_path.as_uri(), capabilities={}) + message("initialized")
    command = [*PYTHON, "-m", "pytest_gbs", "lsp"]
    done = subprocess.run(command, cwd=tmp_path, input=start + opened(uri, GOOD) + head, capture_output=True, check=False, timeout=60)
    assert done.returncode == code, done.stderr
    assert b"internal error" not in done.stderr
    assert not list(tmp_path.iterdir())
