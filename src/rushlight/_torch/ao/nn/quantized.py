"""`torch.ao.nn.quantized`: names of quantised layers, which aren't here.

Nothing here computes with integers of few bits: what is asked for refuses when it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .... import _table as ops
from ....nn.modules.linear import Identity
from ....nn.modules.module import Module
from ... import missing_devices as absent

if TYPE_CHECKING:
    from ...._tensor.tensor import Tensor

_INSTEAD = "{name}: Rushlight doesn't quantise. Use the layer of the same name in torch.nn."
absent.refusing(
    globals(), NotImplementedError, _INSTEAD,
    "BatchNorm2d BatchNorm3d Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d "
    "ConvTranspose3d DeQuantize Dropout ELU Embedding EmbeddingBag FXFloatFunctional "
    "GroupNorm Hardswish InstanceNorm1d InstanceNorm2d InstanceNorm3d LSTM "
    "LayerNorm LeakyReLU Linear MultiheadAttention PReLU QFunctional Quantize ReLU6 Sigmoid "
    "Softmax ",
)  # fmt: skip


class FloatFunctional(Module):
    """Sums and products as methods, behind each of which a network could be quantised."""

    def __init__(self) -> None:
        super().__init__()
        self.activation_post_process = Identity()

    def forward(self, x: Tensor) -> Any:
        """Raises RuntimeError: the methods are what is called."""
        raise RuntimeError(
            "FloatFunctional is not intended to use the forward. Please use the underlying "
            "operation"
        )

    def _call(self, name: str, *args: Any) -> Tensor:
        return self.activation_post_process(ops.PUBLIC[("", name)](*args))

    def add(self, x: Any, y: Any) -> Any:
        """x + y."""
        return self._call("add", x, y)

    def add_scalar(self, x: Tensor, y: float) -> Any:
        """x + a number."""
        return ops.PUBLIC[("", "add")](x, y)

    def mul(self, x: Tensor, y: Any) -> Tensor:
        """x · y."""
        return self._call("mul", x, y)

    def mul_scalar(self, x: Tensor, y: float) -> Any:
        """x times a number."""
        return ops.PUBLIC[("", "mul")](x, y)

    def cat(self, x: Any, dim: int = 0) -> Any:
        """Tensors one after the other."""
        return self._call("cat", x, dim)

    def add_relu(self, x: Tensor, y: Any) -> Tensor:
        """relu(x + y)."""
        return self.activation_post_process(ops.PUBLIC[("", "relu")](x + y))

    def matmul(self, x: Tensor, y: Any) -> Tensor:
        """The matrix product."""
        return self._call("matmul", x, y)


__all__ = absent.names(globals())  # noqa: PLE0605
