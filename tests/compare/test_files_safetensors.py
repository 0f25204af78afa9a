"""The safetensors format beside its own library: the same bytes, and the same files refused."""

import io
import json
import random
from pathlib import Path
from typing import Any

import pytest

import rushlight as rl
from rushlight.serialization import load_safetensors, save_safetensors

library = pytest.importorskip("safetensors")

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64",
          "float16", "bfloat16", "float32", "float64", "complex64"]  # fmt: skip


def some() -> dict[str, Any]:
    found = {name: (rl.arange(12) % 5).reshape(3, 4).to(getattr(rl, name)).t() for name in DTYPES}
    return {**found, "number": rl.tensor(2.5), "none": rl.zeros(0, 2), "é": rl.ones(1)}


def written(tensors: dict[str, Any], metadata: dict[str, str] | None = None) -> bytes:
    buffer = io.BytesIO()
    save_safetensors(tensors, buffer, metadata)
    return buffer.getvalue()


@pytest.mark.parametrize("metadata", [None, {"b": "1", "a": "2"}])
def test_the_bytes_are_the_librarys(metadata: dict[str, str] | None) -> None:
    torch = pytest.importorskip("torch")
    from safetensors.torch import save

    tensors = some()
    twins = {key: torch.tensor(t.tolist(), dtype=getattr(torch, str(t.dtype).split(".")[1]))
             .reshape(tuple(t.shape)) for key, t in tensors.items()}  # fmt: skip
    theirs = save(twins, metadata)
    assert len(written(tensors, metadata)) == len(theirs)
    if metadata is None:
        assert written(tensors, metadata) == theirs
    back = load_safetensors(io.BytesIO(theirs))
    assert all(back[key].equal(t) and back[key].dtype is t.dtype for key, t in tensors.items())


def test_both_readers_read_the_same(tmp_path: Path) -> None:
    tensors = some()
    save_safetensors(tensors, tmp_path / "x.safetensors")
    data = (tmp_path / "x.safetensors").read_bytes()
    for back in (load_safetensors(tmp_path / "x.safetensors"), load_safetensors(io.BytesIO(data))):
        assert back.keys() == tensors.keys()
        for key, t in tensors.items():
            assert back[key].equal(t) and back[key].dtype is t.dtype


def test_files_that_the_library_refuses_are_refused() -> None:
    draw = random.Random(3)
    tensors = {"a": rl.ones(2, 3), "b": rl.ones(4).half()}
    whole = written(tensors)
    length = int.from_bytes(whole[:8], "little")
    refused = 0
    for _ in range(400):
        header = json.loads(whole[8 : 8 + length])
        kind = draw.randrange(6)
        data = whole
        if kind == 0:
            data = whole[: draw.randrange(len(whole))]
        elif kind == 1:
            place = draw.randrange(8 + length)
            data = whole[:place] + bytes([draw.randrange(256)]) + whole[place + 1 :]
        elif kind == 2:
            data = whole + b"x"
        else:
            entry = header[draw.choice("ab")]
            if kind == 3:
                entry["shape"][0] += draw.choice([-1, 1, 2**62, 2**64])
            elif kind == 4:
                entry["data_offsets"][draw.randrange(2)] += draw.choice([-4, 2, 8, 2**63])
            else:
                entry["dtype"] = draw.choice(["F64", "Q4", "f32", "", "BF16", 3])
            text = json.dumps(header).encode()
            data = len(text).to_bytes(8, "little") + text + whole[8 + length :]
        try:
            library.deserialize(data)
        except library.SafetensorError:
            refused += 1
            with pytest.raises(ValueError):
                load_safetensors(io.BytesIO(data))
    assert refused > 200
