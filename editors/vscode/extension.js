// Starts `gbs lsp` and shows what it says. Everything else is in the server.
"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

const LANGUAGES = ["yaml", "json", "jsonc", "toml", "python", "shellscript", "makefile", "markdown"];
const SCRIPTS = "**/*.{sh,bash,zsh,ksh,slurm,sbatch,sub,job,pbs,qsub,lsf,launcher}";

let client;

// Each language in files and unsaved texts, and the cells of notebooks.
function selector() {
  const texts = LANGUAGES.flatMap((language) => ["file", "untitled"].map((scheme) => ({ scheme, language })));
  return [...texts, { scheme: "file", pattern: SCRIPTS }, { notebook: "jupyter-notebook", language: "python" }];
}

// A click on "launched by 3 scripts" lists the launches, where other editors open the first.
async function showLaunches(address, line, character) {
  const uri = vscode.Uri.parse(address);
  const position = new vscode.Position(line, character);
  const places = await vscode.commands.executeCommand("vscode.executeReferenceProvider", uri, position);
  await vscode.commands.executeCommand("editor.action.goToLocations", uri, position, places, "peek", "No launch found");
}

function makeClient() {
  const [command, ...args] = vscode.workspace.getConfiguration("gbs").get("command");
  const middleware = {
    executeCommand: (name, values, next) => (name === "gbs.showLaunches" ? showLaunches(...values) : next(name, values)),
  };
  return new LanguageClient("gbs", "gbs", { command, args }, { documentSelector: selector(), middleware });
}

async function start() {
  client = makeClient();
  try {
    await client.start();
  } catch (error) {
    const help = 'gbs could not be started: pip install "pytest-gbs[lsp]", or set gbs.command to where it is.';
    vscode.window.showErrorMessage(`${help} (${error.message})`);
  }
}

async function stop() {
  if (client !== undefined && client.isRunning()) {
    await client.stop();
  }
}

async function activate(context) {
  const restart = async () => {
    await stop();
    await start();
  };
  context.subscriptions.push(vscode.commands.registerCommand("gbs.restart", restart));
  await start();
}

module.exports = { activate, deactivate: stop };
