"""Makefiles, Markdown and comments: which of their lines a shell would be given."""

import pytest

from pytest_gbs.model.document import holds_commands
from tests.shell.reading import argv, lines, script, written


def found(text: str, path: str) -> list[list[str | None]]:
    return [argv(command) for command in script(text, path).commands]


NOT_RUN = {
    "prose": "Run `foo 1`.",
    "indented-text": "    foo 1",
    "yaml": "```yaml\nfoo: 1\n```",
    "python": "```python\nfoo(1)\n```",
    "text": "```text\nfoo 1\n```",
    "unlabelled": "```\nfoo 1\n```",
    "output": "```console\n$ bar\nfoo 1\n```",
    "comment": "```bash\n# foo 1\n```",
    "inner-fence": "````markdown\n```bash\nfoo 1\n```\n````",
    "never-closed": "```bash\nfoo 1\n",
}


@pytest.mark.parametrize("text", NOT_RUN.values(), ids=NOT_RUN)
def test_what_no_shell_is_given_is_not_a_command(text: str) -> None:
    assert ["foo", "1"] not in found(text, "README.md")


BLOCKS = {
    "bash": "```bash\nfoo 1\n```",
    "shell": "~~~ shell\nfoo 1\n~~~",
    "long-fence": "````sh\nfoo 1\n````",
    "title": '```bash title="x"\nfoo 1\n```',
    "braces": "```{code-block} bash\nfoo 1\n```",
    "prompt": "```\n$ foo 1\nout\n```",
    "prompt-in-bash": "```bash\n(env) $ foo 1\nout\n```",
    "continued-prompt": "```console\n$ foo \\\n>   1\nout\n```",
    "in-a-list": "- do\n\n  ```bash\n  foo \\\n    1\n  ```\n",
    "in-a-quote": "> ```bash\n> foo 1\n> ```\n",
    "windows": "```bash\r\nfoo 1\r\n```\r\n",
}


@pytest.mark.parametrize("text", BLOCKS.values(), ids=BLOCKS)
def test_a_block_of_a_shell_is_read(text: str) -> None:
    assert found(text, "README.md") == [["foo", "1"]]


def test_a_block_knows_its_heading_and_its_place() -> None:
    text = "# A\n\n## Train it\n\n```bash\nN=8\nfoo --n $N\n```\n"
    (command,) = script(text, "docs/a.md").commands
    assert command.context == "Train it"
    assert [written(text, word.at) for word in command.words] == ["foo", "--n", "$N"]
    assert written(text, command.words[2].value_at) == "8"


def test_variables_end_with_their_block() -> None:
    assert found("```bash\nexport N=8\n```\n\n```bash\nfoo $N\n```\n", "a.md") == [["foo", None]]


@pytest.mark.parametrize("placeholder", ["<NUM_GPUS>", "{num_gpus}", "{{ num_gpus }}", "$NUM_GPUS", '<a number, e.g.,"8">'])
def test_a_placeholder_is_unknown(placeholder: str) -> None:
    assert found(f"```bash\nfoo --n {placeholder} --m 2\n```", "a.md") == [["foo", "--n", None, "--m", "2"]]


def test_a_template_is_unknown_in_a_script() -> None:
    assert found("foo --n {{ num_gpus }} --m=a{{b}}c", "run.sh") == [["foo", "--n", None, None]]


MAKEFILES = {
    "recipe": ("all:\n\tfoo 1\n", [["foo", "1"]]),
    "silent": ("all:\n\t@foo 1\n\t-foo 2\n", [["foo", "1"], ["foo", "2"]]),
    "variable": ("N = 8\nall:\n\tfoo $(N) ${N}x\n", [["foo", "8", "8x"]]),
    "later": ("M = $(N)\nN = 8\nall:\n\tfoo $(M)\n", [["foo", "8"]]),
    "at-once": ("N := 8\nM := $(N)\nN := 9\nall:\n\tfoo $(M)\n", [["foo", "8"]]),
    "added": ("N = a\nN += b\nall:\n\tfoo $(N)\n", [["foo", "a", "b"]]),
    "continued": ("N = a \\\n  b\nall:\n\tfoo \\\n\t  $(N)\n", [["foo", "a", "b"]]),
    "of-the-shell": ("all:\n\tN=8; foo $$N\n", [["foo", "8"]]),
    "line-by-line": ("all:\n\tN=8\n\tfoo $$N\n", [["foo", None]]),
    "one-shell": (".ONESHELL:\nall:\n\tN=8\n\tfoo $$N\n", [["foo", "8"]]),
    "exported": ("export N = 8\nall:\n\tfoo $$N\n", [["foo", "8"]]),
    "not-set": ("all:\n\tfoo $(N)\n", [["foo", None]]),
    "function": ("all:\n\tfoo $(shell nproc) $(if $(A),b,c)\n", [["foo", None, None]]),
    "conditional": ("N = 1\nifeq ($(A),1)\nN = 2\nendif\nall:\n\tfoo $(N)\n", [["foo", None]]),
    "of-a-target": ("N = 1\nall: N = 2\nall:\n\tfoo $(N)\n", [["foo", None]]),
    "itself": ("N = $(N) 1\nall:\n\tfoo a$(N)\n", [["foo", None, "1"]]),
    "commented": ("# foo 1\nall:\n\t# foo 2\n", []),
    "comment-behind": ("N = 8 # GPUs\nall:\n\tfoo $(N)\n", [["foo", "8"]]),
}


@pytest.mark.parametrize(("text", "wanted"), MAKEFILES.values(), ids=MAKEFILES)
def test_recipes_of_a_makefile_are_read(text: str, wanted: list[list[str | None]]) -> None:
    assert found(text, "Makefile") == wanted


def test_a_makefile_default_is_marked_and_placed() -> None:
    text = "N ?= 8\ntrain:\n\tfoo --n $(N)\n"
    (command,) = script(text, "Makefile").commands
    word = command.words[2]
    assert (word.text, word.default, command.context) == ("8", True, "train")
    assert (written(text, word.at), written(text, word.value_at)) == ("$(N)", "8")


def test_comments_are_blocks_with_their_places() -> None:
    text = lines("""
        #!/bin/bash
        #SBATCH --nodes=2
        # 2 nodes of 8 GPUs
        # give 128
        N=8  # GPUs
        # at the end
    """)
    blocks = script(text).comments
    assert [(block.text, block.placement) for block in blocks] == [
        ("2 nodes of 8 GPUs\ngive 128", "header"),
        ("GPUs", "trailing"),
        ("at the end", "end"),
    ]
    start = blocks[0].text.index("128")
    assert written(text, blocks[0].locate("run.sh", start, start + 3)) == "128"


def test_a_hash_in_a_string_is_not_a_comment() -> None:
    assert script('foo "# a" a#b ${#N}\ncat <<EOF\n# c\nEOF\n').comments == ()


@pytest.mark.parametrize(
    "line", ["#SBATCH --job-name bs64", "#PBS -N bs64-8gpus", "#BSUB -J bs64", "#PJM -L node=2", "#$ -N bs64", "#!/bin/sh"]
)
def test_lines_for_schedulers_are_not_comments(line: str) -> None:
    assert script(f"{line}\nfoo\n").comments == ()
    assert [block.text for block in script(f"# {line}\nfoo\n").comments] == [line]


@pytest.mark.parametrize("suffix", [".sh", ".slurm", ".pbs", ".qsub", ".lsf", ".job"])
def test_jobs_of_schedulers_are_scripts(suffix: str) -> None:
    assert holds_commands("jobs/train" + suffix)
    assert not holds_commands("jobs/train.py" + suffix[:1])


def test_a_file_that_a_script_writes_is_noted() -> None:
    text = "N=8\ncat > acc.yaml <<EOF\nnum_processes: $N\nEOF\n"
    (file,) = script(text).written
    assert (file.path.text, file.text.text) == ("acc.yaml", "num_processes: 8\n")


@pytest.mark.parametrize("name", ["run.sh", "a/train.slurm", "x.sbatch", "Makefile", "README.md", "b.bash", "rules.mk"])
def test_it_reads_files_that_may_hold_commands(name: str) -> None:
    assert holds_commands(name)


@pytest.mark.parametrize("name", ["a.yaml", "a.py", "sh", "Makefile.yaml", "notes.txt"])
def test_it_leaves_other_files_alone(name: str) -> None:
    assert not holds_commands(name)


@pytest.mark.parametrize(
    ("rule", "wanted"),
    [
        pytest.param("%.done: %.yaml", [None, None], id="a pattern"),
        pytest.param("a b: c.yaml", [None, None], id="several targets"),
        pytest.param("run: | dir", ["run", None], id="only an order"),
        pytest.param("run: \\\n  c.yaml", ["run", None], id="on the next line"),
        pytest.param("run: $(CONFIG)", ["run", None], id="a variable"),
        pytest.param("run:", ["run", None], id="none"),
        pytest.param("x: y.yaml\nrun:", ["run", None], id="of another rule"),
        pytest.param("run: c.yaml d.yaml", ["run", "c.yaml"], id="the first"),
        pytest.param("run :: ./c.yaml # why", ["run", "./c.yaml"], id="two colons"),
    ],
)
def test_a_recipe_knows_its_target_and_its_first_prerequisite(rule: str, wanted: list[str | None]) -> None:
    (command,) = script(f"{rule}\n\tfoo $@ $<\n", "Makefile").commands
    assert argv(command)[1:] == wanted
