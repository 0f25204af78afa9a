"""The types of groups' inner parts: for annotations only. mpi4py's, it may be missing, are not."""

from __future__ import annotations

from types import ModuleType
from typing import Any, TypeAlias

__all__ = ["Comm", "MPI", "Pending", "Status", "StoreValue"]

#: mpi4py's module, one of its communicators, and where it writes who has sent a message.
MPI: TypeAlias = ModuleType
Comm: TypeAlias = Any
Status: TypeAlias = Any
#: What a collective waits for: requests of MPI, or a question that has to be answered with true.
Pending: TypeAlias = Any
#: What a store keeps, as it is given.
StoreValue: TypeAlias = str | bytes
