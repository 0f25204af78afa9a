"""The warnings of what PyTorch still writes to expanded tensors, though it shouldn't."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

_SCALAR: Final = "tensor[mask] = scalar"


def warn_as(name: str, line: int, form: str = _SCALAR) -> Callable[[list[Any]], list[str]]:
    """The field `expanded` of a row: its warning names another form, and a line of PyTorch's."""
    text = (
        f"Use of {name}_ on expanded tensors is deprecated. Please clone() the tensor "
        "before performing this operation. This also applies to advanced indexing e.g. "
        f"{form} (Triggered internally at /__w/pytorch/pytorch/aten/src/ATen/native/"
        f"TensorAdvancedIndexing.cpp:{line}.)"
    )
    return lambda args: [text]
