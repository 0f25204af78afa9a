"""The default source of random numbers: seeding it, saving and restoring its state."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ._base.lazy import list_names as _listed
from ._table.random.generator import Generator as Generator, default_generator as default_generator

if TYPE_CHECKING:
    from ._tensor.tensor import Tensor


def manual_seed(seed: int) -> Generator:
    """Starts the default generator anew from a number, and returns it.

    Raises:
        ValueError: for a number outside [-2**63, 2**64).

    Parameters:
        seed: the number; a negative one counts from 2**64.
    Returns: Generator: the default one.
    Example:
        >>> _ = torch.manual_seed(0)
        >>> torch.rand(2)
        tensor([0.4963, 0.7682])
    """
    return default_generator.manual_seed(int(seed))


def seed() -> int:
    """Starts the default generator anew from a number that the system draws, which is returned.

    Returns: int: the number that was drawn.
    Example:
        >>> torch.seed() == torch.initial_seed()
        True
    """
    return default_generator.seed()


def initial_seed() -> int:
    """The number from which the default generator was started.

    Returns: int.
    Example:
        >>> _ = torch.manual_seed(7)
        >>> torch.initial_seed()
        7
    """
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """The state of the default generator, a tensor of 5056 bytes.

    Shapes: (5056).
    Returns: Tensor, of uint8.
    Example:
        >>> state = torch.get_rng_state()
        >>> x = torch.rand(2)
        >>> torch.set_rng_state(state)
        >>> torch.equal(x, torch.rand(2))
        True
    """
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Takes up a state that `get_rng_state` gave.

    Parameters:
        new_state: what `get_rng_state` has given, here or in PyTorch.
    Shapes: (5056).
    Raises:
        TypeError: for anything but a tensor of uint8.
        RuntimeError: for one that is no state.
    Example:
        >>> state = torch.get_rng_state()
        >>> torch.set_rng_state(state)
    """
    default_generator.set_state(new_state)


@contextmanager
def fork_rng(devices: object = None, enabled: bool = True, **kwargs: object) -> Iterator[None]:
    """A context after which the default generator is where it was before.

    Parameters:
        devices: of other devices; only looked at.
        enabled: whether it does anything.
    Returns: a context manager.
    Raises: nothing.
    Example:
        >>> _ = torch.manual_seed(0)
        >>> with torch.random.fork_rng():
        ...     x = torch.rand(2)
        >>> torch.equal(x, torch.rand(2))
        True
    """
    if not enabled:
        yield
        return
    state = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(state)


def thread_safe_generator() -> Generator | None:
    """None: workers are processes, and each has a default generator of its own.

    Returns: None, or in PyTorch a generator of a worker thread.
    Example:
        >>> torch.random.thread_safe_generator() is None
        True
    """
    return None


__all__ = [
    "set_rng_state",
    "get_rng_state",
    "manual_seed",
    "seed",
    "initial_seed",
    "fork_rng",
    "thread_safe_generator",
]

__dir__ = _listed(globals())
