"""`torch._higher_order_ops`: functions that take functions: branches, loops and scans.

PyTorch makes one operation of each, so that a compiled graph holds it. Here they are ordinary
functions over operations, recorded and differentiated like what the program would write itself.
"""

from __future__ import annotations

from .associative_scan import associative_scan
from .cond import cond
from .map import map
from .scan import scan
from .while_loop import while_loop

__all__ = ["associative_scan", "cond", "map", "scan", "while_loop"]
