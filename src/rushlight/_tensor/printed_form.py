"""The printed form of tensors: values, or a size where there are none, and what else there is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._array import printing as text
from .._array.memory.meta import MetaArray
from .._base import dtypes as D
from .._base.notebook_forms import preformat
from .._core import slow
from .._core.mode import current
from .._core.run import DERIVATIVES
from .._core.storage import CLASSES
from .._core.views import current_node
from .printed_levels import levels_text

if TYPE_CHECKING:
    from .tensor import Tensor


def format_tensor(t: Tensor, contents: str | None = None) -> str:
    """The printed form of a tensor, as PyTorch prints it."""
    if DERIVATIVES.get() and (written := levels_text(t)) is not None:
        return written
    suffixes: list[str] = []
    try:
        node = current_node(t)
    except RuntimeError:  # a view that can't follow what was done to its base
        suffixes.append("grad_fn=<Invalid>")
        node = None
    if node is not None and node.shown() is not None:
        suffixes.append(f"grad_fn=<{type(node).__name__}>")
    elif t.requires_grad and not suffixes:
        suffixes.append("requires_grad=True")
    if not t._plain and slow.TANGENTS.find is not None and current().forward_grad:
        tangent = slow.TANGENTS.find(t)
        if tangent is not None:
            suffixes.append(
                f"tangent={tangent.item() if not tangent.ndim else format_tensor(tangent)}"
            )
    name = "tensor" if type(t) is CLASSES.tensor or type(t)._printed_as_tensor else type(t).__name__
    if type(t._raw) is MetaArray:
        return text.text_without_data(
            t._raw, t.dtype.name, suffixes, name=name, default_dtype=D.get_default_dtype().name
        )
    return text.tensor_text(
        t._raw, t.dtype.name, suffixes=suffixes, name=name,
        default_dtype=D.get_default_dtype().name, contents=contents,
    )  # fmt: skip


def in_notebook(t: Tensor) -> str:
    """The tensor as HTML: its printed form, and below it what that doesn't tell."""
    shape = " × ".join(map(str, t.shape)) or "a number"
    return preformat(repr(t), f"{shape} · {t.dtype}".replace("torch.", ""))
