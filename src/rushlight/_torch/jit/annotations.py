"""`torch.jit.annotations`: the names for types that programs take from there."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple, Union  # noqa: UP035

from .._jit_internal import (
    BroadcastingList1,
    BroadcastingList2,
    BroadcastingList3,
    Future,
    is_dict,
    is_list,
    is_optional,
    is_tuple,
    is_union,
)
from .script_types import (
    AnyType,
    ComplexType,
    DictType,
    FloatType,
    IntType,
    ListType,
    StringType,
    TensorType,
    TupleType,
    Type,
    of_annotation,
)

__all__ = [
    "Any", "AnyType", "ComplexType", "DictType", "FloatType", "IntType", "ListType", "StringType",
    "TensorType", "TupleType", "ann_to_type", "try_ann_to_type",
    "BroadcastingList1", "BroadcastingList2", "BroadcastingList3", "Dict", "Future", "List",
    "Optional", "Tuple", "Union", "is_dict", "is_list", "is_optional", "is_tuple", "is_union",
]  # fmt: skip


def try_ann_to_type(ann: Any, loc: Any, rcb: Any = None) -> Type | None:
    """The type of TorchScript that an annotation stands for; None where it knows none."""
    return of_annotation(ann)


def ann_to_type(ann: Any, loc: Any, rcb: Any = None) -> Type:
    """The type of TorchScript that an annotation stands for.

    Raises: ValueError where it knows none.
    """
    found = of_annotation(ann)
    if found is None:
        raise ValueError(f"Unknown type annotation: '{ann}' at {loc}")
    return found
