"""`torch.ao.nn.intrinsic`: names of fused layers, which aren't here.

Nothing here computes with integers of few bits: what is asked for refuses when it is used.
"""

from __future__ import annotations

from ... import missing_devices as absent

_INSTEAD = "{name}: Rushlight doesn't quantise. Use the layer of the same name in torch.nn."
absent.refusing(
    globals(), NotImplementedError, _INSTEAD,
    "BNReLU2d BNReLU3d ConvAdd2d ConvAddReLU2d ConvBn1d ConvBn2d ConvBn3d ConvBnReLU1d "
    "ConvBnReLU2d ConvBnReLU3d ConvReLU1d ConvReLU2d ConvReLU3d LinearBn1d LinearLeakyReLU "
    "LinearReLU LinearTanh ",
)  # fmt: skip

__all__ = absent.names(globals())  # noqa: PLE0605
