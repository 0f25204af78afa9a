"""The safetensors format: a header of JSON that says where each tensor's bytes are, then the bytes.

Files are read by the format's own library where it is installed (the extra `safetensors`), and here
otherwise, as strictly: nothing in such a file can be executed, and the form is small. What is
written is to the byte what the library writes, but goes to the disk without a second copy.
"""

from __future__ import annotations

import importlib
import json
import os
from typing import Any, Final

from .. import dtypes as D
from .._array import memory_of as M
from .._core.storage import new_tensor
from .save import written_atomically

__all__ = ["load_safetensors", "save_safetensors"]

_DTYPES: Final[dict[str, D.dtype]] = {
    "BOOL": D.bool_, "U8": D.uint8, "I8": D.int8, "I16": D.int16, "I32": D.int32, "I64": D.int64,
    "F16": D.float16, "BF16": D.bfloat16, "F32": D.float32, "F64": D.float64, "C64": D.complex64,
}  # fmt: skip
_DTYPES.update(
    {
        key: D.BY_NAME[name]
        for key, name in (
            ("U16", "uint16"), ("U32", "uint32"), ("U64", "uint64"),
            ("F8_E4M3", "float8_e4m3fn"), ("F8_E5M2", "float8_e5m2"),
        )
        if name in D.BY_NAME
    }
)  # fmt: skip
# The library's order of types, in which tensors lie in a file, from the last to the first.
_ORDER: Final = (
    "BOOL", "U8", "I8", "F8_E5M2", "F8_E4M3", "I16", "U16", "F16", "BF16", "I32", "U32", "F32",
    "C64", "F64", "I64", "U64",
)  # fmt: skip
_NAMES: Final = {dtype: name for name, dtype in _DTYPES.items()}
# What the format's own library allows.
_LONGEST_HEADER: Final = 100_000_000


def save_safetensors(
    tensors: dict[str, Any], f: Any, metadata: dict[str, str] | None = None
) -> None:
    """Writes named tensors (and text about them) to a path or binary file.

    Raises:
        ValueError: for a dtype that the format lacks, or metadata that aren't text.
    """
    header: dict[str, Any] = {}
    if metadata:
        if not all(isinstance(x, str) for pair in metadata.items() for x in pair):
            raise ValueError("safetensors metadata are text only")
        header["__metadata__"] = dict(sorted(metadata.items()))
    for name, tensor in tensors.items():
        if tensor.dtype not in _NAMES:
            raise ValueError(f"safetensors has no dtype for {name}, which is {tensor.dtype}")
    # The widest first, so that all lie at multiples of their size.
    order = sorted(
        tensors.items(), key=lambda item: (-_ORDER.index(_NAMES[item[1].dtype]), item[0])
    )
    bodies, place = [], 0
    for name, tensor in order:
        flat = M.little_endian(M.flattened(tensor.detach()._raw))
        header[name] = {
            "dtype": _NAMES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [place, place + flat.nbytes],
        }
        place += flat.nbytes
        bodies.append(flat)
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)

    def write(file: Any) -> None:
        file.write(len(text).to_bytes(8, "little"))
        file.write(text)
        for flat in bodies:
            file.write(M.bytes_of(flat))

    if isinstance(f, (str, os.PathLike)):
        written_atomically(os.fspath(f), write)
    else:
        write(f)


def load_safetensors(f: Any) -> dict[str, Any]:
    """The named tensors in a path or binary file.

    Raises:
        ValueError: where the file isn't in the format, to the byte.
    """
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as file:
            data = file.read()
    else:
        data = f.read()
    try:
        library: Any = importlib.import_module("safetensors")
    except ModuleNotFoundError:
        return _read(data)
    try:
        entries = library.deserialize(data)
    except library.SafetensorError as error:
        raise ValueError(f"not a safetensors file: {error}") from None
    # The library takes the last of two tensors of one name.
    _header(data)
    made: dict[str, Any] = {}
    for name, entry in entries:
        dtype = _DTYPES.get(entry["dtype"])
        if dtype is None:
            raise ValueError(f"the tensor {name} has elements of type {entry['dtype']}")
        flat = M.from_bytes(entry["data"], dtype, not M.is_little_endian())
        made[name] = new_tensor(flat.reshape(entry["shape"]))
    return dict(sorted(made.items()))


def _read(data: bytes) -> dict[str, Any]:
    """The same without the library.

    Raises:
        ValueError: where the data aren't in the format, to the byte.
    """
    header, start = _header(data)
    body = memoryview(data)[start:]
    tensors: dict[str, Any] = {}
    spans = []
    for name, entry in header.items():
        dtype, shape, (start, stop) = _checked(name, entry)
        count = dtype.itemsize
        for n in shape:
            count *= n
        if stop - start != count or stop > len(body):
            raise ValueError(f"the tensor {name} isn't as long as its shape says")
        spans.append((start, stop))
        swap = not M.is_little_endian()
        tensors[name] = new_tensor(M.from_bytes(body[start:stop], dtype, swap).reshape(shape))
    end = 0
    for start, stop in sorted(spans):
        if start != end:
            raise ValueError("the tensors of the file overlap, or leave gaps")
        end = stop
    if end != len(body):
        raise ValueError("the file holds bytes that belong to no tensor")
    return tensors


def _header(data: bytes) -> tuple[dict[str, Any], int]:
    """The table of tensors, and where their bytes begin.

    Raises:
        ValueError: where there is none, or a name stands in it twice.
    """
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 or length > _LONGEST_HEADER or 8 + length > len(data):
        raise ValueError("not a safetensors file: its header is cut off")
    try:
        header = json.loads(data[8 : 8 + length].decode("utf-8"), object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not a safetensors file: {error}") from None
    if not isinstance(header, dict):
        raise ValueError("not a safetensors file: its header is no table")
    header.pop("__metadata__", None)
    return header, 8 + length


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a name stands there twice")
    return made


def _checked(name: str, entry: Any) -> tuple[D.dtype, list[int], list[int]]:
    if isinstance(entry, dict) and entry.keys() == {"dtype", "shape", "data_offsets"}:
        dtype = _DTYPES.get(entry["dtype"]) if isinstance(entry["dtype"], str) else None
        shape, offsets = entry["shape"], entry["data_offsets"]
        numbers = isinstance(shape, list) and isinstance(offsets, list) and len(offsets) == 2
        whole = numbers and all(type(n) is int and n >= 0 for n in (*shape, *offsets))
        if dtype is not None and whole and len(shape) <= 64 and offsets[0] <= offsets[1]:
            return dtype, shape, offsets
    raise ValueError(f"the entry of the tensor {name} is malformed")
