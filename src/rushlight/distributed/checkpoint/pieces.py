"""Checkpoints that every rank writes a part of, and any number of ranks reads.

Each rank writes the pieces that it has into a file of a new name, and rank 0 an index of them.
When all have done so, rank 0 puts its index in the place of the last one, in one step: until then,
and if a rank fails, the folder holds the checkpoint that it held before. Former files are removed
afterwards. Once the index may be in its place nothing new is removed, whatever happens: an
exception from outside, as a signal's is, doesn't say whether the step before it was done.

A rank that reads asks the index where the pieces lie that its own part overlaps.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from ..._base.dtypes import BY_NAME
from ..._base.size import Size
from ..._tensor.tensor import Tensor
from ...autograd.grad_mode import no_grad
from ...serialization import load as load_file, save as save_file
from .._ground import f
from ..object_collectives import all_gather_object, broadcast_object_list
from ..tensor._api import DTensor
from ..tensor._layout import local_piece

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..annotations import Given, State
    from ..process_group import ProcessGroup

__all__ = [
    "CheckpointException", "INDEX", "join_pieces", "read_state", "save_pieces", "stateful",
    "write_whole",
]  # fmt: skip

INDEX = "rushlight.pt"
_MARK = "rushlight.pieces"
Shape = tuple[int, ...]
Path_ = tuple[str | int, ...]


class CheckpointException(BaseException):
    """What went wrong on some ranks, by rank."""

    __module__ = "torch.distributed.checkpoint.api"

    def __init__(self, msg: str, failures: dict[int, str]) -> None:
        super().__init__(msg, failures)
        self.failures = failures

    def __str__(self) -> str:
        lines = "".join(f"\nrank {rank}: {text}" for rank, text in self.failures.items())
        return f"CheckpointException ranks:{self.failures.keys()}{lines}"


def stateful(value: Given) -> bool:
    """Whether a value has a state of its own."""
    return hasattr(value, "state_dict") and hasattr(value, "load_state_dict")


def _write_through(value: Given, path: Path) -> None:
    """Writes a file; gives back when it lies on the disk."""
    save_file(value, path)
    with open(path, "rb") as written:
        os.fsync(written.fileno())


def write_whole(value: Given, path: Path) -> None:
    """Writes a file and puts it in the place of what was there, in one step."""
    new = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        _write_through(value, new)
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)


def _leaves(value: Given, path: Path_ = ()) -> Iterator[tuple[Path_, Given]]:
    if stateful(value) and not isinstance(value, Tensor):
        value = value.state_dict()
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _leaves(inner, (*path, key))
    else:
        yield path, value


def _box(tensor: Tensor) -> tuple[Tensor, Shape, Shape]:
    """What this rank has of a tensor: its elements, where they begin, and the whole's shape."""
    if isinstance(tensor, DTensor):
        _, start = local_piece(tuple(tensor.shape), tensor.device_mesh, tensor.placements)
        return tensor._local_tensor.detach(), start, tuple(tensor.shape)
    return tensor.detach(), (0,) * tensor.dim(), tuple(tensor.shape)


def save_pieces(state: State, folder: Path, group: ProcessGroup) -> None:
    """Writes this rank's part; gives back when the checkpoint is whole.

    Raises:
        CheckpointException: on every rank, where one has failed; the folder holds the former
            checkpoint or, where only the last step was disturbed, this one.
    """
    names: list[Given] = [secrets.token_hex(6)]
    broadcast_object_list(names, group=group, group_src=0)
    file, new_index = f"__{group.rank()}_{names[0]}.distcp", folder / f".{INDEX}.{names[0]}"
    own: list[Given] = []
    tensors: dict[Path_, Tensor] = {}
    for path, value in _leaves(state):
        if isinstance(value, Tensor):
            local, start, shape = _box(value)
            tensors[path] = local
            own.append((path, (start, tuple(local.shape), shape, str(value.dtype))))
        else:
            own.append((path, value))
    gathered: list[Given] = [None] * group.size()
    all_gather_object(gathered, own, group)
    index, mine = _divide(gathered, names[0], group.rank())

    def write() -> None:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole({path: tensors[path].clone() for path in mine}, folder / file)
        if group.rank() == 0:
            _write_through({_MARK: index}, new_index)

    def undo() -> None:
        (folder / file).unlink(missing_ok=True)
        if group.rank() == 0:
            new_index.unlink(missing_ok=True)

    _agree(_trying(write), group, undo)
    error = _trying(lambda: new_index.replace(folder / INDEX)) if group.rank() == 0 else None
    _agree(error, group, lambda: None)
    for old in folder.glob(f"__{group.rank()}_*.distcp"):
        if old.name != file:
            old.unlink(missing_ok=True)
    if group.rank() == 0:
        for pattern in ("__*_*.distcp", ".__*_*.distcp.*", f".{INDEX}.*"):
            for old in folder.glob(pattern):
                if names[0] not in old.name:
                    old.unlink(missing_ok=True)


def _trying(call: Given) -> str | None:
    try:
        call()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def _agree(error: str | None, group: ProcessGroup, undo: Given) -> None:
    """Raises on every rank where one has failed."""
    errors: list[Given] = [None] * group.size()
    all_gather_object(errors, error, group)
    failures = {rank: text for rank, text in enumerate(errors) if text is not None}
    if failures:
        _trying(undo)
        raise CheckpointException("save", failures)


def _divide(gathered: list[Given], name: str, me: int) -> tuple[dict[Path_, Given], list[Path_]]:
    """The index, and what this rank writes: each box is written by the first rank that has it."""
    index: dict[Path_, Given] = {}
    mine: list[Path_] = []
    for rank, own in enumerate(gathered):
        for path, value in own:
            if not _is_box(value):
                index.setdefault(path, ("value", value))
                continue
            start, lengths, shape, dtype = value
            kind, _, _, pieces = index.setdefault(path, ("tensor", shape, dtype, []))
            if kind != "tensor" or (0 in lengths and shape != lengths):
                continue
            if all(piece[1] != start for piece in pieces):
                pieces.append((f"__{rank}_{name}.distcp", start, lengths))
                if rank == me:
                    mine.append(path)
    return index, mine


def _is_box(value: Given) -> bool:
    return isinstance(value, tuple) and len(value) == 4 and isinstance(value[3], str)


def join_pieces(folder: Path, held: Given) -> State:
    """All of a checkpoint, of tensors the whole; {} where the file is no index."""
    out: State = {}
    if not isinstance(held, dict) or _MARK not in held:
        return out
    index, files = held[_MARK], _Files(folder)
    for path in index:
        place = out
        for key in path[:-1]:
            place = place.setdefault(key, {})
        place[path[-1]] = _read(path, index, files)
    return out


def read_state(state: State, folder: Path, held: Given, partly: bool = False) -> None:
    """Reads into the tensors of a dictionary, in place, what a folder's index says or has itself.

    With `partly` what wasn't saved is left as it is.

    Raises:
        RuntimeError: for a key that was not saved, and for another shape.
    """
    index = held[_MARK] if _MARK in held else dict(_nodes(held))
    _fill(state, (), index, _Files(folder), partly)


def _nodes(held: State, path: Path_ = ()) -> Iterator[tuple[Path_, Given]]:
    """The entries of what is one file: all that it has, dictionaries and what is in them."""
    for key, value in held.items():
        yield (*path, key), ("value", value)
        if isinstance(value, dict):
            yield from _nodes(value, (*path, key))


class _Files:
    """The files of a checkpoint, each read once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.read: dict[str, dict[Path_, Tensor]] = {}

    def tensor(self, file: str, path: Path_) -> Tensor:
        """A piece."""
        if file not in self.read:
            self.read[file] = load_file(self.folder / file)
        return self.read[file][path]


def _fill(
    wanted: State, path: Path_, index: dict[Path_, Given], files: _Files, partly: bool
) -> None:
    for key, value in wanted.items():
        where = (*path, key)
        if stateful(value):
            if where in index:  # one file has the whole state as it was
                value.load_state_dict(index[where][1])
                continue
            state = value.state_dict()
            _fill(state, where, index, files, partly)
            value.load_state_dict(state)
        elif isinstance(value, dict):
            _fill(value, where, index, files, partly)
        elif partly and where not in index:
            continue
        elif isinstance(value, Tensor):
            _fill_tensor(value, where, index, files)
        else:
            wanted[key] = _read(where, index, files)


def _read(path: Path_, index: dict[Path_, Given], files: _Files) -> Given:
    """What was saved at a path, of a tensor the whole."""
    found = _find(path, index)
    if found[0] == "value":
        return found[1]
    _, shape, dtype, _ = found
    value = f.zeros(shape, dtype=BY_NAME[dtype.rpartition(".")[2]])
    _fill_tensor(value, path, index, files)
    return value


def _find(path: Path_, index: dict[Path_, Given]) -> Given:
    if path not in index:
        name = ".".join(map(str, path))
        raise RuntimeError(f"Missing key in checkpoint state_dict: {name}.")
    return index[path]


@no_grad()
def _fill_tensor(value: Tensor, path: Path_, index: dict[Path_, Given], files: _Files) -> None:
    kind, saved, *more = _find(path, index)
    local, start, shape = _box(value)
    is_whole = kind == "value" and isinstance(saved, Tensor)
    size = Size(saved.shape if is_whole else saved if kind == "tensor" else ())
    if (kind == "value" and not is_whole) or size != shape:
        raise RuntimeError(
            f"Size mismatch between saved {size} and current: {value.shape} for "
            f"{'.'.join(map(str, path))}"
        )
    if is_whole:
        local.copy_(saved[tuple(slice(a, a + n) for a, n in zip(start, local.shape))])
        return
    for file, begin, lengths in more[1]:
        cut_here, cut_there = [], []
        for a, n, b, m in zip(start, local.shape, begin, lengths):
            low, high = max(a, b), min(a + n, b + m)
            cut_here.append(slice(low - a, high - a))
            cut_there.append(slice(low - b, high - b))
            if low >= high:
                break
        else:
            local[tuple(cut_here)] = files.tensor(file, path)[tuple(cut_there)]
