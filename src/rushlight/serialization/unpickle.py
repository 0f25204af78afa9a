"""Unpicklers of PyTorch's files: one for any file, one that does only what it was told it may."""

from __future__ import annotations

import io
import pickle
import struct
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Any, Final

from .._base import dtypes as D
from . import names
from .budget import Budget, size_left
from .metering import Metered, describe

if TYPE_CHECKING:
    from .._tensor.storage import TypedStorage


#: Finds the flat memory of a storage: by its key, the type and number of elements, and its place.
Storage = Callable[[str, D.dtype, int, str], Any]


def storage_of(pid: object, storage: Storage, known: dict[str, TypedStorage]) -> TypedStorage:
    """The storage that a reference in a file means: one object for all references to it.

    Raises:
        UnpicklingError: for a reference that isn't one to a storage.
    """
    if not isinstance(pid, tuple) or len(pid) not in (5, 6) or pid[0] != "storage":
        raise pickle.UnpicklingError(f"a persistent reference that is no storage: {describe(pid)}")
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
        shown = ", ".join(map(describe, pid))
        raise pickle.UnpicklingError(f"a storage reference of the wrong form: ({shown})")
    flat = storage(key, kind, count, location)
    found = known.get(key)
    if found is None:
        found = known[key] = names.storage_over(flat, kind)
    return found


class _Trust:
    """What a reader of trusted files does with names and references."""

    _storage: Storage
    _known: dict[str, TypedStorage]

    def find_class(self, module: str, name: str) -> object:
        """The object that a name in the file means.

        Raises:
            ImportError, AttributeError: where there is none.
        """
        found = names.safe(module, name)
        if found is not None:
            return found
        plain: Any = super()
        return plain.find_class(*names.own_name(module, name))

    def persistent_load(self, pid: object) -> Any:
        """The storage, or in the older format the class, that a reference in the file means."""
        if isinstance(pid, tuple) and len(pid) == 4 and pid[0] == "module":
            return pid[1]
        return storage_of(pid, self._storage, self._known)


class _Fast(_Trust, pickle.Unpickler):
    """Reads any pickle, taking Rushlight's classes for torch's."""

    def __init__(self, body: IO[bytes], storage: Storage, encoding: str = "utf-8") -> None:
        super().__init__(body, encoding=encoding)
        self._storage = storage
        self._known = {}


class Trusting(_Trust, Metered):
    """The same, for pickles whose tuples may lie so deep in each other that it would crash."""

    def __init__(self, body: IO[bytes], storage: Storage, encoding: str = "utf-8") -> None:
        super().__init__(body, None, size_left(body), encoding=encoding)
        self._storage = storage
        self._known = {}


class Careful(Metered):
    """Reads pickles of tensors and plain containers, from anybody.

    It finds only the names on the list, calls only these, sets attributes only of objects whose
    attributes mean nothing to anyone else, and makes no more than its budget allows.
    """

    dispatch = dict(Metered.dispatch)

    def __init__(
        self, body: IO[bytes], storage: Storage, budget: Budget, encoding: str = "utf-8"
    ) -> None:
        super().__init__(body, budget, size_left(body), encoding=encoding)
        self._storage = storage
        self._known: dict[str, TypedStorage] = {}

    def find_class(self, module: str, name: str) -> object:
        """The object that a name in the file means.

        Raises:
            UnpicklingError: for a name outside the list, which it tells.
        """
        found = names.safe(module, name)
        if found is None:
            full = f"{module}.{name}"[:300]
            raise pickle.UnpicklingError(
                f"Unsupported global: GLOBAL {full} was not an allowed global by default. Please "
                f"use `torch.serialization.add_safe_globals([{full}])` or the "
                f"`torch.serialization.safe_globals([{full}])` context manager to allowlist this "
                "global if you trust this class/function."
            )
        return found

    def persistent_load(self, pid: object) -> TypedStorage:
        """The storage that a reference in the file means."""
        return storage_of(pid, self._storage, self._known)

    def _reduce(self) -> None:
        function = self.stack[-2]
        if not names.may_be_called(function):
            raise pickle.UnpicklingError(
                f"Trying to call reduce for unrecognized function {describe(function)}"
            )
        self.check_call(function, self.stack[-1])
        self.spend(names.cost_of(function))
        super().load_reduce()

    def _newobj(self) -> None:
        cls = self.stack[-2]
        if not isinstance(cls, type) or not names.may_be_called(cls):
            raise pickle.UnpicklingError(
                f"Trying to create new object for unrecognized class {describe(cls)}"
            )
        self.check_call(cls, self.stack[-1])
        super().load_newobj()

    def _build(self) -> None:
        place, state = self.stack[-2:]
        if not names.may_be_built(place):
            raise pickle.UnpicklingError(
                "Can only build Tensor, Parameter, OrderedDict or types allowlisted via "
                f"`add_safe_globals`, but got {type(place)}"
            )
        # A state may be a pair: of `__dict__` and of slots.
        self.spend_on((state, *state) if isinstance(state, tuple) else (state,))
        super().load_build()

    def _append(self) -> None:
        if type(self.stack[-2]) is not list:
            raise pickle.UnpicklingError(
                f"Can only append to lists, but got {type(self.stack[-2])}"
            )
        super().load_append()

    def _extend(self) -> None:
        if type(self.metastack[-1][-1]) is not list:
            raise pickle.UnpicklingError(
                f"Can only extend lists, but got {type(self.metastack[-1][-1])}"
            )
        super()._appends()

    def _set_one(self) -> None:
        _check_target("SETITEM", self.stack[-3])
        super()._setitem()

    def _set_all(self) -> None:
        _check_target("SETITEMS", self.metastack[-1][-1])
        super()._setitems()

    def _add(self) -> None:
        if type(self.metastack[-1][-1]) is not set:
            raise pickle.UnpicklingError(
                f"Can only add to sets, but got {type(self.metastack[-1][-1])}"
            )
        super()._additems()

    def _refuse(self) -> None:
        raise pickle.UnpicklingError("Unsupported operand")

    dispatch[pickle.REDUCE[0]] = _reduce
    dispatch[pickle.NEWOBJ[0]] = _newobj
    dispatch[pickle.BUILD[0]] = _build
    dispatch[pickle.APPEND[0]] = _append
    dispatch[pickle.APPENDS[0]] = _extend
    dispatch[pickle.SETITEM[0]] = _set_one
    dispatch[pickle.SETITEMS[0]] = _set_all
    dispatch[pickle.ADDITEMS[0]] = _add
    for _code in (pickle.INST, pickle.OBJ, pickle.NEWOBJ_EX, pickle.EXT1, pickle.EXT2, pickle.EXT4,
                  pickle.PERSID, pickle.NEXT_BUFFER, pickle.READONLY_BUFFER):  # fmt: skip
        dispatch[_code[0]] = _refuse


def _check_target(opcode: str, target: object) -> None:
    if type(target) not in (dict, OrderedDict, Counter):
        raise pickle.UnpicklingError(
            f"Can only {opcode} for dict, collections.OrderedDict, collections.Counter, but got "
            f"{type(target)}"
        )


# So many tuples in each other can be hashed on the smallest of usual stacks.
_SAFE_TUPLES: Final = 20_000


def _may_be_deep(body: bytes) -> bool:
    return sum(map(body.count, (b"t", b"\x85", b"\x86", b"\x87"))) > _SAFE_TUPLES


def read_pickle(body: Any, storage: Storage, budget: Budget | None, encoding: str = "utf-8") -> Any:
    """What a pickle holds, read from bytes or from a file at its position.

    With a budget the file is anybody's, and read carefully; without one it is trusted.

    Raises:
        UnpicklingError: where it isn't a pickle, or says what a careful reader doesn't do.
        RuntimeError: where a careful reader finds it damaged.
    """
    in_memory = isinstance(body, bytes)
    file = io.BytesIO(body) if in_memory else body
    if budget is None:
        kind = _Fast if in_memory and not _may_be_deep(body) else Trusting
        return kind(file, storage, encoding).load()
    try:
        return Careful(file, storage, budget, encoding).load()
    except pickle.UnpicklingError as error:
        raise pickle.UnpicklingError(_explain_refusal(str(error))) from None
    except EOFError:
        raise
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, OverflowError,
            RecursionError, MemoryError, struct.error) as error:  # fmt: skip
        why = str(error)[:300]
        raise pickle.UnpicklingError(
            _explain_refusal(f"the file is damaged or hostile: {why}")
        ) from None


EITHER = (
    "In PyTorch 2.6, we changed the default value of the `weights_only` argument in "
    "`torch.load` from "
    "`False` to `True`. Re-running `torch.load` with `weights_only` set to `False` will "
    "likely succeed, "
    "but it can result in arbitrary code execution. Do it only if you got the file from a "
    "trusted source."
)


def _explain_refusal(reason: str) -> str:
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
