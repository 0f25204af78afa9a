"""`torch.ao.nn.quantized`: names of quantised layers, which aren't here.

Nothing here computes with integers of few bits: what is asked for refuses when it is used.
"""

from __future__ import annotations

from ... import absent

_INSTEAD = "{name}: Rushlight doesn't quantise. Use the layer of the same name in torch.nn."
absent.refusing(
    globals(), NotImplementedError, _INSTEAD,
    "BatchNorm2d BatchNorm3d Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d "
    "ConvTranspose3d DeQuantize Dropout ELU Embedding EmbeddingBag FXFloatFunctional "
    "FloatFunctional GroupNorm Hardswish InstanceNorm1d InstanceNorm2d InstanceNorm3d LSTM "
    "LayerNorm LeakyReLU Linear MultiheadAttention PReLU QFunctional Quantize ReLU6 Sigmoid "
    "Softmax ",
)  # fmt: skip

__all__ = absent.names(globals())  # noqa: PLE0605
