"""Findings while typing: from unsaved texts, in every kind of file, at the right place and for the newest version."""

from itertools import product
from pathlib import Path

import pytest
from lsprotocol import types

from tests.cli.support import write
from tests.lsp.editor import BARE, Editor, editor

KEYS = "model_name_or_path: my/model\ndataset_name: my/dialogues\nmax_length: 2048\n"
SIZES = "per_device_train_batch_size: 4\ngradient_accumulation_steps: 2\n"
HOLDS = f"# global batch size 64 = 4 x 2 x 8 GPUs\n{KEYS}{SIZES}"
STALE = HOLDS.replace("size: 4", "size: 3")
OPEN = KEYS + SIZES
DEEPSPEED = '{"train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 2, "train_batch_size": 64}'
JSON = '{"model_name_or_path": "my/model", "dataset_name": "d", "max_length": 8, "per_device_train_batch_size": 4, "learning_rate": 1}'
MEGATRON = (
    "#!/bin/bash\n# global batch size 64\ntorchrun --nproc_per_node 8 pretrain_gpt.py --micro-batch-size 2 --global-batch-size 64 "
    "--num-layers 2 --seq-length 128 --tensor-model-parallel-size 1\n"
)
TOML = (
    "# global batch size 32 on 8 GPUs\n[job]\ndump_folder = 'x'\n[model]\nname = 'llama3'\nflavor = '8B'\n[training]\n"
    "local_batch_size = 8\nseq_len = 2048\nsteps = 10\n[parallelism]\ndata_parallel_shard_degree = -1\n"
)
CALL = "c = SFTConfig(\n    per_device_train_batch_size=4,\n    gradient_accumulation_steps=2,\n)\n"
PROGRAM = f"from trl import SFTConfig\n\n# global batch size 64 on 8 GPUs\n{CALL}"

SILENT = {
    "what holds": ("a.yaml", HOLDS),
    "no claim": ("a.yaml", OPEN),
    "no recipe": ("a.yaml", "cake: [1\n"),
    "empty": ("a.yaml", ""),
    "json": ("a.json", JSON),
    "deepspeed": ("ds.json", DEEPSPEED),
    "python": ("train.py", PROGRAM),
    "script": ("run.sh", MEGATRON),
    "prose": ("notes.txt", STALE),
    "toml": ("Cargo.toml", '[package]\nname = "a"\n'),
    "half typed": ("a.yaml", HOLDS + "per_dev"),
}


async def test_what_is_in_order_is_silent(tmp_path: Path) -> None:
    async with editor(tmp_path) as person:
        for name, (path, text) in SILENT.items():
            person.open(path, text)
            assert [each for each in await person.codes(path) if each != "GBS001"] == [], name
            person.close(path)


FIRING = {
    "yaml": ("a.yaml", STALE, "64", "GBS101"),
    "broken": ("a.yaml", HOLDS + "a: [\n", "", "GBS001"),
    "json": ("a.json", JSON.replace('size": 4', 'size": 4.5'), "4.5", "GBS003"),
    "python": ("train.py", PROGRAM.replace("64", "72"), "72", "GBS101"),
    "script": ("run.sh", MEGATRON.replace("size 64\n", "size 32\n"), "64", "GBS301"),
    "slurm": ("run.slurm", MEGATRON.replace("size 64\n", "size 32\n"), "64", "GBS301"),
    "toml": ("debug.toml", TOML, "32", "GBS101"),
}


async def test_what_is_wrong_is_found_in_a_text_that_is_on_no_disk(tmp_path: Path) -> None:
    async with editor(tmp_path) as person:
        for path, text, at, code in FIRING.values():
            person.open(path, text)
            (found,) = [each for each in await person.findings(path) if each.code == code]
            assert (found.source, person.text_at(path, found.range)) == ("gbs", at)
            assert found.code_description is not None
            assert found.code_description.href.endswith(f"/rules/{code.lower()}/")
            person.close(path)


async def test_the_message_says_what_is_wrong_its_arithmetic_and_what_fixes_it(tmp_path: Path) -> None:
    async with editor(tmp_path) as person:
        person.open("a.yaml", STALE)
        (found,) = await person.findings("a.yaml")
        assert found.severity == types.DiagnosticSeverity.Error
        assert found.message.split("\n") == [
            "comment says 64, but the settings give 48",
            "48 = 3 micro x 2 accumulation x 8 data-parallel (8 GPUs)",
            "fix: set per_device_train_batch_size to 4, or change the comment to 48",
        ]
        assert [each.message for each in found.related_information or ()] == ["micro", "accumulation", "8"]


async def test_a_client_that_knows_no_related_places_gets_none(tmp_path: Path) -> None:
    async with editor(tmp_path, BARE) as person:
        person.open("a.yaml", STALE)
        (found,) = await person.findings("a.yaml")
        assert found.related_information is None


WIDE = {
    "emoji": "# 🚀🚀 global batch size 64 = 4 x 2 x 8 GPUs\n",
    "chinese": "# 全局批次 🧪 global batch size 64 = 4 x 2 x 8 GPUs\n",
    "combining": "# e\u0301\u200d👩‍👩‍👧 global batch size 64 = 4 x 2 x 8 GPUs\n",
}


async def test_positions_count_units_of_utf_16(tmp_path: Path) -> None:
    async with editor(tmp_path) as person:
        for number, (head, ending) in enumerate(product(WIDE.values(), ("\n", "\r\n", "\r"))):
            path = f"{number}.yaml"
            person.open(path, ("# 🌍\n" + head + KEYS + SIZES.replace("4", "3")).replace("\n", ending))
            (found,) = [each for each in await person.findings(path) if each.code == "GBS101"]
            assert person.text_at(path, found.range) == "64"
            assert found.range.start.line == 1
            assert "micro batch size 3" in await person.hover(path, "train_batch_size: |3")
            person.close(path)


async def test_a_line_ends_where_the_protocol_says(tmp_path: Path) -> None:
    async with editor(tmp_path) as person:
        person.open("a.toml", "# a\u2028b\u0085c\n" + TOML)
        (found,) = await person.findings("a.toml")
        assert (found.range.start.line, person.text_at("a.toml", found.range)) == (1, "32")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-32"])
async def test_positions_count_what_the_client_asks_for(tmp_path: Path, encoding: str) -> None:
    asked = types.ClientCapabilities(general=types.GeneralClientCapabilities(position_encodings=[types.PositionEncodingKind(encoding)]))

    async with editor(tmp_path, asked) as person:
        person.open("a.yaml", WIDE["emoji"] + KEYS + SIZES.replace("4", "3"))
        (found,) = await person.findings("a.yaml")
        unit = {"utf-8": 1, "utf-32": 4}[encoding]
        assert found.range.start.character == len("# 🚀🚀 global batch size ".encode(f"{encoding}-le" if unit > 1 else encoding)) // unit


async def test_an_edit_is_answered_and_what_is_fixed_is_gone(tmp_path: Path) -> None:
    async with editor(tmp_path) as person:
        person.open("a.yaml", HOLDS)
        assert await person.codes("a.yaml") == []
        person.replace("a.yaml", "size: 4", "size: 3")
        assert await person.codes("a.yaml") == ["GBS101"]
        person.replace("a.yaml", "size: 3", "size: 4")
        assert await person.codes("a.yaml") == []


async def test_quick_edits_are_answered_for_the_newest_version(tmp_path: Path) -> None:
    async with editor(tmp_path) as person:
        person.open("a.yaml", HOLDS)
        for number in range(60):
            person.type("a.yaml", HOLDS.replace("size: 4", f"size: {number}"))
        person.type("a.yaml", HOLDS.replace("size: 4", "size: 5"))
        (found,) = await person.findings("a.yaml")
        assert found.message.startswith("comment says 64, but the settings give 80")
        answers = [each for each in person.every if each.uri == person.uri("a.yaml")]
        assert answers[-1].version == 62
        assert [each.version for each in answers] == sorted(each.version or 0 for each in answers)


async def test_the_disk_counts_again_when_a_file_is_closed(tmp_path: Path) -> None:
    write(tmp_path, {"a.yaml": HOLDS, "run.sh": "accelerate launch --num_processes 8 train.py --config a.yaml\n"})

    async with editor(tmp_path) as person:
        person.open("run.sh")
        person.open("a.yaml", STALE)
        assert await person.codes("a.yaml") == ["GBS101"]
        person.close("a.yaml")
        await person.until(lambda: person.hover_text("a.yaml") == [])


async def test_a_script_that_is_not_open_is_marked_where_it_launches_an_open_recipe_wrongly(tmp_path: Path) -> None:
    write(tmp_path, {"a.yaml": HOLDS, "run.sh": "accelerate launch --num_processes 8 train.py --config a.yaml\n"})

    async with editor(tmp_path) as person:
        person.open("a.yaml")
        assert await person.codes("a.yaml") == []
        assert person.uri("run.sh") not in person.published
        (tmp_path / "run.sh").write_text("accelerate launch --num_processes 4 train.py --config a.yaml\n")
        person.changed_on_disk("run.sh")
        assert await person.until(lambda: person.hover_text("run.sh")) == ["GBS301"]
        (tmp_path / "run.sh").unlink()
        person.changed_on_disk("run.sh")
        await person.until(lambda: person.hover_text("run.sh") == [])


async def test_an_unsaved_script_counts_for_an_open_recipe(tmp_path: Path) -> None:
    write(tmp_path, {"a.yaml": OPEN, "run.sh": "accelerate launch --num_processes 8 train.py --config a.yaml\n"})

    async with editor(tmp_path) as person:
        person.open("a.yaml")
        person.open("run.sh")
        assert await person.lenses("a.yaml") == [(0, "launched by 1 script: 64")]
        person.replace("run.sh", "8", "16")
        assert await person.lenses("a.yaml") == [(0, "launched by 1 script: 128")]


async def test_a_file_outside_of_the_workspace_is_checked_by_itself(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"inside/gbs.toml": "gpus-per-node = 8\n", "outside/a.yaml": STALE, "outside/run.sh": "accelerate launch t.py --config a.yaml\n"},
    )

    async with editor(tmp_path, folders=["inside"]) as person:
        person.open("outside/a.yaml")
        assert await person.codes("outside/a.yaml") == ["GBS101"]
        assert await person.lenses("outside/a.yaml") == []  # nothing beside it is read


async def test_a_text_without_a_file_is_checked_by_its_language(tmp_path: Path) -> None:
    async with editor(tmp_path, alone=True) as person:
        person.open("untitled:Untitled-1", STALE, "yaml")
        assert await person.codes("untitled:Untitled-1") == ["GBS101"]
        person.type("untitled:Untitled-1", HOLDS)
        assert await person.codes("untitled:Untitled-1") == []
        person.open("untitled:Untitled-2", STALE, "plaintext")
        assert await person.codes("untitled:Untitled-2") == []


async def test_what_is_watched_is_what_a_check_may_read(tmp_path: Path) -> None:
    async with editor(tmp_path) as person:
        person.open("a.yaml", OPEN)
        await person.findings("a.yaml")
        assert person.registered == ["workspace/didChangeWatchedFiles"]
        globs = " ".join(person.watched)
        assert all(ending in globs for ending in (".yaml", ".slurm", ".ipynb", "Makefile", ".gitignore", ".toml", ".txt"))
        assert not any(ending in globs for ending in (".log", ".safetensors", ".jsonl", ".png", '**/*"'))


async def test_two_folders_of_a_workspace_have_settings_of_their_own(tmp_path: Path) -> None:
    claim = f"# global batch size 64 on 1 node\n{OPEN}"
    write(
        tmp_path, {"one/gbs.toml": "gpus-per-node = 8\n", "one/a.yaml": claim, "two/gbs.toml": "gpus-per-node = 4\n", "two/a.yaml": claim}
    )

    async with editor(tmp_path, folders=["one", "two"]) as person:
        person.open("one/a.yaml")
        person.open("two/a.yaml")
        assert await person.codes("one/a.yaml") == []
        assert await person.codes("two/a.yaml") == ["GBS101"]


async def test_a_folder_that_is_added_and_removed_counts_from_then_on(tmp_path: Path) -> None:
    claim = f"# global batch size 64 on 1 node\n{OPEN}"
    write(tmp_path, {"one/gbs.toml": "", "two/gbs.toml": "gpus-per-node = 4\n", "two/a.yaml": claim})

    async with editor(tmp_path, folders=["one"]) as person:
        person.open("two/a.yaml")
        assert await person.codes("two/a.yaml") == []
        folder = types.WorkspaceFolder(person.uri("two"), "two")
        for added, removed, codes in (([folder], [], ["GBS101"]), ([], [folder], [])):
            event = types.WorkspaceFoldersChangeEvent(added, removed)
            person.published.clear()
            person.client.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event))
            await person.until(lambda codes=codes: person.hover_text("two/a.yaml") == codes)  # type: ignore[misc]


async def test_nothing_above_the_workspace_is_a_root(tmp_path: Path) -> None:
    claim = f"# global batch size 64 on 1 node\n{OPEN}"
    write(tmp_path, {"gbs.toml": "gpus-per-node = 4\n", "recipes/a.yaml": claim})

    async with editor(tmp_path, folders=["recipes"]) as person:
        person.open("recipes/a.yaml")
        assert await person.codes("recipes/a.yaml") == []


async def test_broken_settings_are_one_finding_and_the_rest_goes_on(tmp_path: Path) -> None:
    write(tmp_path, {"gbs.toml": 'gpus-per-node = "many"\n', "a.yaml": STALE})

    async with editor(tmp_path) as person:
        person.open("a.yaml")
        assert await person.codes("a.yaml") == ["GBS101"]
        (found,) = (await person.until(lambda: person.published.get(person.uri("gbs.toml")))).diagnostics
        assert "gpus-per-node" in found.message
        (tmp_path / "gbs.toml").write_text("gpus-per-node = 8\n")
        person.changed_on_disk("gbs.toml")
        await person.until(lambda: person.hover_text("gbs.toml") == [])
        assert await person.codes("a.yaml") == ["GBS101"]


async def test_what_the_settings_exclude_is_left_alone(tmp_path: Path) -> None:
    write(tmp_path, {"gbs.toml": 'exclude = ["old/"]\n', "old/a.yaml": STALE})

    async with editor(tmp_path) as person:
        person.open("old/a.yaml")
        assert await person.codes("old/a.yaml") == []
        assert await person.hints("old/a.yaml") == []
        assert await person.hover("old/a.yaml", "size: |3") == ""


async def test_settings_of_the_team_hold(tmp_path: Path) -> None:
    write(tmp_path, {"gbs.toml": 'ignore = ["GBS101"]\n', "a.yaml": STALE})

    async with editor(tmp_path) as person:
        person.open("a.yaml")
        assert await person.codes("a.yaml") == []


async def test_a_file_that_is_deleted_under_the_editor_is_checked_as_it_is_there(tmp_path: Path) -> None:
    write(tmp_path, {"a.yaml": STALE})

    async with editor(tmp_path) as person:
        person.open("a.yaml")
        assert await person.codes("a.yaml") == ["GBS101"]
        (tmp_path / "a.yaml").unlink()
        person.changed_on_disk("a.yaml")
        person.type("a.yaml", STALE + "\n")
        assert await person.codes("a.yaml") == ["GBS101"]
        person.close("a.yaml")
        await person.until(lambda: person.hover_text("a.yaml") == [])


async def test_a_link_out_of_the_workspace_is_not_followed(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "secret/base.yaml": "per_device_train_batch_size: 999\n",
            "work/run.sh": "accelerate launch --num_processes 8 t.py --config a.yaml\n",
        },
    )
    (tmp_path / "work" / "a.yaml").symlink_to(tmp_path / "secret" / "base.yaml")

    async with editor(tmp_path, folders=["work"]) as person:
        person.open("work/run.sh")
        await person.findings("work/run.sh")
        assert "999" not in str([await person.lenses("work/run.sh"), await person.hints("work/run.sh")])


LARGE = ("a: b\n" * 250_000, "x" * 6_000_000)
ODD = ("[" * 100_000, "\x00", "\ud800", "\ufeff" + STALE, "\r\r\n\n\r", "'")


async def test_no_text_ends_the_server(tmp_path: Path) -> None:
    async with editor(tmp_path) as person:
        person.open("last.yaml", STALE)
        for path in ("a.yaml", "b.json", "c.toml", "d.sh", "e.py", "f.ipynb", "g.md"):
            person.open(path, "")
            for text in (*ODD, *(LARGE if path == "a.yaml" else ())):
                person.type(path, text)
                await person.findings(path)
            person.close(path)
        person.replace("last.yaml", "3", "5")
        assert await person.codes("last.yaml") == ["GBS101"]
        assert person.messages == []


def _cell(person: Editor, number: int) -> str:
    return f"vscode-notebook-cell:{person.uri('nb.ipynb').removeprefix('file:')}#{number}"


def _opened(person: Editor, *texts: str) -> types.DidOpenNotebookDocumentParams:
    kinds = [types.NotebookCellKind.Markup if text.startswith("# ") else types.NotebookCellKind.Code for text in texts]
    cells = [types.NotebookCell(kind, _cell(person, number)) for number, kind in enumerate(kinds)]
    items = [types.TextDocumentItem(_cell(person, number), "python", 1, text) for number, text in enumerate(texts)]
    notebook = types.NotebookDocument(person.uri("nb.ipynb"), "jupyter-notebook", 1, cells)
    return types.DidOpenNotebookDocumentParams(notebook, items)


FIRST = "from trl import SFTConfig\nname = '\"\\\\🚀'\n"


async def test_a_finding_in_a_notebook_is_in_its_cell(tmp_path: Path) -> None:
    call = f"# 🚀\u00e9 global batch size 72 on 8 GPUs\n{CALL}"

    async with editor(tmp_path) as person:
        person.client.notebook_document_did_open(_opened(person, FIRST, call.replace("72", "64").removeprefix("# 🚀")))
        await person.until(lambda: person.published.get(_cell(person, 1)))
        assert person.published[_cell(person, 1)].diagnostics == []

    async with editor(tmp_path) as person:
        texts = _opened(person, "# Heading\n", FIRST, "\n" + call)
        person.client.notebook_document_did_open(texts)
        (found,) = (await person.until(lambda: person.published.get(_cell(person, 2)))).diagnostics
        person.texts["cell"] = "\n" + call
        assert (found.code, person.text_at("cell", found.range)) == ("GBS101", "72")
        assert person.published[_cell(person, 1)].diagnostics == []


async def test_a_cell_that_changes_is_checked_as_it_is_now(tmp_path: Path) -> None:
    async with editor(tmp_path) as person:
        call = "# global batch size 64 on 8 GPUs\nc = SFTConfig(per_device_train_batch_size=4, gradient_accumulation_steps=2)\n"
        notebook = _opened(person, FIRST, "\n" + call)
        person.client.notebook_document_did_open(notebook)
        assert (await person.until(lambda: person.published.get(_cell(person, 1)))).diagnostics == []
        content = types.NotebookDocumentCellContentChanges(
            types.VersionedTextDocumentIdentifier(2, _cell(person, 1)),
            [types.TextDocumentContentChangeWholeDocument("\n" + call.replace("64", "8"))],
        )
        change = types.NotebookDocumentChangeEvent(cells=types.NotebookDocumentCellChanges(text_content=[content]))
        document = types.VersionedNotebookDocumentIdentifier(2, person.uri("nb.ipynb"))
        person.client.notebook_document_did_change(types.DidChangeNotebookDocumentParams(document, change))
        assert await person.until(lambda: person.hover_text(_cell(person, 1))) == ["GBS101"]
        closed = [types.TextDocumentIdentifier(each.document) for each in notebook.notebook_document.cells]
        gone = types.NotebookDocumentIdentifier(person.uri("nb.ipynb"))
        person.client.notebook_document_did_close(types.DidCloseNotebookDocumentParams(gone, closed))
        await person.until(lambda: person.hover_text(_cell(person, 1)) == [])
