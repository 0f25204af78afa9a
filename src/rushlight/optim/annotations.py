"""The types that optimizers share: for annotations only."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

from .._base.annotations import TensorLike
from .._tensor.tensor import Tensor

__all__ = ["Hyper", "Operand", "OptimizerState", "ParamGroup", "Params", "StateDict"]

#: Parameters and their options, by name: numbers, switches, tensors.
ParamGroup: TypeAlias = dict[str, Any]
#: What an optimizer keeps of one parameter, by name.
OptimizerState: TypeAlias = dict[str, Any]
#: What `state_dict` gives: numbers, tensors and containers of them, by name.
StateDict: TypeAlias = dict[str, Any]
#: What an optimizer is made of: parameters, with their names, or groups of them.
Params: TypeAlias = Iterable[Tensor] | Iterable[tuple[str, Tensor]] | Iterable[ParamGroup]
#: An option that is a number: Python's, or a tensor of one element.
Hyper: TypeAlias = Tensor | float
#: What stands for one in a formula.
Operand: TypeAlias = TensorLike | float
