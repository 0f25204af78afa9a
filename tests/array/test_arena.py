"""Where machine code may look for an array's elements."""

import sys
import sysconfig

import numpy as np

from rushlight._array.memory import arena


def test_arrays_of_every_cpython_with_a_lock_can_be_read() -> None:
    known = sys.implementation.name == "cpython" and sys.version_info[:2] < (3, 15)
    known = known and not sysconfig.get_config_var("Py_GIL_DISABLED")
    known = known and np.__version__.startswith("2.")
    assert (arena.unreadable() is None) is known
