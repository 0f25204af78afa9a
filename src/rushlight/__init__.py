"""Rushlight, a lighter torch: PyTorch's define-by-run autograd, as typed Python over NumPy.

    import rushlight as torch

gives the functions, classes and modules of PyTorch under their own names. Modules that a program
may not need (`nn`, `optim`, …) are loaded when first asked for.
"""

from __future__ import annotations

import math as _math
from typing import Final

from ._torch import startup as _startup  # first: it puts off looking for garbage

# isort: split
from . import autograd as autograd
from ._array.memory import allocator as _memory
from ._base import dtypes as _dtypes
from ._base.device import device
from ._base.dtypes import dtype, get_default_dtype, set_default_dtype
from ._base.lazy import lazy as _lazy, load as _load
from ._base.memory_format import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    layout,
    memory_format,
    preserve_format,
    sparse_bsc,
    sparse_bsr,
    sparse_coo,
    sparse_csc,
    sparse_csr,
    strided,
)
from ._base.numeric_limits import finfo, iinfo
from ._base.size import Size
from ._base.version import __version__
from ._tensor import public_functions as _functions, settings as _settings
from ._tensor.legacy_constructors import TYPES as _TYPES
from ._tensor.tensor import Tensor
from ._torch.finder import install as _install_names
from ._torch.names import HOMES as _HOMES, MODULES as _MODULES
from .autograd.anomaly import is_anomaly_check_nan_enabled, is_anomaly_enabled
from .autograd.grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from .random import (
    Generator,
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)

_install_names()

for _name, _dtype in {**_dtypes.BY_NAME, **_dtypes.ALIASES}.items():
    globals()[_name] = _dtype
_TABLE: Final = _functions.namespace("")
_TABLE.fill(globals())
globals().update(_TYPES)
for _name in _settings.__all__:
    globals()[_name] = getattr(_settings, _name)
pi, e, inf, nan, newaxis = _math.pi, _math.e, _math.inf, _math.nan, None
legacy_contiguous_format = contiguous_format


def _find(name: str) -> object:
    try:
        return _TABLE.find(name, globals())
    except KeyError:
        pass
    if name in _MODULES:
        return _load(f".{name}", __name__)
    home = "_torch.foreach" if name.startswith(("_foreach_", "_amp_")) else _HOMES[name]
    return _load(f"{home}:{name}")


__getattr__ = _lazy(__name__, find=_find)

__all__ = [
    "Size",
    "Tensor",
    "__version__",
    "device",
    "dtype",
    "enable_grad",
    "finfo",
    "iinfo",
    "get_default_dtype",
    "get_printoptions",
    "printoptions",
    "set_printoptions",
    "inference_mode",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "no_grad",
    "set_default_dtype",
    "set_grad_enabled",
    "channels_last",
    "channels_last_3d",
    "contiguous_format",
    "layout",
    "memory_format",
    "preserve_format",
    "sparse_bsc",
    "sparse_bsr",
    "sparse_coo",
    "sparse_csc",
    "sparse_csr",
    "strided",
    "Generator",
    "default_generator",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
]

#: What this file uses and doesn't give.
_USED: Final = frozenset(("Any", "Final", "annotations", "importlib"))
#: Public modules, which `dir` shows and a star import leaves alone: it would load them all.
_SHOWN: Final = frozenset(name for name in _MODULES if "." not in name and name[0] != "_")
_more = {*globals(), *_TABLE.names, *_HOMES} - _USED - _SHOWN - {*__all__}
__all__.extend(sorted(name for name in _more if name[0] != "_" and name.isidentifier()))


def __dir__() -> list[str]:
    return sorted({*__all__, *_SHOWN, *(name for name in globals() if name[:2] == "__")})


_ = _startup
_memory.apply_environment()
