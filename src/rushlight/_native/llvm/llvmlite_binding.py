"""llvmlite, imported at the first compilation: the one place that knows it."""

from __future__ import annotations

from functools import cache
from typing import Any

__all__ = ["binding"]


@cache
def binding() -> Any:
    """`llvmlite.binding`, ready to compile for this machine."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm
