"""Compiled steps: a training step recorded once, then run without building a graph.

    @rushlight.compile
    def step(x, y):
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

`recorder` notes what a step does to arrays, `program` is what it notes, `passes` make it better,
`guards` say when it may run, `replay` runs it. Where to look for what:

    the user's side  api, step (record, compile, call), blame and refusal (why not), view (as text)
    recording        recorder, proxies, factories, outputs, joint (a backward that comes later);
                     numbers: reads and readings (from tensors), scalars, expressions, sources
    what can't be    observation (which Python ran), asked (what code asks for), state, places and
                     surroundings (what it could see), arguments, opaque, rehearsal
    when it may run  lookups (names, and those that aren't there), guards (in Python), cover and
                     sentry (in machine code), entry and warming (the quick way in), overlap,
                     speculation (branches on values)
    running          replay (through NumPy), driver and frames (natively), text
    lowering         lower, plan, passes
    kernels          meaning, meanings, spaces, symbols, elementwise, reductions, losses, fusion
    code of its own  products, moves, commands, attention, recurrence, recurrent_layers, sweeps
"""

from __future__ import annotations

from .api import OptimizedModule, compile, reset

__all__ = ["OptimizedModule", "compile", "reset"]
