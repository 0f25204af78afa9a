"""Saving changes the content of a file and nothing else about it, whatever kind of file it is."""

import errno
import io
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import rushlight as rl
from rushlight._base import atomic_files

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="POSIX files")
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def run(code: str, *arguments: object, **options: object) -> "subprocess.CompletedProcess[bytes]":
    command = [sys.executable, "-c", "import rushlight as rl, sys\n" + code, *map(str, arguments)]
    return subprocess.run(command, env=ENVIRONMENT, timeout=60, check=True, **options)  # type: ignore[call-overload,no-any-return]


def test_a_device_stays_a_device(tmp_path: Path) -> None:
    rl.save(rl.ones(1), "/dev/null")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    with pytest.raises(OSError) as caught:
        rl.save(rl.ones(1), "/dev/full")
    assert caught.value.errno == errno.ENOSPC


def test_a_pipe_stays_a_pipe_and_carries_the_file(tmp_path: Path) -> None:
    path, got = tmp_path / "pipe", []
    os.mkfifo(path)
    reader = threading.Thread(target=lambda: got.append(path.read_bytes()))
    reader.start()
    rl.save(rl.ones(3), path)
    reader.join()
    assert stat.S_ISFIFO(path.stat().st_mode) and names(tmp_path) == ["pipe"]
    assert rl.load(io.BytesIO(got[0])).tolist() == [1, 1, 1]


@pytest.mark.parametrize("place", ["/dev/stdout", "/proc/self/fd/1", "/dev/fd/1"])
def test_open_files_of_a_process_are_written_to(place: str, tmp_path: Path) -> None:
    if not os.path.islink("/dev/stdout"):
        pytest.skip("this machine has no /dev/stdout")
    code = "rl.save(rl.ones(2), sys.argv[1])"
    assert rl.load(io.BytesIO(run(code, place, stdout=subprocess.PIPE).stdout)).tolist() == [1, 1]
    with open(tmp_path / "out", "wb") as file:
        before = os.fstat(file.fileno()).st_ino
        run(code, place, stdout=file)
    assert (tmp_path / "out").stat().st_ino == before
    assert rl.load(tmp_path / "out").tolist() == [1, 1]


def test_links_lead_where_they_led(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    target, link, second = tmp_path / "far" / "x.pt", tmp_path / "link", tmp_path / "second"
    link.symlink_to("far/x.pt")
    second.symlink_to("link")
    rl.save(rl.ones(1), link)  # there is no such file yet
    rl.save(rl.zeros(2), second)
    assert link.is_symlink() and second.is_symlink()
    assert rl.load(target).tolist() == [0, 0]
    assert names(tmp_path) == ["far", "link", "second"] and names(tmp_path / "far") == ["x.pt"]


def test_a_link_to_itself_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "x").symlink_to("x")
    with pytest.raises(OSError) as caught:
        rl.save(rl.ones(1), tmp_path / "x")
    assert caught.value.errno == errno.ELOOP


def test_a_file_of_two_names_has_the_new_content_under_both(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    rl.save(rl.ones(100), one)
    os.link(one, two)
    rl.save(rl.zeros(2), two)
    assert rl.load(one).tolist() == [0, 0]
    assert one.stat().st_ino == two.stat().st_ino


def test_mode_and_extended_attributes_stay(tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    rl.save(rl.ones(1), path)
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask
    path.chmod(0o604)
    try:
        os.setxattr(path, "user.note", b"kept")
        noted = True
    except OSError:
        noted = False
    before = path.stat()
    rl.save(rl.zeros(1), path)
    after = path.stat()
    assert before.st_ino != after.st_ino
    assert stat.S_IMODE(after.st_mode) == 0o604
    assert (after.st_uid, after.st_gid) == (before.st_uid, before.st_gid)
    assert not noted or os.getxattr(path, "user.note") == b"kept"


def test_what_a_killed_save_left_goes_with_the_next_one(tmp_path: Path) -> None:
    rl.save(rl.ones(1), tmp_path / "x.pt")
    for number in range(3):
        (tmp_path / f".rushlight-{number}.part").touch()
    rl.save(rl.ones(1), tmp_path / "x.pt")
    assert names(tmp_path) == ["x.pt"]


def test_a_new_file_whose_name_is_taken_while_it_is_written_replaces_that(tmp_path: Path) -> None:
    path, times = tmp_path / "x.pt", []

    def write(file: io.BytesIO) -> None:
        times.append(1)
        path.write_bytes(b"another's")
        file.write(b"mine")

    atomic_files.write_whole(path, write)
    assert path.read_bytes() == b"mine" and names(tmp_path) == ["x.pt"] and len(times) == 2


def test_a_new_file_through_a_link_to_nothing(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "there")
    rl.save(rl.ones(2), tmp_path / "link")
    assert (tmp_path / "link").is_symlink() and rl.load(tmp_path / "there").tolist() == [1, 1]


def test_a_new_file_that_fails_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        atomic_files.write_whole(tmp_path / "x.pt", lambda file: file.write(b"x" * (1 // 0)))
    assert names(tmp_path) == []


def test_a_save_leaves_the_files_of_another_that_is_at_work(tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    rl.save(rl.ones(1), path)

    def write(file: io.BytesIO) -> None:
        rl.save(rl.ones(2), tmp_path / "y.pt")
        rl.save(rl.ones(2), path)
        file.write(b"outer")

    atomic_files.write_whole(path, write)
    assert path.read_bytes() == b"outer" and names(tmp_path) == ["x.pt", "y.pt"]


def without_unnamed(folder: str, mode: int) -> None:
    return None


def unwilling(folder: str, mode: int) -> None:
    raise atomic_files._CannotReplace


def test_file_systems_without_unnamed_files_replace_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(atomic_files, "_open_unnamed", without_unnamed)
    (tmp_path / ".rushlight-0.part").touch()
    for value in (1, 2):
        rl.save(rl.full((3,), float(value)), tmp_path / "x.pt")
        assert rl.load(tmp_path / "x.pt").tolist() == [value] * 3
    with pytest.raises(ZeroDivisionError):
        atomic_files.write_whole(tmp_path / "x.pt", lambda file: file.write(b"x" * (1 // 0)))
    assert rl.load(tmp_path / "x.pt").tolist() == [2, 2, 2]
    assert names(tmp_path) == ["x.pt"]


def test_a_file_in_a_folder_that_takes_no_other_is_written_in_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.pt"
    rl.save(rl.ones(500), path)
    before = path.stat().st_ino
    monkeypatch.setattr(atomic_files, "_open_unnamed", unwilling)
    rl.save(rl.zeros(3), path)  # shorter
    assert rl.load(path).tolist() == [0, 0, 0]
    rl.save(rl.ones(900), path)  # longer
    assert rl.load(path).tolist() == [1] * 900
    assert path.stat().st_ino == before


IN_PLACE = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    rl.save(rl.ones(100_000), sys.argv[1])
except OSError as error:
    print(error.errno)
"""


def test_a_disk_that_fills_up_leaves_a_file_of_two_names_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    rl.save(rl.ones(3), path)
    os.link(path, tmp_path / "y.pt")
    whole = path.read_bytes()
    done = run(IN_PLACE, path, stdout=subprocess.PIPE)
    assert done.stdout == f"{errno.EFBIG}\n".encode()
    assert path.read_bytes() == whole


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="Is a directory"):
        rl.save(rl.ones(1), tmp_path)
    with pytest.raises(IsADirectoryError):
        rl.save(rl.ones(1), tmp_path, _use_new_zipfile_serialization=False)


READ_ONLY = """
import os, io
from pathlib import Path
folder = Path(sys.argv[1])
rl.save(rl.ones(1), io.BytesIO()); repr(rl.ones(1))
if os.geteuid() == 0:
    import errno, stat, resource
    os.setgid(65534)
    os.setuid(65534)
rl.save(rl.zeros(2), folder / "open.pt")
for name in ("closed.pt", "new.pt"):
    try:
        rl.save(rl.zeros(2), folder / name)
    except PermissionError:
        print("refused", name)
"""


def test_a_file_that_may_be_written_is_and_one_that_may_not_is_left() -> None:
    import tempfile

    # Not in pytest's own folder, which another user can't enter.
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        rl.save(rl.ones(1), folder / "open.pt")
        rl.save(rl.ones(1), folder / "closed.pt")
        (folder / "open.pt").chmod(0o666)
        (folder / "closed.pt").chmod(0o444)
        folder.chmod(0o555)
        try:
            done = run(READ_ONLY, folder, stdout=subprocess.PIPE)
            assert done.stdout == b"refused closed.pt\nrefused new.pt\n"
            assert rl.load(folder / "open.pt").tolist() == [0, 0]
            assert rl.load(folder / "closed.pt").tolist() == [1]
        finally:
            folder.chmod(0o755)


class Keeping:
    """A file that keeps what it is given, and takes little at a time."""

    def __init__(self, most: int | None = None) -> None:
        self.parts: list[object] = []
        self.most = most

    def write(self, data: bytes) -> int | None:
        taken = data[: self.most]
        self.parts.append(taken)
        return None if self.most is None else len(taken)


@pytest.mark.parametrize("most", [None, 1000])
def test_a_file_object_may_keep_what_it_got_and_take_it_in_parts(most: int | None) -> None:
    file, x = Keeping(most), rl.ones(5000)
    rl.save(x, file)
    x.zero_()
    whole = b"".join(file.parts)  # type: ignore[arg-type]
    assert rl.load(io.BytesIO(whole)).eq(1).all()
