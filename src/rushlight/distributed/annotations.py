"""The types of groups' inner parts: for annotations only. mpi4py's, it may be missing, are not."""

from __future__ import annotations

from types import ModuleType
from typing import Any, TypeAlias

__all__ = [
    "Comm", "Ctx", "Given", "Gradients", "GroupLike", "MPI", "Options", "Pending", "State",
    "Status", "StoreValue",
]  # fmt: skip

#: mpi4py's module, one of its communicators, and where it writes who has sent a message.
MPI: TypeAlias = ModuleType
Comm: TypeAlias = Any
Status: TypeAlias = Any
#: What a collective waits for: requests of MPI, or a question that has to be answered with true.
Pending: TypeAlias = Any
#: What a store keeps, as it is given.
StoreValue: TypeAlias = str | bytes
#: What a backward gives, and where a forward keeps what its backward needs.
Gradients: TypeAlias = tuple[object, ...]
Ctx: TypeAlias = Any
#: A group, its name, a mesh, a side of one, or ranks.
GroupLike: TypeAlias = Any
#: What a user hands in and gets back as it is.
Given: TypeAlias = Any
Options: TypeAlias = Any
#: A state dictionary, or a part of one.
State: TypeAlias = dict[str, Any]
