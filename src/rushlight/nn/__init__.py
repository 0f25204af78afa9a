"""Networks: modules, parameters, losses, initialisation, and the functions behind them."""

from .._base.lazy import list_names as _listed
from .._tensor.help_texts import describe_classes as _describe_classes
from . import functional, grad, init, modules, parallel, parameter, utils
from .modules import *  # noqa: F403
from .modules.module import Module as Module
from .parallel import DataParallel
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

from .attention import sdpa_kernel as _sdpa_kernel  # isort: skip  # noqa: F401

# Importing from the package puts it in the place of the file of modules that the star brought.
from . import attention  # isort: skip

__all__ = [
    "Buffer",
    "DataParallel",
    "Module",
    "Parameter",
    "UninitializedBuffer",
    "UninitializedParameter",
    "attention",
    "functional",
    "grad",
    "init",
    "modules",
    "parallel",
    "parameter",
    "utils",
]
__all__ += modules.__all__

_describe_classes(globals(), "nn")
__dir__ = _listed(globals())
