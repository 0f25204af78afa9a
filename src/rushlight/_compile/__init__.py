"""Compiled steps: a training step recorded once, then run without building a graph.

    @rushlight.compile
    def step(x, y):
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

`recorder` notes what a step does to arrays, `program` is what it notes, `passes` make it better,
`guards` say when it may run, `replay` runs it.
"""

from __future__ import annotations

from .api import OptimizedModule, compile, reset

__all__ = ["OptimizedModule", "compile", "reset"]
