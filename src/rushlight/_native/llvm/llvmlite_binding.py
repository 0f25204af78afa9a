"""llvmlite, imported at the first compilation: the one place that knows it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType


@cache
def binding() -> ModuleType:
    """`llvmlite.binding`, ready to compile for this machine."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm
