"""Kept objects: only what the user wrote is read, whole and for the key that is asked for."""

import os
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from rushlight._native.llvm import object_cache as cache
from tests.native.subprocesses import ROOT

owned = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no owners here")
root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a file away"
)
STRANGER = 12345


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RUSHLIGHT_CACHE", str(tmp_path / "kept"))
    cache.refused.clear()
    cache.write("key", b"the object")
    assert cache.read_object("key") == b"the object"
    return tmp_path / "kept"


@owned
@pytest.mark.parametrize("mask", [0, 0o022, 0o077])
def test_entries_and_folders_are_made_for_the_user_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mask: int
) -> None:
    monkeypatch.setenv("RUSHLIGHT_CACHE", str(tmp_path / "a" / "b" / "kept"))
    before = os.umask(mask)
    try:
        cache.write("key", b"the object")
    finally:
        os.umask(before)
    for folder in ("a", "a/b", "a/b/kept"):
        assert stat.S_IMODE((tmp_path / folder).stat().st_mode) == 0o700
    (entry,) = (tmp_path / "a/b/kept").iterdir()
    assert stat.S_IMODE(entry.stat().st_mode) == 0o600


@root
def test_an_entry_of_another_user_is_not_read_and_is_replaced(place: Path) -> None:
    os.chown(place / "key.o", STRANGER, STRANGER)
    assert cache.read_object("key") is None
    assert f"belongs to user {STRANGER}" in cache.refused[-1]
    cache.write("key", b"the object")
    assert cache.read_object("key") == b"the object"
    assert (place / "key.o").stat().st_uid == os.geteuid()


@root
def test_nothing_is_read_from_or_written_to_a_folder_of_another_user(place: Path) -> None:
    os.chown(place, STRANGER, STRANGER)
    assert cache.read_object("key") is None
    assert cache.folder() is None
    cache.write("other", b"another object")
    assert [p.name for p in place.iterdir()] == ["key.o"]
    assert f"belongs to user {STRANGER}" in cache.refused[-1]


@owned
@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_an_entry_that_others_may_write_is_not_read(place: Path, mode: int) -> None:
    (place / "key.o").chmod(mode)
    assert cache.read_object("key") is None
    assert "others may write" in cache.refused[-1]


@owned
@pytest.mark.parametrize("mode", [0o770, 0o707, 0o1777])
def test_a_folder_that_others_may_write_is_not_used(place: Path, mode: int) -> None:
    place.chmod(mode)
    assert cache.read_object("key") is None
    assert cache.folder() is None


@owned
def test_an_entry_that_is_a_link_is_not_read(place: Path, tmp_path: Path) -> None:
    (place / "key.o").rename(tmp_path / "elsewhere")
    (place / "key.o").symlink_to(tmp_path / "elsewhere")
    assert cache.read_object("key") is None
    cache.write("key", b"a new object")
    assert cache.read_object("key") == b"a new object"
    assert not (place / "key.o").is_symlink()
    assert (tmp_path / "elsewhere").read_bytes().endswith(b"the object")


@owned
def test_a_folder_may_be_a_link_of_the_users_own(place: Path, tmp_path: Path) -> None:
    place.rename(tmp_path / "far")
    place.symlink_to(tmp_path / "far")
    assert cache.read_object("key") == b"the object"


@root
def test_a_folder_that_is_a_link_of_another_user_is_not_used(place: Path, tmp_path: Path) -> None:
    place.rename(tmp_path / "far")
    place.symlink_to(tmp_path / "far")
    os.lchown(place, STRANGER, STRANGER)
    assert cache.read_object("key") is None
    assert "a link that belongs" in cache.refused[-1]


@owned
def test_a_pipe_or_a_folder_in_an_entrys_place_is_not_waited_for(place: Path) -> None:
    (place / "key.o").unlink()
    os.mkfifo(place / "key.o")
    assert cache.read_object("key") is None
    (place / "key.o").unlink()
    (place / "key.o").mkdir()
    assert cache.read_object("key") is None
    cache.write("key", b"the object")  # can't be, and is no error
    assert [p.name for p in place.iterdir()] == ["key.o"]


def test_an_entry_under_another_name_is_not_read(place: Path) -> None:
    os.link(place / "key.o", place / "other.o")
    assert cache.read_object("other") is None
    assert "damaged" in cache.refused[-1]


def test_every_shorter_or_altered_entry_is_recognised(place: Path) -> None:
    entry = place / "key.o"
    whole = entry.read_bytes()
    for cut in range(len(whole)):
        entry.write_bytes(whole[:cut])
        assert cache.read_object("key") is None
    for at in range(len(whole)):
        changed = bytearray(whole)
        changed[at] ^= 1 << at % 8
        entry.write_bytes(bytes(changed))
        assert cache.read_object("key") is None
    entry.write_bytes(whole + b"\0")
    assert cache.read_object("key") is None
    entry.write_bytes(whole)
    assert cache.read_object("key") == b"the object"


def test_what_a_writer_left_unfinished_is_removed_later(place: Path) -> None:
    (place / ".1-old.part").write_bytes(b"half")
    (place / ".2-new.part").write_bytes(b"half")
    os.utime(place / ".1-old.part", (1, 1))
    cache.write("key", b"the object")
    assert sorted(p.name for p in place.iterdir()) == [".2-new.part", "key.o"]


def test_readers_beside_writers_see_whole_entries(place: Path) -> None:
    write = """
        import sys
        from rushlight._native.llvm import object_cache as cache
        for n in range(200):
            cache.write("shared", bytes([n % 251]) * 50_000)
    """
    named = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    writers = [
        subprocess.Popen([sys.executable, "-c", textwrap.dedent(write)], env=named)
        for _ in range(2)
    ]
    seen = 0
    while any(w.poll() is None for w in writers):
        body = cache.read_object("shared")
        if body is not None:
            assert len(body) == 50_000 and body == body[:1] * 50_000
            seen += 1
    assert [w.returncode for w in writers] == [0, 0]
    assert seen and not cache.refused
