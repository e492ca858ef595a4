"""The server: what a client sends, and what it is answered, over standard input and output."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final, TypeVar

from lsprotocol import types
from pygls.lsp.server import LanguageServer

import pytest_gbs
from pytest_gbs.lsp import actions, navigation, reading
from pytest_gbs.lsp.completion import completions
from pytest_gbs.lsp.diagnostics import diagnostics, settings_diagnostic
from pytest_gbs.lsp.open_files import OpenFile, OpenFiles
from pytest_gbs.lsp.positions import Cell, PositionMap
from pytest_gbs.lsp.project import Project
from pytest_gbs.model.document import DOCUMENTS, MAKEFILES, RECIPES, SCRIPTS
from pytest_gbs.model.outcome import Edit

_Found = TypeVar("_Found")
_KINDS: Final = (types.CodeActionKind.QuickFix, types.CodeActionKind.RefactorRewrite, actions.FIX_ALL)
_ENDINGS: Final = (*RECIPES, *SCRIPTS, *DOCUMENTS, ".mk", ".txt", ".lock", ".cfg", ".env")
_NAMES: Final = (*MAKEFILES, ".gitignore", "Dockerfile")
# What a check may read: a training run that writes its logs into the workspace is none of it.
WATCHED: Final = (f"**/*{{{','.join(_ENDINGS)}}}", f"**/{{{','.join(_NAMES)}}}")
_PAUSE: Final = 0.2  # seconds in which what changes on the disk is looked for once


class GbsServer(LanguageServer):
    """A language server with what its client has open."""

    def __init__(self) -> None:
        notebooks = types.NotebookDocumentSyncOptions(
            [types.NotebookDocumentFilterWithNotebook(types.NotebookDocumentFilterNotebookType("jupyter-notebook"))], save=True
        )
        super().__init__("gbs", pytest_gbs.__version__, types.TextDocumentSyncKind.Full, notebooks)
        self.open_files = OpenFiles()
        self.watching = False  # whether the client reports changes on disk
        self.waiting: asyncio.TimerHandle | None = None  # to look at the disk again
        # One check at a time, beside the loop that reads what the client sends.
        self._bench = ThreadPoolExecutor(1, "gbs")
        self._busy: set[Project] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._published: dict[Project, set[str]] = {}

    async def answer(self, project: Project) -> None:
        """Wait until the open files of `project` have been checked as they are now."""
        while project.answer.number != project.number:
            await self.beside(lambda: project.check() if project.answer.number != project.number else None)

    async def beside(self, work: Callable[[], _Found]) -> _Found:
        """What `work` gives, done beside the loop, after what is done there already."""
        return await asyncio.get_running_loop().run_in_executor(self._bench, work)

    def check_soon(self, project: Project) -> None:
        """Check the open files of `project` as they are, and publish what is found; edits that come meanwhile are answered together."""
        if project not in self._busy:
            self._busy.add(project)
            self._tasks.add(task := asyncio.get_running_loop().create_task(self._check(project)))
            task.add_done_callback(self._tasks.discard)

    async def _check(self, project: Project) -> None:
        try:
            await self.answer(project)
        except Exception as error:  # a bug in gbs must not end the server: the next edit is checked again
            self.window_log_message(types.LogMessageParams(types.MessageType.Error, f"internal error: {type(error).__name__}: {error}"))
            return
        finally:
            self._busy.discard(project)
        self._publish(project)

    def _publish(self, project: Project) -> None:
        """Send the findings in each text that is open or has any, with the version that they are about."""
        positions_of = partial(self.open_files.positions, project)
        publishing = self.client_capabilities.text_document and self.client_capabilities.text_document.publish_diagnostics
        related = bool(publishing and publishing.related_information)
        found: dict[str, list[types.Diagnostic]] = {address: [] for address in self._published.pop(project, set())}
        for opened in self.open_files.opened.values():
            found.update({part.uri: [] for part in opened.positions.parts if opened.project is project})
        for address, each in (
            *settings_diagnostic(project.answer, positions_of),
            *diagnostics(project.answer, positions_of, related=related),
        ):
            found.setdefault(address, []).append(each)
        self._published[project] = {address for address, each in found.items() if each}
        versions = self.open_files.versions()
        for address, several in found.items():
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(address, several, versions.get(address)))
        for bug in project.answer.report.internal:
            self.window_log_message(types.LogMessageParams(types.MessageType.Error, bug.words))
        self._refresh()

    def take_back(self) -> None:
        """Take back all findings, since other repositories answer for the texts from now on."""
        for address in {each for several in self._published.values() for each in several}:
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(address, []))
        self._published.clear()

    def _refresh(self) -> None:
        """Ask the client for hints and lenses anew, which a change of another file may have changed."""
        workspace = self.client_capabilities.workspace
        if workspace is not None and workspace.inlay_hint is not None and workspace.inlay_hint.refresh_support:
            self.workspace_inlay_hint_refresh(None)
        if workspace is not None and workspace.code_lens is not None and workspace.code_lens.refresh_support:
            self.workspace_code_lens_refresh(None)

    async def now(self, address: str) -> OpenFile | None:
        """The file that shows the text `address`, checked as it is now; None if it is not open, or the settings leave it out."""
        opened = self.open_files.opened.get(address)
        if opened is None:
            return None
        await self.answer(opened.project)
        opened = self.open_files.opened.get(address)
        return opened if opened is not None and opened.project.concerns(opened.path) else None

    def written(self, project: Project, edits: Iterable[Edit]) -> types.WorkspaceEdit | None:
        """`edits` as the client makes them: of the version that they were found for, where it knows versions."""
        found = actions.edits_in(edits, partial(self.open_files.positions, project))
        if found is None:
            return None
        workspace = self.client_capabilities.workspace
        if workspace is None or workspace.workspace_edit is None or not workspace.workspace_edit.document_changes:
            return types.WorkspaceEdit(changes=found)
        versions = self.open_files.versions()
        texts = ((types.OptionalVersionedTextDocumentIdentifier(address, versions.get(address)), each) for address, each in found.items())
        return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(text, [*each]) for text, each in texts])


def make_server() -> GbsServer:
    """A server that is ready to be started."""
    server = GbsServer()
    _texts(server)
    _notebooks(server)
    _files(server)
    _questions(server)
    _changes(server)
    return server


def _texts(server: GbsServer) -> None:
    """What is open, and how it changes."""

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        server.open_files.encoding = str(getattr(server.workspace.position_encoding, "value", server.workspace.position_encoding))
        server.open_files.set_folders(_folders(params))

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def did_open(params: types.DidOpenTextDocumentParams) -> None:
        text = params.text_document
        before = server.open_files.opened.get(text.uri)
        if before is not None and before.version is None:
            return  # a cell of a notebook, whose text came with it
        opened = server.open_files.open(text.uri, text.text, text.version, text.language_id)
        if not server.watching:
            opened.project.look_again()
        server.check_soon(opened.project)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def did_change(params: types.DidChangeTextDocumentParams) -> None:
        text = params.text_document
        if text.uri in server.open_files.opened and params.content_changes:
            opened = server.open_files.open(text.uri, params.content_changes[-1].text, text.version)
            server.check_soon(opened.project)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def did_save(params: types.DidSaveTextDocumentParams) -> None:
        opened = server.open_files.opened.get(params.text_document.uri)
        if opened is not None:
            opened.project.look_again()
            server.check_soon(opened.project)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    async def did_close(params: types.DidCloseTextDocumentParams) -> None:
        _close(server, params.text_document.uri)


def _close(server: GbsServer, address: str) -> None:
    project = server.open_files.close(address)
    if project is not None and project.folder is not None:
        server.check_soon(project)
    elif project is not None:
        server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(address, []))


def _folders(params: types.InitializeParams) -> list[str]:
    """The addresses of the folders of the workspace."""
    if params.workspace_folders:
        return [folder.uri for folder in params.workspace_folders]
    from pygls.uris import from_fs_path

    single = params.root_uri or (from_fs_path(params.root_path) if params.root_path else None)
    return [single] if single else []


def _notebooks(server: GbsServer) -> None:
    """Notebooks that are open, cell by cell."""

    def take(address: str) -> None:
        notebook = server.workspace.get_notebook_document(notebook_uri=address)
        texts = server.workspace.text_documents
        cells = [
            Cell(each.document, each.kind == types.NotebookCellKind.Code, texts[each.document].source)
            for each in (notebook.cells if notebook is not None else ())
            if each.document in texts
        ]
        server.check_soon(server.open_files.open_notebook(address, cells).project)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    async def did_open(params: types.DidOpenNotebookDocumentParams) -> None:
        take(params.notebook_document.uri)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    async def did_change(params: types.DidChangeNotebookDocumentParams) -> None:
        take(params.notebook_document.uri)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    async def did_close(params: types.DidCloseNotebookDocumentParams) -> None:
        _close(server, params.notebook_document.uri)


def _files(server: GbsServer) -> None:
    """What changes on the disk, and which folders there are."""

    @server.feature(types.INITIALIZED)
    async def initialized(_: types.InitializedParams) -> None:
        workspace = server.client_capabilities.workspace
        watching = workspace.did_change_watched_files if workspace is not None else None
        if watching is not None and watching.dynamic_registration:
            server.watching = True
            options = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher(each) for each in WATCHED])
            asked = types.Registration("gbs-files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
            server.client_register_capability(types.RegistrationParams([asked]), lambda _: None)

    def look_again() -> None:
        server.waiting = None
        for project in server.open_files.projects.values():
            project.look_again()
            server.check_soon(project)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    async def did_change_files(_: types.DidChangeWatchedFilesParams) -> None:
        if server.waiting is None:
            server.waiting = asyncio.get_running_loop().call_later(_PAUSE, look_again)

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    async def did_change_folders(_: types.DidChangeWorkspaceFoldersParams) -> None:
        server.open_files.set_folders(server.workspace.folders)
        server.take_back()
        for project in server.open_files.move():
            project.look_again()
            server.check_soon(project)


def _questions(server: GbsServer) -> None:
    """What a client asks about a text."""

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        at = await _at(server, params)
        return await server.beside(lambda: reading.hover(at[0].project, at[0].path, at[1], at[0].positions)) if at else None

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    async def hints(params: types.InlayHintParams) -> list[types.InlayHint]:
        found = await _shown(server, params.text_document.uri, reading.hints)
        return [each for each in found if params.range.start.line <= each.position.line <= params.range.end.line]

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS)
    async def lenses(params: types.CodeLensParams) -> list[types.CodeLens]:
        return await _shown(server, params.text_document.uri, reading.lenses)

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    async def definition(params: types.DefinitionParams) -> list[types.Location]:
        return await _places(server, params, navigation.definitions)

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    async def references(params: types.ReferenceParams) -> list[types.Location]:
        return await _places(server, params, navigation.references)

    @server.command(reading.SHOW_LAUNCHES)
    async def show_launches(address: str, line: int, character: int) -> None:
        at = types.TextDocumentPositionParams(types.TextDocumentIdentifier(address), types.Position(line, character))
        found = await _places(server, at, navigation.references)
        if found:
            await server.window_show_document_async(types.ShowDocumentParams(found[0].uri, selection=found[0].range, take_focus=True))

    @server.feature(
        types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=["#", ":", "-", "[", '"'], resolve_provider=False)
    )
    async def complete(params: types.CompletionParams) -> list[types.CompletionItem]:
        at = await _at(server, params)
        part = next((each for each in at[0].positions.parts if each.uri == params.text_document.uri), None) if at else None
        if at is None or part is None:
            return []
        opened, offset = at
        inner = part.inner(offset)
        found = await server.beside(lambda: list(completions(opened.project, opened.path, inner, part.lines)))
        return [_placed(each, params.position) for each in found]


def _placed(item: types.CompletionItem, position: types.Position) -> types.CompletionItem:
    """`item` as an edit that replaces what is typed of it, which is plain ASCII."""
    back = min((item.data or {}).get("back", 0), position.character)
    item.data = None
    start = types.Position(position.line, position.character - back)
    item.text_edit = types.TextEdit(types.Range(start, position), item.insert_text or item.label)
    item.insert_text = None
    return item


async def _shown(server: GbsServer, address: str, give: Callable[[Project, str, PositionMap, str], Iterable[_Found]]) -> list[_Found]:
    """What `give` yields of the file that shows the text `address`."""
    opened = await server.now(address)
    if opened is None:
        return []
    return await server.beside(lambda: list(give(opened.project, opened.path, opened.positions, address)))


async def _at(server: GbsServer, params: types.TextDocumentPositionParams | Any) -> tuple[OpenFile, int] | None:
    """The file that a question is about, and the offset in it."""
    opened = await server.now(params.text_document.uri)
    offset = opened.positions.offset(params.text_document.uri, params.position) if opened is not None else None
    return (opened, offset) if opened is not None and offset is not None else None


async def _places(server: GbsServer, params: Any, find: Callable[..., Iterable[types.Location]]) -> list[types.Location]:
    at = await _at(server, params)
    if at is None:
        return []
    opened, offset = at
    positions_of = partial(server.open_files.positions, opened.project)
    return await server.beside(
        lambda: list({repr(each): each for each in find(opened.project, opened.path, offset, positions_of)}.values())
    )


def _changes(server: GbsServer) -> None:
    """What a client is offered to change."""

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(list(_KINDS), resolve_provider=True))
    async def code_actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        address = params.text_document.uri
        opened = await server.now(address)
        if opened is None:
            return []
        start, stop = (opened.positions.offset(address, each) for each in (params.range.start, params.range.end))
        span = (start or 0, stop or 0)
        return await server.beside(lambda: _offered(server, opened, params, span))

    @server.feature(types.CODE_ACTION_RESOLVE)
    async def resolve(action: types.CodeAction) -> types.CodeAction:
        data = action.data if isinstance(action.data, dict) else {}
        opened = server.open_files.opened.get(data.get("uri", ""))
        if opened is None:
            return action
        await server.answer(opened.project)
        found = await server.beside(lambda: actions.scaled(opened.project, data, partial(server.written, opened.project)))
        if isinstance(found, str):
            server.window_show_message(types.ShowMessageParams(types.MessageType.Info, f"gbs: {found}"))
        else:
            action.edit = found
        return action


def _offered(server: GbsServer, opened: OpenFile, params: types.CodeActionParams, span: tuple[int, int]) -> list[types.CodeAction]:
    """The actions of the kinds that the client asks for."""
    wanted = params.context.only
    project, written = opened.project, partial(server.written, opened.project)
    found: list[types.CodeAction] = []
    if _wants_kind(wanted, types.CodeActionKind.QuickFix):
        for finding, action in actions.fixes(project, opened.path, span, written):
            action.diagnostics = [each for each in params.context.diagnostics if each.code == finding.code]
            found.append(action)
    if _wants_kind(wanted, types.CodeActionKind.RefactorRewrite):
        for action in actions.scalings(project, opened.path, span[0]):
            action.data = {**(action.data or {}), "uri": params.text_document.uri}
            found.append(action)
    every = actions.fix_all(project, written) if wanted and _wants_kind(wanted, actions.FIX_ALL) else None
    return [*found, every] if every is not None else found


def _wants_kind(wanted: Iterable[types.CodeActionKind | str] | None, kind: str) -> bool:
    """Whether a client wants actions of `kind`: all if it does not say, else those of a kind, and of kinds within it."""
    if wanted is None:
        return True
    words = (str(getattr(each, "value", each)) for each in wanted)
    name = str(getattr(kind, "value", kind))
    return any(name == each or name.startswith(f"{each}.") for each in words)
