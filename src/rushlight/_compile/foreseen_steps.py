"""Steps that many programs begin with; their kernels come compiled with the package.

A kernel's code depends on the formulas fused in it, on how many vectors a row has where they are
few, and on whether threads share it; on no other size. So these perceptrons have the kernels of all
classifiers with their activation, for samples, classes and neurons in the plural and few enough for
one thread. Any other step has its own compiled when it is first called.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from .. import nn
from .._native.fusion.row_loops import REGISTERS
from .._tensor.tensor import Tensor
from ..nn._ground import f
from ..optim.sgd import SGD
from .ir.program import Program
from .step import CompiledStep

_ACTIVATIONS: Final = (nn.ReLU, nn.GELU, nn.Tanh, nn.Sigmoid, nn.SiLU)


def programs(lanes: int) -> Iterator[Program]:
    """The programs of the steps; `lanes` is how many numbers a vector has."""
    for activation in _ACTIVATIONS:
        for vectors in range(1, REGISTERS + 2):  # the last one's rows are of any length
            yield _classifier(activation, lanes * vectors)


def _classifier(activation: type[nn.Module], width: int) -> Program:
    model = nn.Sequential(nn.Linear(1, width), activation(), nn.Linear(width, width))
    optimizer = SGD(model.parameters(), lr=0.1)

    def step(x: Tensor, y: Tensor) -> Tensor:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.detach()

    compiled = CompiledStep(step, native=False)
    for _ in range(2):  # the second recording agrees with the first
        compiled(f.zeros(2, 1), f.zeros(2, dtype=f.int64))
    if compiled.program is None:
        raise RuntimeError(f"a step that was foreseen can't be compiled: {compiled.explain()}")
    return compiled.program
