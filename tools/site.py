"""The documentation site: `python -m tools.site FOLDER` (extra `docs`). A warning, a dead link among them, fails it; nothing is fetched.

Its pages are those of `docs`, those at the root of the checkout, and what gbs prints of its rules, frameworks and schemas.
"""

from __future__ import annotations

import re
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory
from typing import Final

from pytest_gbs.cli import main
from tools.addresses import addresses
from tools.playground import write_page

ROOT: Final = Path(__file__).resolve().parents[1]
REPOSITORY: Final = f"https://{addresses()[0]}/blob/main/"
_AT_ROOT: Final = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
}
_LINK: Final = re.compile(r"(?<=\]\()(?!https?:|#)([^)\s#]+)(#[^)\s]*)?(?=\))")
_RULE: Final = re.compile(r"(?m)^\| (GBS\d+) ")
_CONTENTS: Final = {
    "Guides": "alignment-handbook trl axolotl halos deepspeed-accelerate-slurm verl megatron-nemo own-trainer monorepo",
    "Use it": "batch-tables lock ci pre-commit pytest python-api running-job fixing scale plan diff report editors playground",
    "Understand it": "decides launches python faq glossary",
    "Reference": "rules/index frameworks settings cli formats own-framework untrusted trust limits speed",
    "Project": "versioning changelog contributing security architecture releasing",
}
_CONF: Final = """\
project = "pytest-gbs"
copyright = "the pytest-gbs authors"
extensions = ["myst_parser"]
myst_heading_anchors = 4
html_theme = "furo"
html_title = "pytest-gbs"
html_extra_path = ["extra"]
html_static_path = ["static"]
html_css_files = ["site.css"]
exclude_patterns = ["extra", "static"]
"""
_STYLE: Final = """\
@media (min-width: 82em) { .content { width: 56em } } /* what gbs prints is 110 columns wide */
@media (max-width: 48em) { td:last-child { min-width: 15em } } /* on a phone words would stand one below the other */
pre { font-size: 0.8125em }
"""


def stage(folder: Path) -> None:
    """Write all pages to `folder`, with links among them, and to the repository where a file is on none."""
    copytree(ROOT / "docs", folder, dirs_exist_ok=True)
    for page in folder.rglob("*.md"):
        depth = len(page.relative_to(folder).parts) - 1
        page.write_text(_linked(page.read_text(encoding="utf-8"), depth), encoding="utf-8")
    for name, uri in _AT_ROOT.items():
        (folder / uri).write_text(_linked(_from_root((ROOT / name).read_text(encoding="utf-8")), 0), encoding="utf-8")
    rules = _RULE.sub(lambda code: f"| [{code[1]}]({code[1].lower()}.md) ", _printed("rules", "--format", "markdown"))
    pages = "\n".join(sorted(page.stem for page in (folder / "rules").glob("*.md")))
    (folder / "rules" / "index.md").write_text(f"# Rules\n\n{rules}\n```{{toctree}}\n:hidden:\n\n{pages}\n```\n", encoding="utf-8")
    (folder / "frameworks.md").write_text(f"# Frameworks\n\n{_printed('frameworks', '--format', 'markdown')}", encoding="utf-8")
    with (folder / "index.md").open("a", encoding="utf-8") as index:
        index.writelines(map(_contents, _CONTENTS))
    _schemas(folder / "extra" / "schemas")
    write_page(folder / "extra" / "try")
    (folder / "conf.py").write_text(_CONF, encoding="utf-8")
    (folder / "static").mkdir()
    (folder / "static" / "site.css").write_text(_STYLE, encoding="utf-8")


def _contents(title: str) -> str:
    """The part of the contents that is called `title`."""
    above = "guides/" if title == "Guides" else ""
    pages = "\n".join(f"{above}{name}" for name in _CONTENTS[title].split())
    return f"\n```{{toctree}}\n:hidden:\n:caption: {title}\n\n{pages}\n```\n"


def _schemas(folder: Path) -> None:
    """Write every schema to where its `$id` says."""
    copytree(ROOT / "schemas", folder)
    (folder / "recipes").mkdir()
    for name in _printed("schema").split():
        if not (folder / f"{name}.schema.json").exists():
            (folder / "recipes" / f"{name}.schema.json").write_text(_printed("schema", name), encoding="utf-8")


def _from_root(text: str) -> str:
    """A page of the root as if it lay in `docs`."""

    def moved(link: re.Match[str]) -> str:
        return (link[1].removeprefix("docs/") if link[1].startswith("docs/") else f"../{link[1]}") + (link[2] or "")

    return _LINK.sub(moved, text)


def _linked(text: str, depth: int) -> str:
    """A page that lies `depth` folders deep, its links out of `docs` made links to the site's own pages or to the repository."""

    def linked(link: re.Match[str]) -> str:
        target, anchor, out = link[1], link[2] or "", "../" * (depth + 1)
        if target == "rules":
            return "rules/index.md"
        if not target.startswith(out):
            return link[0]
        name = target.removeprefix(out)
        return f"{'../' * depth}{_AT_ROOT[name]}{anchor}" if name in _AT_ROOT else f"{REPOSITORY}{name}{anchor}"

    return _LINK.sub(linked, text)


def _printed(*arguments: str) -> str:
    with redirect_stdout(StringIO()) as told:
        main(arguments)
    return told.getvalue()


def build(target: str) -> int:
    """Build the site in folder `target`; the exit code of the generator."""
    from sphinx.cmd.build import main as sphinx  # noqa: PLC0415 - it is in an extra of its own

    with TemporaryDirectory() as scratch:
        stage(Path(scratch))
        code: int = sphinx(["-q", "-W", "--keep-going", "-b", "dirhtml", scratch, target])
        return code


if __name__ == "__main__":
    sys.exit(build(*sys.argv[1:]))
