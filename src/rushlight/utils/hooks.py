"""What programs take from `torch.utils.hooks`: the handle of hooks, and which hooks are pickled."""

from __future__ import annotations

from typing import Any

from .._base.handles import RemovableHandle
from .._tensor.copies import warn_if_has_hooks


def unserializable_hook(f: Any) -> Any:
    """`f` marked as a hook that a pickle is meant to leave out, so that nobody is warned."""
    f.__torch_unserializable__ = True
    return f


__all__ = ["RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]
