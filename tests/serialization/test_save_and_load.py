"""Files: what is saved comes back, and a file that isn't trusted can do nothing."""

import errno
import io
import os
import pickle
import struct
import subprocess
import sys
import tarfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest

import rushlight as rl
from rushlight import nn, optim


def through_a_file(value: Any, stream: bool = False, **options: Any) -> Any:
    buffer = io.BytesIO()
    rl.save(value, buffer, _use_new_zipfile_serialization=not stream)
    buffer.seek(0)
    return rl.load(buffer, **options)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "bool", "uint8", "complex64"])
def test_a_tensor_comes_back_with_its_strides_and_dtype(dtype: str, stream: bool) -> None:
    x = rl.ones(2, 3, dtype=getattr(rl, dtype)).t()
    back = through_a_file(x, stream)
    assert back.equal(x)
    assert back.stride() == (1, 3)
    assert back.dtype is x.dtype


@pytest.mark.parametrize("stream", [False, True])
def test_views_of_one_memory_still_share_it(stream: bool) -> None:
    x = rl.zeros(4)
    a, b = through_a_file([x, x[1:3]], stream)
    b[0] = 9
    assert a.tolist() == [0, 9, 0, 0]
    assert b.storage_offset() == 1


def test_attributes_of_tensors_and_parameters_come_back() -> None:
    x, p = rl.ones(2), nn.Parameter(rl.ones(1))
    x.note, p.note = "x", "p"
    back = through_a_file([x, p])
    assert [value.note for value in back] == ["x", "p"]
    assert type(back[1]) is nn.Parameter


def test_a_state_dict_and_an_optimizer_state_come_back() -> None:
    net = nn.Linear(2, 1)
    adam = optim.Adam(net.parameters())
    net(rl.ones(1, 2)).sum().backward()
    adam.step()
    kept = through_a_file({"net": net.state_dict(), "adam": adam.state_dict()})
    assert kept["net"]["weight"].equal(net.weight)
    assert kept["adam"]["state"][0]["exp_avg"].equal(adam.state[net.weight]["exp_avg"])


@pytest.mark.parametrize("stream", [False, True])
def test_a_whole_module_needs_weights_only_off(stream: bool) -> None:
    net = nn.Sequential(nn.Linear(2, 1), nn.ReLU())
    back = through_a_file(net, stream, weights_only=False)
    assert repr(back) == repr(net)
    assert back[0].weight.equal(net[0].weight)
    with pytest.raises(pickle.UnpicklingError, match="was not an allowed global by default"):
        through_a_file(net, stream)


def test_safe_globals_admit_a_class_by_its_own_and_by_its_torch_name() -> None:
    net = nn.Linear(1, 1)
    with rl.serialization.safe_globals([nn.Linear]):
        assert through_a_file(net).weight.equal(net.weight)
    assert rl.serialization.get_safe_globals() == []


class Calls:
    def __init__(self, function: Any, *args: Any) -> None:
        self.reduced = function, args

    def __reduce__(self) -> Any:
        return self.reduced


@pytest.mark.parametrize("function", [print, eval, getattr, io.open])
def test_a_file_that_names_a_function_is_refused(function: Any) -> None:
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
        through_a_file(Calls(function, "x"))


class Opcodes:
    """A pickle by hand, inside an archive."""

    def __init__(self, body: bytes) -> None:
        self.body = body

    def load(self) -> Any:
        import zipfile

        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr("archive/data.pkl", self.body)
        buffer.seek(0)
        return rl.load(buffer)


def test_a_file_cannot_change_what_a_dtype_is_called() -> None:
    body = b"\x80\x02ctorch\nfloat32\nN}X\x04\x00\x00\x00nameX\x01\x00\x00\x00xs\x86b."
    with pytest.raises(pickle.UnpicklingError, match="Can only build"):
        Opcodes(body).load()
    assert rl.float32.name == "float32"


@pytest.mark.parametrize("body", [b"(ios\ngetcwd\n.", b"\x82\x01.", b"garbage", b"\x80\x02."])
def test_other_ways_to_name_things_are_refused(body: bytes) -> None:
    with pytest.raises((pickle.UnpicklingError, EOFError)):
        Opcodes(body).load()


def test_a_tensor_that_reaches_outside_its_storage_is_refused() -> None:
    buffer = io.BytesIO()
    rl.save(rl.ones(4), buffer)
    damaged = buffer.getvalue().replace(b"K\x04\x85", b"K\x44\x85")
    with pytest.raises((pickle.UnpicklingError, RuntimeError)):
        rl.load(io.BytesIO(damaged))


def test_files_that_are_none_are_told_apart() -> None:
    with pytest.raises(EOFError):
        rl.load(io.BytesIO(b""))
    with pytest.raises(pickle.UnpicklingError):
        rl.load(io.BytesIO(b"not a file at all"))
    with pytest.raises(RuntimeError, match="PytorchStreamReader failed"):
        rl.load(io.BytesIO(b"PK\x03\x04 broken"))
    with pytest.raises(AttributeError, match="seekable"):
        rl.load(5)


def test_a_file_for_another_device_is_refused() -> None:
    with pytest.raises(RuntimeError, match="CUDA device"):
        through_a_file(rl.ones(1), map_location="cuda")
    assert through_a_file(rl.ones(1), map_location="cpu").tolist() == [1]


def test_a_failed_save_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    rl.save(rl.ones(1), path)
    with pytest.raises(AttributeError, match="local object"):
        rl.save({"a": rl.zeros(1), "b": lambda: 1}, path)
    assert rl.load(path).tolist() == [1]
    assert [p.name for p in tmp_path.iterdir()] == ["x.pt"]


def test_plain_containers_come_back() -> None:
    value = {"a": [1, 2.5, None, True], "b": ("x", b"y"), "c": OrderedDict(z={1, 2}), "d": 1j}
    assert through_a_file(value) == value


FULL = """
import resource, signal, sys
import rushlight as rl

path, form = sys.argv[1], sys.argv[2]
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
try:
    if form == "safetensors":
        rl.serialization.save_safetensors({"x": rl.ones(100_000)}, path)
    else:
        rl.save(rl.ones(100_000), path, _use_new_zipfile_serialization=form == "zip")
except OSError as error:
    print(type(error).__name__, error.errno)
"""


@pytest.mark.parametrize("form", ["zip", "stream", "safetensors"])
def test_a_disk_that_fills_up_leaves_the_file_as_it_was(form: str, tmp_path: Path) -> None:
    pytest.importorskip("resource")
    path = tmp_path / "x.pt"
    rl.save(rl.ones(3), path)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run([sys.executable, "-c", FULL, str(path), form], env=environment,
                          capture_output=True, text=True, timeout=60, check=False)  # fmt: skip
    assert done.stdout == f"OSError {errno.EFBIG}\n", done.stderr
    assert rl.load(path).tolist() == [1, 1, 1]
    assert [p.name for p in tmp_path.iterdir()] == ["x.pt"]


def test_parts_of_complex_memory_keep_their_strides() -> None:
    z = rl.tensor([1 + 2j, 3 - 1j])
    back = through_a_file(z.imag)
    assert back.tolist() == [2, -1] and back.stride() == (2,) and back.storage_offset() == 1


def test_one_memory_seen_as_two_types_is_refused() -> None:
    x = rl.arange(4.0)
    with pytest.raises(RuntimeError, match="view the same data as different types"):
        through_a_file([x, x.view(rl.int32)])
    assert through_a_file([x.view(rl.int32)])[0].equal(x.view(rl.int32))


def test_the_oldest_format_is_read_on_trust_only(tmp_path: Path) -> None:
    path = tmp_path / "old.tar"
    path.write_bytes(a_tar())
    with pytest.raises(RuntimeError, match="Cannot use ``weights_only=True`` with files saved in"):
        rl.load(path)
    back = rl.load(path, weights_only=False)
    assert back["w"].tolist() == [[0, 1, 2], [3, 4, 5]] and back["v"].tolist() == [1, 3, 5]
    back["w"][0, 1] = 9
    assert back["v"][0] == 9
    whole = path.read_bytes()
    for cut in (700, 1500, 2600, 3700):
        with pytest.raises((RuntimeError, EOFError, pickle.UnpicklingError)):
            rl.load(io.BytesIO(whole[:cut]), weights_only=False)


class _Referring(pickle.Pickler):
    def persistent_id(self, obj: Any) -> Any:
        return int(obj[1:]) if isinstance(obj, str) and obj.startswith("#") else None


def a_tar() -> bytes:
    """A file as PyTorch 0.1.9 wrote them: two tensors that share a storage of six floats."""
    kind = b"ctorch\nFloatStorage\n"
    entry = b"\x80\x02(M\xe8\x03X\x03\0\0\0cpu"
    storages = pickle.dumps(1, 2) + entry + kind + b"t."
    storages += struct.pack("<q6f", 6, *range(6)) + pickle.dumps([], 2)
    tensors = pickle.dumps(2, 2)
    for key, shape, stride, offset in ((7, (2, 3), (3, 1), 0), (8, (3,), (2,), 1)):
        tensors += b"\x80\x02(K" + bytes([key]) + b"M\xe8\x03ctorch\nFloatTensor\nt."
        row = (*shape, *stride, offset)
        tensors += struct.pack(f"<i4x{len(row)}q", len(shape), *row)
    objects = io.BytesIO()
    _Referring(objects, 2).dump(OrderedDict(w="#7", v="#8"))
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, data in (("sys_info", pickle.dumps({}, 2)), ("pickle", objects.getvalue()),
                           ("tensors", tensors), ("storages", storages)):  # fmt: skip
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


@pytest.mark.parametrize("zipped", [True, False])
def test_an_open_file_is_whole_for_those_who_open_it_by_name(tmp_path: Path, zipped: bool) -> None:
    with (tmp_path / "x.pt").open("wb") as file:
        rl.save(rl.arange(3), file, _use_new_zipfile_serialization=zipped)
        assert rl.load(tmp_path / "x.pt").tolist() == [0, 1, 2]


def test_a_file_that_can_only_be_written_to_is_flushed_once():
    class Upload:
        def __init__(self):
            self.parts, self.flushed = [], 0

        def write(self, part):
            self.parts.append(part)

        def flush(self):
            self.flushed += 1

        def tell(self):
            raise NotImplementedError

    for zipped in (True, False):
        upload = Upload()
        rl.save({"a": rl.arange(3)}, upload, _use_new_zipfile_serialization=zipped)
        assert rl.load(io.BytesIO(b"".join(upload.parts)))["a"].tolist() == [0, 1, 2]
        assert upload.flushed == 1
