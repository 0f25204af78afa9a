"""Networks: modules, parameters, losses, initialisation, and the functions behind them."""

from . import functional, grad, init, utils
from .modules import *  # noqa: F403
from .modules.module import Module as Module
from .parallel import DataParallel
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

from .attention import sdpa_kernel as _sdpa_kernel  # isort: skip  # noqa: F401
# Importing from the package puts it in the place of the file of modules that the star brought.

__all__ = [
    "Buffer",
    "DataParallel",
    "Module",
    "Parameter",
    "UninitializedBuffer",
    "UninitializedParameter",
    "functional",
    "grad",
    "init",
    "utils",
]
