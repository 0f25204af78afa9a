"""Which Pythons the compiled steps' arena knows."""

import sys
import sysconfig

from rushlight._array.memory import arena


def test_every_cpython_with_a_lock_is_known() -> None:
    locked = not sysconfig.get_config_var("Py_GIL_DISABLED")
    assert arena.supported() is (sys.implementation.name == "cpython" and locked)
