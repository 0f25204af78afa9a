"""Checkpoints in a folder, written and read by one process."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..._base.error_notes import advised
from ..._tensor.tensor import Tensor
from ...serialization import load as load_file, save as save_file
from ..process_group import alone

if TYPE_CHECKING:
    from ..process_group import ProcessGroup


__all__ = ["FileSystemReader", "FileSystemWriter", "load", "save"]

_FILE = "rushlight.pt"


class FileSystemWriter:
    """Where a checkpoint is written: a folder."""

    def __init__(self, path: str | os.PathLike[str], *args: object, **kwargs: object) -> None:
        self.path = Path(path)


class FileSystemReader(FileSystemWriter):
    """Where a checkpoint is read: a folder."""


def _folder(checkpoint_id: Any, storage: Any) -> Path:
    if checkpoint_id is None and storage is None:
        raise RuntimeError(
            "`checkpoint_id` must be specified if storage_reader/storage_writer is None."
        )
    return Path(checkpoint_id if checkpoint_id is not None else storage.path)


def _alone(verb: str) -> None:
    from .. import is_initialized

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
    return value.state_dict() if _stateful(value) else value


def _stateful(value: object) -> bool:
    return hasattr(value, "state_dict") and hasattr(value, "load_state_dict")


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

    The folder holds one file that `torch.load` reads, not PyTorch's own files of shards.
    """
    _alone("save")
    if not no_dist:
        alone("torch.distributed.checkpoint.save", process_group)
    folder = _folder(checkpoint_id, storage_writer)
    folder.mkdir(parents=True, exist_ok=True)
    save_file(_state(state_dict), folder / _FILE)


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

    Raises:
        RuntimeError: for a key that was not saved, another shape, and for PyTorch's own folders.
    """
    _alone("load")
    folder = _folder(checkpoint_id, storage_reader)
    if not (folder / _FILE).exists() and (folder / ".metadata").exists():
        raise advised(
            RuntimeError(f"{folder} holds PyTorch's files of shards"),
            "make one file of them with PyTorch: "
            "torch.distributed.checkpoint.format_utils.dcp_to_torch_save; then use torch.load",
        )
    _read_into(state_dict, load_file(folder / _FILE), "")


def _read_into(wanted: dict[str, Any], saved: dict[str, Any], path: str) -> None:
    for key, value in wanted.items():
        where = f"{path}.{key}" if path else str(key)
        if key not in saved:
            raise RuntimeError(f"Missing key in checkpoint state_dict: {where}.")
        found = saved[key]
        if isinstance(value, Tensor):
            if value.shape != found.shape:
                raise RuntimeError(
                    f"Size mismatch between saved {found.shape} and current: {value.shape} for "
                    f"{where}"
                )
            value.detach().copy_(found)
        elif _stateful(value):
            value.load_state_dict(found)
        elif isinstance(value, dict) and isinstance(found, dict):
            _read_into(value, found, where)
        else:
            wanted[key] = found
