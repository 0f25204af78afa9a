"""One budget for what a file may make: small files can't ask for much, honest ones are read."""

import io
import pickle
import struct
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

import rushlight as rl
from rushlight.serialization import load_limits
from rushlight.serialization.archive import ArchiveReader, ArchiveWriter
from tests.attack import bombs
from tests.serialization.test_atomic_files import ENVIRONMENT


def saved(value: Any, **options: Any) -> io.BytesIO:
    file = io.BytesIO()
    rl.save(value, file, **options)
    file.seek(0)
    return file


@pytest.mark.parametrize("stream", [False, True], ids=["zip", "stream"])
def test_the_bytes_of_a_load_can_be_set(stream: bool) -> None:
    value = [{"a": [n]} for n in range(1000)]
    file = saved(value, _use_new_zipfile_serialization=not stream)
    with load_limits(bytes=100_000), pytest.raises(pickle.UnpicklingError, match="load_limits"):
        rl.load(file)
    file.seek(0)
    with load_limits(bytes=10_000_000):
        assert rl.load(file) == value
    file.seek(0)
    with load_limits(bytes=100_000):
        assert rl.load(file, weights_only=False) == value


def test_the_data_of_tensors_cost_nothing() -> None:
    file = saved({"x": rl.ones(1_000_000)})
    with load_limits(bytes=20_000):
        assert rl.load(file)["x"].sum() == 1_000_000


def test_the_depth_of_a_load_can_be_set() -> None:
    body = bombs.START + b")" + b"\x85" * 3000 + b"."
    with pytest.raises(pickle.UnpicklingError, match="more than 2000 tuples lie in each other"):
        rl.load(io.BytesIO(bombs.archive(body)))
    with load_limits(depth=4000):
        found = rl.load(io.BytesIO(bombs.archive(body)))
    for _ in range(3000):
        (found,) = found
    assert found == ()


def test_tuples_that_are_made_and_dropped_are_not_deep() -> None:
    value = [((n, (n, (n,))), (n,)) for n in range(20_000)]
    assert rl.load(saved(value)) == value
    tensors = [rl.ones(1) for _ in range(3000)]
    assert len(rl.load(saved(tensors))) == 3000


@pytest.mark.parametrize("stream", [False, True], ids=["zip", "stream"])
def test_expanded_tensors_are_read_at_any_size(stream: bool) -> None:
    x = rl.arange(4.0).reshape(4, 1).expand(4, 10**9)
    z = rl.ones(1, dtype=rl.complex64).mul(1j).conj().expand(10**9)
    back, turned = rl.load(saved([x, z], _use_new_zipfile_serialization=not stream))
    assert back.shape == x.shape and back.stride() == x.stride() and back[3, 10**8] == 3
    assert turned.shape == z.shape and turned[10**8] == -1j


def test_tensors_whose_conjugate_is_pending_still_share_memory() -> None:
    z = rl.tensor([1 + 2j, 3 - 1j]).conj()
    for stream in (False, True):
        a, b = rl.load(saved([z, z[1:]], _use_new_zipfile_serialization=not stream))
        assert a.tolist() == [1 - 2j, 3 + 1j]
        b[0] = 9
        assert a[1] == 9


def test_honest_keys_of_all_kinds_are_read() -> None:
    value: dict[Any, Any] = {(n, (n, 0.5)): n for n in range(3000)}
    value.update({2**70 + n: n for n in range(3000)})
    value.update({n / 7: n for n in range(3000)})
    tables = [{("a", 1): n, 0.5: n, 2**80: n} for n in range(3000)]
    assert rl.load(saved([value, tables])) == [value, tables]


def test_keys_of_one_hash_are_refused() -> None:
    file = io.BytesIO(bombs.archive(bombs.PICKLES["keys of one hash"]()))
    with pytest.raises(pickle.UnpicklingError, match="too many keys of one hash"):
        rl.load(file)


@pytest.mark.parametrize("packed", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_archives_packed_in_other_ways_than_pytorchs_are_refused(packed: int) -> None:
    file = io.BytesIO(bombs.archive(bombs.START + b"N.", packed))
    with pytest.raises(RuntimeError, match="unsupported method"):
        rl.load(file)


def test_an_archive_of_more_than_65535_records_is_read() -> None:
    file = io.BytesIO()
    writer = ArchiveWriter(file)
    for number in range(66_000):
        writer.add(f"x/{number}", str(number).encode())
    writer.finish()
    reader = ArchiveReader(file, None)
    assert len(reader.records) == 66_000 and reader.read("x/65999") == b"65999"
    with zipfile.ZipFile(file) as archive:
        assert len(archive.namelist()) == 66_000 and archive.read("x/65999") == b"65999"


def test_an_archive_behind_other_bytes_is_read() -> None:
    file = io.BytesIO(b"something before")
    file.seek(0, 2)
    start = file.tell()
    rl.save(rl.ones(2), file)
    file.seek(start)
    assert rl.load(file).tolist() == [1, 1]
    alone = io.BytesIO(b"something before" + saved(rl.ones(2)).getvalue())
    alone.seek(start)
    assert rl.load(alone).tolist() == [1, 1]


def test_a_pickle_by_hand_with_numbers_far_apart_is_read() -> None:
    body = b"\x80\x02]r" + struct.pack("<I", 10**9) + b"0j" + struct.pack("<I", 10**9) + b"."
    assert rl.load(io.BytesIO(bombs.archive(body))) == []


PEAK = """
import io, sys
from pathlib import Path
import rushlight as rl
from rushlight.serialization import load_safetensors, save_safetensors

def peak():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM"))

def measured(do):
    Path("/proc/self/clear_refs").write_text("5")
    before = peak()
    kept = do()
    return (peak() - before) / size

form, path = sys.argv[1:]
size = 96 << 20
make = lambda: {"x": rl.ones(size // 16, 4).t()}
warm = io.BytesIO()
rl.save({"x": rl.ones(1)}, warm)
warm.seek(0)
rl.load(warm)
value = make()
if form == "safetensors":
    value = {"x": value["x"].contiguous()}
    save, load = lambda: save_safetensors(value, path), lambda: load_safetensors(path)
elif form == "object":
    def save():
        with open(path, "wb") as file:
            rl.save(value, file)
    def load():
        with open(path, "rb") as file:
            return rl.load(file)
else:
    save = lambda: rl.save(value, path, _use_new_zipfile_serialization=form != "stream")
    load = lambda: rl.load(path, mmap=form == "mapped")
print(measured(save), measured(load))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured through /proc")
@pytest.mark.parametrize("form", ["zip", "stream", "object", "mapped", "safetensors"])
def test_data_are_in_memory_once(form: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PEAK, form, str(tmp_path / "x")], env=ENVIRONMENT, timeout=120,
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    saving, loading = map(float, done.stdout.split())
    assert saving < 0.05
    assert loading < (0.05 if form == "mapped" else 1.05)
