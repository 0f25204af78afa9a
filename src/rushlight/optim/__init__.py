"""Optimizers, and schedules of their learning rates."""

from .._base.lazy import list_names as _listed
from .._tensor.help_texts import describe_classes as _describe_classes
from . import _functional, lr_scheduler, swa_utils
from .adadelta import Adadelta
from .adafactor import Adafactor
from .adagrad import Adagrad
from .adam import Adam
from .adamax import Adamax
from .adamw import AdamW
from .asgd import ASGD
from .lbfgs import LBFGS
from .muon import Muon
from .nadam import NAdam
from .optimizer import Optimizer
from .radam import RAdam
from .rmsprop import RMSprop
from .rprop import Rprop
from .sgd import SGD
from .sparse_adam import SparseAdam
from .swap import swap_in_optimizer_params_and_state
from .td_lambda import TDLambda

__all__ = [
    "ASGD",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Muon",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "SparseAdam",
    "TDLambda",
    "lr_scheduler",
    "swa_utils",
    "swap_in_optimizer_params_and_state",
]
_ = _functional

_describe_classes(globals(), "optim")
__dir__ = _listed(globals())
