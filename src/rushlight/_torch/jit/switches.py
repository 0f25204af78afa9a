"""Switches of TorchScript's optimiser, which has nothing to do here, and its tasks."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from ...utils._futures import Future
from ._script import no_graph

__all__ = [
    "enable_onednn_fusion", "fork", "fuser", "last_executed_optimized_graph",
    "onednn_fusion_enabled", "optimized_execution", "parallel", "set_fusion_strategy",
    "strict_fusion", "wait",
]  # fmt: skip

_onednn = [False]
_strategy: list[list[tuple[str, int]]] = [[("STATIC", 2), ("DYNAMIC", 10)]]


@contextlib.contextmanager
def optimized_execution(should_optimize: bool) -> Iterator[None]:
    """A context that changes nothing: there is no graph to optimise."""
    yield


@contextlib.contextmanager
def fuser(name: str) -> Iterator[None]:
    """A context that changes nothing: there is no graph to fuse.

    Raises:
        Exception: for the name of no fuser of PyTorch's.
    """
    if name not in ("fuser0", "fuser1", "fuser2", "fuser3", "none"):
        raise Exception(f"unrecognized fuser option (name: {name})")
    yield


class strict_fusion:
    """A context that changes nothing: there is no graph to fuse."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        pass


def set_fusion_strategy(strategy: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Notes a strategy and gives the one before."""
    before, _strategy[0] = _strategy[0], strategy
    return before


def enable_onednn_fusion(enabled: bool) -> None:
    """Notes what was asked for."""
    _onednn[0] = enabled


def onednn_fusion_enabled() -> bool:
    """What was asked for."""
    return _onednn[0]


def last_executed_optimized_graph() -> Any:
    """Raises RuntimeError: there is no graph."""
    no_graph("last_executed_optimized_graph()")


def fork(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Future[Any]:
    """The future of a call, which is made at once.

    Parameters:
        func: what is called.
        args: its arguments; named ones too.
    Returns: Future.
    Raises: what the call raises.
    Example:
        >>> torch.jit.wait(torch.jit.fork(torch.add, torch.ones(1), 1))
        tensor([2.])
    """
    future: Future[Any] = Future()
    future.set_result(func(*args, **kwargs))
    return future


def wait(future: Any) -> Any:
    """The result of a future.

    Parameters:
        future: what `fork` has given.
    Returns: what the call has given.
    Raises: what the call has raised; TypeError: for what is no future. RuntimeError: for None.
    Example:
        >>> torch.jit.wait(torch.jit.fork(torch.add, torch.ones(1), 1))
        tensor([2.])
    """
    if future is None:
        raise RuntimeError("Future can't be None")
    if not isinstance(future, Future):
        raise TypeError(
            "wait(): incompatible function arguments. The following argument types are supported:"
            f"\n    1. (arg0: torch._C.Future) -> object\n\nInvoked with: {future!r}"
        )
    return future.wait()


def parallel(*args: Any, **kwargs: Any) -> Any:
    """Raises RuntimeError: there is no graph."""
    no_graph("parallel()")
