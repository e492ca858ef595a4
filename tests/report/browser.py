"""A headless Chromium that gets its commands over a pipe, in the protocol of its developer tools; no library is needed for that."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from io import RawIOBase
from pathlib import Path
from typing import Any, Final

import pytest

_NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "chrome")
_FLAGS: Final = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe", "--no-first-run")


class Browser:
    """One page of a running browser, and what its console complained of."""

    def __init__(self, commands: int, answers: RawIOBase) -> None:
        self._commands, self._answers = commands, answers
        self._number, self._session, self._rest = 0, "", b""
        self.complaints: list[str] = []
        self.own: tuple[str, ...] = ("file:", "data:")  # how the addresses begin that a page may ask for
        self.events: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> Any:
        """What the browser answers to a command."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters, **({"sessionId": self._session} if self._session else {})}
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer["error"]
                return answer["result"]

    def wait(self, event: str) -> None:
        """Read on until an event has come."""
        while event not in self.events:
            self._read()
        self.events.clear()

    def _read(self) -> Any:
        while b"\0" not in self._rest:
            piece = self._answers.read(1 << 16)
            assert piece, "the browser is gone"
            self._rest += piece
        message, _, self._rest = self._rest.partition(b"\0")
        said = json.loads(message)
        method = said.get("method", "")
        self.events.append(method)
        if method in ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled"):
            self.complaints.append(json.dumps(said["params"]))
        if method == "Network.requestWillBeSent" and not said["params"]["request"]["url"].startswith(self.own):
            self.complaints.append(said["params"]["request"]["url"])
        return said

    def open(self, page: Path | str, width: int = 1280, *, dark: bool = False, scripts: bool = True) -> None:
        """Load a file, or what is at an address, into a window of this width."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.events.clear()
        self.call("Page.navigate", url=page.as_uri() if isinstance(page, Path) else page)
        self.wait("Page.loadEventFired")

    def run(self, expression: str) -> Any:
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def press(self, key: str) -> None:
        """Press a key, as a person at a keyboard does."""
        codes = {"Tab": 9, "Enter": 13, " ": 32}
        text = {"Enter": "\r", " ": " "}.get(key, "")
        for kind in ("keyDown", "keyUp"):
            more = {"text": text} if text and kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=codes[key], **more)

    def type(self, words: str) -> None:
        """Type words where the focus is."""
        self.call("Input.insertText", text=words)


@contextmanager
def browser(folder: Path) -> Iterator[Browser]:
    """A browser with its profile in `folder`; skip the test where there is none."""
    program = next(filter(None, map(shutil.which, _NAMES)), None)
    if program is None:
        pytest.skip("needs Chromium (apt-get install chromium)")
    to_read, to_write = os.pipe()
    from_read, from_write = os.pipe()
    answers = os.fdopen(from_read, "rb", buffering=0)

    def as_the_browser_wants_them() -> None:
        ours = os.dup(to_read), os.dup(from_write)  # not 3 or 4 themselves
        os.dup2(ours[0], 3)
        os.dup2(ours[1], 4)

    process = subprocess.Popen(
        [program, *_FLAGS, f"--user-data-dir={folder}", "about:blank"],
        preexec_fn=as_the_browser_wants_them,  # noqa: PLW1509
        close_fds=False,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(to_read)
    os.close(from_write)
    try:
        yield Browser(to_write, answers)
    finally:
        process.kill()
        process.wait()
        os.close(to_write)
        answers.close()
