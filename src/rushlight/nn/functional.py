"""Functions for neural networks: activations, losses, normalisation, dropout, embeddings, padding.

Every name is an operation of the table under its PyTorch name and signature.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from .._tensor import public_functions as _functions

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._tensor.tensor import Tensor

GRID_SAMPLE_INTERPOLATION_MODES: Final = {"bilinear": 0, "nearest": 1, "bicubic": 2}
GRID_SAMPLE_PADDING_MODES: Final = {"zeros": 0, "border": 1, "reflection": 2}
_functions.namespace("nn.functional").serve(globals(), homes={"grad": "nn.grad"})

if TYPE_CHECKING:
    # With `return_indices` these give a pair.
    adaptive_max_pool1d: Callable[..., Any]
    adaptive_max_pool2d: Callable[..., Any]
    adaptive_max_pool3d: Callable[..., Any]
    fractional_max_pool2d: Callable[..., Any]
    fractional_max_pool3d: Callable[..., Any]
    max_pool1d: Callable[..., Any]
    max_pool2d: Callable[..., Any]
    max_pool3d: Callable[..., Any]

    multi_head_attention_forward: Callable[..., tuple[Tensor, Tensor | None]]

    def __getattr__(name: str) -> Callable[..., Tensor]: ...
