"""Networks: modules, parameters, losses, initialisation, and the functions behind them."""

from . import functional, init, utils
from .modules import *  # noqa: F403
from .modules import module as _module_file
from .parallel import DataParallel
from .parameter import Buffer, Parameter

Module = _module_file.Module

__all__ = ["Buffer", "DataParallel", "Module", "Parameter", "functional", "init", "utils"]
