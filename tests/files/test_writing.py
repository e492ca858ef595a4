"""Writing files: all or none, nothing but the bytes changes, and no fault leaves a lost or half file."""

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pytest_gbs.files.decode import decode
from pytest_gbs.files.writing import _MARK, FileChange, encoded, remove_temporary_files, write_file, write_together
from pytest_gbs.model.errors import UsageError
from pytest_gbs.model.location import Source

OLD, NEW = b"a: 1\n", b"a: 22\n"


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize(
    "data",
    [
        b"a: 1\r\nb: 2\r",
        b"\xef\xbb\xbfa: 1\n",
        "a: é\n".encode(),
        "\ufeffa: 1\n".encode("utf-16-le"),
        "\ufeffa: 1\n".encode("utf-16-be"),
        "\ufeffa: 1\n".encode("utf-32-le"),
        "a: 1\n".encode("utf-16-le"),
        b"",
    ],
    ids=["line ends", "mark", "accent", "utf-16-le", "utf-16-be", "utf-32-le", "no mark", "empty"],
)
def test_encoding_undoes_decoding(data: bytes) -> None:
    source = decode("a.yaml", data)
    assert isinstance(source, Source)
    assert encoded(source) == data


def test_it_replaces_the_bytes_and_leaves_nothing_beside_them(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(OLD)
    write_together(tmp_path, [FileChange("a.yaml", OLD, NEW)])
    assert (tmp_path / "a.yaml").read_bytes() == NEW
    assert _names(tmp_path) == ["a.yaml"]


def test_it_keeps_the_mode(tmp_path: Path) -> None:
    path = tmp_path / "a.sh"
    path.write_bytes(OLD)
    path.chmod(0o751)
    write_together(tmp_path, [FileChange("a.sh", OLD, NEW)])
    assert stat.S_IMODE(path.stat().st_mode) == 0o751


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root may give a file away")
def test_it_keeps_the_owner(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(OLD)
    os.chown(path, 1234, 2345)
    write_together(tmp_path, [FileChange("a.yaml", OLD, NEW)])
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 2345)


def test_it_follows_a_link_to_its_target(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "a.yaml").write_bytes(OLD)
    (tmp_path / "link.yaml").symlink_to("inner/a.yaml")
    write_together(tmp_path, [FileChange("link.yaml", OLD, NEW)])
    assert (tmp_path / "link.yaml").is_symlink()
    assert (tmp_path / "inner" / "a.yaml").read_bytes() == NEW


def test_two_names_of_one_file_are_written_once(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(OLD)
    (tmp_path / "link.yaml").symlink_to("a.yaml")
    write_together(tmp_path, [FileChange("a.yaml", OLD, NEW), FileChange("link.yaml", OLD, NEW)])
    assert (tmp_path / "a.yaml").read_bytes() == NEW


def test_two_names_of_one_file_can_not_differ(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(OLD)
    (tmp_path / "link.yaml").symlink_to("a.yaml")
    with pytest.raises(UsageError, match=r"the same file as a\.yaml"):
        write_together(tmp_path, [FileChange("a.yaml", OLD, NEW), FileChange("link.yaml", OLD, b"other")])
    assert (tmp_path / "a.yaml").read_bytes() == OLD


@pytest.mark.parametrize("path", ["../a.yaml", "link.yaml"])
def test_it_refuses_what_lies_outside(tmp_path: Path, path: str) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "a.yaml").write_bytes(OLD)
    (root / "link.yaml").symlink_to("../a.yaml")
    with pytest.raises(UsageError, match="outside the checked folder; nothing was written"):
        write_together(root, [FileChange(path, OLD, NEW)])
    assert (tmp_path / "a.yaml").read_bytes() == OLD


def test_it_refuses_what_has_changed_since(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(b"a: 3\n")
    with pytest.raises(UsageError, match=r"a.yaml: it has changed since it was read; nothing was written"):
        write_together(tmp_path, [FileChange("a.yaml", OLD, NEW)])
    assert (tmp_path / "a.yaml").read_bytes() == b"a: 3\n"


def test_it_refuses_what_is_gone(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="changed since"):
        write_together(tmp_path, [FileChange("a.yaml", OLD, NEW)])
    assert _names(tmp_path) == []


def test_it_does_not_overwrite_what_should_be_new(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(OLD)
    with pytest.raises(UsageError, match="changed since"):
        write_together(tmp_path, [FileChange("a.yaml", None, NEW)])
    assert (tmp_path / "a.yaml").read_bytes() == OLD


def test_one_that_can_not_be_written_keeps_the_others_from_it(tmp_path: Path) -> None:
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_bytes(OLD)
    with pytest.raises(UsageError, match=r"b.yaml"):
        write_together(tmp_path, [FileChange("a.yaml", OLD, NEW), FileChange("b.yaml", b"was", NEW)])
    assert (tmp_path / "a.yaml").read_bytes() == OLD
    assert _names(tmp_path) == ["a.yaml", "b.yaml"]


def test_what_was_written_before_a_fault_is_put_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_bytes(OLD)
    replace = os.replace

    def failing(source: str, target: str) -> None:
        if target.endswith("b.yaml"):
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", failing)
    with pytest.raises(UsageError, match=r"b.yaml: no space left on the device; nothing was written"):
        write_together(tmp_path, [FileChange("a.yaml", OLD, NEW), FileChange("b.yaml", OLD, NEW)])
    assert [(tmp_path / name).read_bytes() for name in ("a.yaml", "b.yaml")] == [OLD, OLD]
    assert _names(tmp_path) == ["a.yaml", "b.yaml"]


@pytest.mark.skipif(sys.platform == "win32", reason="no limits on the size of files")
def test_a_file_system_that_is_full_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(OLD)
    code = (
        "import resource, sys\n"
        "from pytest_gbs.model.errors import UsageError\n"
        "from pytest_gbs.files.writing import FileChange, write_together\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "try:\n"
        f"    write_together(sys.argv[1], [FileChange('a.yaml', {OLD!r}, b'x' * 100_000)])\n"
        "except UsageError as error:\n"
        "    sys.exit(str(error))\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == "can't write a.yaml: the file would be too large for this file system; nothing was written"
    assert path.read_bytes() == OLD
    assert _names(tmp_path) == ["a.yaml"]


def _as_nobody(folder: Path, code: str) -> str:
    """What Python writes to standard error when a user without rights runs `code` in `folder`."""
    drop = "import os\nif os.getuid() == 0: os.setgid(65534); os.setuid(65534)\n"
    imports = "from pytest_gbs.model.errors import UsageError\nfrom pytest_gbs.files.writing import FileChange, write_together\n"
    guarded = f"try:\n    {code}\nexcept UsageError as error:\n    sys.exit(str(error))\n"
    program = imports + "import sys, pytest_gbs.files.regular, tempfile, random, shutil, fnmatch\n" + drop + guarded
    done = subprocess.run([sys.executable, "-c", program, str(folder)], capture_output=True, text=True, check=False)
    return done.stderr.strip()


@pytest.fixture
def open_folder(tmp_path: Path) -> Path:
    """A folder that every user may enter, and only its owner may change."""
    for parent in (tmp_path, *tmp_path.parents):
        if parent.is_relative_to(Path("/tmp")) and parent != Path("/tmp"):
            parent.chmod(parent.stat().st_mode | 0o055)
    (tmp_path / "a.yaml").write_bytes(OLD)
    return tmp_path


def test_a_read_only_folder_is_left_alone(open_folder: Path) -> None:
    (open_folder / "a.yaml").chmod(0o666)
    open_folder.chmod(0o555)
    try:
        said = _as_nobody(open_folder, f"write_together(sys.argv[1], [FileChange('a.yaml', {OLD!r}, {NEW!r})])")
    finally:
        open_folder.chmod(0o755)
    assert said == "can't write a.yaml: permission denied; nothing was written"
    assert (open_folder / "a.yaml").read_bytes() == OLD
    assert _names(open_folder) == ["a.yaml"]


def test_a_file_without_permission_is_left_alone(open_folder: Path) -> None:
    (open_folder / "a.yaml").chmod(0o444)
    open_folder.chmod(0o777)
    said = _as_nobody(open_folder, f"write_together(sys.argv[1], [FileChange('a.yaml', {OLD!r}, {NEW!r})])")
    assert said == "can't write a.yaml: permission denied; nothing was written"
    assert (open_folder / "a.yaml").read_bytes() == OLD


@pytest.mark.parametrize("moment", ["fsync", "chmod", "replace"])
def test_killed_in_the_middle_it_leaves_the_old_file_or_the_new_one(tmp_path: Path, moment: str) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(OLD)
    large = b"b: 2\n" * 100_000
    code = (
        "import os, signal, sys\n"
        "from pytest_gbs.files.writing import FileChange, write_together\n"
        f"os.{moment} = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"write_together(sys.argv[1], [FileChange('a.yaml', {OLD!r}, {large[:5]!r} * 100_000)])\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL
    assert path.read_bytes() == OLD
    write_together(tmp_path, [FileChange("a.yaml", OLD, NEW)])
    assert path.read_bytes() == NEW


def test_killed_at_any_time_it_leaves_a_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    one, other = b"a: 1\n" * 50_000, b"b: 2\n" * 60_000
    path.write_bytes(one)
    code = (
        "import sys\n"
        "from pytest_gbs.files.writing import FileChange, write_together\n"
        "one, other = b'a: 1\\n' * 50_000, b'b: 2\\n' * 60_000\n"
        "print('ready', flush=True)\n"
        "while True:\n"
        "    write_together(sys.argv[1], [FileChange('a.yaml', one, other)])\n"
        "    one, other = other, one\n"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == b"ready\n"
        time.sleep(0.05)
        running.kill()
    assert path.read_bytes() in (one, other)


def test_a_single_file_is_made_or_replaced(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    write_file(str(path), OLD)
    write_file(str(path), NEW)
    assert path.read_bytes() == NEW
    assert stat.S_IMODE(path.stat().st_mode) & 0o111 == 0


def test_a_single_file_in_no_folder_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"can't write .*: there is no such folder"):
        write_file(str(tmp_path / "none" / "baseline.json"), NEW)


def _killed(folder: Path, code: str) -> None:
    """Run `code` with the changes of the twelve recipes in `folder` in a process that is killed once it has renamed four."""
    program = (
        "import os, signal, sys\n"
        "from pytest_gbs.files.writing import FileChange, write_together\n"
        "replace, done = os.replace, []\n"
        "def killed(source, target):\n"
        "    done.append(replace(source, target))\n"
        "    if len(done) == 4:\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "os.replace = killed\n"
        f"changes = [FileChange(f'{{number:02}}.yaml', {OLD!r}, {NEW!r}) for number in range(12)]\n" + code
    )
    for number in range(12):
        (folder / f"{number:02}.yaml").write_bytes(OLD)
    done = subprocess.run([sys.executable, "-c", program, str(folder)], capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL


@pytest.mark.skipif(sys.platform == "win32", reason="processes are distinguished by signals")
def test_what_a_killed_run_left_is_removed_by_the_next(tmp_path: Path) -> None:
    _killed(tmp_path, "write_together(sys.argv[1], changes)")
    left = [name for name in _names(tmp_path) if name.endswith(".gbs-tmp")]
    assert len(left) == 8
    assert sorted(remove_temporary_files(tmp_path, ["", ""])) == left
    assert _names(tmp_path) == [f"{number:02}.yaml" for number in range(12)]
    assert remove_temporary_files(tmp_path, [""]) == []


def _like_a_leftover(folder: Path, name: str = ".a.yaml.99999999-abcd1234.gbs-tmp") -> Path:
    path = folder / name
    path.write_bytes(OLD)
    os.utime(path, (_MARK, _MARK))
    return path


def test_a_file_with_the_mark_of_ours_would_be_removed(tmp_path: Path) -> None:
    path = _like_a_leftover(tmp_path)
    assert remove_temporary_files(tmp_path, [""]) == [path.name]


def test_what_git_checked_out_stays_whatever_its_name(tmp_path: Path) -> None:
    path = _like_a_leftover(tmp_path)
    os.utime(path)
    assert remove_temporary_files(tmp_path, [""]) == []
    assert path.exists()


def test_links_and_folders_stay_and_are_not_followed(tmp_path: Path) -> None:
    target = _like_a_leftover(tmp_path, "recipe.yaml")
    (tmp_path / ".a.yaml.99999999-abcd1234.gbs-tmp").symlink_to("recipe.yaml")
    (tmp_path / ".b.yaml.99999999-abcd1234.gbs-tmp").mkdir()
    (tmp_path / ".c.yaml.99999999-abcd1234.gbs-tmp").hardlink_to(target)
    os.utime(tmp_path / ".a.yaml.99999999-abcd1234.gbs-tmp", (_MARK, _MARK), follow_symlinks=False)
    os.utime(tmp_path / ".b.yaml.99999999-abcd1234.gbs-tmp", (_MARK, _MARK))
    assert remove_temporary_files(tmp_path, [""]) == []
    assert len(_names(tmp_path)) == 4


def test_the_files_of_a_run_at_work_stay(tmp_path: Path) -> None:
    _like_a_leftover(tmp_path, f".a.yaml.{os.getpid()}-abcd1234.gbs-tmp")
    assert remove_temporary_files(tmp_path, [""]) == []


def test_nothing_outside_of_the_root_is_removed(tmp_path: Path) -> None:
    path = _like_a_leftover(tmp_path)
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "link").symlink_to("..")
    assert remove_temporary_files(tmp_path / "root", ["link", ".."]) == []
    assert path.exists()


def test_a_written_file_has_the_time_of_now(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(OLD)
    before = time.time()
    write_together(tmp_path, [FileChange("a.yaml", OLD, NEW)])
    assert (tmp_path / "a.yaml").stat().st_mtime > before - 5


def test_a_name_of_many_long_letters_is_written_too(tmp_path: Path) -> None:
    name = "\U0001d400" * 60 + ".yaml"
    (tmp_path / name).write_bytes(OLD)
    write_together(tmp_path, [FileChange(name, OLD, NEW)])
    assert _names(tmp_path) == [name]
