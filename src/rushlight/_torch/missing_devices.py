"""Functions of devices that aren't here: they answer that there are none, or refuse."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from .._base.device import device as _device
from .._base.error_notes import advise, locate
from .._base.lazy import load

__all__ = [
    "AcceleratorError", "OutOfMemoryError", "dummy", "get_device_module", "giving", "names",
    "no_effect", "nothing", "refusing", "sign",
]  # fmt: skip

Namespace = dict[str, Any]


def sign(function: Callable[..., Any], name: str, module: str, doc: str) -> Callable[..., Any]:
    """The function under its public name."""
    function.__name__ = function.__qualname__ = name
    function.__module__ = module
    function.__doc__ = doc
    return function


def giving(space: Namespace, make: Callable[[], Any], text: str) -> None:
    """Puts functions that give `make()`, whatever they get, into a module."""
    for name in text.split():

        def function(*args: Any, **kwargs: Any) -> Any:
            return make()

        space[name] = sign(function, name, space["__name__"], f"{make()!r}: no such device here.")


def nothing(space: Namespace, text: str) -> None:
    """Puts functions that do nothing into a module."""
    giving(space, lambda: None, text)


def refusing(space: Namespace, kind: type[BaseException], message: str, text: str) -> None:
    """Puts functions that raise into a module; `{name}` in the message is the function's."""
    for name in text.split():

        def function(
            *args: Any, _said: str = message.replace("{name}", name), **kwargs: Any
        ) -> Any:
            raise locate(kind(_said))

        space[name] = sign(
            function,
            name,
            space["__name__"],
            f"Raises {kind.__name__}: there is no such device here.",
        )


def dummy(space: Namespace, text: str) -> None:
    """Puts classes that can't be instantiated into a module."""
    for name in text.split():

        def init(self: Any, *args: Any, _name: str = name, **kwargs: Any) -> None:
            raise advise(
                RuntimeError(f"Tried to instantiate dummy base class {_name}"),
                "there is no such device here: ask torch.cuda.is_available() before",
            )

        doc = "No such device here: can't be made."
        space[name] = type(
            name, (), {"__init__": init, "__module__": space["__name__"], "__doc__": doc}
        )


def names(space: Namespace) -> list[str]:
    """The public names of a module."""
    return sorted(
        name
        for name, value in space.items()
        if name[0] != "_" and getattr(value, "__module__", "") == space["__name__"]
    )


def get_device_module(device: Any = None) -> Any:
    """The module of a kind of device: `cpu` where none is given.

    Raises:
        RuntimeError: for a name that is no kind of device, or one without a module.

    Parameters:
        device: its name, or a `torch.device`.
    Returns: a module.
    Example:
        >>> torch.get_device_module("cpu").__name__.rpartition(".")[2]
        'cpu'
    """
    kind = "cpu" if device is None else _device(device).type
    try:
        return load(f"_torch.{kind}")
    except ModuleNotFoundError:
        raise RuntimeError(
            f"Device '{kind}' does not have a corresponding module registered as 'torch.{kind}'."
        ) from None


@contextlib.contextmanager
def no_effect(*args: Any, **kwargs: Any) -> Iterator[None]:
    """A context that does nothing."""
    yield


class OutOfMemoryError(RuntimeError):
    """A device has no memory left; never raised here."""


class AcceleratorError(RuntimeError):
    """A device has failed; never raised here."""


for _kind in (OutOfMemoryError, AcceleratorError):
    _kind.__module__ = "torch"
