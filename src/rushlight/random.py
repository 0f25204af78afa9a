"""The default source of random numbers: seeding it, saving and restoring its state."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ._base.lazy import listed as _listed
from ._table.random.generator import Generator as Generator, default_generator as default_generator

if TYPE_CHECKING:
    from ._tensor.tensor import Tensor


def manual_seed(seed: int) -> Generator:
    """Starts the default generator anew from a number, and returns it.

    Raises:
        ValueError: for a number outside [-2**63, 2**64).
    """
    return default_generator.manual_seed(int(seed))


def seed() -> int:
    """Starts the default generator anew from a number that the system draws, which is returned."""
    return default_generator.seed()


def initial_seed() -> int:
    """The number from which the default generator was started."""
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """The state of the default generator, a tensor of 5056 bytes."""
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Takes up a state that `get_rng_state` gave."""
    default_generator.set_state(new_state)


@contextmanager
def fork_rng(devices: object = None, enabled: bool = True, **kwargs: object) -> Iterator[None]:
    """A context after which the default generator is where it was before."""
    if not enabled:
        yield
        return
    state = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(state)


def thread_safe_generator() -> Generator | None:
    """None: workers are processes, and each has a default generator of its own."""
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
