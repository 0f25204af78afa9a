"""`torch.compiler`: what programs ask of it, and of `rushlight.compile`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._compile import compile, reset
from .._core.mode import current

__all__ = [
    "allow_in_graph",
    "assume_constant_result",
    "compile",
    "cudagraph_mark_step_begin",
    "disable",
    "get_default_backend",
    "is_compiling",
    "is_dynamo_compiling",
    "is_exporting",
    "list_backends",
    "reset",
    "set_stance",
]


def is_compiling() -> bool:
    """Whether a step is being recorded for `rushlight.compile`."""
    return current().recorder is not None


def is_dynamo_compiling() -> bool:
    """Whether a step is being recorded for `rushlight.compile`."""
    return is_compiling()


def is_exporting() -> bool:
    """False: nothing is being exported."""
    return False


def disable(
    fn: Callable[..., Any] | None = None, recursive: bool = True, *, reason: str | None = None
) -> Any:
    """The function, of which compiled steps know that it runs eagerly; usable as a decorator.

    A step that calls it runs eagerly as a whole.
    """
    if fn is None:
        return lambda function: disable(function, recursive, reason=reason)
    from .._compile.disabled import eager_only

    return eager_only(fn, reason)


def allow_in_graph(fn: Any) -> Any:
    """The function itself: whatever consists of operations is recorded."""
    return fn


def assume_constant_result(fn: Any) -> Any:
    """The function itself."""
    return fn


def cudagraph_mark_step_begin() -> None:
    """Does nothing: there are no graphs of an accelerator here."""


def list_backends(exclude_tags: Any = ("debug", "experimental")) -> list[str]:
    """The one implementation there is."""
    return ["inductor"]


def get_default_backend() -> str:
    """The name of the one implementation there is."""
    return "inductor"


STANCES = ("default", "force_eager", "eager_on_recompile", "fail_on_recompile",
           "eager_then_compile")  # fmt: skip


class set_stance:
    """Switches compiling off (`"force_eager"`) or on (`"default"`), or does so within `with`."""

    def __init__(self, stance: str = "default", **options: Any) -> None:
        if stance not in STANCES:
            raise RuntimeError(f"invalid torch.compile stance '{stance}'")
        self.before = set_stance.now
        self._set(stance)

    now = "default"

    @staticmethod
    def _set(name: str) -> None:
        from .._compile.api import stance

        set_stance.now = name
        stance(name)

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        self._set(self.before)
