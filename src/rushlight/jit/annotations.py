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

__all__ = [
    "Any", "BroadcastingList1", "BroadcastingList2", "BroadcastingList3", "Dict", "Future", "List",
    "Optional", "Tuple", "Union", "is_dict", "is_list", "is_optional", "is_tuple", "is_union",
]  # fmt: skip
