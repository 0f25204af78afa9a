"""Loads most of the package, without looking for garbage in between.

That makes some ten thousand functions, classes and rows that all stay. Looking for garbage among
them would be a seventh of the time of `import rushlight`, so this is put off while they are made;
then they, and what else there is, count as old: the next search for garbage among the young doesn't
go through them.
"""

from __future__ import annotations

import gc

_collecting = gc.isenabled()
gc.disable()
try:
    from .. import autograd, random
    from .._core import hooks, node, op, storage
    from .._native.collector import leave_out
    from .._tensor import legacy_constructors as legacy, methods as _methods
    from ..sparse import attachments

    if not gc.get_freeze_count():  # else the program keeps objects frozen, which must stay so
        gc.freeze()  # all to a generation of its own …
        gc.unfreeze()  # … and from there to the oldest
    hooks.COLLECTOR.track = leave_out(node.Node, storage.TensorBase, op.Op)
finally:
    if _collecting:
        gc.enable()

__all__ = ["_methods", "autograd", "attachments", "legacy", "random"]
