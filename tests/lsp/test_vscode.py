"""The extension for VS Code, as far as it can be tried without its libraries: it starts `gbs lsp` for the files that gbs reads."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import pytest_gbs
from pytest_gbs.lsp.reading import SHOW_LAUNCHES
from pytest_gbs.model.document import SCRIPTS

FOLDER = Path(__file__).parents[2] / "editors" / "vscode"
NODE = shutil.which("node")
# Stand-ins for the two libraries, which write down what the extension asks of them.
TRIED = """
const Module = require("module");
const said = [];
const vscode = {
  Uri: { parse: (text) => text }, Position: class { constructor(...at) { this.at = at; } },
  window: { showErrorMessage: (text) => said.push(["error", text]) },
  workspace: { getConfiguration: () => ({ get: () => JSON.parse(process.argv[2]) }) },
  commands: {
    registerCommand: (name, run) => { said.push(["command", name]); return { run }; },
    executeCommand: async (name) => { said.push(["run", name]); return []; },
  },
};
class LanguageClient {
  constructor(id, name, server, options) { this.options = options; said.push(["server", server]); LanguageClient.last = this; }
  async start() { if (process.argv[3]) { throw new Error(process.argv[3]); } this.on = true; }
  isRunning() { return this.on === true; }
  async stop() { said.push(["stop"]); }
}
const load = Module._load;
const stand = { vscode, "vscode-languageclient/node": { LanguageClient } };
Module._load = (name, ...rest) => stand[name] ?? load(name, ...rest);
(async () => {
  const extension = require(process.argv[1]);
  await extension.activate({ subscriptions: [] });
  const { middleware } = LanguageClient.last.options;
  await middleware.executeCommand("gbs.showLaunches", ["file:///a.yaml", 0, 0], () => said.push(["next"]));
  await middleware.executeCommand("other", [], () => said.push(["next"]));
  await extension.deactivate();
  console.log(JSON.stringify({ said, selector: LanguageClient.last.options.documentSelector }));
})();
"""


def _try(command: list[str], error: str = "") -> dict[str, list[object]]:
    assert NODE is not None
    line = [NODE, "-e", TRIED, str(FOLDER / "extension.js"), json.dumps(command), error]
    done = subprocess.run(line, capture_output=True, text=True, timeout=60, check=True)
    found: dict[str, list[object]] = json.loads(done.stdout)
    return found


def test_the_manifest_belongs_to_this_version() -> None:
    manifest = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))
    assert manifest["version"] == pytest_gbs.__version__
    assert (FOLDER / manifest["main"]).is_file()
    assert manifest["contributes"]["configuration"]["properties"]["gbs.command"]["default"] == ["gbs", "lsp"]
    languages = re.findall(r'"(\w+)"', re.findall(r"LANGUAGES = \[(.*?)\]", (FOLDER / "extension.js").read_text(encoding="utf-8"))[0])
    assert [f"onLanguage:{language}" for language in languages] == manifest["activationEvents"][:-1]


def test_no_workspace_says_which_program_is_started() -> None:
    manifest = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))
    assert manifest["contributes"]["configuration"]["properties"]["gbs.command"]["scope"] == "machine"
    assert manifest["capabilities"]["untrustedWorkspaces"]["restrictedConfigurations"] == ["gbs.command"]


def test_every_kind_of_script_is_handed_to_the_server() -> None:
    pattern = re.findall(r"\*\*/\*\.\{(.*?)\}", (FOLDER / "extension.js").read_text(encoding="utf-8"))[0]
    assert {f".{ending}" for ending in pattern.split(",")} == set(SCRIPTS)


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_the_extension_starts_the_server_and_ends_it() -> None:
    found = _try(["uvx", "gbs", "lsp"])
    assert found["said"] == [
        ["command", "gbs.restart"],
        ["server", {"command": "uvx", "args": ["gbs", "lsp"]}],
        ["run", "vscode.executeReferenceProvider"],
        ["run", "editor.action.goToLocations"],
        ["next"],
        ["stop"],
    ]
    assert {"notebook": "jupyter-notebook", "language": "python"} in found["selector"]
    assert SHOW_LAUNCHES == "gbs.showLaunches"


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_a_server_that_cannot_be_started_is_a_message_with_what_to_do() -> None:
    said = [each for each in _try(["gbs", "lsp"], "spawn gbs ENOENT")["said"] if isinstance(each, list) and each[0] == "error"]
    assert len(said) == 1
    assert 'pip install "pytest-gbs[lsp]"' in str(said[0])
    assert "ENOENT" in str(said[0])
