"""An editor for the tests: the client of pygls, which starts `gbs lsp` as a process of its own and talks to it over its pipes."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from lsprotocol import converters, types
from pygls.lsp.client import LanguageClient

Found = TypeVar("Found")
# Any machine answers within this many seconds, however busy it is.
PATIENCE = 60
LANGUAGES = {".yaml": "yaml", ".yml": "yaml", ".json": "json", ".toml": "toml", ".py": "python", ".sh": "shellscript", ".slurm": "slurm"}


class Editor:
    """What a person does in an editor; lines and characters count from 0, as in the protocol."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.client = LanguageClient("test-editor", "1")
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.published: dict[str, types.PublishDiagnosticsParams] = {}
        self.every: list[types.PublishDiagnosticsParams] = []
        self.messages: list[str] = []
        self.shown: list[types.ShowDocumentParams] = []
        self.capabilities: types.ServerCapabilities | None = None
        self._news = asyncio.Event()

        self.registered: list[str] = []
        self.watched: list[str] = []
        answered: dict[str, Callable[[Any], object]] = {
            types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS: self._published,
            types.WINDOW_SHOW_MESSAGE: self._message,
            types.WINDOW_SHOW_DOCUMENT: self._show,
            types.CLIENT_REGISTER_CAPABILITY: self._register,
        }
        for name, take in answered.items():
            self.client.feature(name)(partial(take))  # pygls writes attributes onto what it is given

    def _published(self, params: types.PublishDiagnosticsParams) -> None:
        params.diagnostics = list(params.diagnostics)
        self.published[params.uri] = params
        self.every.append(params)
        self._news.set()

    def _message(self, params: types.ShowMessageParams) -> None:
        self.messages.append(params.message)

    def _show(self, params: types.ShowDocumentParams) -> types.ShowDocumentResult:
        self.shown.append(params)
        return types.ShowDocumentResult(success=True)

    def _register(self, params: types.RegistrationParams) -> None:
        self.registered = [each.method for each in params.registrations]
        self.watched = [str(watcher["globPattern"]) for each in params.registrations for watcher in _options(each)]

    def uri(self, path: str) -> str:
        """The address of a file below the folder; one that is an address already stays so."""
        return path if ":" in path else (self.folder / path).as_uri()

    async def start(self, capabilities: types.ClientCapabilities, folders: list[str] | None) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("COV", "PYTEST"))}
        await self.client.start_io(sys.executable, "-m", "pytest_gbs", "lsp", cwd=str(self.folder), env=environment)
        asked = [types.WorkspaceFolder((self.folder / each).as_uri(), each or "all") for each in folders] if folders is not None else None
        params = types.InitializeParams(capabilities=capabilities, workspace_folders=asked, process_id=os.getpid())
        self.capabilities = (await self.client.initialize_async(params)).capabilities
        self.client.initialized(types.InitializedParams())

    async def stop(self) -> None:
        await self.client.shutdown_async(None)
        self.client.exit(None)
        await asyncio.wait_for(self.client.stop(), PATIENCE)  # type: ignore[no-untyped-call]

    def open(self, path: str, text: str | None = None, language: str = "") -> None:
        """Open a file, with the text that it has on the disk or another."""
        text = (self.folder / path).read_bytes().decode("utf-8") if text is None else text
        self.texts[path], self.versions[path] = text, 1
        language = language or LANGUAGES.get(Path(path).suffix, "plaintext")
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(types.TextDocumentItem(self.uri(path), language, 1, text)))

    def type(self, path: str, text: str) -> None:
        """Replace the text of an open file."""
        self.texts[path], self.versions[path] = text, self.versions[path] + 1
        document = types.VersionedTextDocumentIdentifier(self.versions[path], self.uri(path))
        whole = types.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [whole]))

    def replace(self, path: str, old: str, new: str) -> None:
        """Replace the first `old` of an open file by `new`."""
        assert old in self.texts[path]
        self.type(path, self.texts[path].replace(old, new, 1))

    def save(self, path: str) -> None:
        """Write an open file, and say so."""
        (self.folder / path).write_bytes(self.texts[path].encode())
        self.client.text_document_did_save(types.DidSaveTextDocumentParams(self.document(path)))

    def close(self, path: str) -> None:
        del self.texts[path]
        self.published.pop(self.uri(path), None)
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(self.document(path)))

    def changed_on_disk(self, *paths: str) -> None:
        """Say that files were changed by something else."""
        events = [types.FileEvent(self.uri(path), types.FileChangeType.Changed) for path in paths]
        self.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams(events))

    def document(self, path: str) -> types.TextDocumentIdentifier:
        return types.TextDocumentIdentifier(self.uri(path))

    async def findings(self, path: str) -> list[types.Diagnostic]:
        """What is found in an open file as it is now."""
        uri, version = self.uri(path), self.versions.get(path)
        found = await self.until(lambda: (found := self.published.get(uri)) and found.version == version and found)
        return list(found.diagnostics)

    def hover_text(self, path: str) -> list[str] | None:
        """The codes that were last published for a text; None if nothing was."""
        found = self.published.get(self.uri(path))
        return None if found is None else [str(each.code) for each in found.diagnostics]

    async def codes(self, path: str) -> list[str]:
        return [str(each.code) for each in await self.findings(path)]

    async def until(self, there: Callable[[], Found | bool | None]) -> Found:
        """What `there` gives, asked again after each publication, once it gives something."""
        while not (found := there()):
            self._news.clear()
            await asyncio.wait_for(self._news.wait(), PATIENCE)
        return found  # type: ignore[return-value]

    def place(self, path: str, marked: str) -> types.Position:
        """Where `|` is in `marked`, which stands in the file without it, in units of UTF-16."""
        offset = self.texts[path].index(marked.replace("|", "", 1)) + marked.index("|")
        before = self.texts[path][:offset].replace("\r\n", "\n").replace("\r", "\n").split("\n")
        return types.Position(len(before) - 1, len(before[-1].encode("utf-16-le")) // 2)

    def text_at(self, path: str, span: types.Range) -> str:
        """What stands at a range in units of UTF-16."""
        lines = self.texts[path].replace("\r\n", "\n").replace("\r", "\n").split("\n")
        if span.start.line == span.end.line:
            return _cut(lines[span.start.line], span.start.character, span.end.character)
        first, last = _cut(lines[span.start.line], span.start.character, None), _cut(lines[span.end.line], 0, span.end.character)
        return "\n".join((first, *lines[span.start.line + 1 : span.end.line], last))

    async def hover(self, path: str, marked: str) -> str:
        """What a hover says at `|` in `marked`; "" if nothing."""
        found = await self._ask(self.client.text_document_hover_async(types.HoverParams(self.document(path), self.place(path, marked))))
        return found.contents.value if found is not None else ""

    async def hints(self, path: str, last_line: int = 1_000_000) -> list[tuple[int, str]]:
        """The line and the text of each hint."""
        params = types.InlayHintParams(self.document(path), types.Range(types.Position(0, 0), types.Position(last_line, 0)))
        found = await self._ask(self.client.text_document_inlay_hint_async(params))
        return [(each.position.line, each.label) for each in found]

    async def lenses(self, path: str) -> list[tuple[int, str]]:
        found = await self._ask(self.client.text_document_code_lens_async(types.CodeLensParams(self.document(path))))
        return [(each.range.start.line, each.command.title) for each in found]

    async def actions(self, path: str, marked: str, *kinds: str) -> list[types.CodeAction]:
        at = self.place(path, marked)
        context = types.CodeActionContext(diagnostics=[], only=list(kinds) or None)
        params = types.CodeActionParams(self.document(path), types.Range(at, at), context)
        found = await self._ask(self.client.text_document_code_action_async(params))
        return [each for each in found if isinstance(each, types.CodeAction)]

    async def completions(self, path: str, marked: str) -> list[types.CompletionItem]:
        params = types.CompletionParams(self.document(path), self.place(path, marked))
        return list(await self._ask(self.client.text_document_completion_async(params)))

    async def definition(self, path: str, marked: str) -> list[types.Location]:
        params = types.DefinitionParams(self.document(path), self.place(path, marked))
        return list(await self._ask(self.client.text_document_definition_async(params)))

    async def references(self, path: str, marked: str) -> list[types.Location]:
        context = types.ReferenceContext(include_declaration=False)
        params = types.ReferenceParams(context, self.document(path), self.place(path, marked))
        return list(await self._ask(self.client.text_document_references_async(params)))

    async def _ask(self, question: Awaitable[Any]) -> Any:
        return await asyncio.wait_for(question, PATIENCE)

    def edited(self, path: str, edit: types.WorkspaceEdit | None) -> str:
        """The text of an open file after an edit."""
        assert edit is not None
        if edit.changes is not None:
            edits = list(edit.changes[self.uri(path)])
        else:
            (each,) = [each for each in edit.document_changes or () if isinstance(each, types.TextDocumentEdit)]
            assert (each.text_document.uri, each.text_document.version) == (self.uri(path), self.versions[path])
            edits = [one for one in each.edits if isinstance(one, types.TextEdit)]
        text = self.texts[path]
        for one in sorted(edits, key=lambda each: (each.range.start.line, each.range.start.character), reverse=True):
            start, stop = (_offset(text, at) for at in (one.range.start, one.range.end))
            text = text[:start] + one.new_text + text[stop:]
        return text


def _options(registration: types.Registration) -> list[dict[str, Any]]:
    """The watchers of a registration, as they came."""
    found: list[dict[str, Any]] = converters.get_converter().unstructure(registration.register_options)["watchers"]
    return found


def _offset(text: str, at: types.Position) -> int:
    lines = text.splitlines(keepends=True)
    before = sum(map(len, lines[: at.line]))
    return before + len(_cut(lines[at.line] if at.line < len(lines) else "", 0, at.character))


def _cut(line: str, start: int, stop: int | None) -> str:
    units = line.encode("utf-16-le", "surrogatepass")
    return units[2 * start : None if stop is None else 2 * stop].decode("utf-16-le")


CAPABLE = types.ClientCapabilities(
    text_document=types.TextDocumentClientCapabilities(
        publish_diagnostics=types.PublishDiagnosticsClientCapabilities(related_information=True, version_support=True)
    ),
    workspace=types.WorkspaceClientCapabilities(
        workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=True),
        did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True),
    ),
)
BARE = types.ClientCapabilities()


@asynccontextmanager
async def editor(
    folder: Path, capabilities: types.ClientCapabilities = CAPABLE, folders: list[str] | None = None, *, alone: bool = False
) -> AsyncIterator[Editor]:
    """An editor whose workspace is `folder`, or these folders below it, or none if it is `alone`."""
    found = Editor(folder)
    await found.start(capabilities, None if alone else folders if folders is not None else [""])
    try:
        yield found
    finally:
        await found.stop()
