"""`torch.return_types` has the classes of all named results before any function has been called."""

import subprocess
import sys

PROGRAM = """
import rushlight as torch
for name in ("qr", "svd", "max", "linalg_lu_factor", "linalg_ldl_factor", "linalg_svd"):
    assert hasattr(torch.return_types, name), name
"""


def test_all_classes_are_there_at_once() -> None:
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)
