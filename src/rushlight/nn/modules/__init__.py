"""The module classes, one file per family."""

from .activation import *  # noqa: F403
from .adaptive import *  # noqa: F403
from .attention import *  # noqa: F403
from .batchnorm import *  # noqa: F403
from .container import *  # noqa: F403
from .conv import *  # noqa: F403
from .distance import *  # noqa: F403
from .dropout import *  # noqa: F403
from .flatten import *  # noqa: F403
from .fold import *  # noqa: F403
from .instancenorm import *  # noqa: F403
from .lazy import LazyModuleMixin as LazyModuleMixin
from .lazy_layers import *  # noqa: F403
from .linear import *  # noqa: F403
from .linear_loss import *  # noqa: F403
from .loss import *  # noqa: F403
from .loss_options import *  # noqa: F403
from .module import Module as Module
from .normalization import *  # noqa: F403
from .padding import *  # noqa: F403
from .pixelshuffle import *  # noqa: F403
from .pooling import *  # noqa: F403
from .rnn import *  # noqa: F403
from .sparse import *  # noqa: F403
from .transformer import *  # noqa: F403
from .upsampling import *  # noqa: F403


def __getattr__(name: str) -> object:
    """`utils`, which star imports leave alone: `torch.nn.utils` is another module."""
    if name != "utils":
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    from importlib import import_module

    return import_module(f"{__name__}.utils")
