"""`load`: PyTorch's zip files, by an unpickler that knows which names it may use."""

from __future__ import annotations

import io
import os
import pickle
import sys
import zipfile
from collections import Counter, OrderedDict, defaultdict
from typing import Any, Callable

from .. import dtypes as D
from .._array import memory_of as M
from .._core.storage import new_tensor
from ..device import device
from ..size import Size

_STORAGES = {
    "BoolStorage": D.bool_, "ByteStorage": D.uint8, "CharStorage": D.int8, "ShortStorage": D.int16,
    "IntStorage": D.int32, "LongStorage": D.int64, "HalfStorage": D.float16,
    "BFloat16Storage": D.bfloat16, "FloatStorage": D.float32, "DoubleStorage": D.float64,
    "ComplexFloatStorage": D.complex64, "ComplexDoubleStorage": D.complex128,
}  # fmt: skip

_user_globals: dict[str, Any] = {}


def rebuild_tensor(storage: Any, offset: int, size: Any, stride: Any, requires_grad: bool = False,
                   hooks: Any = None, metadata: Any = None) -> Any:  # fmt: skip
    """The tensor that is a view of a storage."""
    t = new_tensor(M.view_into(storage, offset, tuple(size), tuple(stride)))
    t._requires_grad = bool(requires_grad)
    return t


def rebuild_parameter(data: Any, requires_grad: bool, hooks: Any = None) -> Any:
    """A parameter over a tensor."""
    from ..nn.parameter import Parameter

    return Parameter(data, requires_grad)


_SAFE: dict[tuple[str, str], Any] = {
    ("collections", "OrderedDict"): OrderedDict,
    ("collections", "defaultdict"): defaultdict,
    ("collections", "Counter"): Counter,
    ("builtins", "set"): set,
    ("builtins", "frozenset"): frozenset,
    ("builtins", "complex"): complex,
    ("builtins", "bytearray"): bytearray,
    ("builtins", "slice"): slice,
    ("torch", "Size"): Size,
    ("torch", "device"): device,
    ("torch._utils", "_rebuild_tensor_v2"): rebuild_tensor,
    ("torch._utils", "_rebuild_tensor"): rebuild_tensor,
    ("torch._utils", "_rebuild_parameter"): rebuild_parameter,
}
_SAFE.update({("torch", name): dtype for name, dtype in D.BY_NAME.items()})
_SAFE.update({("torch", name): dtype for name, dtype in _STORAGES.items()})


def add_safe_globals(safe_globals: list[Any]) -> None:
    """Lets files that are loaded safely name these classes and functions."""
    for item in safe_globals:
        value, name = item if isinstance(item, tuple) else (item, f"{item.__module__}.{item.__qualname__}")
        _user_globals[name] = value


def get_safe_globals() -> list[Any]:
    """What `add_safe_globals` has added."""
    return list(_user_globals.values())


def clear_safe_globals() -> None:
    """Forgets what `add_safe_globals` has added."""
    _user_globals.clear()


class safe_globals:  # noqa: N801  (PyTorch's name)
    """A context in which some more classes and functions may be named by files."""

    def __init__(self, safe_globals: list[Any]) -> None:
        self._added = safe_globals

    def __enter__(self) -> None:
        self._before = dict(_user_globals)
        add_safe_globals(self._added)

    def __exit__(self, *exc: object) -> None:
        _user_globals.clear()
        _user_globals.update(self._before)


class _Reader(pickle.Unpickler):
    """Reads a pickle whose storages lie beside it; finds only names that it may use."""

    def __init__(self, body: bytes, storage: Callable[[str, D.dtype, int], Any], safe: bool) -> None:
        super().__init__(io.BytesIO(body), encoding="utf-8")
        self._storage = storage
        self._safe = safe

    def find_class(self, module: str, name: str) -> Any:
        """The object that a name in the file means.

        Raises:
            UnpicklingError: for a name outside the list, which it tells.
        """
        found = _SAFE.get((module, name))
        if found is not None:
            return found
        found = _user_globals.get(f"{module}.{name}")
        if found is not None:
            return found
        if self._safe:
            raise pickle.UnpicklingError(
                f"Unsupported global: GLOBAL {module}.{name} was not an allowed global by default. Please "
                f"use `torch.serialization.add_safe_globals([{name}])` or the "
                f"`torch.serialization.safe_globals([{name}])` context manager to allowlist this global "
                "if you trust this class/function."
            )
        if module == "torch" or module.startswith("torch."):
            module = "rushlight" + module[5:]
        return super().find_class(module, name)

    def persistent_load(self, pid: Any) -> Any:
        """The storage that a reference in the file means.

        Raises:
            UnpicklingError: for a reference that isn't one to a storage.
        """
        if not isinstance(pid, tuple) or len(pid) != 5 or pid[0] != "storage":
            raise pickle.UnpicklingError(f"a persistent reference that is no storage: {pid!r}"[:200])
        _, kind, key, _, count = pid
        if not isinstance(kind, D.dtype) or not isinstance(key, str) or not isinstance(count, int):
            raise pickle.UnpicklingError(f"a storage reference of the wrong form: {pid!r}"[:200])
        return self._storage(key, kind, count)


def load(f: Any, map_location: Any = None, pickle_module: Any = None, *, weights_only: bool | None = None,
         mmap: bool | None = None, **pickle_load_args: Any) -> Any:  # fmt: skip
    """What `save` (Rushlight's or PyTorch's) wrote to a path or binary file.

    By default only tensors and plain containers are made, and nothing that the file names is called;
    `weights_only=False` unpickles anything, so use it on files you trust.

    Raises:
        FileNotFoundError: where there is no such file.
        UnpicklingError: where the file names something that isn't allowed; it says what.
        RuntimeError: where the file isn't an archive of this format, or is damaged.
    """
    safe = weights_only is None or bool(weights_only)
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as file:
            return _load(file, safe)
    return _load(f, safe)


def _load(file: Any, safe: bool) -> Any:
    try:
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, EOFError) as error:
        raise RuntimeError(
            f"PytorchStreamReader failed reading zip archive: {error}. The file is damaged, or it isn't in "
            "PyTorch's zip format."
        ) from None
    with archive:
        names = archive.namelist()
        pickles = [n for n in names if n.endswith("/data.pkl") and n.count("/") == 1]
        if not pickles:
            raise RuntimeError("PytorchStreamReader failed locating file data.pkl: file not found")
        stem = pickles[0].rpartition("/")[0]
        swap = False
        if f"{stem}/byteorder" in names:
            swap = archive.read(f"{stem}/byteorder").decode() != sys.byteorder
        storages: dict[str, Any] = {}

        def storage(key: str, dtype: D.dtype, count: int) -> Any:
            if key not in storages:
                data = _read(archive, f"{stem}/data/{key}")
                if len(data) < count * dtype.itemsize:
                    raise RuntimeError(f"the record {key} holds {len(data)} bytes, too few for {count} elements")
                storages[key] = M.from_bytes(data[: count * dtype.itemsize], dtype, swap)
            return storages[key]

        body = _read(archive, pickles[0])
        try:
            return _Reader(body, storage, safe).load()
        except pickle.UnpicklingError as error:
            if not safe:
                raise
            raise pickle.UnpicklingError(_refused(str(error))) from None
        except (ValueError, TypeError, KeyError, EOFError, AttributeError, IndexError) as error:
            if not safe:
                raise
            raise RuntimeError(f"the file is damaged or hostile: {error}") from error


def _read(archive: zipfile.ZipFile, name: str) -> bytes:
    try:
        return archive.read(name)
    except KeyError:
        raise RuntimeError(f"PytorchStreamReader failed locating file {name}: file not found") from None
    except (zipfile.BadZipFile, OSError, EOFError) as error:
        raise RuntimeError(f"PytorchStreamReader failed reading file {name}: {error}") from None


def _refused(reason: str) -> str:
    return (
        "Weights only load failed. This file can still be loaded, to do so you have two options, do those "
        "steps only if you trust the source of the checkpoint. \n\t(1) In PyTorch 2.6, we changed the "
        "default value of the `weights_only` argument in `torch.load` from `False` to `True`. Re-running "
        "`torch.load` with `weights_only` set to `False` will likely succeed, but it can result in "
        "arbitrary code execution. Do it only if you got the file from a trusted source.\n\t(2) "
        "Alternatively, to load with `weights_only=True` please check the recommended steps in the "
        f"following error message.\n\tWeightsUnpickler error: {reason}\n\nCheck the documentation of "
        "torch.load to learn more about types accepted by default with weights_only "
        "https://pytorch.org/docs/stable/generated/torch.load.html."
    )
