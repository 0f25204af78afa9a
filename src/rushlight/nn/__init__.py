"""Networks: modules, parameters, losses, initialisation, and the functions behind them."""

from . import functional, grad, init, utils
from .modules import *  # noqa: F403
from .modules.module import Module as Module
from .parallel import DataParallel
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

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
