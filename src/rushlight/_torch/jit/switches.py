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
    """A context that changes nothing: there is no graph to optimise.

    Parameters:
        should_optimize: whether graphs would be optimised.
    Returns: the context; it gives None.
    Raises: nothing.
    Example:
        >>> with torch.jit.optimized_execution(False):
        ...     torch.jit.script(nn.ReLU())(torch.tensor([-1.0]))
        tensor([0.])
    """
    yield


@contextlib.contextmanager
def fuser(name: str) -> Iterator[None]:
    """A context that changes nothing: there is no graph to fuse.

    Parameters:
        name: "fuser0", "fuser1", "fuser2", "fuser3" or "none".
    Returns: the context; it gives None.
    Raises: Exception: for the name of no fuser of PyTorch's.
    Example:
        >>> with torch.jit.fuser("fuser1"):
        ...     torch.jit.script(nn.ReLU())(torch.tensor([-1.0]))
        tensor([0.])
    """
    if name not in ("fuser0", "fuser1", "fuser2", "fuser3", "none"):
        raise Exception(f"unrecognized fuser option (name: {name})")
    yield


class strict_fusion:
    """A context that changes nothing: there is no graph to fuse.

    Example:
        >>> with torch.jit.strict_fusion():
        ...     torch.jit.script(nn.ReLU())(torch.tensor([-1.0]))
        tensor([0.])
    """

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        pass


def set_fusion_strategy(strategy: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Notes a strategy, which changes nothing.

    Parameters:
        strategy: pairs of "STATIC" or "DYNAMIC" and a number.
    Returns: the one that was noted before.
    Raises: nothing.
    Example:
        >>> before = torch.jit.set_fusion_strategy([("DYNAMIC", 4)])
        >>> torch.jit.set_fusion_strategy(before)
        [('DYNAMIC', 4)]
    """
    before, _strategy[0] = _strategy[0], strategy
    return before


def enable_onednn_fusion(enabled: bool) -> None:
    """Notes what was asked for, which changes nothing.

    Parameters:
        enabled: what `onednn_fusion_enabled` will say.
    Raises: nothing.
    Example:
        >>> torch.jit.enable_onednn_fusion(True)
        >>> torch.jit.onednn_fusion_enabled()
        True
        >>> torch.jit.enable_onednn_fusion(False)
    """
    _onednn[0] = enabled


def onednn_fusion_enabled() -> bool:
    """What `enable_onednn_fusion` was asked for.

    Returns: False by default.
    Example:
        >>> torch.jit.onednn_fusion_enabled()
        False
    """
    return _onednn[0]


def last_executed_optimized_graph() -> Any:
    """Refuses: there is no graph.

    Returns: nothing; it raises.
    Raises: RuntimeError: always.
    Example:
        >>> try:
        ...     torch.jit.last_executed_optimized_graph()
        ... except RuntimeError:
        ...     print("no graph")
        no graph
    """
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
    """Refuses: there is no graph.

    Parameters:
        args: whatever is given; so by name.
    Returns: nothing; it raises.
    Raises: RuntimeError: always.
    Example:
        >>> try:
        ...     torch.jit.parallel()
        ... except RuntimeError:
        ...     print("no graph")
        no graph
    """
    no_graph("parallel()")
