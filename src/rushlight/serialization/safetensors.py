"""The safetensors format: a header of JSON that says where each tensor's bytes are, then the bytes.

Nothing in such a file can be executed, and the form is small; it is checked as strictly as the
format's own library does, and more: no name stands twice. What is written is to the byte what the
library writes. Neither way are the bytes of tensors copied.
"""

from __future__ import annotations

import io
import json
import os
import pickle
from typing import IO, TYPE_CHECKING, Any, Final

from .._array.memory import storage_views as M
from .._base import dtypes as D
from .._core.storage import new_tensor
from .budget import Budget, size_left
from .flow import read_exactly, read_into, write_all
from .save import write_atomically

if TYPE_CHECKING:
    from os import PathLike

    from .._tensor.tensor import Tensor


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
    tensors: dict[str, Tensor],
    f: str | PathLike[str] | IO[bytes],
    metadata: dict[str, str] | None = None,
) -> None:
    """Writes named tensors (and text about them) to a path or binary file.

    Raises:
        ValueError: for a dtype that the format lacks, or metadata that aren't text.

    Parameters:
        tensors: the tensors by name.
        f: a path, or a binary file; a path is replaced only by a whole file.
        metadata: names and texts that are written in front.
    Shapes: any.
    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> torch.serialization.save_safetensors({"w": torch.ones(2)}, file)
        >>> _ = file.seek(0)
        >>> torch.serialization.load_safetensors(file)
        {'w': tensor([1., 1.])}
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
        size = tensor.numel() * tensor.dtype.itemsize
        header[name] = {
            "dtype": _NAMES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [place, place + size],
        }
        place += size
        bodies.append(tensor.detach()._raw)
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)

    def write(file: IO[bytes]) -> None:
        write_all(file, len(text).to_bytes(8, "little"))
        write_all(file, text)
        for array in bodies:
            # What isn't contiguous is copied, one at a time.
            write_all(file, M.bytes_of(M.little_endian(M.flatten(array))))

    if isinstance(f, (str, os.PathLike)):
        write_atomically(f, write)
    else:
        write(f)


def load_safetensors(f: str | PathLike[str] | IO[bytes]) -> dict[str, Tensor]:
    """The named tensors in a path or binary file.

    Raises:
        ValueError: where the file isn't in the format, to the byte.

    Parameters:
        f: a path, or a binary file.
    Shapes: those that were written.
    Returns: dict[str, Tensor]: by name, in the order of the names.
    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> torch.serialization.save_safetensors({"w": torch.ones(2)}, file)
        >>> _ = file.seek(0)
        >>> torch.serialization.load_safetensors(file)["w"]
        tensor([1., 1.])
    """
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as file:
            return _read(file)
    try:
        f.seek(f.tell())
    except (AttributeError, OSError):
        # What comes through a pipe tells its size only at its end.
        return _read(io.BytesIO(f.read()))
    return _read(f)


def _read(file: IO[bytes]) -> dict[str, Tensor]:
    size = size_left(file)
    header, start = _header(file, size)
    order = sorted(_layout(header, size - start).items(), key=lambda item: item[1][2])
    tensors: dict[str, Any] = {}
    for name, (dtype, shape, _, count) in order:
        flat = M.unset(count // dtype.itemsize, dtype)
        if read_into(file, M.writable_bytes(flat)) != count:
            raise ValueError("not a safetensors file: it is cut off")
        if not M.is_little_endian():
            M.swap_bytes(flat)
        tensors[name] = new_tensor(flat.reshape(shape))
    return dict(sorted(tensors.items()))


def _layout(header: dict[str, object], size: int) -> dict[str, tuple[D.dtype, list[int], int, int]]:
    """The type, shape, place and number of bytes of each tensor; they fill the file.

    Raises:
        ValueError: where they don't, or lie over each other.
    """
    found = {}
    for name, entry in header.items():
        dtype, shape, (start, stop) = _check(name, entry)
        count = 0 if 0 in shape else dtype.itemsize
        for n in shape:
            count *= n
            if count > size:
                break
        if stop - start != count:
            raise ValueError(f"the tensor {name[:200]} isn't as long as its shape says")
        found[name] = dtype, shape, start, count
    end = 0
    for start, count in sorted((start, count) for _, _, start, count in found.values()):
        if start != end:
            raise ValueError("the tensors of the file overlap, or leave gaps")
        end += count
    if end != size:
        raise ValueError("the file holds bytes that belong to no tensor")
    return found


def _header(file: IO[bytes], size: int) -> tuple[dict[str, object], int]:
    """The table of tensors, and where their bytes begin.

    Raises:
        ValueError: where there is none, or a name stands in it twice.
    """
    head = read_exactly(file, 8)
    length = int.from_bytes(head, "little")
    if len(head) < 8 or length > _LONGEST_HEADER or 8 + length > size:
        raise ValueError("not a safetensors file: its header is cut off")
    data = read_exactly(file, length)
    try:
        _pay(Budget(size), data)
        header = json.loads(data.decode("utf-8"), object_pairs_hook=_once)
    except (ValueError, RecursionError, pickle.UnpicklingError) as error:
        raise ValueError(f"not a safetensors file: {str(error)[:300]}") from None
    if not isinstance(header, dict):
        raise ValueError("not a safetensors file: its header is no table")
    about = header.pop("__metadata__", {})
    if not isinstance(about, dict) or not all(isinstance(text, str) for text in about.values()):
        raise ValueError("not a safetensors file: its metadata are no texts")
    return header, 8 + length


def _pay(budget: Budget, data: bytes) -> None:
    """Pays for what JSON makes, before it is made: tables, lists, and what is between commas."""
    for mark, cost in ((b"{", 400), (b"[", 90), (b",", 60)):
        budget.spend(cost * data.count(mark))
    budget.spend(len(data) * (2 if data.isascii() else 5))


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a name stands there twice")
    return made


def _check(name: str, entry: object) -> tuple[D.dtype, list[int], list[int]]:
    if isinstance(entry, dict) and entry.keys() == {"dtype", "shape", "data_offsets"}:
        dtype = _DTYPES.get(entry["dtype"]) if isinstance(entry["dtype"], str) else None
        shape, offsets = entry["shape"], entry["data_offsets"]
        numbers = isinstance(shape, list) and isinstance(offsets, list) and len(offsets) == 2
        whole = numbers and all(type(n) is int and 0 <= n < 1 << 63 for n in (*shape, *offsets))
        if dtype is not None and whole and len(shape) <= 64 and offsets[0] <= offsets[1]:
            return dtype, shape, offsets
    raise ValueError(f"the entry of the tensor {name[:200]} is malformed")
