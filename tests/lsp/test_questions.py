"""Hovers, hints, lenses, ways from launch to recipe and back, completions and changes: what an editor asks for."""

from pathlib import Path

from lsprotocol import types

from tests.cli.support import write
from tests.lsp.editor import BARE, editor
from tests.lsp.test_diagnostics import HOLDS, KEYS, MEGATRON, OPEN, PROGRAM, SIZES, STALE

LAUNCH = "#!/bin/bash\naccelerate launch --num_processes {} train.py --config a.yaml\n"
NEMO = (
    "trainer:\n  devices: 8\n  num_nodes: 1\nmodel:\n  micro_batch_size: 2\n  global_batch_size: 64\n  encoder_seq_length: 8\n"
    "  tensor_model_parallel_size: 1\n"
)
REPOSITORY = {
    "a.yaml": OPEN,
    "one.sh": LAUNCH.format(16),
    "two.sh": LAUNCH.format(16),
    "three.sh": LAUNCH.format(32),
    "cake.yaml": "cake: 128\n",
}


async def test_hover_shows_the_whole_equation_behind_a_key_a_number_and_a_claim(tmp_path: Path) -> None:
    async with editor(tmp_path) as person:
        person.open("a.yaml", HOLDS)
        for nothing in ("my/|model", "# |global", "dataset_na|me"):
            assert await person.hover("a.yaml", nothing) == ""
        for marked, heading in {
            "per_device|_train": "**micro batch size 4**, `per_device_train_batch_size`",
            "accumulation_steps: |2": "**accumulation 2**, `gradient_accumulation_steps`",
            "size |64": "The comment states **global batch size 64**",
        }.items():
            first, _, rest = (await person.hover("a.yaml", marked)).partition("\n\n")
            assert first == heading
            assert "global batch size         64   = 4 x 2 x 8" in rest
            assert "declared 64 at line 1: agrees" in rest


async def test_hover_on_a_command_shows_what_it_launches(tmp_path: Path) -> None:
    write(tmp_path, REPOSITORY)

    async with editor(tmp_path) as person:
        person.open("one.sh")
        assert await person.hover("one.sh", "#!/bin|/bash") == ""
        said = await person.hover("one.sh", "accelerate lau|nch")
        assert said.startswith("Launches `a.yaml`")
        assert "global batch size        128   = 4 x 2 x 16" in said


async def test_hints_show_the_resulting_batch(tmp_path: Path) -> None:
    write(tmp_path, REPOSITORY)
    grpo = "model_name_or_path: m\nnum_generations: 8\nmax_completion_length: 64\n"

    async with editor(tmp_path) as person:
        expected = {
            "cake.yaml": ("cake: 128\n", []),
            "empty.yaml": ("", []),
            "broken.yaml": (OPEN + "a: [\n", []),
            "prose.md": ("The global batch size is 128.\n", []),
            "holds.yaml": (HOLDS, [(4, "# = 64 on 8 GPUs")]),
            "nodes.yaml": (HOLDS.replace("8 GPUs", "1 node of 8 GPUs"), [(4, "# = 64 on 8 GPUs")]),
            "two.yaml": (HOLDS.replace("64 = 4 x 2 x 8 GPUs", "128 on 2 nodes of 8 GPUs"), [(4, "# = 128 on 2 nodes x 8 GPUs")]),
            "open.yaml": (OPEN, [(3, "# = 8 x GPUs")]),
            "grpo.yaml": (grpo + SIZES.replace("4", "8"), [(3, "# = 16 x GPUs")]),
            "open.json": (
                '{"model_name_or_path": "m", "dataset_name": "d",\n"per_device_train_batch_size": 1, "max_length": 1}',
                [(1, "= 1 x GPUs")],
            ),
            "train.py": (PROGRAM, [(4, "# = 64 on 8 GPUs")]),
            "megatron.sh": (MEGATRON, [(2, "# = 64 on 8 GPUs")]),
            "batch.yaml": (NEMO.replace("devices: 8", "devices: auto"), []),
            "gpt.yaml": (NEMO, [(5, "# = accumulation 4 on 8 GPUs")]),
            "launch.sh": (LAUNCH.format(16), [(1, "# = 128 on 16 GPUs")]),
        }
        for path, (text, hints) in expected.items():
            person.open(path, text)
            assert await person.hints(path) == hints, path
        assert await person.hints("holds.yaml", last_line=3) == []


async def test_lenses_say_who_launches_a_recipe_and_what_a_launch_gives(tmp_path: Path) -> None:
    write(tmp_path, REPOSITORY)

    async with editor(tmp_path) as person:
        person.open("a.yaml")
        person.open("one.sh")
        person.open("cake.yaml")
        person.open("nobody.yaml", OPEN)
        assert await person.lenses("cake.yaml") == []
        assert await person.lenses("nobody.yaml") == []
        assert await person.lenses("a.yaml") == [(0, "launched by 3 scripts: 128, 256, 128")]
        assert await person.lenses("one.sh") == [(1, "launches a.yaml: global batch size 128 on 16 GPUs")]
        person.replace("one.sh", "train.py --config a.yaml\n", "train.py --config a.yaml\n" + LAUNCH.format(8).partition("\n")[2])
        assert await person.lenses("a.yaml") == [(0, "launched 4 times by 3 scripts: 128, 64, 256, 128")]
        person.open("README.md", "```bash\naccelerate launch --num_processes 4 train.py --config a.yaml\n```\n")
        ((_, said),) = await person.lenses("a.yaml")
        assert said.startswith("launched 5 times by 1 document and 3 scripts: ")


async def test_from_a_launch_to_its_recipe_and_back(tmp_path: Path) -> None:
    write(tmp_path, REPOSITORY)

    async with editor(tmp_path) as person:
        person.open("one.sh")
        person.open("a.yaml")
        person.open("cake.yaml")
        assert await person.definition("one.sh", "#!/b|in") == []
        assert await person.definition("a.yaml", "mod|el_name") == []
        assert await person.references("cake.yaml", "ca|ke") == []
        (recipe,) = await person.definition("one.sh", "--config a.y|aml")
        assert (recipe.uri, recipe.range.start) == (person.uri("a.yaml"), types.Position(0, 0))
        launches = await person.references("a.yaml", "per_device|_train")
        assert [each.uri.rpartition("/")[2] for each in launches] == ["one.sh", "three.sh", "two.sh"]
        assert launches[0].range.start == types.Position(1, 0)
        others = await person.references("one.sh", "accel|erate")
        assert {each.uri.rpartition("/")[2] for each in others} == {"a.yaml", "one.sh", "two.sh", "three.sh"}
        await person.client.workspace_execute_command_async(types.ExecuteCommandParams("gbs.showLaunches", [person.uri("a.yaml"), 0, 0]))
        assert [each.uri for each in person.shown] == [person.uri("one.sh")]


async def test_from_a_claim_to_what_it_is_about(tmp_path: Path) -> None:
    async with editor(tmp_path) as person:
        person.open("a.yaml", HOLDS)
        found = await person.definition("a.yaml", "size 6|4")
        assert [person.text_at("a.yaml", each.range) for each in found] == ["4", "2"]


async def test_each_fix_of_a_finding_is_offered_and_holds(tmp_path: Path) -> None:
    async with editor(tmp_path) as person:
        person.open("a.yaml", HOLDS)
        assert await person.actions("a.yaml", "size 6|4", "quickfix") == []
        stale = STALE.replace("64 = 4 x 2 x 8 GPUs", "64 on 8 GPUs")
        person.type("a.yaml", stale)
        assert await person.actions("a.yaml", "my/mo|del", "quickfix") == []
        found = await person.actions("a.yaml", "size 6|4", "quickfix")
        assert [each.title for each in found] == [
            "Change per_device_train_batch_size to 4",
            "Change 64 in the comment to 48",
            "Silence GBS101 here with a comment",
        ]
        for number in range(3):
            action = found[number]
            text = person.edited("a.yaml", action.edit)
            person.type("a.yaml", text)
            assert await person.codes("a.yaml") == [], action.title
            person.type("a.yaml", stale)
            found = await person.actions("a.yaml", "size 6|4", "quickfix")


async def test_a_client_without_versions_gets_plain_edits(tmp_path: Path) -> None:
    async with editor(tmp_path, BARE) as person:
        person.open("a.yaml", "# 🚀\r\n" + STALE.replace("\n", "\r\n"))
        first, *_ = await person.actions("a.yaml", "size 6|4", "quickfix")
        assert first.edit is not None
        ((uri, edits),) = (first.edit.changes or {}).items()
        assert (uri, [person.text_at("a.yaml", each.range) for each in edits]) == (person.uri("a.yaml"), ["3"])


async def test_safe_fixes_are_applied_at_once_where_the_editor_asks_for_them(tmp_path: Path) -> None:
    async with editor(tmp_path) as person:
        person.open("a.yaml", STALE)
        assert await person.actions("a.yaml", "|#", "source.fixAll") == []
        person.type("a.yaml", HOLDS.replace("GPUs\n", "GPUs  # gbs: ignore[GBS101]\n"))
        assert await person.codes("a.yaml") == ["GBS901"]
        (action,) = await person.actions("a.yaml", "|#", "source.fixAll")
        assert person.edited("a.yaml", action.edit) == HOLDS


async def test_a_recipe_is_carried_to_other_hardware(tmp_path: Path) -> None:
    async with editor(tmp_path) as person:
        person.open("open.yaml", OPEN)
        assert await person.actions("open.yaml", "size: |4", "refactor") == []
        person.open("a.yaml", HOLDS)
        found = await person.actions("a.yaml", "size: |4", "refactor.rewrite")
        assert [each.title for each in found] == [
            "Scale to 2 GPUs, global batch size 64 kept",
            "Scale to 4 GPUs, global batch size 64 kept",
            "Scale to 16 GPUs, global batch size 64 kept",
            "Scale to 32 GPUs, global batch size 64 kept",
        ]
        assert found[1].edit is None
        whole = await person.client.code_action_resolve_async(found[1])
        text = person.edited("a.yaml", whole.edit)
        assert text == HOLDS.replace("4 x 2 x 8 GPUs", "4 x 4 x 4 GPUs").replace("steps: 2", "steps: 4")
        person.type("a.yaml", text)
        assert await person.codes("a.yaml") == []


async def test_why_a_recipe_cannot_be_carried_there_is_said(tmp_path: Path) -> None:
    async with editor(tmp_path) as person:
        person.open("a.yaml", HOLDS.replace("64 = 4 x 2", "8 = 1 x 1").replace("size: 4", "size: 1").replace("steps: 2", "steps: 1"))
        *_, last = await person.actions("a.yaml", "size: |1", "refactor.rewrite")
        whole = await person.client.code_action_resolve_async(last)
        assert whole.edit is None
        (said,) = person.messages
        assert said.startswith("gbs: ")


COMPLETED = {
    "a key": ("a.yaml", OPEN + "per_dev|", "per_device_eval_batch_size: "),
    "a new line": ("a.yaml", KEYS + "per_device_train_batch_size: 4\n|\n", "gradient_accumulation_steps: "),
    "below a section": (
        "a.toml",
        "[job]\ndump_folder = 'x'\n[model]\nflavor = '8B'\n[training]\nseq_len = 8\nlocal_batch_size = 8\nglob|\n",
        "global_batch_size = ",
    ),
    "json": (
        "a.json",
        '{\n"model_name_or_path": "m",\n"dataset_name": "d",\n"max_length": 1,\n"per_device_train_batch_size": 1,\n"grad|"\n}',
        '"gradient_accumulation_steps": ',
    ),
    "a call": ("train.py", PROGRAM.replace("    gradient_accumulation_steps=2,\n", "    grad|\n"), "gradient_accumulation_steps="),
    "a flag": ("one.sh", LAUNCH.format(8).rstrip() + " --grad|\n", "--gradient_accumulation_steps "),
    "a claim": ("a.yaml", HOLDS.replace("\n", "\n# g|\n", 1), "# gbs: 64 on 8 gpus"),
    "a finding": ("a.yaml", STALE.replace("GPUs\n", "GPUs  # |\n"), "# gbs: ignore[GBS101]"),
}
NOT_COMPLETED = {
    "a value": ("a.yaml", OPEN + "optim: per|\n"),
    "no recipe": ("cake.yaml", "cake: 1\nper|\n"),
    "prose": ("a.yaml", OPEN + "# the batch is per|\n"),
    "a key that is there": ("a.yaml", OPEN.replace("gradient", "|gradient")),
    "outside of a call": ("train.py", PROGRAM + "\n\n\nx = grad|\n"),
    "a command that launches nothing": ("other.sh", "ls --grad|\n"),
}


async def test_what_fits_is_completed(tmp_path: Path) -> None:
    write(tmp_path, REPOSITORY)

    async with editor(tmp_path) as person:
        for name, (path, marked, wanted) in COMPLETED.items():
            person.open(path, marked.replace("|", "", 1))
            if path == "train.py":  # half a call can't be read: what it was before counts
                person.type(path, PROGRAM)
                await person.findings(path)
                person.type(path, marked.replace("|", "", 1))
            items = await person.completions(path, marked)
            found = next((each for each in items if each.text_edit is not None and each.text_edit.new_text == wanted), None)
            assert found is not None, (name, [each.label for each in items])
            assert isinstance(found.text_edit, types.TextEdit)
            assert wanted.strip(' "').startswith(person.text_at(path, found.text_edit.range).strip('"')), name
            person.close(path)


async def test_nothing_is_completed_elsewhere(tmp_path: Path) -> None:
    write(tmp_path, REPOSITORY)

    async with editor(tmp_path) as person:
        for name, (path, marked) in NOT_COMPLETED.items():
            person.open(path, marked.replace("|", "", 1))
            labels = [each.label for each in await person.completions(path, marked)]
            assert "gradient_accumulation_steps" not in str(labels), name
            person.close(path)
