"""`torch.ao`: quantisation and pruning for it, which aren't here and say so when used."""

from ..._base.lazy import lazy

__getattr__ = lazy(__name__, {name: f".{name}" for name in ("nn", "pruning", "quantization")})
