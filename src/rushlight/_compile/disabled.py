"""Functions that are never part of a compiled step."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from .._core.mode import current

if TYPE_CHECKING:
    from .._base.annotations import AnyCallable


def eager_only(function: AnyCallable, reason: str | None) -> AnyCallable:
    """`function`; a step that calls it while it is recorded stays eager."""
    from ..nn.modules.module import Module

    if isinstance(function, Module):
        return function

    @functools.wraps(function)
    def call_eagerly(*args: tuple[object, ...], **kwargs: dict[str, object]) -> Any:
        recorder = current().recorder
        if recorder is not None:
            name = getattr(function, "__name__", "a function")
            because = f": {reason}" if reason else ""
            recorder.refuse(f"`{name}` is marked with torch.compiler.disable{because}")
        return function(*args, **kwargs)

    call_eagerly._compile_disabled = True  # type: ignore[attr-defined]
    return call_eagerly
