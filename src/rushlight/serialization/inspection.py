"""What is in a file, found without making any of it: `peek`, and the names a file would need."""

from __future__ import annotations

import io
import os
import pickle
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any, Final

from .._base import dtypes as D
from . import names, stream
from .archive import MARK, ArchiveReader
from .budget import Budget, size_left
from .metering import Metered

if TYPE_CHECKING:
    from os import PathLike

    from .._base.annotations import Positional


__all__ = ["Contents", "TensorNote", "get_unsafe_globals_in_checkpoint", "peek"]


@dataclass(frozen=True)
class TensorNote:
    """A tensor as a file describes it: its data aren't read."""

    shape: tuple[int, ...]
    dtype: D.dtype
    stride: tuple[int, ...]
    storage_offset: int
    storage: str
    location: str
    requires_grad: bool = False

    @property
    def nbytes(self) -> int:
        """The bytes of its elements."""
        count = 1
        for n in self.shape:
            count *= n
        return count * self.dtype.itemsize


@dataclass
class Contents:
    """What `peek` found. `tensors` is keyed as `state_dict` is: "layer.0.weight"."""

    format: str
    size: int
    tensors: dict[str, TensorNote] = field(default_factory=dict)
    values: dict[str, str] = field(default_factory=dict)
    globals: list[str] = field(default_factory=list)
    unsafe_globals: list[str] = field(default_factory=list)
    storages: dict[str, int] = field(default_factory=dict)

    def keys(self) -> list[str]:
        """The places of the tensors."""
        return list(self.tensors)

    def __str__(self) -> str:
        lines = [f"{self.format} file of {self.size} bytes"]
        width = max(map(len, self.tensors), default=0)
        for key, note in self.tensors.items():
            lines.append(f"  {key:{width}}  {note.dtype}  {list(note.shape)}  {note.nbytes} bytes")
        lines += [f"  {key} = {value}" for key, value in self.values.items()]
        if self.unsafe_globals:
            lines.append("  names outside the safe list: " + ", ".join(self.unsafe_globals))
        return "\n".join(lines)


class _Name:
    """A name in the file, and what was made with it: nothing is looked up, nothing is called."""

    def __init__(self, module: str, name: str) -> None:
        self.full = f"{module}.{name}"
        self.key = (module, name)

    def __call__(self, *args: object) -> object:
        raise TypeError(f"{self.full} is only a name here")


class _Made:
    """What the file would make by calling a name; whatever is put into it is kept as it comes."""

    def __init__(self, name: Any, args: object) -> None:
        self.name = name
        self.args = args
        self.state: Any = None
        self.items: list[Any] = []

    def append(self, item: Any) -> None:
        self.items.append(item)

    def extend(self, items: Any) -> None:
        self.items.extend(items)

    def __setitem__(self, key: str, item: object) -> None:
        self.items.append((key, item))


@dataclass(frozen=True)
class _StorageNote:
    dtype: D.dtype
    key: str
    location: str
    count: int


_TENSORS = ("_rebuild_tensor", "_rebuild_tensor_v2", "_rebuild_tensor_v3")
_PARAMETERS = ("_rebuild_parameter", "_rebuild_parameter_with_state")
_PLAIN = {("collections", "OrderedDict"): OrderedDict, ("builtins", "set"): set}


class _Reader(Metered):
    """Runs a pickle's opcodes with stand-ins for everything that it names."""

    dispatch = dict(Metered.dispatch)

    def __init__(self, body: IO[bytes], budget: Budget) -> None:
        super().__init__(body, budget, size_left(body), encoding="utf-8", errors="replace")
        self.named: set[tuple[str, str]] = set()
        self.names: list[tuple[str, str]] = []
        self.storages: dict[str, _StorageNote] = {}

    def find_class(self, module: str, name: str) -> object:
        """A stand-in for what the file names."""
        if (module, name) not in self.named:
            self.named.add((module, name))
            self.names.append((module, name))
        return _Name(module, name)

    def persistent_load(self, pid: Any) -> object:
        """A note of the storage that the file refers to."""
        if isinstance(pid, tuple) and len(pid) == 4 and pid[0] == "module":
            return pid[1]
        kind = pid[1] if isinstance(pid, tuple) and len(pid) in (5, 6) else None
        dtype = names.SAFE.get(kind.key) if isinstance(kind, _Name) else None
        if not isinstance(dtype, D.dtype):
            raise pickle.UnpicklingError("a persistent reference that is no storage")
        key, location, count = pid[2:5]
        if not (isinstance(key, str) and isinstance(location, str) and isinstance(count, int)):
            raise pickle.UnpicklingError("a storage reference of the wrong form")
        note = _StorageNote(dtype, key, location, count)
        self.storages.setdefault(note.key, note)
        return note

    def _reduce(self) -> None:
        args = self.stack.pop()
        self.spend_on(args if isinstance(args, tuple) else ())
        self.stack[-1] = _stand_in(self.stack[-1], args)

    def _newobj(self) -> None:
        self._reduce()

    def _newobj_ex(self) -> None:
        options = self.stack.pop()
        args = self.stack.pop()
        made = _Made(self.stack[-1], args)
        made.state = options
        self.stack[-1] = made

    def _build(self) -> None:
        state = self.stack.pop()
        if isinstance(self.stack[-1], _Made):
            self.stack[-1].state = state

    def _refuse(self) -> None:
        raise pickle.UnpicklingError("Unsupported operand")

    dispatch[pickle.REDUCE[0]] = _reduce
    dispatch[pickle.NEWOBJ[0]] = _newobj
    dispatch[pickle.NEWOBJ_EX[0]] = _newobj_ex
    dispatch[pickle.BUILD[0]] = _build
    for _code in (pickle.INST, pickle.OBJ, pickle.EXT1, pickle.EXT2, pickle.EXT4, pickle.PERSID,
                  pickle.NEXT_BUFFER, pickle.READONLY_BUFFER):  # fmt: skip
        dispatch[_code[0]] = _refuse


def _stand_in(name: object, args: object) -> object:
    """A stand-in for the result of a call; notes of tensors and plain containers are made."""
    if isinstance(name, _Name) and isinstance(args, tuple):
        module, last = name.key
        if name.key in _PLAIN and not args:
            return _PLAIN[name.key]()
        if module == "torch._utils" and last in _TENSORS:
            note = _tensor_note(args, untyped=last == "_rebuild_tensor_v3")
            if note is not None:
                return note
        if module == "torch._utils" and last in _PARAMETERS and args:
            return args[0]
        if (module, last) == ("torch._tensor", "_rebuild_from_type_v2") and len(args) == 4:
            return _stand_in(args[0], args[2])
    return _Made(name, args)


def _tensor_note(args: Positional, untyped: bool) -> TensorNote | None:
    if len(args) < 4 or not isinstance(args[0], _StorageNote):
        return None
    storage, offset, shape, stride = args[:4]
    dtype: Any = storage.dtype
    if untyped:
        named = args[6] if len(args) > 6 else None
        dtype = names.SAFE.get(named.key) if isinstance(named, _Name) else None
    if isinstance(shape, _Made) and isinstance(shape.args, tuple) and shape.args:
        shape = shape.args[0]
    right = isinstance(dtype, D.dtype) and all(
        isinstance(row, (tuple, list)) and all(isinstance(n, int) for n in row)
        for row in (shape, stride)
    )
    if not right or not isinstance(offset, int):
        return None
    requires_grad = bool(args[4]) if len(args) > 4 and isinstance(args[4], bool) else False
    return TensorNote(tuple(shape), dtype, tuple(stride), offset, storage.key, storage.location,
                      requires_grad)  # fmt: skip


# More places than any real file has: lists of lists of the same list make up billions.
_MOST: Final = 300_000
_HERE: Final = object()  # in place of a key: the item lies where its owner does
_END: Final = object()


def _places(value: object, budget: Budget) -> Iterator[tuple[str, object]]:
    """Every leaf of nested containers, with its place."""
    entered: set[int] = set()  # containers that this place lies in
    start: Iterator[tuple[object, object]] = iter([(_HERE, value)])
    levels = [("", id(start), start)]
    count = 0
    while levels:
        above, owner, items = levels[-1]
        key, item = next(items, (_END, None))
        if key is _END:
            entered.discard(owner)
            levels.pop()
            continue
        count += 1
        if count > _MOST:
            raise pickle.UnpicklingError(f"the file holds more than {_MOST} values")
        place = above
        if key is not _HERE:
            whole = isinstance(key, int) and key.bit_length() < 200
            shown = str(key) if whole or isinstance(key, str) else "…"
            place = f"{above}.{shown}" if above else shown
        budget.spend(len(place))
        if id(item) in entered or len(levels) > 101:
            continue
        inner: Any
        if isinstance(item, dict):
            inner = iter(item.items())
        elif isinstance(item, (list, tuple)):
            inner = enumerate(item)
        elif isinstance(item, _Made) and (item.state is not None or item.items):
            inner = iter([(_HERE, item.state), (_HERE, item.items)])
        else:
            if isinstance(item, _Made):
                item = f"{item.name.full if isinstance(item.name, _Name) else '?'}(…)"
            yield place, item
            continue
        entered.add(id(item))
        levels.append((place, id(item), inner))


def _body_of(
    file: IO[bytes], budget: Budget
) -> tuple[str, list[tuple[str, str]], dict[str, _StorageNote], object]:
    start = file.tell()
    head = file.read(4)
    file.seek(start)
    if head == MARK:
        archive = ArchiveReader(file, budget)
        pickles = [n for n in archive.records if n.endswith("/data.pkl")]
        if not pickles:
            raise RuntimeError("PytorchStreamReader failed locating file data.pkl: file not found")
        reader = _Reader(io.BytesIO(archive.read(pickles[0])), budget)
        return "zip", reader.names, reader.storages, reader.load()
    readers = [_Reader(file, budget) for _ in range(4)]
    magic, *_, value = [reader.load() for reader in readers]
    if magic != stream.MAGIC_NUMBER:
        raise RuntimeError("Invalid magic number; corrupt file?")
    return "stream", readers[3].names, readers[3].storages, value


def peek(f: str | PathLike[str] | IO[bytes]) -> Contents:
    """What a file of `save` (Rushlight's or PyTorch's) holds, without loading or executing any.

    Gives the places, shapes, dtypes and sizes of its tensors, other values as text, and every
    class and function that the file names, with those apart that `load` would refuse.

    Raises:
        UnpicklingError: where the file isn't such a file, or is damaged.
        RuntimeError: where the archive is damaged.

    Parameters:
        f: a path, or a binary file that can seek.
    Returns: Contents: with `tensors`, `values`, `globals`, `unsafe_globals` and `storages`.
    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> torch.save({"w": torch.ones(2, 3)}, file)
        >>> _ = file.seek(0)
        >>> list(torch.serialization.peek(file).tensors)
        ['w']
    """
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as file:
            return peek(file)
    start = f.tell()
    try:
        budget = Budget.of(f)
        kind, named, storages, value = _body_of(f, budget)
    except (pickle.UnpicklingError, RuntimeError):
        raise
    except Exception as error:
        raise pickle.UnpicklingError(f"the file is damaged or hostile: {error}"[:300]) from None
    finally:
        size = f.seek(0, os.SEEK_END) - start
        f.seek(start)
    found = Contents(kind, size)
    found.globals = [f"{module}.{name}" for module, name in named]
    found.unsafe_globals = [
        f"{module}.{name}" for module, name in named if names.safe(module, name) is None
    ]
    for key, note in storages.items():
        unit = 1 if note.dtype is D.uint8 else note.dtype.itemsize
        found.storages[key] = note.count * unit
    for place, leaf in _places(value, budget):
        if isinstance(leaf, TensorNote):
            found.tensors[place] = leaf
        else:
            shown = leaf if isinstance(leaf, str) and leaf.endswith("(…)") else _text(leaf)
            found.values[place] = shown
    return found


def _text(value: object) -> str:
    if isinstance(value, _Name):
        return value.full
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        text = repr(value) if not isinstance(value, int) or value.bit_length() < 10000 else "int"
        return text if len(text) <= 80 else text[:79] + "…"
    return type(value).__name__


def get_unsafe_globals_in_checkpoint(f: str | PathLike[str] | IO[bytes]) -> list[str]:
    """The names in a file that `load` would refuse, unless they are made safe globals.

    Raises:
        ValueError: for a file that isn't in the present format.

    Parameters:
        f: a path, or a binary file that can seek.
    Returns: list[str]: full names.
    Example:
        >>> import io, fractions
        >>> file = io.BytesIO()
        >>> torch.save(fractions.Fraction(1, 2), file)
        >>> _ = file.seek(0)
        >>> torch.serialization.get_unsafe_globals_in_checkpoint(file)
        ['fractions.Fraction']
    """
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as file:
            return get_unsafe_globals_in_checkpoint(file)
    start = f.tell()
    head = f.read(4)
    f.seek(start)
    if head != MARK:
        raise ValueError("Expected input to be a checkpoint returned by torch.save")
    return peek(f).unsafe_globals
