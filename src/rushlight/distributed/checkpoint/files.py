"""Checkpoints in a folder, of one process or of several."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..._base.error_notes import advise
from ...serialization import load as load_file
from ..process_group import choose, is_initialized
from .default_planner import DefaultSavePlanner, reads_in_part, refuse_others
from .pieces import INDEX, join_pieces, read_state, save_pieces, stateful, write_whole

if TYPE_CHECKING:
    from ..annotations import Given, State
    from ..process_group import ProcessGroup


__all__ = ["FileSystemReader", "FileSystemWriter", "load", "save"]


class FileSystemWriter:
    """Where a checkpoint is written: a folder.

    Parameters:
        path: the folder, which `save` makes where it must be.
        *args: others of PyTorch's, which change nothing here; so do those by name.
    Raises: TypeError: for what is no path.
    Example:
        >>> import tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> place = torch.distributed.checkpoint.FileSystemWriter(folder.name)
        >>> dist.checkpoint.save({"step": 3}, storage_writer=place)
    """

    def __init__(self, path: str | os.PathLike[str], *args: object, **kwargs: object) -> None:
        self.path = Path(path)


class FileSystemReader(FileSystemWriter):
    """Where a checkpoint is read: a folder.

    Parameters:
        path: the folder that `save` wrote.
        *args: others of PyTorch's, which change nothing here; so do those by name.
    Raises: TypeError: for what is no path.
    Example:
        >>> import tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> dist.checkpoint.save({"step": 3}, checkpoint_id=folder.name)
        >>> state = {"step": 0}
        >>> place = torch.distributed.checkpoint.FileSystemReader(folder.name)
        >>> dist.checkpoint.load(state, storage_reader=place)
        >>> state
        {'step': 3}
    """


def _folder(checkpoint_id: Any, storage: Any) -> Path:
    if checkpoint_id is None and storage is None:
        raise RuntimeError(
            "`checkpoint_id` must be specified if storage_reader/storage_writer is None."
        )
    return Path(checkpoint_id if checkpoint_id is not None else storage.path)


def _alone(verb: str) -> None:
    if not is_initialized():
        warnings.warn(
            "torch.distributed is disabled, unavailable or uninitialized, assuming the intent is "
            f"to {verb} in a single process.",
            UserWarning,
            stacklevel=3,
        )


def _state(value: Any) -> object:
    """A dictionary's parts as plain values: what has a state of its own gives it."""
    if isinstance(value, dict):
        return {key: _state(inner) for key, inner in value.items()}
    return value.state_dict() if stateful(value) else value


def save(
    state_dict: dict[str, object],
    *,
    checkpoint_id: str | os.PathLike[str] | None = None,
    storage_writer: object = None,
    planner: object = None,
    process_group: ProcessGroup | None = None,
    no_dist: bool = False,
    use_collectives: bool = True,
) -> None:
    """Writes a dictionary of tensors and values into a folder, which is made where it must be.

    One process writes one file that `torch.load` reads. Of several each writes a file of what it
    has, and rank 0 an index of them. Neither are PyTorch's own files.

    Parameters:
        state_dict: tensors, values, dictionaries of them, and what has a `state_dict` of its own.
        checkpoint_id: the folder.
        storage_writer: a `FileSystemWriter`, whose folder is taken where `checkpoint_id` is None.
        planner: a `DefaultSavePlanner`.
        use_collectives: nothing here.
        process_group: the ranks that write together; None means all.
        no_dist: whether this process writes alone, whatever groups there are.
    Raises:
        RuntimeError: where no folder is named.
        OSError: where it can't be written.
        CheckpointException: on every rank, where one of several has failed: the former checkpoint
            is kept.
    Example:
        >>> import tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> dist.checkpoint.save({"w": torch.ones(2), "step": 3}, checkpoint_id=folder.name)
        >>> state = {"w": torch.zeros(2), "step": 0}
        >>> dist.checkpoint.load(state, checkpoint_id=folder.name)
        >>> state
        {'w': tensor([1., 1.]), 'step': 3}
    """
    _alone("save")
    refuse_others(planner, DefaultSavePlanner)
    folder = _folder(checkpoint_id, storage_writer)
    if not no_dist and is_initialized() and choose(process_group).size() > 1:
        save_pieces(state_dict, folder, choose(process_group))
        return
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(_state(state_dict), folder / INDEX)


def load(
    state_dict: dict[str, object],
    *,
    checkpoint_id: str | os.PathLike[str] | None = None,
    storage_reader: object = None,
    planner: object = None,
    process_group: ProcessGroup | None = None,
    no_dist: bool = False,
) -> None:
    """Reads what `save` wrote into the tensors of a dictionary, in place.

    Parameters:
        state_dict: what is wanted: tensors are written over, what has a `load_state_dict` is given
            its part, other values are replaced.
        checkpoint_id: the folder.
        storage_reader: a `FileSystemReader`, whose folder is taken where `checkpoint_id` is None.
        planner: a `DefaultLoadPlanner`, which may let tensors be that weren't saved.
        process_group, no_dist: nothing here: each rank reads what it wants.
    Raises:
        RuntimeError: where no folder is named, for a key that was not saved, another shape, and for
            PyTorch's own folders.
        OSError: where there is no checkpoint.
    Example:
        >>> import tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> model = nn.Linear(2, 1)
        >>> dist.checkpoint.save({"model": model.state_dict()}, checkpoint_id=folder.name)
        >>> other = nn.Linear(2, 1)
        >>> dist.checkpoint.load({"model": other.state_dict()}, checkpoint_id=folder.name)
        >>> torch.equal(model.weight, other.weight)
        True
    """
    _alone("load")
    partly = reads_in_part(planner)
    folder = _folder(checkpoint_id, storage_reader)
    read_state(state_dict, folder, _read_index(folder), partly)


def read_whole(folder: Path) -> State:
    """All that a folder holds, of tensors the whole.

    Raises:
        RuntimeError: for PyTorch's own folders.
    """
    held: State = _read_index(folder)
    return join_pieces(folder, held) or held


def _read_index(folder: Path) -> Given:
    """The index of a folder, or the whole."""
    if not (folder / INDEX).exists() and (folder / ".metadata").exists():
        raise advise(
            RuntimeError(f"{folder} holds PyTorch's files of shards"),
            "make one file of them with PyTorch: "
            "torch.distributed.checkpoint.format_utils.dcp_to_torch_save; then use torch.load",
        )
    return load_file(folder / INDEX)
