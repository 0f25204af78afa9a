"""`torch.multiprocessing`: the standard library's, with tensors sent through shared memory.

A tensor in a queue, or among the arguments of a process, is not copied: both processes see the same
memory from then on. Receive it while the sender lives.
"""

from __future__ import annotations

import multiprocessing
import multiprocessing.context
from typing import TYPE_CHECKING

from .._base.lazy import lazy, list_names as _listed
from . import reductions
from .spawn import (
    ProcessContext,
    ProcessExitedException,
    ProcessRaisedException,
    SpawnContext,
    spawn,
    start_processes,
)

_names = list(multiprocessing.__all__)
for _name in _names:
    globals()[_name] = getattr(multiprocessing, _name)

_strategy = ["file_descriptor"]


def get_all_sharing_strategies() -> set[str]:
    """The names that `set_sharing_strategy` takes.

    Returns: a set of text.
    Example:
        >>> sorted(torch.multiprocessing.get_all_sharing_strategies())
        ['file_descriptor', 'file_system']
    """
    return {"file_descriptor", "file_system"}


def get_sharing_strategy() -> str:
    """The strategy that was asked for.

    Returns: its name.
    Example:
        >>> torch.multiprocessing.get_sharing_strategy()
        'file_descriptor'
    """
    return _strategy[0]


def set_sharing_strategy(new_strategy: str) -> None:
    """Notes a strategy; open files are sent whatever it is.

    Parameters:
        new_strategy: its name, of those that `get_all_sharing_strategies` gives.
    Raises: AssertionError: for a strategy that PyTorch lacks.
    Example:
        >>> torch.multiprocessing.set_sharing_strategy("file_system")
        >>> torch.multiprocessing.get_sharing_strategy()
        'file_system'
        >>> torch.multiprocessing.set_sharing_strategy("file_descriptor")
    """
    if new_strategy not in get_all_sharing_strategies():
        raise AssertionError(f"invalid sharing strategy: {new_strategy}")
    _strategy[0] = new_strategy


def init_reductions() -> None:
    """Has queues, pipes and new processes send tensors through shared memory; done on import.

    Example:
        >>> torch.multiprocessing.init_reductions()
        >>> here, there = torch.multiprocessing.Pipe()
        >>> here.send(torch.ones(2))
        >>> there.recv()
        tensor([1., 1.])
    """
    reductions.init_reductions()


def _find(name: str) -> object:
    if name[:2] == "__":
        raise KeyError(name)
    return vars(multiprocessing)[name]


if TYPE_CHECKING:
    from multiprocessing import *  # noqa: F403 -- as at run time, above
else:  # what the standard library's module has beside its public names
    __getattr__ = lazy(__name__, find=_find)

init_reductions()

__all__ = [
    "ProcessContext", "ProcessExitedException", "ProcessRaisedException", "SpawnContext",
    "get_all_sharing_strategies", "get_sharing_strategy", "init_reductions",
    "set_sharing_strategy", "spawn", "start_processes",
]  # fmt: skip
__all__ += [name for name in _names if name not in __all__]

__dir__ = _listed(globals())
