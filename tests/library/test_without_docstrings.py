"""`python -OO` keeps no docstrings and no assertions: the package must work all the same."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import importlib, pkgutil
import rushlight as torch
from rushlight import nn

for module in pkgutil.walk_packages(torch.__path__, "rushlight."):
    if not module.name.endswith("__main__"):
        try:
            importlib.import_module(module.name)
        except ImportError as error:  # an optional library
            if not error.name or error.name.startswith("rushlight"):
                raise

model = nn.Sequential(nn.Linear(3, 4), nn.GELU(), nn.LayerNorm(4))
optimizer = torch.optim.Adam(model.parameters())
loss = nn.functional.cross_entropy(model(torch.ones(5, 3)), torch.zeros(5, dtype=torch.long))
loss.backward()
optimizer.step()
print(torch.add.__doc__, loss.shape)
"""


def test_every_module_and_a_training_step() -> None:
    command = [sys.executable, "-OO", "-c", PROGRAM]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (answer.returncode, answer.stderr) == (0, "")
    assert answer.stdout.endswith("torch.Size([])\n")
