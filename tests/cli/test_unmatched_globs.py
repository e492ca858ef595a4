"""Path patterns of the settings that match no file are reported once, and change no exit code."""

from pathlib import Path

import pytest

from tests.cli.support import GOOD, Gbs, write

FILES = {"recipes/sft.yaml": GOOD, "old/sft.yaml": GOOD, "tests/test_a.yaml": GOOD}
EXPECT = '[[expect]]\npaths = ["{glob}"]\nglobal-batch-size = 128\n'
HARDWARE = '[[hardware]]\npaths = ["{glob}"]\ngpus-per-node = 8\n'
IGNORES = '[per-file-ignores]\n"{glob}" = ["GBS101"]\n'
LAUNCH = '[[launch]]\nname = "ci"\npaths = ["{glob}"]\nnum-nodes = 2\ngpus-per-node = 8\n'
EXCLUDE = 'exclude = ["{glob}"]\n'


@pytest.mark.parametrize("setting", [EXPECT, HARDWARE, IGNORES, EXCLUDE])
@pytest.mark.parametrize("glob", ["recipes/**", "recipes", "*.yaml", "{recipes,none}/**"])
def test_what_matches_a_file_is_not_reported(repo: Path, gbs: Gbs, setting: str, glob: str) -> None:
    write(repo, {**FILES, "gbs.toml": setting.replace("{glob}", glob)})
    assert "matches no file" not in gbs("check").err


@pytest.mark.parametrize("setting", [EXPECT, HARDWARE, IGNORES, LAUNCH, EXCLUDE])
@pytest.mark.parametrize("glob", ["recipe/**", "*.yamll"])
def test_what_matches_nothing_is_reported(repo: Path, gbs: Gbs, setting: str, glob: str) -> None:
    write(repo, {**FILES, "gbs.toml": setting.replace("{glob}", glob)})
    said = gbs("check")
    assert (said.code, said.err.count("\n")) == (0, 1)
    assert f'has "{glob}", which matches no file' in said.err


@pytest.mark.parametrize("flags", [("-q",), ("recipes/sft.yaml",), ("--hook", "--", "recipes/sft.yaml")], ids=" ".join)
def test_a_check_of_single_files_is_not_about_that(repo: Path, gbs: Gbs, flags: tuple[str, ...]) -> None:
    write(repo, {**FILES, "gbs.toml": EXPECT.replace("{glob}", "recipe/**")})
    assert gbs("check", *flags).err == ""
