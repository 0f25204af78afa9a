"""`torch.ao.nn`: layers with weights of few bits, which aren't here."""

from . import intrinsic, qat, quantized

__all__ = ["intrinsic", "qat", "quantized"]
