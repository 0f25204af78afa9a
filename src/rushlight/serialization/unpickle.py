"""Unpicklers of PyTorch's files: one for any file, one that does only what it was told it may."""

from __future__ import annotations

import io
import pickle
import struct
from collections.abc import Callable
from typing import Any

from .. import dtypes as D
from . import names

Storage = Callable[[str, D.dtype, int, str], Any]


def storage_of(pid: Any, storage: Storage) -> Any:
    """The storage that a reference in a file means.

    Raises:
        UnpicklingError: for a reference that isn't one to a storage.
    """
    if not isinstance(pid, tuple) or len(pid) not in (5, 6) or pid[0] != "storage":
        raise pickle.UnpicklingError(f"a persistent reference that is no storage: {pid!r}"[:200])
    _, kind, key, location, count = pid[:5]
    right = (
        isinstance(kind, D.dtype)
        and isinstance(key, str)
        and isinstance(location, str)
        and isinstance(count, int)
        and count >= 0
        and (len(pid) == 5 or pid[5] is None)
    )
    if not right:
        raise pickle.UnpicklingError(f"a storage reference of the wrong form: {pid!r}"[:200])
    return storage(key, kind, count, location)


class Trusting(pickle.Unpickler):
    """Reads any pickle, taking Rushlight's classes for torch's."""

    def __init__(self, body: Any, storage: Storage, encoding: str = "utf-8") -> None:
        super().__init__(body, encoding=encoding)
        self._storage = storage

    def find_class(self, module: str, name: str) -> Any:
        """The object that a name in the file means.

        Raises:
            ImportError, AttributeError: where there is none.
        """
        found = names.safe(module, name)
        return super().find_class(*names.own_name(module, name)) if found is None else found

    def persistent_load(self, pid: Any) -> Any:
        """The storage, or in the older format the class, that a reference in the file means."""
        if isinstance(pid, tuple) and len(pid) == 4 and pid[0] == "module":
            return pid[1]
        return storage_of(pid, self._storage)


# The unpickler written in Python: what it does for each opcode can be overridden.
_Base: Any = pickle._Unpickler


class Careful(_Base):  # type: ignore[misc]
    """Reads pickles of tensors and plain containers, from anybody.

    It finds only the names on the list, calls only these, and sets attributes only of objects
    whose attributes mean nothing to anyone else.
    """

    dispatch = dict(_Base.dispatch)

    def __init__(self, body: Any, storage: Storage, encoding: str = "utf-8") -> None:
        super().__init__(body, encoding=encoding)
        self._storage = storage

    def find_class(self, module: str, name: str) -> Any:
        """The object that a name in the file means.

        Raises:
            UnpicklingError: for a name outside the list, which it tells.
        """
        found = names.safe(module, name)
        if found is None:
            full = f"{module}.{name}"
            raise pickle.UnpicklingError(
                f"Unsupported global: GLOBAL {full} was not an allowed global by default. Please "
                f"use `torch.serialization.add_safe_globals([{full}])` or the "
                f"`torch.serialization.safe_globals([{full}])` context manager to allowlist this "
                "global if you trust this class/function."
            )
        return found

    def persistent_load(self, pid: Any) -> Any:
        """The storage that a reference in the file means."""
        return storage_of(pid, self._storage)

    def _reduce(self) -> None:
        function = self.stack[-2]
        if not names.may_be_called(function):
            raise pickle.UnpicklingError(
                f"Trying to call reduce for unrecognized function {function!r}"[:200]
            )
        super().load_reduce()

    def _newobj(self) -> None:
        cls = self.stack[-2]
        if not isinstance(cls, type) or not names.may_be_called(cls):
            raise pickle.UnpicklingError(
                f"Trying to create new object for unrecognized class {cls!r}"[:200]
            )
        super().load_newobj()

    def _build(self) -> None:
        place = self.stack[-2]
        if not names.may_be_built(place):
            raise pickle.UnpicklingError(
                "Can only build Tensor, Parameter, OrderedDict or types allowlisted via "
                f"`add_safe_globals`, but got {type(place)}"
            )
        super().load_build()

    def _unsupported(self) -> None:
        raise pickle.UnpicklingError("Unsupported operand")

    dispatch[pickle.REDUCE[0]] = _reduce
    dispatch[pickle.NEWOBJ[0]] = _newobj
    dispatch[pickle.BUILD[0]] = _build
    for _code in (pickle.INST, pickle.OBJ, pickle.NEWOBJ_EX, pickle.EXT1, pickle.EXT2, pickle.EXT4,
                  pickle.PERSID, pickle.NEXT_BUFFER, pickle.READONLY_BUFFER):  # fmt: skip
        dispatch[_code[0]] = _unsupported


def unpickled(body: Any, storage: Storage, careful: bool, encoding: str = "utf-8") -> Any:
    """What a pickle holds, read from bytes or from a file at its position.

    Raises:
        UnpicklingError: where it isn't a pickle, or says what a careful reader doesn't do.
        RuntimeError: where a careful reader finds it damaged.
    """
    file = io.BytesIO(body) if isinstance(body, bytes) else body
    if not careful:
        return Trusting(file, storage, encoding).load()
    try:
        return Careful(file, storage, encoding).load()
    except pickle.UnpicklingError as error:
        raise pickle.UnpicklingError(_refused(str(error))) from None
    except EOFError:
        raise
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, OverflowError,
            RecursionError, MemoryError, struct.error) as error:  # fmt: skip
        raise pickle.UnpicklingError(_refused(f"the file is damaged or hostile: {error}")) from None


EITHER = (
    "In PyTorch 2.6, we changed the default value of the `weights_only` argument in "
    "`torch.load` from "
    "`False` to `True`. Re-running `torch.load` with `weights_only` set to `False` will "
    "likely succeed, "
    "but it can result in arbitrary code execution. Do it only if you got the file from a "
    "trusted source."
)


def _refused(reason: str) -> str:
    if "Unsupported global" not in reason:
        return (
            f"Weights only load failed. {EITHER}\nPlease file an issue with the following "
            "so that we "
            "can make `weights_only=True` compatible with your use case: WeightsUnpickler error: "
            f"{reason}{_MORE}"
        )
    return (
        "Weights only load failed. This file can still be loaded, to do so you have two options, "
        "\x1b[1mdo those steps only if you trust the source of the checkpoint\x1b[0m. \n\t(1) "
        f"{EITHER}\n\t(2) Alternatively, to load with `weights_only=True` please "
        "check the recommended "
        f"steps in the following error message.\n\tWeightsUnpickler error: {reason}{_MORE}"
    )


_MORE = (
    "\n\nCheck the documentation of torch.load to learn more about types accepted by default with "
    "weights_only https://pytorch.org/docs/stable/generated/torch.load.html."
)
