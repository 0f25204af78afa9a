"""Ways to read a file: mapped, placed, looked into; and the safetensors format."""

import io
import json
import pickle
from pathlib import Path

import pytest

import rushlight as rl
from rushlight import nn
from rushlight.serialization import (
    LoadEndianness,
    get_unsafe_globals_in_checkpoint,
    load_safetensors,
    save_safetensors,
    set_default_load_endianness,
    skip_data,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = tmp_path / "model.pt"
    base = rl.arange(12.0)
    rl.save({"a": base, "b": base[3:5], "half": rl.ones(3).half(), "empty": rl.zeros(0)}, place)
    return place


def test_a_mapped_file_is_not_changed_by_writes(path: Path) -> None:
    mapped = rl.load(path, mmap=True)
    mapped["b"].add_(1)
    assert mapped["a"][3:5].tolist() == [4.0, 5.0]
    assert rl.load(path)["a"].equal(rl.arange(12.0))
    assert mapped["half"].dtype is rl.float16


def test_a_mapped_tensor_outlives_the_file(path: Path) -> None:
    mapped = rl.load(path, mmap=True)
    path.unlink()
    assert mapped["a"].sum().item() == 66.0


def test_mmap_needs_a_path_and_the_present_format(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="f must be a file path"):
        rl.load(io.BytesIO(b"PK\x03\x04"), mmap=True)
    old = tmp_path / "old.pt"
    rl.save(rl.ones(2), old, _use_new_zipfile_serialization=False)
    with pytest.raises(RuntimeError, match="mmap can only be used with files saved with"):
        rl.load(old, mmap=True)


def test_a_function_as_map_location_sees_each_storage_once(path: Path) -> None:
    seen = []

    def place(storage, location):
        seen.append((storage.nbytes(), location))
        return storage

    rl.load(path, map_location=place)
    assert seen.count((48, "cpu")) >= 1 and {where for _, where in seen} == {"cpu"}


def test_an_error_of_map_location_is_the_callers(path: Path) -> None:
    def place(storage, location):
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        rl.load(path, map_location=place)
    with pytest.raises(RuntimeError, match="don't know how to restore data location"):
        rl.load(path, map_location={"cpu": "mars"})


def test_peek_tells_tensors_values_and_names(tmp_path: Path) -> None:
    place = tmp_path / "x.pt"
    rl.save({"net": nn.Linear(2, 3).state_dict(), "list": [rl.ones(2, 2).t().bool()], "lr": 0.1,
             "odd": pickle.PickleError}, place)  # fmt: skip
    found = rl.peek(place)
    assert found.keys() == ["net.weight", "net.bias", "list.0"]
    weight = found.tensors["net.weight"]
    assert (weight.shape, weight.dtype, weight.nbytes) == ((3, 2), rl.float32, 24)
    assert found.tensors["list.0"].dtype is rl.bool
    assert found.values["lr"] == "0.1"
    assert found.unsafe_globals == ["pickle.PickleError"]
    assert found.format == "zip" and found.size == place.stat().st_size
    assert get_unsafe_globals_in_checkpoint(place) == ["pickle.PickleError"]
    assert "net.weight" in str(found)


def test_peek_reads_the_older_format_and_leaves_the_position() -> None:
    buffer = io.BytesIO(b"before")
    buffer.seek(6)
    rl.save([rl.ones(4, dtype=rl.bfloat16)], buffer, _use_new_zipfile_serialization=False)
    buffer.seek(6)
    assert rl.peek(buffer).tensors["0"].shape == (4,)
    assert buffer.tell() == 6


def test_skip_data_writes_zeros(path: Path) -> None:
    buffer = io.BytesIO()
    with skip_data():
        rl.save(rl.ones(3), buffer)
    buffer.seek(0)
    assert rl.load(buffer).tolist() == [0, 0, 0]


def test_a_file_without_byte_order_is_little_endian_unless_told() -> None:
    buffer = io.BytesIO()
    rl.save(rl.tensor([1], dtype=rl.int16), buffer, _disable_byteorder_record=True)
    try:
        set_default_load_endianness(LoadEndianness.BIG)
        buffer.seek(0)
        assert rl.load(buffer).tolist() == [256]
    finally:
        set_default_load_endianness(None)
    buffer.seek(0)
    assert rl.load(buffer).tolist() == [1]


def test_safetensors_come_back(tmp_path: Path) -> None:
    place = tmp_path / "x.safetensors"
    given = {"t": rl.arange(6).reshape(2, 3).t(), "b": rl.tensor(True), "z": rl.zeros(0, 2),
             "h": rl.ones(3).bfloat16()}  # fmt: skip
    save_safetensors(given, place, {"by": "test"})
    back = load_safetensors(place)
    assert back.keys() == given.keys()
    assert all(back[key].equal(given[key]) and back[key].dtype is given[key].dtype for key in back)
    header = json.loads(_header(place))
    assert header["__metadata__"] == {"by": "test"} and header["t"]["shape"] == [3, 2]


def _header(place: Path) -> bytes:
    data = place.read_bytes()
    return data[8 : 8 + int.from_bytes(data[:8], "little")]


@pytest.mark.parametrize(
    "header",
    [
        b"{}",
        b"[]",
        b"{",
        b'{"a":1}',
        b'{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}',
        b'{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}',
        b'{"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}}',
        b'{"a":{"dtype":"X","shape":[1],"data_offsets":[0,4]}}',
        b'{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},'
        b'"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}',
        b'{"a":{"dtype":"F32","shape":[99999999999999999999],"data_offsets":[0,4]}}',
    ],
)
def test_malformed_safetensors_are_refused(header: bytes) -> None:
    data = len(header).to_bytes(8, "little") + header + bytes(4)
    with pytest.raises(ValueError):
        load_safetensors(io.BytesIO(data))
    with pytest.raises(ValueError, match=r"cut off|too small"):
        load_safetensors(io.BytesIO(data[:6]))
