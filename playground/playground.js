// The playground: gbs itself, as its wheel, in the Python of Pyodide. All files come from the folder beside this page; nothing is sent.
const PAUSE = 250; // milliseconds without a key before gbs is asked
const MOST = 1 << 20; // characters that a link may unpack to
const SAMPLE = {
  recipe: `# global batch size 128 = 4 x 2 x 16 GPUs
model_name_or_path: my/model
dataset_name: my/dialogues
max_length: 2048
per_device_train_batch_size: 4
gradient_accumulation_steps: 4
`,
  launch: `#!/bin/bash
accelerate launch --num_machines 2 --num_processes 16 \\
    sft.py --config recipes/sft.yaml
`,
};
const field = (id) => document.getElementById(id);
const FIELDS = ["recipe-name", "recipe", "launch-name", "launch", "nodes", "gpus"];
const engine = new URL(document.querySelector('meta[name="gbs-engine"]').content, document.baseURI);

function tell(words, isError = false) {
  const status = field("status");
  status.textContent = words;
  status.className = isError ? "error" : "";
}

// Pyodide, gbs and what it needs; what Python answers to a question in JSON.
async function start() {
  const { loadPyodide } = await import(new URL("pyodide.mjs", engine));
  const python = await loadPyodide({ indexURL: engine.href });
  const list = await (await got("packages.json")).json();
  for (const name of list) {
    python.unpackArchive(await (await got(name)).arrayBuffer(), name.endsWith(".whl") ? "wheel" : "zip", { extractDir: "/gbs" });
  }
  python.FS.writeFile("/gbs/glue.py", await (await got("../glue.py")).text());
  python.runPython("import sys; sys.path.insert(0, '/gbs')");
  const glue = python.pyimport("glue");
  glue.install(await shell(python));
  return glue.answer;
}

async function got(name) {
  const answer = await fetch(new URL(name, engine));
  if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
  return answer;
}

// The grammar of shell scripts: kinds, fields and nodes of the syntax tree of a text, as glue.py reads them.
async function shell(python) {
  const { Parser, Language } = await import(new URL("tree-sitter.js", engine));
  await Parser.init({ locateFile: (name) => new URL(name, engine).href });
  const language = await Language.load(new URL("tree-sitter-bash.wasm", engine).href);
  const parser = new Parser();
  parser.setLanguage(language);
  const fields = Array.from({ length: language.fieldCount + 1 }, (_, id) => language.fieldNameForId(id) ?? "");
  return (text) => {
    const tree = parser.parse(text);
    const kinds = new Map();
    const numbers = [];
    const cursor = tree.walk();
    for (let depth = 0, more = true; more; ) {
      const node = cursor.currentNode;
      if (!kinds.has(node.type)) kinds.set(node.type, kinds.size);
      const flags = node.isNamed | (node.isMissing << 1) | (node.isError << 2) | (node.hasError << 3);
      numbers.push(depth, kinds.get(node.type), node.startIndex, node.endIndex, flags, cursor.currentFieldId, numbers.length);
      if (cursor.gotoFirstChild()) {
        depth += 1;
        continue;
      }
      while (!(more = cursor.gotoNextSibling()) && cursor.gotoParent()) depth -= 1;
    }
    cursor.delete();
    tree.delete();
    return python.toPy([[...kinds.keys()], fields, numbers]);
  };
}

function asked() {
  const texts = {};
  for (const name of ["recipe", "launch"]) {
    const path = field(`${name}-name`).value.trim();
    if (path && field(name).value) texts[path] = field(name).value;
  }
  const number = (id) => (field(id).value ? Number.parseInt(field(id).value, 10) : null);
  return JSON.stringify({ texts, nodes: number("nodes"), gpus: number("gpus") });
}

// Elements: a name, its class, and what is in it, always as text.
function made(name, kind, ...inside) {
  const element = document.createElement(name);
  if (kind) element.className = kind;
  element.append(...inside);
  return element;
}

function finding(problem) {
  const rule = made("a", "", problem.code);
  if (problem.page) rule.href = problem.page;
  const where = `${problem.path}:${problem.line}:${problem.column}`;
  const head = made("h3", "", made("span", "severity", problem.severity), ` ${problem.message} `, made("span", "dim", where, " ", rule, ` ${problem.name}`));
  // The heading is not repeated.
  const rest = problem.text.split("\n").slice(2).join("\n").replace(/^\n+/, "").trimEnd();
  return made("article", problem.severity, head, ...(rest ? [scrolling(`${problem.code} in ${problem.path}`, rest)] : []));
}

// What may be wider than the page, for the keyboard too.
function scrolling(label, text) {
  const element = made("pre", "", text);
  element.tabIndex = 0;
  element.setAttribute("role", "region");
  element.setAttribute("aria-label", label);
  return element;
}

function equation(recipe) {
  const rows = recipe.equation.map(([label, value, text]) => {
    const head = made("th", "", label);
    head.scope = "row";
    return made("tr", "", head, made("td", "number", value), made("td", "text", text));
  });
  const title = recipe.launch ? `${recipe.path}, launched by ${recipe.launch}` : recipe.path;
  const table = made("table", "", made("tbody", "", ...rows));
  return [made("h3", "", `${title} `, made("span", "dim", recipe.title)), table];
}

function show(found) {
  const { headline, recipes = [], problems = [], error } = found;
  tell(error || headline, Boolean(error));
  const none = recipes.length ? "Nothing to complain of." : "None: gbs sees no training recipe here. Does the path of the recipe end as its language does?";
  field("findings").replaceChildren(...(problems.length ? problems.map(finding) : [made("p", "", error ? "" : none)]));
  field("equation").replaceChildren(...recipes.flatMap(equation));
}

// A link to what is on the page: its fields, packed, behind the # of the address, which browsers never send.
async function packed() {
  const values = JSON.stringify(FIELDS.map((id) => field(id).value));
  const bytes = await new Response(new Blob([values]).stream().pipeThrough(new CompressionStream("deflate-raw"))).arrayBuffer();
  const signs = Array.from(new Uint8Array(bytes), (byte) => String.fromCharCode(byte)).join("");
  return btoa(signs).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

async function unpacked(fragment) {
  const signs = atob(fragment.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(signs, (sign) => sign.charCodeAt(0));
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw")).pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    text += piece.value;
    if (text.length > MOST) throw new Error("too long");
  }
  const values = JSON.parse(text);
  if (!Array.isArray(values) || values.length !== FIELDS.length || values.some((each) => typeof each !== "string")) throw new Error("other fields");
  return values;
}

async function share() {
  history.replaceState(null, "", `#${await packed()}`);
  try {
    await navigator.clipboard.writeText(location.href);
    tell("Copied: the link holds your texts behind its #.");
  } catch {
    tell("The link is in the address bar: it holds your texts behind its #.");
  }
}

async function fill() {
  let values = ["recipes/sft.yaml", SAMPLE.recipe, "train.sh", SAMPLE.launch, "", ""];
  let broken = false;
  if (location.hash.length > 1) {
    try {
      values = await unpacked(location.hash.slice(1));
    } catch {
      broken = true;
    }
  }
  FIELDS.forEach((id, index) => (field(id).value = values[index]));
  return broken;
}

let answer = null;
let waiting = 0;
function ask() {
  if (!answer) return;
  try {
    show(JSON.parse(answer(asked())));
  } catch (error) {
    tell(`gbs failed here, which is a bug: ${String(error.message ?? error).trim().split("\n").pop()}`, true);
  }
  document.body.dataset.answers = Number(document.body.dataset.answers ?? 0) + 1;
}
// What the link holds, and the answer to it.
async function fillAndAsk() {
  const broken = await fill();
  ask();
  if (broken && answer) tell("This link is broken; here is an example instead.", true);
}
function askSoon() {
  clearTimeout(waiting);
  waiting = setTimeout(ask, PAUSE);
}

document.querySelector("form").addEventListener("input", askSoon);
document.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
field("share").addEventListener("click", share);
addEventListener("hashchange", fillAndAsk);
await fill();
try {
  answer = await start();
  await fillAndAsk();
} catch (error) {
  tell(`Python could not be loaded from ${engine.href}: ${String(error.message ?? error).trim().split("\n").pop()}`, true);
  document.body.dataset.failed = "true";
}
